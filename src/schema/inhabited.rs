//! Whether some value satisfies a formula, as a least fixed point.
//!
//! The search is depth first, and a formula being searched counts as empty: a smallest value never
//! contains a value that must satisfy the same formula. So *inhabited* is final as soon as it is
//! found. *Empty* is final once none of the formulas it depends on is being searched any more;
//! until then it is provisional, as in Tarjan's algorithm for components.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, FormulaId, Type};
use crate::schema::machine::Machine;
use crate::schema::object::SortedNames;
use crate::schema::states::{Key, Step, TupleId};

use FormulaId as F;

/// Maximum nesting depth of the smallest values that satisfy a schema.
const DEPTH: usize = 250;

/// Steps of the meter for an item that is counted.
const STEPS_OF_AN_ITEM: usize = 150;

impl Machine<'_> {
    /// Whether some value satisfies `formula`.
    pub(super) fn is_inhabited(&mut self, formula: F) -> Result<bool, SchemaError> {
        if formula.is_constant() {
            return Ok(formula == F::TRUE);
        }
        let state = &mut self.inhabited;
        if let Some(&known) = state.known.get(&formula) {
            return Ok(known);
        }
        if let Some(&depth) = state.open.get(&formula).or_else(|| state.provisional.get(&formula)) {
            state.rests_on = state.rests_on.min(depth);
            return Ok(false);
        }
        let depth = state.open.len();
        if depth > DEPTH {
            let message = format!(
                "the search for a value that satisfies the schema nests more than {DEPTH} \
                         levels deep"
            );
            return Err(SchemaError::new(SchemaErrorKind::TooLarge, message));
        }
        state.open.insert(formula, depth);
        let begin = state.trail.len();
        let outer = std::mem::replace(&mut state.rests_on, usize::MAX);
        let before = self.turn_to(formula);
        let found = self.has_value(formula)?;
        self.turn_back(before);
        let state = &mut self.inhabited;
        state.open.remove(&formula);
        let rests_on = std::mem::replace(&mut state.rests_on, outer);
        if found || rests_on >= depth {
            state.known.insert(formula, found);
            for other in state.trail.split_off(begin) {
                state.provisional.remove(&other);
                if !found {
                    state.known.insert(other, false);
                }
            }
        } else {
            state.provisional.insert(formula, rests_on);
            state.trail.push(formula);
            state.rests_on = outer.min(rests_on);
        }
        Ok(found)
    }

    fn has_value(&mut self, formula: F) -> Result<bool, SchemaError> {
        for of in Type::ALL {
            let projected = self.project(formula, of)?;
            if projected.is_constant() {
                if projected == F::TRUE {
                    return Ok(true);
                }
                continue;
            }
            let found = match of {
                Type::Null => false,
                Type::Boolean => {
                    self.holds_of_boolean(projected, false)
                        || self.holds_of_boolean(projected, true)
                }
                Type::Number | Type::String => self.has_text(projected, of)?,
                Type::Array => self.has_array(projected)?,
                Type::Object => self.has_object(projected)?,
            };
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn has_text(&mut self, formula: F, of: Type) -> Result<bool, SchemaError> {
        for formula in self.reader.formulas.by_fingerprint(formula) {
            for formula in self.by_length_of(of, formula)? {
                let has_any = match of {
                    Type::Number => self.numbers(formula)?.is_some(),
                    _ => self.has_string(formula)?,
                };
                if has_any {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether some string satisfies a formula that [asks for one length](Machine::by_length).
    pub(super) fn has_string(&mut self, formula: F) -> Result<bool, SchemaError> {
        if let Some((min, max)) = self.lengths(formula)? {
            return Ok(max.is_none_or(|max| min <= max));
        }
        if let Some(listed) = self.listed(formula)? {
            return Ok(!listed.is_empty());
        }
        Ok(match self.bounded(formula)? {
            Some(bounded) => bounded.is_some(),
            None => !self.some_strings(formula)?.is_empty(),
        })
    }

    pub(super) fn has_array(&mut self, formula: F) -> Result<bool, SchemaError> {
        if self.counted_items(formula).is_none() {
            self.charge_items(&[formula], false)?;
        }
        let start = self.tuple_id(&[formula]);
        let mut seen: FxHashSet<TupleId> = [start].into_iter().collect();
        let mut pending = vec![start];
        while let Some(state) = pending.pop() {
            self.spend(1)?;
            if self.array_ends(state)[0] == F::TRUE {
                return Ok(true);
            }
            if let Some(counted) = self.counted_items(self.tuple(state)[0]) {
                if self.has_counted(counted)? {
                    return Ok(true);
                }
                continue;
            }
            let classes = self.item_classes(state)?;
            let next = classes.iter().map(|&(next, _)| next);
            pending.extend(next.filter(|&next| seen.insert(next)));
        }
        Ok(false)
    }

    /// Charges the states of arrays with bounds on the number of items: one for each number up to
    /// the greatest lower bound or, with `also_most`, the greatest bound of any kind.
    pub(super) fn charge_items(
        &mut self,
        formulas: &[F],
        also_most: bool,
    ) -> Result<(), SchemaError> {
        let counted = |atom: Atom| match atom {
            Atom::MinItems(count) => count,
            Atom::MaxItems(count) if also_most => count,
            Atom::Contains { min, max, .. } if also_most => min.max(max.unwrap_or(0)),
            Atom::Contains { min, .. } => min,
            _ => 0,
        };
        let atoms = self.reader.formulas.atoms(formulas);
        let most = atoms.into_iter().map(counted).max().unwrap_or(0);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(self.meter.step(most.saturating_mul(STEPS_OF_AN_ITEM))?)
    }

    fn has_object(&mut self, formula: F) -> Result<bool, SchemaError> {
        let start = self.tuple_id(&[formula]);
        let frame = self.frame(start)?;
        let all = self.frames.get(frame).names.clone();
        let others = self.frames.get(frame).others.len() as u32;
        let start = self.frames.get(frame).guarded;
        // The other names are independent of each other: for each of them there is a value, or
        // there is none.
        let SortedNames { owed, tracked: names, .. } = self.sort_names(start, &all);
        let start = self.without_required(start, &owed);
        for name in owed {
            let step = Step { frame, key: Key::Named(name), position: 0 };
            if self.member_classes(step, start)?.is_empty() {
                return Ok(false);
            }
        }
        let places = all.iter().zip(1..).map(|(&name, behind)| (name, behind));
        let places: FxHashMap<u32, u32> = places.collect();
        let mut seen: FxHashSet<(u32, TupleId)> = FxHashSet::default();
        seen.reserve(names.len() + 1);
        seen.insert((0, start));
        // `true`: the case without a member was tried here. Only if it fails is a member tried,
        // whose values may nest.
        let mut pending = vec![(0u32, start, false)];
        while let Some((position, state, is_tried)) = pending.pop() {
            self.spend(1)?;
            if !is_tried && (position as usize) < names.len() {
                pending.push((position, state, true));
            }
            let mut reach = |(position, state): (u32, TupleId)| {
                if seen.insert((position, state)) {
                    pending.push((position, state, false));
                }
            };
            let Some(&name) = names.get(position as usize) else {
                if self.object_ends(state)[0] == F::TRUE {
                    return Ok(true);
                }
                let passed = all.len() as u32;
                for class in 0..others {
                    let step = Step { frame, key: Key::Other(class), position: passed };
                    let classes = self.member_classes(step, state)?;
                    classes.iter().for_each(|&(next, _)| reach((position, next)));
                }
                continue;
            };
            let (next, passed) = (position + 1, places[&name]);
            if is_tried {
                let step = Step { frame, key: Key::Named(name), position: passed };
                let classes = self.member_classes(step, state)?;
                classes.iter().for_each(|&(to, _)| reach((next, to)));
                continue;
            }
            let absent = self.absent(frame, name, passed, state)?;
            if self.tuple(absent)[0] != F::FALSE {
                reach((next, absent));
            }
        }
        Ok(false)
    }

    /// Returns the residuals if there is no member of this name.
    pub(super) fn absent(
        &mut self,
        frame: u32,
        name: u32,
        position: u32,
        state: TupleId,
    ) -> Result<TupleId, SchemaError> {
        let residuals =
            self.member_step(Step { frame, key: Key::Absent(name), position }, state)?;
        Ok(self.tuple_id(&residuals))
    }
}

//! Objects: the keys that a frame distinguishes, and the residual after a member.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::pattern::Pattern;
use crate::schema::atoms::Properties;
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Formulas, Shape};
use crate::schema::machine::Machine;
use crate::schema::names;
use crate::schema::states::{Classes, Frame, Keys, Step, Tuple, TupleId};

use FormulaId as F;

impl Machine<'_> {
    /// Returns the frame of objects that begin with `start`.
    pub(super) fn frame(&mut self, start: TupleId) -> Result<u32, SchemaError> {
        if let Some(&known) = self.frames_of.get(&start) {
            return Ok(known);
        }
        let formulas = self.tuple(start).to_vec();
        let formulas = self.opened(&formulas);
        let mut lists: Vec<Vec<u32>> = Vec::new();
        let mut required = Vec::new();
        let mut patterns = Vec::new();
        let mut conditions = Vec::new();
        for atom in self.reader.formulas.atoms(&formulas) {
            match atom {
                Atom::Properties(number) => {
                    let properties = self.reader.atoms.properties.get(number);
                    lists.push(properties.named.iter().map(|&(name, _)| name).collect());
                    patterns.extend(properties.patterns.iter().map(|&(pattern, _)| pattern));
                }
                Atom::Required(name) => required.push(name),
                Atom::PropertyNames(names) => conditions.push(names),
                _ => {}
            }
        }
        // Names that are only required follow, in the order in which they were first met.
        required.sort_by_key(|&name| self.reader.formulas.atom(Atom::Required(name)));
        lists.extend(required.into_iter().map(|name| vec![name]));
        let names = names::merge(&lists);
        patterns.sort_unstable();
        patterns.dedup();
        self.spend(names.len())?;
        let (mut others, mut guarded) = (Vec::new(), self.tuple_id(&formulas));
        if !formulas.iter().all(|&formula| self.is_closed(formula)) {
            others = self.classes_of_others(&names, &patterns, &conditions, &formulas)?;
            guarded = self.guarded(start);
            if let Some(modulus) = self.modulus(guarded, names.len()) {
                others = self.told_apart(&others, modulus)?;
            }
        }
        let tests_names = !patterns.is_empty() || !conditions.is_empty();
        let mut positions: Vec<(u32, u32)> = names.iter().copied().zip(0..).collect();
        positions.sort_unstable();
        let (names, positions, others) = (names.into(), positions.into(), others.into());
        let frame = Frame { start, guarded, names, positions, others, tests_names };
        let frame = self.frames.intern(frame);
        self.frames_of.insert(start, frame);
        Ok(frame)
    }

    /// Whether the formula, by its shape alone, allows no keys except named ones.
    fn is_closed(&self, formula: F) -> bool {
        let formulas = &self.reader.formulas;
        let is_closed = |part: &F| match formulas.shape(*part) {
            Shape::False => true,
            Shape::Atom(Atom::Properties(number)) => {
                let properties = self.reader.atoms.properties.get(number);
                properties.additional == F::FALSE && properties.patterns.is_empty()
            }
            _ => false,
        };
        match formulas.shape(formula) {
            Shape::And(list) => formulas.parts(list).iter().any(is_closed),
            _ => is_closed(&formula),
        }
    }

    /// Returns the names that the residuals mention if each residual allows no others, or `None` if
    /// one may allow others.
    pub(super) fn names_spoken_of(&self, frame: u32, residuals: TupleId) -> Option<Vec<u32>> {
        if self.frames.get(frame).tests_names {
            return None;
        }
        let formulas = &self.reader.formulas;
        let tuple = self.tuple(residuals);
        let allows_no_other = |&formula: &F| match formulas.shape(formula) {
            Shape::Or(list) | Shape::One(list) => {
                formulas.parts(list).iter().all(|&part| self.is_closed(part))
            }
            _ => self.is_closed(formula),
        };
        if !tuple.iter().all(allows_no_other) {
            return None;
        }
        let mut names = Vec::new();
        for atom in formulas.atoms(tuple) {
            match atom {
                Atom::Required(name) => names.push(name),
                Atom::Properties(number) => {
                    let named = &self.reader.atoms.properties.get(number).named;
                    names.extend(named.iter().map(|&(name, _)| name));
                }
                _ => {}
            }
        }
        Some(names)
    }

    /// Returns the pattern of the lexer for a set of keys.
    pub(super) fn spelled_keys(&mut self, keys: &Keys) -> Result<Pattern, SchemaError> {
        let spelled = match keys {
            Keys::AllBut(names) => {
                let texts = names.iter().map(|&name| self.reader.atoms.texts.get(name).as_str());
                self.texts.spelled_but(texts)
            }
            Keys::Contents(contents) => self.texts.spelled(contents),
        };
        spelled.map_err(|error| self.too_large(&error))
    }

    /// Sorts the `names` of objects that begin with `start` by the information that a state has to
    /// track about them.
    pub(super) fn sort_names(&self, start: TupleId, names: &[u32]) -> SortedNames {
        let formulas = &self.reader.formulas;
        let tuple = self.tuple(start);
        let parts = |formula: F| match formulas.shape(formula) {
            Shape::And(list) => formulas.parts(list).to_vec(),
            _ => vec![formula],
        };
        let all: Vec<Vec<F>> = tuple.iter().map(|&formula| parts(formula)).collect();
        let mut required: FxHashSet<u32> = FxHashSet::default();
        let mut entangled = Vec::new();
        for part in all.iter().flatten() {
            // A condition shared by all formulas does not distinguish them.
            let is_common = all.iter().all(|parts| parts.contains(part));
            match formulas.shape(*part) {
                Shape::Atom(Atom::Required(name)) if is_common => {
                    required.insert(name);
                }
                Shape::Atom(Atom::Properties(_) | Atom::PropertyNames(_)) if is_common => {}
                _ => entangled.push(*part),
            }
        }
        let mut bound: FxHashSet<u32> = FxHashSet::default();
        let mut is_all_bound = false;
        for atom in formulas.atoms(&entangled) {
            match atom {
                Atom::Required(name) => {
                    bound.insert(name);
                }
                Atom::Properties(number) => {
                    let properties = self.reader.atoms.properties.get(number);
                    bound.extend(properties.named.iter().map(|&(name, _)| name));
                    is_all_bound |= !says_nothing_of_others(properties);
                }
                _ => is_all_bound = true,
            }
        }
        let mut sorted = SortedNames::default();
        for &name in names {
            let sort = match is_all_bound || bound.contains(&name) {
                true => &mut sorted.tracked,
                false if required.contains(&name) => &mut sorted.owed,
                false => &mut sorted.free,
            };
            sort.push(name);
        }
        sorted
    }

    /// Removes the requirement of members under these names.
    pub(super) fn without_required(&mut self, tuple: TupleId, names: &[u32]) -> TupleId {
        if names.is_empty() {
            return tuple;
        }
        let names: FxHashSet<u32> = names.iter().copied().collect();
        let mut replace = |formulas: &mut Formulas, atom| match atom {
            Atom::Required(name) if names.contains(&name) => F::TRUE,
            _ => formulas.atom(atom),
        };
        let residuals = self.tuples.get(tuple.0).clone();
        let mut memo = FxHashMap::default();
        let left: Vec<F> = residuals
            .iter()
            .map(|&residual| self.reader.formulas.map(residual, &mut memo, &mut replace))
            .collect();
        self.tuple_id(&left)
    }

    /// Returns the classes of the member under `step`'s key.
    pub(super) fn member_classes(
        &mut self,
        step: Step,
        tuple: TupleId,
    ) -> Result<Classes, SchemaError> {
        let stepped = self.member_step(step, tuple)?;
        self.split(&stepped)
    }

    /// Like `member_classes`, but returns `None` if more than `most` answers determine the classes.
    pub(super) fn member_classes_up_to(
        &mut self,
        most: usize,
        step: Step,
        tuple: TupleId,
    ) -> Result<Option<Classes>, SchemaError> {
        let stepped = self.member_step(step, tuple)?;
        self.split_up_to(most, &stepped)
    }

    /// Evaluates each residual on the object if it ends here, without members under the remaining
    /// names.
    pub(super) fn object_ends(&mut self, tuple: TupleId) -> Tuple {
        self.holding(tuple, |atom| {
            !matches!(
                atom,
                Atom::Required(_)
                    | Atom::MinProperties(_)
                    | Atom::MinKeys { .. }
                    | Atom::Denied { witness: Some(_), .. }
            )
        })
    }
}

/// Names of an object, by the information that a state has to track about them.
#[derive(Debug, Default)]
pub(super) struct SortedNames {
    /// Nothing is tracked: each formula asks the same of the member, independently of the others.
    pub(super) free: Vec<u32>,
    /// Whether the member was present; otherwise like a free name.
    pub(super) owed: Vec<u32>,
    /// Whether the member was present, and with which value.
    pub(super) tracked: Vec<u32>,
    /// Tracked names that would otherwise be owed.
    pub(super) due: Vec<u32>,
}

impl SortedNames {
    /// Tracks the owed names too. `all` holds the names in their order.
    pub(super) fn track_owed(&mut self, all: &[u32]) {
        if !self.owed.is_empty() {
            let free: FxHashSet<u32> = self.free.iter().copied().collect();
            self.tracked = all.iter().filter(|name| !free.contains(name)).copied().collect();
            self.due = std::mem::take(&mut self.owed);
        }
    }
}

/// Whether `properties` ask nothing of keys that they do not name.
pub(super) fn says_nothing_of_others(properties: &Properties) -> bool {
    properties.additional == F::TRUE
        && properties.patterns.iter().all(|&(_, formula)| formula == F::TRUE)
}

//! Classes of members: the distinctions that matter for the next member of an array or an object.
//!
//! A step yields formulas about the next member ([`Atom::Child`]). They are decided one after the
//! other (Shannon expansion); answers that leave the same residuals are one class. With n formulas
//! that a value may satisfy independently there are 2^n classes; usually most exclude each other,
//! by the values that they list.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Formulas, Shape};
use crate::schema::keywords::Reader;
use crate::schema::machine::Machine;
use crate::schema::states::{Asked, Classes, Tuple, TupleId};

use FormulaId as F;

/// Minimum number of mutually exclusive formulas that are expanded together.
const MANY_APART: usize = 4;

/// Residuals after members, with the formulas of these members.
struct Leaves {
    found: Vec<(Tuple, F)>,
    /// Maximum number of leaves.
    most: usize,
}

/// A disjunction, given formulas of which the next member satisfies at most one.
struct Parted {
    /// Parts that hold only if the next member satisfies the formula.
    asking: FxHashMap<F, Vec<F>>,
    others: Vec<F>,
}

impl Machine<'_> {
    /// Returns the classes of the next member, where `stepped` combines conditions on it and
    /// residuals. Omits empty classes, and those after which nothing can hold.
    pub(super) fn split(&mut self, stepped: &[F]) -> Result<Classes, SchemaError> {
        self.split_up_to(usize::MAX, stepped).map(Option::unwrap_or_default)
    }

    /// Same as `split`, but returns `None` if there are more than `most` leaves.
    pub(super) fn split_up_to(
        &mut self,
        most: usize,
        stepped: &[F],
    ) -> Result<Option<Classes>, SchemaError> {
        let id = self.tuple_id(stepped);
        if let Some(known) = self.splits.get(&id) {
            return Ok(Some(known.clone()));
        }
        let mut leaves = Leaves { found: Vec::new(), most };
        let outer = std::mem::replace(&mut self.inhabited.rests_on, usize::MAX);
        self.leaves(stepped.to_vec(), F::TRUE, &mut leaves)?;
        let leaves = leaves.found;
        if leaves.len() > most {
            self.inhabited.rests_on = self.inhabited.rests_on.min(outer);
            return Ok(None);
        }
        if let [(residuals, class)] = &leaves[..] {
            let (residuals, class) = (self.tuple_id(residuals), *class);
            let split =
                if self.is_inhabited(class)? { vec![(residuals, class)] } else { Vec::new() };
            return Ok(Some(self.keep_split(id, split, outer)));
        }
        // In the order in which residuals are found, so that equal schemas give equal machines.
        let mut order: Vec<TupleId> = Vec::new();
        let mut classes: FxHashMap<TupleId, Vec<F>> = FxHashMap::default();
        for (residuals, class) in leaves {
            let residuals = self.tuple_id(&residuals);
            let members = classes.entry(residuals).or_default();
            if members.is_empty() {
                order.push(residuals);
            }
            members.push(class);
        }
        let mut split = Vec::with_capacity(order.len());
        for residuals in order {
            let class = self.reader.formulas.or(classes.remove(&residuals).unwrap_or_default());
            if self.is_inhabited(class)? {
                split.push((residuals, class));
            }
        }
        Ok(Some(self.keep_split(id, split, outer)))
    }

    /// Caches the classes of `id`, unless they may change. Passes their dependencies on open
    /// formulas to the enclosing search, which had `outer`.
    fn keep_split(&mut self, id: TupleId, split: Vec<(TupleId, F)>, outer: usize) -> Classes {
        let split: Classes = split.into();
        // Classes that depend on a formula still being searched may change.
        if self.inhabited.rests_on == usize::MAX {
            self.splits.insert(id, split.clone());
        }
        self.inhabited.rests_on = self.inhabited.rests_on.min(outer);
        split
    }

    /// Shannon expansion over the conditions on the member, which satisfies `class` so far.
    fn leaves(&mut self, tuple: Vec<F>, class: F, leaves: &mut Leaves) -> Result<(), SchemaError> {
        self.spend(tuple.len())?;
        let is_over = leaves.found.len() > leaves.most;
        if is_over || tuple.iter().all(|&residual| residual == F::FALSE) {
            return Ok(());
        }
        let Some(asked) = tuple.iter().find_map(|&residual| self.first_asked(residual)) else {
            leaves.found.push((tuple.into(), class));
            return Ok(());
        };
        if let Asked::Child(child) = asked
            && let Some(rests) = self.needed(child, &tuple)
        {
            let narrower = self.reader.formulas.and([class, child]);
            if narrower == F::FALSE || class != F::TRUE && !self.is_inhabited(narrower)? {
                return Ok(());
            }
            return self.leaves(rests, narrower, leaves);
        }
        if let Asked::Child(child) = asked {
            let apart = self.listed_apart(child, &tuple)?;
            if apart.len() >= MANY_APART {
                return self.leaves_apart(&apart, &tuple, class, leaves);
            }
        }
        let answers = self.answers(asked, &tuple);
        let not = match asked {
            Asked::Child(child) => self.not_child(&tuple, child)?,
            Asked::Fingerprint(_) => F::FALSE,
        };
        for (left, set) in answers {
            let Reader { formulas, atoms, .. } = &mut self.reader;
            let literal = match asked {
                Asked::Child(child) if left == [F::TRUE] => child,
                Asked::Child(_) => not,
                Asked::Fingerprint(rule) => formulas.fingerprint(rule, set),
            };
            let narrower = formulas.and([class, literal]);
            let mut replace = |formulas: &mut Formulas, atom| match (asked, atom) {
                (Asked::Child(child), Atom::Child(of)) if of == child => left[0],
                (Asked::Fingerprint(rule), Atom::ByFingerprint(of, list)) if of == rule => {
                    atoms.branches.get(list)[set.trailing_zeros() as usize]
                }
                _ => formulas.atom(atom),
            };
            let mut memo = FxHashMap::default();
            let rest: Vec<F> = tuple
                .iter()
                .map(|&residual| formulas.map(residual, &mut memo, &mut replace))
                .collect();
            if narrower == F::FALSE || rest.iter().all(|&residual| residual == F::FALSE) {
                continue;
            }
            if class != F::TRUE && !self.is_inhabited(narrower)? {
                continue;
            }
            self.leaves(rest, narrower, leaves)?;
        }
        Ok(())
    }

    /// Returns formulas about the next member in the tuple, `child` among them, that list values
    /// and exclude each other: the conditions that distinguish the branches of a large union.
    fn listed_apart(&mut self, child: F, tuple: &[F]) -> Result<Vec<F>, SchemaError> {
        let mut apart = vec![child];
        let Some(values) = self.listed_values(child)? else { return Ok(apart) };
        let mut seen: FxHashSet<(bool, u32)> = values.into_iter().collect();
        let mut others: Vec<F> = (self.reader.formulas.atoms(tuple).into_iter())
            .filter_map(|atom| if let Atom::Child(other) = atom { Some(other) } else { None })
            .filter(|&other| other != child)
            .collect();
        others.sort_unstable();
        for other in others {
            let Some(values) = self.listed_values(other)? else { continue };
            if values.iter().all(|value| !seen.contains(value)) {
                seen.extend(values);
                apart.push(other);
            }
        }
        Ok(apart)
    }

    /// Returns the numbers of the strings or numbers that the formula lists, if it obviously allows
    /// only these; each with whether it is a number.
    pub(super) fn listed_values(
        &mut self,
        formula: F,
    ) -> Result<Option<Vec<(bool, u32)>>, SchemaError> {
        let whole = self.whole(formula)?;
        let formulas = &self.reader.formulas;
        let listed = |part: F| match formulas.shape(part) {
            Shape::Atom(Atom::Strings(set)) => Some((false, set)),
            Shape::Atom(Atom::Numbers(set)) => Some((true, set)),
            _ => None,
        };
        let found = match formulas.shape(whole) {
            Shape::And(list) => formulas.parts(list).iter().find_map(|&part| listed(part)),
            _ => listed(whole),
        };
        let values = |(is_number, set)| {
            let values = self.reader.atoms.sets.get(set).iter();
            values.map(|&value| (is_number, value)).collect()
        };
        Ok(found.map(values))
    }

    /// Same as `leaves`, if the next member satisfies at most one of these formulas: at least one
    /// leaf for each, and for none of them. Expanding one after the other would visit all residuals
    /// for each pair; here each part that asks for one formula is visited once.
    fn leaves_apart(
        &mut self,
        apart: &[F],
        tuple: &[F],
        class: F,
        leaves: &mut Leaves,
    ) -> Result<(), SchemaError> {
        let set: FxHashSet<F> = apart.iter().copied().collect();
        let parted: Vec<Parted> = tuple.iter().map(|&of| self.parted(of, &set)).collect();
        for chosen in apart.iter().copied().map(Some).chain([None]) {
            let mut replace = |formulas: &mut Formulas, atom| match atom {
                Atom::Child(of) if set.contains(&of) => Formulas::constant(chosen == Some(of)),
                _ => formulas.atom(atom),
            };
            let mut memo = FxHashMap::default();
            let formulas = &mut self.reader.formulas;
            let mut rest = Vec::with_capacity(parted.len());
            for Parted { asking, others } in &parted {
                let asking = chosen.and_then(|child| asking.get(&child)).into_iter().flatten();
                let parts: Vec<F> = asking
                    .chain(others)
                    .map(|&part| formulas.map(part, &mut memo, &mut replace))
                    .collect();
                rest.push(formulas.or(parts));
            }
            if rest.iter().all(|&of| of == F::FALSE) {
                continue;
            }
            let literals = match chosen {
                Some(child) => vec![class, child],
                None => {
                    let not = apart.iter().map(|&child| self.not_child(tuple, child));
                    let not: Result<Vec<F>, _> = not.collect();
                    [vec![class], not?].concat()
                }
            };
            let narrower = self.reader.formulas.and(literals);
            if narrower != F::FALSE && self.is_inhabited(narrower)? {
                self.leaves(rest, narrower, leaves)?;
            }
        }
        Ok(())
    }

    /// Groups the parts of a disjunction by the formula among `apart` that they ask of the next
    /// member.
    fn parted(&mut self, residual: F, apart: &FxHashSet<F>) -> Parted {
        let formulas = &mut self.reader.formulas;
        let mut parted = Parted { asking: FxHashMap::default(), others: Vec::new() };
        let parts = match formulas.shape(residual) {
            Shape::Or(list) => formulas.parts(list),
            _ => std::slice::from_ref(&residual),
        };
        for &part in parts {
            let conditions = match formulas.shape(part) {
                Shape::And(list) => formulas.parts(list),
                _ => std::slice::from_ref(&part),
            };
            let asked = conditions.iter().find_map(|&condition| match formulas.shape(condition) {
                Shape::Atom(Atom::Child(child)) => Some(child).filter(|of| apart.contains(of)),
                _ => None,
            });
            match asked {
                Some(child) => parted.asking.entry(child).or_default().push(part),
                None => parted.others.push(part),
            }
        }
        formulas.work += parted.asking.len() + parted.others.len();
        parted
    }

    /// Returns the residuals of a tuple if each of its formulas obviously requires the next member
    /// to satisfy `child`, as most do; `None` otherwise.
    fn needed(&mut self, child: F, tuple: &[F]) -> Option<Vec<F>> {
        let asked = self.reader.formulas.atom(Atom::Child(child));
        let mut rests = Vec::with_capacity(tuple.len());
        for &residual in tuple {
            let rest = match self.reader.formulas.shape(residual) {
                Shape::False => F::FALSE,
                Shape::Atom(_) if residual == asked => F::TRUE,
                Shape::And(list) => {
                    let parts: SmallVec<[F; 8]> = self.reader.formulas.parts(list).into();
                    let mut asks = |part: F| {
                        !matches!(self.reader.formulas.shape(part), Shape::Atom(_))
                            && self.first_asked(part).is_some()
                    };
                    if !parts.contains(&asked) || parts.iter().copied().any(&mut asks) {
                        return None;
                    }
                    let others = parts.into_iter().filter(|&part| part != asked);
                    self.reader.formulas.and(others)
                }
                _ => return None,
            };
            rests.push(rest);
        }
        Some(rests)
    }

    /// Returns the possible answers and the formulas that each leaves: fingerprints that leave the
    /// same formulas are one answer.
    fn answers(&self, asked: Asked, tuple: &[F]) -> Vec<(Vec<F>, u16)> {
        let Asked::Fingerprint(rule) = asked else {
            return vec![(vec![F::TRUE], 0), (vec![F::FALSE], 0)];
        };
        let atoms = self.reader.formulas.atoms(tuple);
        let lists = atoms.into_iter().filter_map(|atom| match atom {
            Atom::ByFingerprint(of, list) if of == rule => Some(list),
            _ => None,
        });
        let lists: Vec<u32> = lists.collect();
        let mut answers: Vec<(Vec<F>, u16)> = Vec::new();
        for own in 0..rule.modulus {
            let left = |&list: &u32| self.reader.atoms.branches.get(list)[usize::from(own)];
            let left: Vec<F> = lists.iter().map(left).collect();
            match answers.iter_mut().find(|(known, _)| *known == left) {
                Some((_, set)) => *set |= 1 << own,
                None => answers.push((left, 1 << own)),
            }
        }
        answers
    }

    /// Returns a condition of the formula on the next member.
    fn first_asked(&mut self, formula: F) -> Option<Asked> {
        let formulas = &self.reader.formulas;
        match formulas.shape(formula) {
            Shape::Atom(Atom::Child(child)) => return Some(Asked::Child(child)),
            Shape::Atom(Atom::ByFingerprint(rule, _)) => return Some(Asked::Fingerprint(rule)),
            Shape::Atom(_) | Shape::True | Shape::False => return None,
            Shape::Not(inner) => return self.first_asked(inner),
            Shape::And(_) | Shape::Or(_) | Shape::One(_) => {}
        }
        if let Some(&known) = self.first_asked.get(&formula) {
            return known;
        }
        let found = match formulas.shape(formula) {
            Shape::And(list) | Shape::Or(list) | Shape::One(list) => {
                let parts = formulas.parts(list).to_vec();
                parts.into_iter().find_map(|part| self.first_asked(part))
            }
            _ => None,
        };
        self.first_asked.insert(formula, found);
        found
    }
}

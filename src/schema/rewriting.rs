//! Traversals of formulas: replacing atoms, finding denied atoms, collecting atoms.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::schema::formula::{Atom, FormulaId, Formulas, Shape};

use FormulaId as F;

/// Largest number of parts of a flat formula.
const MOST_FLAT: usize = 8;

impl Formulas {
    /// Replaces the atoms of the formula. `memo` holds earlier results of the same replacement.
    pub(super) fn map(
        &mut self,
        formula: F,
        memo: &mut FxHashMap<F, F>,
        replace: &mut impl FnMut(&mut Self, Atom) -> F,
    ) -> F {
        let shape = self.shape(formula);
        let list = match shape {
            Shape::True | Shape::False => return formula,
            Shape::Atom(atom) => {
                self.work += 1;
                return replace(self, atom);
            }
            Shape::Not(inner) => {
                self.work += 1;
                let inner = self.map(inner, memo, replace);
                return self.not(inner);
            }
            Shape::And(list) | Shape::Or(list) | Shape::One(list) => list,
        };
        let is_flat = self.is_flat(formula);
        if !is_flat && let Some(&known) = memo.get(&formula) {
            return known;
        }
        self.work += 1;
        let mut parts: SmallVec<[F; 8]> = self.parts(list).into();
        for part in &mut parts {
            *part = self.map(*part, memo, replace);
        }
        let mapped = match shape {
            Shape::And(_) => self.and(parts),
            Shape::Or(_) => self.or(parts),
            _ => self.one(parts),
        };
        if !is_flat {
            memo.insert(formula, mapped);
        }
        mapped
    }

    /// Whether the formula has few parts, all of them atoms. Traversing such a formula again costs
    /// less than a memo.
    pub(super) fn is_flat(&self, formula: F) -> bool {
        let is_atom = |&part: &F| {
            !matches!(
                self.shape(part),
                Shape::Not(_) | Shape::And(_) | Shape::Or(_) | Shape::One(_)
            )
        };
        match self.shape(formula) {
            Shape::Not(inner) => is_atom(&inner),
            Shape::And(list) | Shape::Or(list) | Shape::One(list) => {
                let parts = self.parts(list);
                parts.len() <= MOST_FLAT && parts.iter().all(is_atom)
            }
            Shape::Atom(_) | Shape::True | Shape::False => true,
        }
    }

    /// Whether the formula may become harder to satisfy when the atom `of` holds.
    pub(super) fn denies(&self, formula: F, of: F) -> bool {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut pending = vec![(formula, false)];
        while let Some((formula, is_denied)) = pending.pop() {
            if !seen.insert((formula, is_denied)) {
                continue;
            }
            match self.shape(formula) {
                Shape::Atom(_) if formula == of && is_denied => return true,
                Shape::Not(inner) => pending.push((inner, !is_denied)),
                Shape::And(list) | Shape::Or(list) => {
                    pending.extend(self.parts(list).iter().map(|&part| (part, is_denied)));
                }
                Shape::One(list) => {
                    let parts = self.parts(list).iter();
                    pending.extend(parts.flat_map(|&part| [(part, false), (part, true)]));
                }
                Shape::Atom(_) | Shape::True | Shape::False => {}
            }
        }
        false
    }

    /// Returns the atoms of the formulas, each once, in ascending order of their formulas' ids.
    pub(super) fn atoms(&self, formulas: &[F]) -> Vec<Atom> {
        let atom = |&part: &F| match self.shape(part) {
            Shape::Atom(atom) => Some(atom),
            _ => None,
        };
        // Parts are already in ascending order.
        if let &[formula] = formulas
            && self.is_flat(formula)
        {
            return match self.shape(formula) {
                Shape::And(list) | Shape::Or(list) | Shape::One(list) => {
                    self.parts(list).iter().filter_map(atom).collect()
                }
                Shape::Not(inner) => atom(&inner).into_iter().collect(),
                Shape::Atom(atom) => vec![atom],
                Shape::True | Shape::False => Vec::new(),
            };
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut pending = formulas.to_vec();
        let mut atoms = Vec::new();
        while let Some(formula) = pending.pop() {
            if !self.is_flat(formula) && !seen.insert(formula) {
                continue;
            }
            match self.shape(formula) {
                Shape::Atom(atom) => atoms.push((formula, atom)),
                Shape::Not(inner) => pending.push(inner),
                Shape::And(list) | Shape::Or(list) | Shape::One(list) => {
                    pending.extend(self.parts(list));
                }
                Shape::True | Shape::False => {}
            }
        }
        atoms.sort_unstable();
        atoms.dedup();
        atoms.into_iter().map(|(_, atom)| atom).collect()
    }
}

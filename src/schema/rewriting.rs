//! Formulas gone through: with their atoms replaced, for what they deny, for their atoms.

use rustc_hash::FxHashMap;

use crate::schema::formula::{Atom, FormulaId, Formulas, Shape};

use FormulaId as F;

impl Formulas {
    /// The formula with its atoms replaced. `memo` holds what was replaced already, by the same
    /// replacement.
    pub(super) fn map(
        &mut self,
        formula: F,
        memo: &mut FxHashMap<F, F>,
        replace: &mut impl FnMut(&mut Self, Atom) -> F,
    ) -> F {
        let shape = self.shape(formula);
        if let Shape::True | Shape::False = shape {
            return formula;
        }
        if let Some(&known) = memo.get(&formula) {
            return known;
        }
        self.work += 1;
        let mapped = match shape {
            Shape::Atom(atom) => replace(self, atom),
            Shape::Not(inner) => {
                let inner = self.map(inner, memo, replace);
                self.not(inner)
            }
            Shape::And(list) | Shape::Or(list) | Shape::One(list) => {
                let mut parts = self.parts(list).to_vec();
                for part in &mut parts {
                    *part = self.map(*part, memo, replace);
                }
                match shape {
                    Shape::And(_) => self.and(parts),
                    Shape::Or(_) => self.or(parts),
                    _ => self.one(parts),
                }
            }
            Shape::True | Shape::False => formula,
        };
        memo.insert(formula, mapped);
        mapped
    }

    /// Whether the formula gets harder to satisfy somewhere when the atom `of` holds.
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

    /// The atoms of the formulas, each once, ascending by their formulas' ids.
    pub(super) fn atoms(&self, formulas: &[F]) -> Vec<Atom> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut pending = formulas.to_vec();
        let mut atoms = Vec::new();
        while let Some(formula) = pending.pop() {
            if !seen.insert(formula) {
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
        atoms.into_iter().map(|(_, atom)| atom).collect()
    }
}

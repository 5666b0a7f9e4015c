//! Where formulas come from: the schema that says each of them, for messages.
//!
//! Equal schemas are one formula. What is said of the formula then holds of all of them, so it is
//! given no place; the schema at which most steps were taken is one of them in any case.

use rustc_hash::FxHashMap;

use crate::schema::formula::{FormulaId, Formulas, Shape};
use crate::schema::json::NodeId;

use FormulaId as F;

/// The schemas that formulas come from, and the steps that were taken about each.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// The first schema that says a formula, and whether it is the only one.
    of: FxHashMap<F, (NodeId, bool)>,
    /// Steps taken about values of which a schema asks something, those within aside.
    took: FxHashMap<NodeId, usize>,
    /// The schema about whose values steps are taken, and how many were taken before.
    now: Option<NodeId>,
    before: usize,
}

impl Origins {
    /// A schema says a formula.
    pub(super) fn said(&mut self, formula: F, node: NodeId) {
        if !formula.is_constant() {
            let (first, is_only) = self.of.entry(formula).or_insert((node, true));
            *is_only &= *first == node;
        }
    }

    /// From now on steps are taken about the values of another schema; `steps` were taken so far.
    /// The one before, to be handed in again.
    pub(super) fn turn(&mut self, to: Option<NodeId>, steps: usize) -> Option<NodeId> {
        if let Some(now) = self.now {
            *self.took.entry(now).or_default() += steps - self.before;
        }
        self.before = steps;
        std::mem::replace(&mut self.now, to)
    }

    /// The schema about whose values the most steps were taken.
    pub(super) fn costliest(&self) -> Option<NodeId> {
        self.took.iter().max_by_key(|&(&node, &steps)| (steps, node)).map(|(&node, _)| node)
    }

    /// The schema about whose values steps are taken.
    pub(super) fn now(&self) -> Option<NodeId> {
        self.now
    }

    /// The schema that a formula comes from, and whether it is the only one that says so. Of a
    /// conjunction of several the first.
    pub(super) fn of(&self, formulas: &Formulas, formula: F) -> Option<(NodeId, bool)> {
        self.of.get(&formula).copied().or_else(|| match formulas.shape(formula) {
            Shape::And(list) => {
                let parts = formulas.parts(list).iter();
                parts.filter_map(|part| self.of.get(part)).min().copied()
            }
            _ => None,
        })
    }
}

//! Origins of formulas: the schema that states each formula, for messages.
//!
//! Equal schemas share one formula. A message about such a formula applies to all of them, so it
//! has no source location. The schema with the most steps is one of them in any case.

use rustc_hash::FxHashMap;

use crate::schema::formula::{FormulaId, Formulas, Shape};
use crate::schema::json::NodeId;

use FormulaId as F;

/// Schemas that formulas originate from, and the steps spent on each.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// First schema that states a formula, and whether it is the only one.
    of: FxHashMap<F, (NodeId, bool)>,
    /// Steps spent on the values of each schema, excluding those of nested schemas.
    took: FxHashMap<NodeId, usize>,
    /// Schema whose values steps are currently spent on, and the number of steps before that.
    now: Option<NodeId>,
    before: usize,
}

impl Origins {
    /// Records that a schema states a formula.
    pub(super) fn said(&mut self, formula: F, node: NodeId) {
        if !formula.is_constant() {
            let (first, is_only) = self.of.entry(formula).or_insert((node, true));
            *is_only &= *first == node;
        }
    }

    /// Attributes all further steps to another schema; `steps` were taken so far. Returns the
    /// previous schema, to be passed back later.
    pub(super) fn turn(&mut self, to: Option<NodeId>, steps: usize) -> Option<NodeId> {
        if let Some(now) = self.now {
            *self.took.entry(now).or_default() += steps - self.before;
        }
        self.before = steps;
        std::mem::replace(&mut self.now, to)
    }

    /// Returns the schema on whose values the most steps were spent.
    pub(super) fn costliest(&self) -> Option<NodeId> {
        self.took.iter().max_by_key(|&(&node, &steps)| (steps, node)).map(|(&node, _)| node)
    }

    /// Returns the schema on whose values steps are currently spent.
    pub(super) fn now(&self) -> Option<NodeId> {
        self.now
    }

    /// Returns the schema that a formula originates from, and whether it is the only one that
    /// states it. For a conjunction of several, returns the first.
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

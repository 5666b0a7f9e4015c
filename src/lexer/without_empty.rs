//! The automaton of a terminal without the empty text.

use crate::lexer::dfa::{Dfa, Trailing};
use crate::lexer::minimize::RawDfa;

impl Dfa {
    /// Returns the automaton of the same texts except the empty one, which must have no condition.
    pub(crate) fn without_empty(&self) -> Self {
        if !self.accepts_empty() {
            return self.clone();
        }
        // The new start is a separate state: paths that return to the old one have read something.
        let width = self.classes.count();
        let moved = |&state: &u32| if state == Self::DEAD { state } else { state + 1 };
        let table: Vec<u32> =
            self.table[..width].iter().chain(&self.table[..]).map(moved).collect();
        let accept =
            std::iter::once(false).chain(self.distance.iter().map(|&distance| distance == 0));
        let trailing = self.trailing.as_ref().map(|trailing| Trailing {
            of: std::iter::once(0).chain(trailing.of.iter().copied()).collect(),
            conditions: trailing.conditions.clone(),
        });
        let mut raw =
            RawDfa { classes: self.classes.clone(), table, accept: accept.collect(), trailing };
        raw.drop_unreachable();
        raw.minimize_uncounted()
    }
}

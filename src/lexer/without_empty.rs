//! The automaton of a terminal without the empty text.

use crate::lexer::dfa::{Dfa, Trailing};
use crate::lexer::minimize::RawDfa;

impl Dfa {
    /// The automaton of the same texts but for the empty one, of which nothing is asked.
    pub(crate) fn without_empty(&self) -> Self {
        if !self.accepts_empty() {
            return self.clone();
        }
        // A start of its own, since what comes back to the old one has been read as something.
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

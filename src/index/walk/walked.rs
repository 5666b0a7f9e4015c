//! Walks and the token sets that they refer to.

use super::tables::WalkTables;
use crate::index::tokens::TokenSetGraph;

/// All walks, with their token sets.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) tokens: TokenSetGraph,
    pub(crate) walks: WalkTables,
}

impl Walked {
    /// Returns the heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        self.tokens.bytes() + self.walks.bytes()
    }
}

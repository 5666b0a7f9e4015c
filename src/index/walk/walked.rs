//! Walks and the sets of tokens that they name.

use super::tables::WalkTables;
use crate::index::tokens::TokenSetGraph;

/// What has been walked.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) tokens: TokenSetGraph,
    pub(crate) walks: WalkTables,
}

impl Walked {
    /// Heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        self.tokens.bytes() + self.walks.bytes()
    }
}

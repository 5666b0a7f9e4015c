//! The context of walks, as one value.

use super::tables::WalkTables;
use crate::index::tokens::TokenSetGraph;
use crate::scanner::Scanner;
use crate::vocab::trie::Trie;

/// The inputs and the tables of walks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walker<'g> {
    pub(crate) scanner: &'g Scanner,
    pub(crate) trie: &'g Trie,
    /// Number of words of a mask.
    pub(crate) words: usize,
    pub(crate) tables: &'g WalkTables,
    pub(crate) tokens: &'g TokenSetGraph,
    pub(crate) shortcuts: Shortcuts,
}

/// Optimizations that let walks skip most of the trie, and masks most of the walks. None changes a
/// mask: tests turn off each, and compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shortcuts {
    /// Leaves the part of a walk that equals a base walk to the base walk.
    pub(crate) base_walks: bool,
    /// Skips whole subtrees and runs of nodes where a scan state leads back to itself.
    pub(crate) self_loops: bool,
    /// Caches the results for each first byte, for other walks.
    pub(crate) branches: bool,
    /// Caches the results for parts of a mask, for other masks.
    pub(crate) submasks: bool,
}

impl Shortcuts {
    /// All of them: nothing else is used outside tests.
    pub(crate) const ALL: Self =
        Self { base_walks: true, self_loops: true, branches: true, submasks: true };
}

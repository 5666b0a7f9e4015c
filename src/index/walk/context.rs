//! What walks need, as one value.

use super::tables::WalkTables;
use crate::index::tokens::TokenSetGraph;
use crate::scanner::Scanner;
use crate::vocab::trie::Trie;

/// What a walk stands on, and where it is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walker<'g> {
    pub(crate) scanner: &'g Scanner,
    pub(crate) trie: &'g Trie,
    /// Words in a mask.
    pub(crate) words: usize,
    pub(crate) tables: &'g WalkTables,
    pub(crate) tokens: &'g TokenSetGraph,
    pub(crate) shortcuts: Shortcuts,
}

/// What saves walks most of the trie, and masks most of the walks. None of it changes a mask: tests
/// turn off each, and compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shortcuts {
    /// What a walk would meet just as a base walk does is left to that one.
    pub(crate) base_walks: bool,
    /// Where a scan state leads back to itself, whole subtrees and runs of nodes are passed over.
    pub(crate) self_loops: bool,
    /// Where a scan state counts characters, tokens are told by how many they have.
    pub(crate) counts: bool,
    /// What another grammar has met inside the same string is taken from there.
    pub(crate) rests: bool,
    /// What is below a first byte is kept, and serves other walks.
    pub(crate) branches: bool,
    /// What the parts of a mask came to is kept, and serves other masks.
    pub(crate) submasks: bool,
}

impl Shortcuts {
    /// All of them: outside tests nothing else is used.
    pub(crate) const ALL: Self = Self {
        base_walks: true,
        self_loops: true,
        counts: true,
        rests: true,
        branches: true,
        submasks: true,
    };
}

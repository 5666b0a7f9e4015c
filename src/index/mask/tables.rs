//! The masks computed so far, and their parts.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::stack_trie::{Leaf, Root, StackTrie};
use super::storage::Masks;
use super::submask::Submask;
use super::unions::MaskUnions;
use crate::index::tokens::TokensId;
use crate::index::walk::Walk;
use crate::util::append_map::AppendMap;
use crate::util::memo::Memo;

/// Finished masks, and the trie over stacks that finds them.
#[derive(Debug, Default)]
pub(crate) struct MaskTables {
    pub(crate) stacks: StackTrie<Root, Leaf>,
    pub(crate) masks: Masks,
    pub(crate) unions: MaskUnions,
    /// Bytes of masks.
    pub(super) bytes: AtomicUsize,
}

/// The parts from which new masks are composed, as numbers of token sets.
#[derive(Debug, Default)]
pub(crate) struct PartTables {
    /// Keyed by the number of a walk and that of the set of labels that stacks take.
    taken: Memo<(u32, u32), Taken>,
    pub(super) submasks: StackTrie<Submask, TokensId>,
    /// Maps a set of tokens, and whether the text may end, to a mask.
    pub(super) masks: AppendMap<(TokensId, bool), u32>,
    /// Bytes of `taken`.
    bytes: AtomicUsize,
}

/// The ends of a walk without obligations that certain stacks take.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) tokens: TokensId,
    /// Indices of the ends that need a search to decide.
    pub(super) open: Box<[u32]>,
}

impl MaskTables {
    /// Adds to the number of bytes held.
    pub(crate) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.stacks.bytes() + self.unions.bytes()
    }
}

impl PartTables {
    /// Returns the ends of `walk` for stacks that accept the set `what`; computed by `find` if
    /// unknown.
    pub(super) fn taken(&self, walk: &Walk, what: u32, find: impl FnOnce() -> Taken) -> &Taken {
        self.taken.get_or_find((walk.number, what), || {
            let taken = find();
            let bytes = TAKEN_BYTES + size_of_val(&*taken.open);
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            taken
        })
    }

    /// Returns the heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        let masks = self.masks.len() * MASK_OF_BYTES;
        self.bytes.load(Ordering::Relaxed) + self.submasks.bytes() + masks
    }
}

/// Overhead of an entry of `taken`.
const TAKEN_BYTES: usize = 64;

/// Size of an entry that maps a set of tokens to a mask.
const MASK_OF_BYTES: usize = 32;

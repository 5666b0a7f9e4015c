//! What masks have come to so far, and what their parts have.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::stack_trie::{Leaf, Root, StackTrie};
use super::storage::Masks;
use super::submask::Submask;
use super::unions::MaskUnions;
use crate::index::tokens::TokensId;
use crate::index::walk::Walk;
use crate::util::append_map::AppendMap;
use crate::util::memo::Memo;

/// Finished masks, and the trie over stacks by which they are found.
#[derive(Debug, Default)]
pub(crate) struct MaskTables {
    pub(crate) stacks: StackTrie<Root, Leaf>,
    pub(crate) masks: Masks,
    pub(crate) unions: MaskUnions,
    /// Of masks.
    pub(super) bytes: AtomicUsize,
}

/// What the parts of masks have come to, as numbers of token sets.
#[derive(Debug, Default)]
pub(crate) struct PartTables {
    /// By the numbers of a walk and of what stacks take.
    taken: Memo<(u32, u32), Taken>,
    pub(super) submasks: StackTrie<Submask, TokensId>,
    /// Of what is taken.
    bytes: AtomicUsize,
}

/// Which mask a set of tokens is, and whether the text may end.
#[derive(Debug, Default)]
pub(crate) struct MasksOf {
    pub(super) known: AppendMap<(TokensId, bool), u32>,
}

/// Which ends of a walk without obligations some stacks take.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) tokens: TokensId,
    /// Those of which it takes a search to say, by their places.
    pub(super) open: Box<[u32]>,
}

impl MaskTables {
    /// More bytes are held.
    pub(crate) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.stacks.bytes() + self.unions.bytes()
    }
}

impl PartTables {
    /// Which ends of `walk` stacks take that take `what`, found by `find` if it is not known.
    pub(super) fn taken(&self, walk: &Walk, what: u32, find: impl FnOnce() -> Taken) -> &Taken {
        self.taken.get_or_find((walk.number, what), || {
            let taken = find();
            let bytes = TAKEN_BYTES + size_of_val(&*taken.open);
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            taken
        })
    }

    /// Heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.submasks.bytes()
    }
}

impl MasksOf {
    /// Heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        self.known.len() * MASK_OF_BYTES
    }
}

/// What it costs to know what is taken of a walk.
const TAKEN_BYTES: usize = 64;

/// What it costs to know a mask by what it is a union of.
const MASK_OF_BYTES: usize = 32;

//! What masks have come to so far.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::stack_trie::{Leaf, Root, StackTrie};
use super::storage::Masks;
use super::submask::Submask;
use super::unions::MaskUnions;
use crate::index::tokens::TokensId;
use crate::index::walk::Walk;
use crate::util::append_map::AppendMap;
use crate::util::memo::Memo;

/// Masks, and the tries over stacks by which they and their parts are found.
#[derive(Debug, Default)]
pub(crate) struct MaskTables {
    /// By the numbers of a walk and of what stacks take.
    taken: Memo<(u32, u32), Taken>,
    pub(super) submasks: StackTrie<Submask, TokensId>,
    /// The masks that paths end in may have been dropped.
    pub(crate) stacks: StackTrie<Root, Leaf>,
    pub(crate) masks: Masks,
    /// By what they are unions of, and whether the text may end.
    pub(super) masks_of: AppendMap<(TokensId, bool), u32>,
    pub(crate) unions: MaskUnions,
    /// Of masks and of what is taken.
    bytes: AtomicUsize,
}

/// Which ends of a walk without obligations some stacks take.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) tokens: TokensId,
    /// Those of which it takes a search to say, by their places.
    pub(super) open: Box<[u32]>,
}

impl MaskTables {
    /// Which ends of `walk` stacks take that take `what`, found by `find` if it is not known.
    pub(super) fn taken(&self, walk: &Walk, what: u32, find: impl FnOnce() -> Taken) -> &Taken {
        self.taken.get_or_find((walk.number, what), || {
            let taken = find();
            self.add_bytes(TAKEN_BYTES + size_of_val(&*taken.open));
            taken
        })
    }

    /// The masks in use, as far as there is room, with the paths that lead to them; what they are
    /// put together from is none of it.
    pub(crate) fn in_use(&self, room: usize) -> Self {
        if self.stacks.bytes() > room / SHARE_FOR_PATHS {
            return Self::default();
        }
        // Before the masks, so that all are there that paths end in. A copy, because others may
        // still enter masks here, under numbers that mean something else there.
        let stacks = self.stacks.copy();
        let (masks, bytes) = self.masks.in_use(room.saturating_sub(stacks.bytes()));
        Self { stacks, masks, bytes: AtomicUsize::new(bytes), ..Self::default() }
    }

    /// More bytes are held.
    pub(crate) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        let known = self.masks_of.len() * MASK_OF_BYTES;
        let tries = self.stacks.bytes() + self.submasks.bytes();
        self.bytes.load(Ordering::Relaxed) + tries + self.unions.bytes() + known
    }
}

/// Paths that take more than this fraction of the room are not kept.
const SHARE_FOR_PATHS: usize = 2;

/// What it costs to know what is taken of a walk.
const TAKEN_BYTES: usize = 64;

/// What it costs to know a mask by what it is a union of.
const MASK_OF_BYTES: usize = 32;

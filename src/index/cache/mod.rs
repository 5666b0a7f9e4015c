//! The tables of the index, and their budget.
//!
//! All that has been computed lives in an [`Epoch`]: the finished masks with the paths that lead to
//! them, and the parts that new masks are put together from. When an epoch has outgrown half of the
//! budget, an empty one begins. The masks of the one before stay readable until the next switch,
//! and a mask that is found there is carried over. Its parts are dropped: they are most of the
//! bytes and the least asked for. So masks in use survive, and all others are gone after two
//! switches. Renewing costs time and never exactness: sequences that still read an old epoch hold
//! it by reference count. Reading takes no lock.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};

use super::mask::{MaskTables, MasksOf, PartTables};
use super::walk::Walked;

/// What has been computed since the last switch.
#[derive(Debug, Default)]
pub(super) struct Epoch {
    /// What new masks are put together from.
    pub(super) walked: Walked,
    pub(super) parts: PartTables,
    pub(super) masks: Arc<MaskTables>,
    /// From the one to the other.
    pub(super) masks_of: MasksOf,
    /// The masks of the epoch before.
    pub(super) before: Option<Arc<MaskTables>>,
}

/// The epoch in use.
#[derive(Debug)]
pub(super) struct Cache {
    /// Bytes that an epoch may take: two are held.
    budget: usize,
    epoch: ArcSwap<Epoch>,
}

/// Submasks may take this fraction of an epoch, and no more than so many bytes: what is met most is
/// met early.
const SHARE_FOR_SUBMASKS: usize = 4;
const MOST_FOR_SUBMASKS: usize = 8 << 20;

impl Cache {
    /// A cache that holds about `budget` bytes.
    pub(super) fn new(budget: usize) -> Self {
        Self { budget: budget / 2, epoch: ArcSwap::default() }
    }

    /// The epoch in use.
    #[inline]
    pub(super) fn epoch(&self) -> Guard<Arc<Epoch>> {
        self.epoch.load()
    }

    /// Bytes that submasks may take.
    pub(super) fn room_for_submasks(&self) -> usize {
        (self.budget / SHARE_FOR_SUBMASKS).min(MOST_FOR_SUBMASKS)
    }

    /// Begins a new epoch if `epoch`, the one in use, has outgrown its budget.
    #[inline]
    pub(super) fn renew(&self, epoch: &Arc<Epoch>) {
        if epoch.own_bytes() > self.budget {
            self.begin_next(epoch);
        }
    }

    /// Begins the next epoch. Kept apart: tables are large values while they are made, and the call
    /// stack that they take would be touched by each mask.
    #[cold]
    #[inline(never)]
    fn begin_next(&self, epoch: &Arc<Epoch>) {
        let next = Epoch { before: Some(Arc::clone(&epoch.masks)), ..Epoch::default() };
        // Of threads that come here together one begins it.
        self.epoch.compare_and_swap(epoch, Arc::new(next));
    }
}

impl Epoch {
    /// Heap bytes, those of the masks before among them.
    pub(super) fn bytes(&self) -> usize {
        self.own_bytes() + self.before.as_ref().map_or(0, |before| before.bytes())
    }

    fn own_bytes(&self) -> usize {
        self.walked.bytes() + self.parts.bytes() + self.masks.bytes() + self.masks_of.bytes()
    }
}

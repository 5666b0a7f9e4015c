//! The tables of the index, and their budget.
//!
//! All computed data is in an [`Epoch`]: the finished masks with the paths that lead to them, and
//! the parts from which new masks are composed. When an epoch has outgrown half of the budget, an
//! empty one begins. The masks of the previous epoch stay readable until the next switch, and a
//! mask that is found there is carried over. Its parts are dropped: they take most of the bytes and
//! are used the least. So masks in use survive, and all others are gone after two switches. A
//! switch costs time but never exactness: sequences that still read an old epoch hold it by
//! reference count. Reading is lock-free.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};

use super::mask::{MaskTables, PartTables};
use super::tokens::TokenSetGraph;
use super::walk::WalkTables;

/// Data computed since the last switch.
#[derive(Debug, Default)]
pub(super) struct Epoch {
    pub(super) tokens: TokenSetGraph,
    pub(super) walks: WalkTables,
    pub(super) parts: PartTables,
    pub(super) masks: Arc<MaskTables>,
    /// The masks of the previous epoch.
    pub(super) before: Option<Arc<MaskTables>>,
}

/// The cache, which holds the current epoch.
#[derive(Debug)]
pub(super) struct Cache {
    /// Upper bound on the bytes of one epoch; two are held.
    budget: usize,
    epoch: ArcSwap<Epoch>,
}

/// Submasks may take this fraction of an epoch, and no more than this many bytes: the most common
/// ones are met early.
const SHARE_FOR_SUBMASKS: usize = 4;
const MOST_FOR_SUBMASKS: usize = 8 << 20;

impl Cache {
    /// Creates a cache that holds about `budget` bytes.
    pub(super) fn new(budget: usize) -> Self {
        Self { budget: budget / 2, epoch: ArcSwap::default() }
    }

    /// Returns the number of bytes that it may hold.
    pub(super) fn budget(&self) -> usize {
        self.budget * 2
    }

    /// Returns the current epoch.
    #[inline]
    pub(super) fn epoch(&self) -> Guard<Arc<Epoch>> {
        self.epoch.load()
    }

    /// Returns the upper bound on the bytes of submasks.
    pub(super) fn room_for_submasks(&self) -> usize {
        (self.budget / SHARE_FOR_SUBMASKS).min(MOST_FOR_SUBMASKS)
    }

    /// Begins a new epoch if `epoch`, the current one, has outgrown its budget.
    #[inline]
    pub(super) fn renew(&self, epoch: &Arc<Epoch>) {
        if epoch.own_bytes() > self.budget {
            self.begin_next(epoch);
        }
    }

    /// Begins the next epoch. A separate function, because tables are large values while they are
    /// created: inlined, their stack frame would be touched by each mask.
    #[cold]
    #[inline(never)]
    fn begin_next(&self, epoch: &Arc<Epoch>) {
        let next = Epoch { before: Some(Arc::clone(&epoch.masks)), ..Epoch::default() };
        // If several threads get here at once, one of them succeeds.
        self.epoch.compare_and_swap(epoch, Arc::new(next));
    }
}

impl Epoch {
    /// Returns the heap bytes, including those of the previous masks.
    pub(super) fn bytes(&self) -> usize {
        self.own_bytes() + self.before.as_ref().map_or(0, |before| before.bytes())
    }

    fn own_bytes(&self) -> usize {
        self.tokens.bytes() + self.walks.bytes() + self.parts.bytes() + self.masks.bytes()
    }
}

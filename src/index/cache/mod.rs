//! The tables of the index, and their budget.
//!
//! All that has been computed lives in one [`Epoch`]. When that outgrows the budget it is dropped
//! and a new one begun, which costs time and never exactness: what is in use lives on by reference
//! count. What is there is read without a lock.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};

use super::mask::MaskTables;
use super::tokens::TokenSetGraph;
use super::walk::WalkTables;

/// What has been computed since the budget was last exhausted.
#[derive(Debug, Default)]
pub(super) struct Epoch {
    pub(super) tokens: TokenSetGraph,
    pub(super) walks: WalkTables,
    pub(super) masks: MaskTables,
}

/// The epoch in use.
#[derive(Debug)]
pub(super) struct Cache {
    /// Bytes that an epoch may take.
    budget: usize,
    epoch: ArcSwap<Epoch>,
}

/// Submasks may take this fraction of the budget: what is met most is met early.
const SHARE_FOR_SUBMASKS: usize = 32;

impl Cache {
    /// A cache that begins with this.
    pub(super) fn new(budget: usize, epoch: Epoch) -> Self {
        Self { budget, epoch: ArcSwap::from_pointee(epoch) }
    }

    /// The epoch in use.
    #[inline]
    pub(super) fn epoch(&self) -> Guard<Arc<Epoch>> {
        self.epoch.load()
    }

    /// Bytes that submasks may take.
    pub(super) fn room_for_submasks(&self) -> usize {
        self.budget / SHARE_FOR_SUBMASKS
    }

    /// Begins a new epoch if `epoch`, the one in use, has outgrown the budget.
    pub(super) fn renew(&self, epoch: &Arc<Epoch>) {
        if epoch.bytes() > self.budget {
            self.epoch.compare_and_swap(epoch, Arc::default());
        }
    }
}

impl Epoch {
    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.tokens.bytes() + self.walks.bytes() + self.masks.bytes()
    }
}

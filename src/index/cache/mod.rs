//! The tables of the index, and their budget.
//!
//! All that has been computed lives in one [`Epoch`]. When that outgrows the budget a new one is
//! begun, with copies of what is in use of the old: the masks and the walks that were asked for
//! since they came there, as far as there is room, and the paths that lead to masks, which are
//! small. Renewing costs time and never exactness: what others still read lives on by reference
//! count. What is there is read without a lock.
//!
//! Roads not taken. To drop everything at once: most masks then waited for what had been there just
//! before. To keep the last few epochs, and to take over from these what is met again: what is in
//! use is then held several times, so that less fits in than before.

use std::sync::{Arc, Mutex, TryLockError};

use arc_swap::{ArcSwap, Guard};

use super::mask::MaskTables;
use super::walk::Walked;

/// What is kept of what has been computed.
#[derive(Debug, Default)]
pub(super) struct Epoch {
    pub(super) walked: Walked,
    pub(super) masks: MaskTables,
}

/// The epoch in use.
#[derive(Debug)]
pub(super) struct Cache {
    /// Bytes that an epoch may take.
    budget: usize,
    epoch: ArcSwap<Epoch>,
    /// Held by whoever begins a new epoch.
    renewing: Mutex<()>,
}

/// Submasks may take this fraction of the budget: what is met most is met early.
const SHARE_FOR_SUBMASKS: usize = 32;

/// The masks in use may take this fraction of the budget.
const SHARE_FOR_MASKS: usize = 6;

/// The walks in use may take this fraction of the budget.
const SHARE_FOR_WALKS: usize = 3;

/// More than so many bytes of either are not taken along: somebody waits meanwhile.
const MOST_TAKEN_ALONG: usize = 16 << 20;

impl Cache {
    /// A cache that begins with this.
    pub(super) fn new(budget: usize, epoch: Epoch) -> Self {
        Self { budget, epoch: ArcSwap::from_pointee(epoch), renewing: Mutex::default() }
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
    pub(super) fn renew(&self, epoch: &Arc<Epoch>, words: usize) {
        if epoch.bytes() <= self.budget {
            return;
        }
        // One is enough; the others go on meanwhile. The lock guards nothing that a panic could
        // leave half done.
        let _renewing = match self.renewing.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if !Arc::ptr_eq(&self.epoch.load(), epoch) {
            return;
        }
        let room = |share: usize| MOST_TAKEN_ALONG.min(self.budget / share);
        let walked = epoch.walked.in_use(room(SHARE_FOR_WALKS), words);
        let masks = epoch.masks.in_use(room(SHARE_FOR_MASKS));
        self.epoch.store(Arc::new(Epoch { walked, masks }));
    }
}

impl Epoch {
    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.walked.bytes() + self.masks.bytes()
    }
}

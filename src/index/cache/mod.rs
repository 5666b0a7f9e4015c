//! The tables of the index, and their budget.
//!
//! All that has been computed lives in one [`Epoch`], in two halves: the finished masks with the
//! paths that lead to them, and the parts that new masks are put together from. When both together
//! outgrow the budget a new epoch is begun. The parts go first: the first mask of a grammar may
//! make a megabyte of them, and all that a sampler ever asks for again is some dozens of masks and
//! a few hundred paths. Of the masks those stay that were asked for most, of the parts those that
//! save the most time: of the walks, for each byte. Renewing costs time and never exactness: what
//! others still read lives on by reference count. What is there is read without a lock.
//!
//! Roads not taken. To drop everything at once: most masks then waited for what had been there just
//! before. To drop both halves together: an epoch then lasts as long as the parts of a few masks
//! take to fill it, and masks that were not asked for meanwhile went with them. To keep no submask,
//! and no walk that was asked for but once: where one mask makes more parts than there is room for,
//! none is asked for twice, and each new mask begins with nothing. To keep the last few epochs, and
//! to take over from these what is met again: what is in use is then held several times, so that
//! less fits in than before. To give half of the budget to parts: new masks of Python's grammar
//! then come sooner where there is little room, but other grammars wait for masks that were there.
//! To weigh finished masks by what it took to find them, and walks by in how many epochs they were
//! asked for: it made no difference.
//!
//! What stays is copied in little room: masks as [`mask::copies`](super::mask) says, sets of tokens
//! as [`TokenSet`](super::tokens::TokenSet) does.

use std::sync::{Arc, Mutex, TryLockError};

use arc_swap::{ArcSwap, Guard};

use super::mask::{MaskTables, MasksOf, PartTables};
use super::walk::Walked;
use crate::vocab::rests::Rests;

/// What is kept of what has been computed.
#[derive(Debug, Default)]
pub(super) struct Epoch {
    pub(super) parts: Arc<Parts>,
    pub(super) masks: Arc<MaskTables>,
    /// From the one to the other.
    pub(super) masks_of: MasksOf,
}

/// What new masks are put together from.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) walked: Walked,
    pub(super) tables: PartTables,
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

/// Submasks may take this fraction of the budget, and no more than so many bytes: what is met most
/// is met early.
const SHARE_FOR_SUBMASKS: usize = 4;
const MOST_FOR_SUBMASKS: usize = 8 << 20;

/// New masks of small grammars are put together from so many bytes, those of large ones from four
/// times as many.
const PARTS_OF_A_MASK: usize = 24 << 10;

/// Parts of so many bytes are copied for each new mask, if need be: that takes less time than to do
/// again what would not have stayed.
const SOON_COPIED: usize = 128 << 10;

/// More than so many bytes of either half are not taken along: somebody waits meanwhile.
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
        (self.budget / SHARE_FOR_SUBMASKS).min(MOST_FOR_SUBMASKS)
    }

    /// Bytes that masks may take once there is no room for all. Where the rest would not hold what
    /// one new mask is put together from, nearly all.
    fn most_for_masks(&self) -> usize {
        let most = self.budget / 3 * 2;
        if self.budget - most < PARTS_OF_A_MASK { self.budget / 16 * 15 } else { most }
    }

    /// Begins a new epoch if `epoch`, the one in use, has outgrown the budget.
    #[inline]
    pub(super) fn renew(&self, epoch: &Arc<Epoch>, words: usize, rests: &Rests) {
        if epoch.bytes() > self.budget {
            self.begin_next(epoch, words, rests);
        }
    }

    /// Begins the next epoch. Kept apart: tables are large values while they are made, and the call
    /// stack that they take would be touched by each mask.
    #[cold]
    #[inline(never)]
    fn begin_next(&self, epoch: &Arc<Epoch>, words: usize, rests: &Rests) {
        // One is enough; the others go on meanwhile. The lock guards nothing that a panic could
        // leave half done.
        let _renewing = match self.renewing.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if Arc::ptr_eq(&self.epoch.load(), epoch) {
            self.epoch.store(Arc::new(self.next(epoch, words, rests)));
        }
    }

    /// What of an epoch stays.
    fn next(&self, epoch: &Epoch, words: usize, rests: &Rests) -> Epoch {
        let most_masks = self.most_for_masks();
        let room = MOST_TAKEN_ALONG.min(most_masks / 64 * 63);
        let masks = match epoch.masks.bytes() > most_masks {
            true => Arc::new(epoch.masks.in_use(room, words, rests)),
            false => Arc::clone(&epoch.masks),
        };
        let room = self.budget.saturating_sub(masks.bytes());
        let parts = match epoch.parts.bytes() > room {
            true => Arc::new(self.parts_in_use(&epoch.parts, room, words, rests)),
            false => Arc::clone(&epoch.parts),
        };
        Epoch { parts, masks, masks_of: MasksOf::default() }
    }

    /// The parts that are in use, in three quarters of their room, or in all of it where that is
    /// soon copied: what the next mask makes goes beyond it. Walks take four fifths of that at
    /// most. Submasks take the rest, but no more than half of what they ever may, so that new ones
    /// find room.
    fn parts_in_use(&self, parts: &Parts, room: usize, words: usize, rests: &Rests) -> Parts {
        let room = MOST_TAKEN_ALONG.min(room.min(SOON_COPIED).max(room / 4 * 3));
        let mut kept = parts.walked.in_use(room / 5 * 4, words, rests);
        let room = (room.saturating_sub(kept.walked.bytes())).min(self.room_for_submasks() / 2);
        let tables = parts.tables.in_use(&parts.walked, &mut kept, room);
        Parts { walked: kept.finish(), tables }
    }
}

impl Epoch {
    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.parts.bytes() + self.masks.bytes() + self.masks_of.bytes()
    }
}

impl Parts {
    fn bytes(&self) -> usize {
        self.walked.bytes() + self.tables.bytes()
    }
}

//! Ends that stand only if no longer match comes.
//!
//! Where a lexeme may have ended and the next byte leads to a state that does not accept, the end
//! is *open*: an accept further on refutes it, by longest match. The node is one of a boundary only
//! if some token below it ends, or falls out of the lexeme, before such an accept. Then the end
//! *survives*, and once is enough.

use std::num::NonZeroU32;

/// The open ends of a walk.
#[derive(Default)]
pub(super) struct PendingEnds {
    ends: Vec<PendingEnd>,
    /// Whether the end at the entry of a branch survives.
    entry_survives: bool,
}

/// The number of an open end among those of its walk, and 1.
#[derive(Clone, Copy)]
pub(super) struct PendingId(NonZeroU32);

struct PendingEnd {
    what: Ended,
    survives: bool,
}

/// What has ended.
#[derive(Clone, Copy)]
enum Ended {
    /// A lexeme before the branch; which one, only the walk around it knows.
    BeforeEntry,
    At(EndedAt),
}

/// What has ended, and before the byte of which node.
#[derive(Clone, Copy)]
pub(super) struct EndedAt {
    /// The labels and their obligations, by number.
    pub(super) ended: u32,
    /// The blanks read until then, by number.
    pub(super) leading: u32,
    pub(super) node: u32,
}

impl PendingEnds {
    /// One more open end.
    pub(super) fn open(&mut self, at: EndedAt) -> Option<PendingId> {
        self.push(Ended::At(at))
    }

    /// The end of a lexeme before the entry is open.
    pub(super) fn open_entry(&mut self) -> Option<PendingId> {
        self.push(Ended::BeforeEntry)
    }

    fn push(&mut self, what: Ended) -> Option<PendingId> {
        self.ends.push(PendingEnd { what, survives: false });
        NonZeroU32::new(self.ends.len() as u32).map(PendingId)
    }

    /// A token below the node of an open end ends before a longer match came. The end, if that is
    /// news and it is one of this walk's.
    #[inline]
    pub(super) fn survive(&mut self, PendingId(number): PendingId) -> Option<EndedAt> {
        let end = &mut self.ends[number.get() as usize - 1];
        if std::mem::replace(&mut end.survives, true) {
            return None;
        }
        match end.what {
            Ended::At(at) => Some(at),
            Ended::BeforeEntry => {
                self.entry_survives = true;
                None
            }
        }
    }

    /// Whether the end at the entry survives. Forgets it.
    pub(super) fn take_entry(&mut self) -> bool {
        std::mem::take(&mut self.entry_survives)
    }

    /// Forgets all open ends.
    pub(super) fn clear(&mut self) {
        self.ends.clear();
    }
}

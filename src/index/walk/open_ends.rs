//! Ends that are valid only if no longer match comes.
//!
//! If a lexeme may have ended and the next byte leads to a state that does not accept, the end is
//! *open*: an accepting state further on refutes it, by longest match. The node belongs to a
//! boundary only if some token below it ends, or leaves the lexeme, before such a state. Then the
//! end *survives*; one such token is enough.

use std::num::NonZeroU32;

/// The open ends of a walk.
#[derive(Default)]
pub(super) struct PendingEnds {
    ends: Vec<PendingEnd>,
    /// Whether the end at the entry of a branch survives.
    entry_survives: bool,
}

/// The number of an open end within its walk, plus one.
#[derive(Clone, Copy)]
pub(super) struct PendingId(NonZeroU32);

struct PendingEnd {
    what: Ended,
    survives: bool,
}

/// The lexeme that has ended.
#[derive(Clone, Copy)]
enum Ended {
    /// A lexeme before the branch, known only to the enclosing walk.
    BeforeEntry,
    At(EndedAt),
}

/// The end of a lexeme, and the node whose byte comes after it.
#[derive(Clone, Copy)]
pub(super) struct EndedAt {
    /// Number of the labels and their obligations.
    pub(super) ended: u32,
    /// Number of the blanks read until then.
    pub(super) leading: u32,
    pub(super) node: u32,
}

impl PendingEnds {
    /// Adds an open end.
    pub(super) fn open(&mut self, at: EndedAt) -> Option<PendingId> {
        self.push(Ended::At(at))
    }

    /// Adds the open end of a lexeme before the entry.
    pub(super) fn open_entry(&mut self) -> Option<PendingId> {
        self.push(Ended::BeforeEntry)
    }

    fn push(&mut self, what: Ended) -> Option<PendingId> {
        self.ends.push(PendingEnd { what, survives: false });
        NonZeroU32::new(self.ends.len() as u32).map(PendingId)
    }

    /// Records that a token below the node of an open end ends before a longer match. Returns the
    /// end if it survives for the first time and belongs to this walk.
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

    /// Returns whether the end at the entry survives, and resets it.
    pub(super) fn take_entry(&mut self) -> bool {
        std::mem::take(&mut self.entry_survives)
    }

    /// Removes all open ends.
    pub(super) fn clear(&mut self) {
        self.ends.clear();
    }
}

//! What ended lexemes ask of the rest of the text, as sets with numbers.

use std::sync::OnceLock;

use smallvec::SmallVec;

use super::Scanner;
use super::subsumption::Implications;
use crate::util::append::{Interner, Slots};
use crate::util::id::ScanStateId;

/// Scan states of ended lexemes that must not accept; ascending.
pub(crate) type Obligations = SmallVec<[ScanStateId; 4]>;

/// An interned set of [`Obligations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObligationsId(pub(crate) u32);

impl ObligationsId {
    /// No obligations.
    pub(crate) const NONE: Self = Self(0);
}

/// The sets of obligations met so far.
#[derive(Debug)]
pub(super) struct ObligationSets {
    pub(super) sets: Interner<Obligations>,
    /// By id and byte class: the obligations after it.
    steps: Slots<Box<[OnceLock<Option<ObligationsId>>]>>,
    pub(super) implications: Implications,
}

impl ObligationSets {
    /// None but the empty one.
    pub(super) fn new() -> Self {
        let sets = Interner::default();
        sets.intern(Obligations::new());
        Self { sets, steps: Slots::default(), implications: Implications::default() }
    }
}

impl Scanner {
    /// The scan states behind an id.
    pub(crate) fn obligations(&self, id: ObligationsId) -> &Obligations {
        self.obligations.sets.get(id.0)
    }

    /// The id of a set of obligations, without those that others imply.
    pub(crate) fn intern_obligations(&self, mut states: Obligations) -> ObligationsId {
        states.sort_unstable();
        states.dedup();
        self.drop_implied(&mut states);
        if states.is_empty() {
            ObligationsId::NONE
        } else {
            ObligationsId(self.obligations.sets.intern(states))
        }
    }

    /// The obligations after `byte`; `None` when one is broken.
    #[inline]
    pub(crate) fn step_obligations(&self, id: ObligationsId, byte: u8) -> Option<ObligationsId> {
        if id == ObligationsId::NONE { Some(id) } else { self.step_open_obligations(id, byte) }
    }

    #[cold]
    fn step_open_obligations(&self, id: ObligationsId, byte: u8) -> Option<ObligationsId> {
        let classes = self.states().classes();
        let steps = self
            .obligations
            .steps
            .get_or_init(id.0, || classes.representatives().iter().map(|_| OnceLock::new()).collect());
        *steps[usize::from(classes.get(byte))].get_or_init(|| self.find_obligations(id, byte))
    }

    fn find_obligations(&self, id: ObligationsId, byte: u8) -> Option<ObligationsId> {
        let mut after = Obligations::new();
        for &state in self.obligations(id) {
            if let Some(next) = self.states().next(state, byte) {
                if self.states().label(next).is_some() {
                    return None;
                }
                after.push(next);
            }
        }
        Some(self.intern_obligations(after))
    }

    /// `id` and one more.
    pub(crate) fn add_obligation(&self, id: ObligationsId, state: ScanStateId) -> ObligationsId {
        let mut states = self.obligations(id).clone();
        states.push(state);
        self.intern_obligations(states)
    }
}

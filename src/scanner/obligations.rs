//! The requirements of ended lexemes on the rest of the text, as interned sets.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use smallvec::SmallVec;

use super::Scanner;
use super::states::Past;
use crate::lexer::Dfa;
use crate::util::append::{Interner, Slots};
use crate::util::append_map::AppendMap;
use crate::util::id::ScanStateId;

/// Scan states of ended lexemes that must not accept; ascending.
pub(crate) type Obligations = SmallVec<[ScanStateId; 4]>;

/// The requirements and facts that ended lexemes leave for the rest of the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ObligationSet {
    pub(super) obligations: Obligations,
    /// The past, between two lexemes. Within a lexeme its scan state has the past.
    pub(super) past: Past,
}

/// An interned set of [`Obligations`], with the past between two lexemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObligationsId(pub(crate) u32);

impl ObligationsId {
    /// No obligations.
    pub(crate) const NONE: Self = Self(0);
}

/// The sets of obligations met so far.
#[derive(Debug)]
pub(super) struct ObligationSets {
    pub(super) sets: Interner<ObligationSet>,
    /// Heap bytes of the sets that are too long to be stored inline.
    pub(super) listed: AtomicUsize,
    /// By id and byte class: the obligations after it.
    steps: Slots<Box<[OnceLock<Option<ObligationsId>>]>>,
    /// By pair of scan states: whether the first implies the second.
    pub(super) implications: AppendMap<(ScanStateId, ScanStateId), bool>,
    /// By pair of sets: whether the second implies all of the first. A decision compares thousands
    /// of places, which have few sets.
    pub(super) inclusions: AppendMap<(ObligationsId, ObligationsId), bool>,
}

impl ObligationSets {
    /// Creates the collection with only the empty set.
    pub(super) fn new() -> Self {
        let sets = Interner::default();
        sets.intern(ObligationSet { obligations: Obligations::new(), past: Past::NONE });
        Self::of(sets)
    }

    /// Creates the collection of these sets, the empty one first.
    pub(super) fn of(sets: Interner<ObligationSet>) -> Self {
        let listed = sets.iter().map(ObligationSet::bytes_elsewhere).sum();
        Self {
            sets,
            listed: AtomicUsize::new(listed),
            steps: Slots::default(),
            implications: AppendMap::default(),
            inclusions: AppendMap::default(),
        }
    }
}

impl ObligationSet {
    fn bytes_elsewhere(&self) -> usize {
        if self.obligations.spilled() { size_of_val(self.obligations.as_slice()) } else { 0 }
    }
}

impl ObligationSets {
    fn intern(&self, mut left: ObligationSet) -> ObligationsId {
        left.obligations.shrink_to_fit();
        let elsewhere = left.bytes_elsewhere();
        let before = self.sets.len();
        let id = self.sets.intern(left);
        if id as usize >= before {
            self.listed.fetch_add(elsewhere, Ordering::Relaxed);
        }
        ObligationsId(id)
    }
}

impl Scanner {
    /// Returns the scan states with an id.
    pub(crate) fn obligations(&self, id: ObligationsId) -> &Obligations {
        &self.obligations.sets.get(id.0).obligations
    }

    /// Returns the past, if `id` is between two lexemes.
    #[inline]
    pub(super) fn past(&self, id: ObligationsId) -> Past {
        if self.states().has_past() { self.obligations.sets.get(id.0).past } else { Past::NONE }
    }

    /// Returns the same obligations with this past.
    #[inline]
    pub(super) fn with_past(&self, id: ObligationsId, past: Past) -> ObligationsId {
        if self.past(id) == past {
            return id;
        }
        let obligations = self.obligations(id).clone();
        self.obligations.intern(ObligationSet { obligations, past })
    }

    /// Returns the id of a set of obligations, without those that others imply. Their pasts are
    /// dropped, because they no longer matter.
    pub(crate) fn intern_obligations(&self, mut states: Obligations) -> ObligationsId {
        states.iter_mut().for_each(|state| *state = self.states().without_past(*state));
        states.sort_unstable();
        states.dedup();
        self.drop_implied(&mut states);
        if states.is_empty() {
            ObligationsId::NONE
        } else {
            self.obligations.intern(ObligationSet { obligations: states, past: Past::NONE })
        }
    }

    /// Returns the obligations after `byte`; `None` if one is broken.
    #[inline]
    pub(crate) fn step_obligations(&self, id: ObligationsId, byte: u8) -> Option<ObligationsId> {
        if id == ObligationsId::NONE { Some(id) } else { self.step_open_obligations(id, byte) }
    }

    #[cold]
    fn step_open_obligations(&self, id: ObligationsId, byte: u8) -> Option<ObligationsId> {
        let classes = self.states().classes();
        let steps = self.obligations.steps.get_or_init(id.0, || {
            classes.representatives().iter().map(|_| OnceLock::new()).collect()
        });
        *steps[usize::from(classes.get(byte))].get_or_init(|| self.find_obligations(id, byte))
    }

    fn find_obligations(&self, id: ObligationsId, byte: u8) -> Option<ObligationsId> {
        let mut after = Obligations::new();
        for &state in self.obligations(id) {
            if let Some(next) = self.states().next(state, byte) {
                self.push_no_match(&mut after, next)?;
            }
        }
        Some(self.intern_obligations(after))
    }

    /// Adds the requirement that the match in `state` completes neither here nor later; `None` if
    /// it is complete. If that depends on the following text, adds the conditions that must not
    /// hold.
    fn push_no_match(&self, asked: &mut Obligations, state: ScanStateId) -> Option<()> {
        if self.states().accepts_surely(state) {
            return None;
        }
        asked.push(state);
        asked.extend(
            self.states().guarded(state).into_iter().flat_map(|guarded| &guarded.none).copied(),
        );
        Some(())
    }

    /// Adds to `id` the requirement that the match in `state` does not complete; `None` if it is
    /// complete.
    pub(super) fn ask_for_no_match(
        &self,
        id: ObligationsId,
        state: ScanStateId,
    ) -> Option<ObligationsId> {
        let mut asked = self.obligations(id).clone();
        self.push_no_match(&mut asked, state)?;
        Some(self.intern_obligations(asked))
    }

    /// Adds to `id` the requirement that none of `guards`, which read `byte` first, comes true;
    /// `None` if the byte makes one true.
    pub(super) fn guard(
        &self,
        id: ObligationsId,
        guards: &[ScanStateId],
        byte: u8,
    ) -> Option<ObligationsId> {
        let mut asked = self.obligations(id).clone();
        for next in guards.iter().filter_map(|&guard| self.states().next(guard, byte)) {
            self.push_no_match(&mut asked, next)?;
        }
        Some(self.intern_obligations(asked))
    }

    /// Returns whether the text may end with these obligations.
    pub(super) fn may_end_with(&self, id: ObligationsId) -> bool {
        !self.states().has_conditions() || self.step_obligations(id, Dfa::END).is_some()
    }

    /// Returns whether the text may end if none of `guards` has read anything yet.
    pub(super) fn may_end_with_guards(&self, guards: &[ScanStateId]) -> bool {
        self.guard(ObligationsId::NONE, guards, Dfa::END).is_some()
    }

    /// Adds obligations to `id`.
    pub(crate) fn add_obligations(
        &self,
        id: ObligationsId,
        more: impl IntoIterator<Item = ScanStateId>,
    ) -> ObligationsId {
        let mut states = self.obligations(id).clone();
        states.extend(more);
        self.intern_obligations(states)
    }
}

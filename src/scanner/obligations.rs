//! What ended lexemes ask of the rest of the text, as sets with numbers.

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

/// What lexemes that have ended leave to the rest of the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Left {
    pub(super) obligations: Obligations,
    /// Between two lexemes, what is known of the text before; the next one knows it by its state.
    pub(super) past: Past,
}

/// An interned set of [`Obligations`]; between two lexemes, with what is known of the text before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObligationsId(pub(crate) u32);

impl ObligationsId {
    /// No obligations.
    pub(crate) const NONE: Self = Self(0);
}

/// The sets of obligations met so far.
#[derive(Debug)]
pub(super) struct ObligationSets {
    pub(super) sets: Interner<Left>,
    /// Bytes that the longer ones of them hold elsewhere.
    pub(super) listed: AtomicUsize,
    /// By id and byte class: the obligations after it.
    steps: Slots<Box<[OnceLock<Option<ObligationsId>>]>>,
    /// Of pairs of scan states: whether the first implies the second.
    pub(super) implications: AppendMap<(ScanStateId, ScanStateId), bool>,
    /// Of pairs of sets: whether the second implies all of the first. Places of a decision are
    /// compared by the thousand, and have few sets.
    pub(super) inclusions: AppendMap<(ObligationsId, ObligationsId), bool>,
}

impl ObligationSets {
    /// None but the empty one.
    pub(super) fn new() -> Self {
        let sets = Interner::default();
        sets.intern(Left { obligations: Obligations::new(), past: Past::NONE });
        Self::of(sets)
    }

    /// These, the empty one first.
    pub(super) fn of(sets: Interner<Left>) -> Self {
        let listed = sets.iter().map(Left::bytes_elsewhere).sum();
        Self {
            sets,
            listed: AtomicUsize::new(listed),
            steps: Slots::default(),
            implications: AppendMap::default(),
            inclusions: AppendMap::default(),
        }
    }
}

impl Left {
    fn bytes_elsewhere(&self) -> usize {
        if self.obligations.spilled() { size_of_val(self.obligations.as_slice()) } else { 0 }
    }
}

impl ObligationSets {
    fn intern(&self, mut left: Left) -> ObligationsId {
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
    /// The scan states behind an id.
    pub(crate) fn obligations(&self, id: ObligationsId) -> &Obligations {
        &self.obligations.sets.get(id.0).obligations
    }

    /// What is known of the text before, where `id` stands between two lexemes.
    #[inline]
    pub(super) fn past(&self, id: ObligationsId) -> Past {
        if self.states().has_past() { self.obligations.sets.get(id.0).past } else { Past::NONE }
    }

    /// The same obligations where this is known of the text before.
    #[inline]
    pub(super) fn with_past(&self, id: ObligationsId, past: Past) -> ObligationsId {
        if self.past(id) == past {
            return id;
        }
        let obligations = self.obligations(id).clone();
        self.obligations.intern(Left { obligations, past })
    }

    /// The id of a set of obligations, without those that others imply. What they know of the text
    /// before their lexemes is of no use any more.
    pub(crate) fn intern_obligations(&self, mut states: Obligations) -> ObligationsId {
        states.iter_mut().for_each(|state| *state = self.states().without_past(*state));
        states.sort_unstable();
        states.dedup();
        self.drop_implied(&mut states);
        if states.is_empty() {
            ObligationsId::NONE
        } else {
            self.obligations.intern(Left { obligations: states, past: Past::NONE })
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

    /// Adds that the match which has come to `state` is none, neither here nor later; `None` where
    /// it is one. Where that depends on the text behind, it must turn out that way.
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

    /// `id`, and that the match which has come to `state` is none; `None` where it is one.
    pub(super) fn ask_for_no_match(
        &self,
        id: ObligationsId,
        state: ScanStateId,
    ) -> Option<ObligationsId> {
        let mut asked = self.obligations(id).clone();
        self.push_no_match(&mut asked, state)?;
        Some(self.intern_obligations(asked))
    }

    /// `id`, and that none of `guards` comes true, which `byte` is the first to be read by; `None`
    /// where it makes one true.
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

    /// Whether the text may end where this is asked of it.
    pub(super) fn may_end_with(&self, id: ObligationsId) -> bool {
        !self.states().has_conditions() || self.step_obligations(id, Dfa::END).is_some()
    }

    /// Whether the text may end where none of `guards` has read anything yet.
    pub(super) fn may_end_with_guards(&self, guards: &[ScanStateId]) -> bool {
        self.guard(ObligationsId::NONE, guards, Dfa::END).is_some()
    }

    /// `id` and more.
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

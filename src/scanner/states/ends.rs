//! How lexemes end: the labels, and their conditions on the following text.

use smallvec::SmallVec;

use super::{Component, ScanStates};
use crate::util::bitset::BitSet;
use crate::util::id::{ScanStateId, TerminalId};

/// The ends of lexemes if some accepting terminal has a condition on the following text.
#[derive(Debug)]
pub(crate) struct Guarded {
    /// The possible labels of a lexeme that ends here, by rank, each with conditions that the
    /// following text must not satisfy.
    pub(crate) ends: Vec<(TerminalId, Guards)>,
    /// Whether a lexeme ends here, whatever follows.
    pub(crate) is_certain: bool,
    /// Whether each label belongs to a terminal that may end at each match. Then a lexeme may end
    /// here as any of them, or go on.
    pub(crate) every_match: bool,
    /// Conditions that the following text must not satisfy if no lexeme ends here.
    pub(crate) none: Guards,
}

/// Start states of conditions that must not hold. Like an obligation, each is broken when it
/// accepts.
pub(crate) type Guards = SmallVec<[ScanStateId; 2]>;

/// Terminals whose lexemes are not ended by longest match.
#[derive(Debug, Default)]
pub(crate) struct Endings {
    /// Terminals whose first match ends the lexeme: nothing follows a state in which one accepts.
    pub(crate) first: BitSet,
    /// Terminals of which every match may end the lexeme.
    pub(crate) every: BitSet,
    /// By terminal: its priority. A terminal matches nothing longer once one of higher priority has
    /// matched. Empty if all are equal.
    pub(crate) priorities: Vec<i32>,
}

impl ScanStates {
    /// Returns the label of a lexeme that ends in this state; `None` if none can end here.
    #[inline]
    pub(crate) fn label(&self, state: ScanStateId) -> Option<TerminalId> {
        self.facts(state).label
    }

    /// Returns the label of a lexeme that ends in this state, if it has no condition on the
    /// following text.
    #[inline]
    pub(crate) fn plain_label(&self, state: ScanStateId) -> Option<TerminalId> {
        let facts = self.facts(state);
        facts.label.filter(|_| facts.guarded.is_none())
    }

    /// Returns the conditions if the ends of lexemes in this state depend on the following text.
    /// Otherwise [`ScanStates::label`] is complete.
    #[inline]
    pub(crate) fn guarded(&self, state: ScanStateId) -> Option<&Guarded> {
        self.facts(state).guarded.as_deref()
    }

    /// Returns whether a lexeme may end in this state as well as go on.
    #[inline]
    pub(crate) fn is_every_match(&self, state: ScanStateId) -> bool {
        self.guarded(state).is_some_and(|guarded| guarded.every_match)
    }

    /// Returns the possible labels of a lexeme that ends in this state, if there are no conditions
    /// on the following text.
    pub(crate) fn labels(&self, state: ScanStateId) -> SmallVec<[TerminalId; 1]> {
        match self.guarded(state).filter(|guarded| guarded.every_match) {
            Some(guarded) => guarded.ends.iter().map(|&(label, _)| label).collect(),
            None => self.label(state).into_iter().collect(),
        }
    }

    /// Returns whether a lexeme ends in this state, whatever follows.
    #[inline]
    pub(crate) fn accepts_surely(&self, state: ScanStateId) -> bool {
        let facts = self.facts(state);
        facts.label.is_some() && facts.guarded.as_ref().is_none_or(|guarded| guarded.is_certain)
    }

    /// Returns the possible labels of a lexeme that ends in this state, by rank, each with
    /// conditions that the following text must not satisfy.
    pub(crate) fn ends(
        &self,
        state: ScanStateId,
    ) -> impl Iterator<Item = (TerminalId, &[ScanStateId])> {
        let facts = self.facts(state);
        let guarded = facts.guarded.iter().flat_map(|guarded| &guarded.ends);
        let plain = facts.label.filter(|_| facts.guarded.is_none()).map(|label| (label, &[][..]));
        plain.into_iter().chain(guarded.map(|(label, guards)| (*label, &guards[..])))
    }

    /// Returns the terminal of least rank among those that accept here.
    pub(super) fn best_label(&self, state: ScanStateId) -> Option<TerminalId> {
        let accepting = self.accepting(state).map(|component| component.terminal);
        accepting.min_by_key(|terminal| self.ranks.get(terminal.index()))
    }

    pub(super) fn accepting(&self, state: ScanStateId) -> impl Iterator<Item = &Component> {
        self.components(state).iter().filter(|component| {
            component.terminal.index() < self.first_tracker()
                && self
                    .automaton(component.terminal)
                    .is_some_and(|dfa| dfa.is_accept(component.state))
        })
    }

    /// Computes the conditions of labels. The label of a lexeme is the one of least rank whose
    /// condition holds, so a label requires that its own condition does not fail and that no
    /// earlier one holds.
    pub(super) fn find_guarded(&self, state: ScanStateId) -> Option<Box<Guarded>> {
        if self.has_every_match() {
            let every =
                |component: &&Component| self.endings.every.contains(component.terminal.index());
            let ends: Vec<_> = self
                .accepting(state)
                .filter(every)
                .map(|at| (at.terminal, Guards::new()))
                .collect();
            let none = Guards::new();
            let guarded = Guarded { ends, is_certain: false, every_match: true, none };
            return (!guarded.ends.is_empty()).then(|| Box::new(guarded));
        }
        let condition = |component: &Component| -> Option<usize> {
            let number =
                self.dfas.get(component.terminal.index())?.as_ref()?.condition(component.state)?;
            self.conditions_of.get(component.terminal.index())?.get(number).copied()
        };
        if !self.has_conditions()
            || self.accepting(state).all(|component| condition(component).is_none())
        {
            return None;
        }
        let start = |place: usize| self.condition_starts[place];
        let mut accepting: Vec<&Component> = self.accepting(state).collect();
        accepting.sort_by_key(|component| self.ranks.get(component.terminal.index()));
        let mut guarded = Guarded {
            ends: Vec::new(),
            is_certain: false,
            every_match: false,
            none: Guards::new(),
        };
        for component in accepting {
            let mut guards = guarded.none.clone();
            match condition(component) {
                None => {
                    guarded.ends.push((component.terminal, guards));
                    guarded.is_certain = true;
                    break;
                }
                // A better label with the same condition wins wherever this one could.
                Some(place) if guards.contains(&start(place)) => {}
                Some(place) => {
                    guards.push(start(place + 1));
                    guarded.ends.push((component.terminal, guards));
                    guarded.none.push(start(place));
                }
            }
        }
        Some(Box::new(guarded))
    }
}

//! What the text before a lexeme matters: automata that read the whole text beside the lexemes.

use super::{Component, ScanStates};
use crate::lexer::Dfa;
use crate::util::id::{ScanStateId, TerminalId};

/// What terminals that look at the text before a lexeme know of a text: where the automaton of each
/// has come to, as long as it can come to something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Past(pub(in crate::scanner) u32);

impl Past {
    /// Nothing, be it that no terminal looks, or that none will match any more that does.
    pub(crate) const NONE: Self = Self(0);
}

impl ScanStates {
    /// Whether some terminal looks at the text before its lexemes.
    #[inline]
    pub(crate) fn has_past(&self) -> bool {
        !self.looking.is_empty()
    }

    /// The number of the first component that reads the whole text.
    pub(super) fn first_tracker(&self) -> usize {
        self.dfas.len() + self.conditions.len()
    }

    /// What is known of a text before its first byte.
    pub(in crate::scanner) fn first_past(&self) -> Past {
        let number = |at: usize| TerminalId::new(self.first_tracker() + at);
        let trackers =
            (0..self.looking.len()).map(|at| Component { terminal: number(at), state: 0 });
        Past(self.pasts.intern(trackers.collect()))
    }

    /// What is known of the text up to a state.
    #[inline]
    pub(in crate::scanner) fn past(&self, state: ScanStateId) -> Past {
        if self.has_past() { Past(self.pasts.intern_ref(self.trackers(state))) } else { Past::NONE }
    }

    /// The components that read the whole text.
    fn trackers(&self, state: ScanStateId) -> &[Component] {
        let components = self.components(state);
        let first = self.first_tracker();
        &components[components.partition_point(|component| component.terminal.index() < first)..]
    }

    /// The same lexeme, and nothing of the text before it.
    #[inline]
    pub(in crate::scanner) fn without_past(&self, state: ScanStateId) -> ScanStateId {
        if !self.has_past() || self.trackers(state).is_empty() {
            return state;
        }
        let components = self.components(state);
        ScanStateId(
            self.components
                .intern_ref(&components[..components.len() - self.trackers(state).len()]),
        )
    }

    /// Where a lexeme starts behind a text, if it starts in `start` as far as that does not depend
    /// on the text.
    #[inline]
    pub(in crate::scanner) fn begin(&self, start: ScanStateId, past: Past) -> ScanStateId {
        if !self.has_past() {
            return start;
        }
        self.begun.get_or_insert_with((start, past), || {
            let trackers = self.pasts.get(past.0);
            let begun = |component: &Component| {
                let Ok(place) = self.looking.binary_search(&component.terminal) else {
                    return Some(*component);
                };
                let number = TerminalId::new(self.first_tracker() + place);
                let tracker = trackers.iter().find(|tracker| tracker.terminal == number)?;
                let state = self.dfa(component.terminal)?.next(tracker.state, Dfa::BEGIN);
                (state != Dfa::DEAD).then_some(Component { state, ..*component })
            };
            let components = self.components(start).iter().filter_map(begun);
            ScanStateId(
                self.components.intern(components.chain(trackers.iter().copied()).collect()),
            )
        })
    }
}

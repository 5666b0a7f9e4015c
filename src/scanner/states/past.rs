//! The effect of the text before a lexeme: *trackers*, automata that read the whole text in
//! parallel with the lexemes.

use hashbrown::HashMap;

use super::{Component, ScanStates};
use crate::lexer::Dfa;
use crate::util::byte_classes::ByteClasses;
use crate::util::id::{ScanStateId, TerminalId};

/// Everything that terminals with look-behind know of a text: the states of their automata, as long
/// as these can still match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Past(pub(in crate::scanner) u32);

impl Past {
    /// No knowledge: no terminal has a look-behind, or none of those that have one can match any
    /// more.
    pub(crate) const NONE: Self = Self(0);
}

/// How a terminal with a look-behind uses a tracker.
#[derive(Debug)]
pub(super) struct View {
    /// Number of the tracker.
    tracker: usize,
    /// By state of the tracker: the state of the terminal's own automaton.
    states: Box<[u32]>,
}

/// Returns automata that read the whole text, each given by a terminal with that automaton; and how
/// each terminal of `looking` uses them.
///
/// Until a lexeme begins, only the conditions of look-behinds matter, and those are mostly the same
/// for many terminals: whether a word ends here (`\bIF\b`, `\bTHEN\b`). So terminals whose automata
/// do the same up to [`Dfa::BEGIN`] share a tracker, and a scan state has one component for all of
/// them.
pub(super) fn trackers(
    looking: &[TerminalId],
    dfas: &[Option<Dfa>],
    classes: &ByteClasses,
) -> (Vec<TerminalId>, Vec<View>) {
    let mut known: HashMap<Vec<u32>, (usize, Vec<u32>)> = HashMap::new();
    let (mut trackers, mut views) = (Vec::new(), Vec::new());
    for &terminal in looking {
        let Some(dfa) = &dfas[terminal.index()] else { continue };
        let (steps, order) = before_lexemes(dfa, classes);
        let (tracker, first) = known.entry(steps).or_insert_with(|| {
            trackers.push(terminal);
            (trackers.len() - 1, order.clone())
        });
        let most = first.iter().max().map_or(0, |&most| most as usize + 1);
        let mut states = vec![Dfa::DEAD; most];
        first.iter().zip(&order).for_each(|(&at, &own)| states[at as usize] = own);
        views.push(View { tracker: *tracker, states: states.into() });
    }
    (trackers, views)
}

/// Returns the steps of an automaton before a lexeme begins, with states numbered in the order in
/// which they are met, and the states in that order.
fn before_lexemes(dfa: &Dfa, classes: &ByteClasses) -> (Vec<u32>, Vec<u32>) {
    let mut order = vec![dfa.start()];
    let mut numbers: HashMap<u32, u32> = HashMap::from([(dfa.start(), 0)]);
    let mut steps = Vec::new();
    let mut at = 0;
    while let Some(&state) = order.get(at) {
        at += 1;
        for &byte in classes.representatives().iter().filter(|&&byte| byte != Dfa::BEGIN) {
            let next = dfa.next(state, byte);
            steps.push(if next == Dfa::DEAD {
                Dfa::DEAD
            } else {
                *numbers.entry(next).or_insert_with(|| {
                    order.push(next);
                    order.len() as u32 - 1
                })
            });
        }
    }
    (steps, order)
}

impl ScanStates {
    /// Returns whether some terminal looks at the text before its lexemes.
    #[inline]
    pub(crate) fn has_past(&self) -> bool {
        !self.looking.is_empty()
    }

    /// Returns the number of the first component that reads the whole text.
    pub(super) fn first_tracker(&self) -> usize {
        self.dfas.len() + self.conditions.len()
    }

    /// Returns the past before the first byte of a text.
    pub(in crate::scanner) fn first_past(&self) -> Past {
        let number = |at: usize| TerminalId::new(self.first_tracker() + at);
        let trackers =
            (0..self.trackers.len()).map(|at| Component { terminal: number(at), state: 0 });
        Past(self.pasts.intern(trackers.collect()))
    }

    /// Returns the past of the text up to a state.
    #[inline]
    pub(in crate::scanner) fn past(&self, state: ScanStateId) -> Past {
        if self.has_past() { Past(self.pasts.intern_ref(self.trackers(state))) } else { Past::NONE }
    }

    /// Returns the components that read the whole text.
    fn trackers(&self, state: ScanStateId) -> &[Component] {
        let components = self.components(state);
        let first = self.first_tracker();
        &components[components.partition_point(|component| component.terminal.index() < first)..]
    }

    /// Returns the state without its past.
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

    /// Returns the state in which a lexeme starts after a text, where `start` is the state without
    /// that text.
    #[inline]
    pub(in crate::scanner) fn begin(&self, start: ScanStateId, past: Past) -> ScanStateId {
        if !self.has_past() {
            return start;
        }
        *self.begun.get_or_insert_with((start, past), || {
            let trackers = self.pasts.get(past.0);
            let begun = |component: &Component| {
                let Ok(place) = self.looking.binary_search(&component.terminal) else {
                    return Some(*component);
                };
                let View { tracker, states } = &self.views[place];
                let number = TerminalId::new(self.first_tracker() + tracker);
                let tracker = trackers.iter().find(|tracker| tracker.terminal == number)?;
                let before = *states.get(tracker.state as usize)?;
                let state = self.dfa(component.terminal)?.next(before, Dfa::BEGIN);
                (state != Dfa::DEAD).then_some(Component { state, ..*component })
            };
            let components = self.components(start).iter().filter_map(begun);
            ScanStateId(
                self.components.intern(components.chain(trackers.iter().copied()).collect()),
            )
        })
    }
}

//! A terminal's regular expression, matched in two ways: on a whole slice, and byte by byte.
//!
//! The `regex` crate decides whether a slice as a whole is a lexeme: that is the definition. The
//! states serve the search for completions, and end it early when no longer text can match.

use regex::bytes::Regex;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::{primitives::StateID, start};
use regex_automata::{Anchored, MatchKind};
use std::collections::{HashMap, HashSet};

/// A regular expression.
#[derive(Clone, Debug)]
pub struct Pattern {
    full: Regex,
    dfa: dense::DFA<Vec<u32>>,
    /// The states after a match.
    accepting: HashSet<StateID>,
    /// The states from which one or more bytes lead to a match.
    extensible: HashSet<StateID>,
}

impl Pattern {
    pub fn new(regex: &str) -> Self {
        let full = Regex::new(&format!("^(?:{regex})$")).unwrap_or_else(|e| panic!("{regex}: {e}"));
        let config =
            dense::Config::new().match_kind(MatchKind::All).start_kind(StartKind::Anchored);
        let dfa = dense::Builder::new().configure(config).build(&format!("(?:{regex})")).unwrap();
        let (accepting, extensible) = accepting_and_extensible(&dfa);
        Self { full, dfa, accepting, extensible }
    }

    /// Whether the whole of `lexeme` matches.
    pub fn matches(&self, lexeme: &[u8]) -> bool {
        self.full.is_match(lexeme)
    }

    /// Whether no longer text matches.
    pub fn is_at_most(&self, bytes: usize) -> bool {
        let mut states = HashSet::from([self.start()]);
        for _ in 0..bytes {
            let next =
                states.iter().flat_map(|&state| (0..=255).filter_map(move |b| self.next(state, b)));
            states = next.collect();
        }
        !states.into_iter().any(|state| self.goes_on(state))
    }

    /// Returns the state before the first byte.
    pub fn start(&self) -> StateID {
        initial(&self.dfa)
    }

    /// Returns the state after one more byte; `None` if no match has this prefix.
    pub fn next(&self, state: StateID, byte: u8) -> Option<StateID> {
        let next = self.dfa.next_state(state, byte);
        (self.accepts(next) || self.goes_on(next)).then_some(next)
    }

    /// Whether the text that led to `state` matches.
    pub fn accepts(&self, state: StateID) -> bool {
        self.accepting.contains(&state)
    }

    /// Whether an extension of the text may match.
    pub fn goes_on(&self, state: StateID) -> bool {
        self.extensible.contains(&state)
    }
}

fn initial(dfa: &dense::DFA<Vec<u32>>) -> StateID {
    dfa.start_state(&start::Config::new().anchored(Anchored::Yes)).unwrap()
}

/// Returns the states after a match, and those from which more bytes lead to one: computed
/// backwards from the former until no more are found.
fn accepting_and_extensible(dfa: &dense::DFA<Vec<u32>>) -> (HashSet<StateID>, HashSet<StateID>) {
    let mut states = vec![initial(dfa)];
    let mut seen: HashSet<StateID> = states.iter().copied().collect();
    let mut into: HashMap<StateID, HashSet<StateID>> = HashMap::new();
    let mut at = 0;
    while at < states.len() {
        for byte in 0..=255 {
            let next = dfa.next_state(states[at], byte);
            into.entry(next).or_default().insert(states[at]);
            if seen.insert(next) {
                states.push(next);
            }
        }
        at += 1;
    }
    let is_accepting = |state: &StateID| dfa.is_match_state(dfa.next_eoi_state(*state));
    let accepting: HashSet<StateID> = states.into_iter().filter(is_accepting).collect();
    let mut extensible = HashSet::new();
    let mut todo: Vec<StateID> = accepting.iter().copied().collect();
    while let Some(state) = todo.pop() {
        for &before in into.get(&state).into_iter().flatten() {
            if extensible.insert(before) {
                todo.push(before);
            }
        }
    }
    (accepting, extensible)
}

//! Automata made state by state, for what no regex of a sensible size describes.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::grammar::pattern::{Automaton, State};
use crate::grammar::texts::Words;
use crate::lexer::Dfa;

/// The automaton whose states are those that `step` reaches from `start` over the bytes of
/// `alphabet`.
pub(super) fn explore<S: Clone + Eq + Hash>(
    start: S,
    alphabet: &[u8],
    step: impl Fn(&S, u8) -> Option<S>,
    accepts: impl Fn(&S) -> bool,
) -> Automaton {
    let mut met = vec![start.clone()];
    let mut ids: FxHashMap<S, u32> = FxHashMap::default();
    ids.insert(start, 0);
    let mut states = Vec::new();
    while let Some(state) = met.get(states.len()).cloned() {
        let mut moves = Vec::new();
        for &byte in alphabet {
            if let Some(next) = step(&state, byte) {
                let fresh = met.len() as u32;
                let id = *ids.entry(next).or_insert_with_key(|next| {
                    met.push(next.clone());
                    fresh
                });
                push(&mut moves, byte, id);
            }
        }
        states.push(State { moves, accepts: accepts(&state) });
    }
    Automaton { states }
}

/// Runs of bytes from `least` on that no state of `dfa` tells apart.
pub(super) fn runs(dfa: &Dfa, least: u8) -> Vec<(u8, u8)> {
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for byte in least..=u8::MAX {
        match runs.last_mut() {
            Some((first, last)) if dfa.classes().get(*first) == dfa.classes().get(byte) => *last = byte,
            _ => runs.push((byte, byte)),
        }
    }
    runs
}

/// Appends a move, to the last one if it leads to the same state and the bytes meet.
fn push(moves: &mut Vec<(u8, u8, u32)>, byte: u8, next: u32) {
    push_run(moves, (byte, byte), next);
}

/// Appends a move over a run of bytes, as [`push`] does.
pub(super) fn push_run(moves: &mut Vec<(u8, u8, u32)>, (first, last): (u8, u8), next: u32) {
    match moves.last_mut() {
        Some((_, before, to)) if *to == next && before.checked_add(1) == Some(first) => *before = last,
        _ => moves.push((first, last, next)),
    }
}

/// Just these words.
pub(super) fn words(words: &[&str]) -> Automaton {
    let mut sorted: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut all = Words::default();
    sorted.iter().filter(|word| !word.is_empty()).for_each(|word| all.add(word));
    let mut automaton = all.finish();
    // Nothing leads back to the start.
    if let (Some(start), Some([])) = (automaton.states.first_mut(), sorted.first()) {
        start.accepts = true;
    }
    automaton
}

/// The states and moves of `dfa`.
pub(in crate::schema) fn of(dfa: &Dfa) -> Automaton {
    let runs = runs(dfa, 0);
    let state = |state: u32| {
        let mut moves = Vec::new();
        for &(first, last) in &runs {
            match dfa.next(state, first) {
                Dfa::DEAD => {}
                next => push_run(&mut moves, (first, last), next),
            }
        }
        State { moves, accepts: dfa.is_accept(state) }
    };
    Automaton { states: (0..dfa.state_count() as u32).map(state).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_matched_and_nothing_else() {
        let automaton = words(&["tab", "", "cab", "ta", "tab", "été"]);
        let matches = |text: &str| {
            let step = |state: &State, byte: u8| {
                let found = state.moves.iter().find(|(first, last, _)| (*first..=*last).contains(&byte));
                found.map(|&(_, _, next)| &automaton.states[next as usize])
            };
            text.bytes().try_fold(&automaton.states[0], step).is_some_and(|state| state.accepts)
        };
        for text in ["tab", "", "cab", "ta", "été"] {
            assert!(matches(text), "{text}");
        }
        for text in ["t", "tabs", "ca", "et", "ét"] {
            assert!(!matches(text), "{text}");
        }
        assert_eq!(automaton.states.len(), 10, "`tab` and `cab` end alike");
        assert_eq!(words(&[]).states.len(), 1);
    }
}

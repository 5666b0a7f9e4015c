//! Automata made state by state, for what no regex of a sensible size describes.

use std::collections::BTreeMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::grammar::pattern::{Automaton, State};
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

/// Appends a move, to the last one if it leads to the same state and the bytes meet.
pub(super) fn push(moves: &mut Vec<(u8, u8, u32)>, byte: u8, next: u32) {
    match moves.last_mut() {
        Some((_, last, to)) if *to == next && last.checked_add(1) == Some(byte) => *last = byte,
        _ => moves.push((byte, byte, next)),
    }
}

/// Just these words: their tree.
pub(super) fn words(words: &[&str]) -> Automaton {
    let mut states = vec![(BTreeMap::<u8, u32>::new(), false)];
    for word in words {
        let mut at = 0;
        for byte in word.bytes() {
            let fresh = states.len() as u32;
            at = *states[at].0.entry(byte).or_insert(fresh) as usize;
            if at == states.len() {
                states.push((BTreeMap::new(), false));
            }
        }
        states[at].1 = true;
    }
    let state = |(moves, accepts): (BTreeMap<u8, u32>, bool)| State {
        moves: moves.into_iter().map(|(byte, next)| (byte, byte, next)).collect(),
        accepts,
    };
    Automaton { states: states.into_iter().map(state).collect() }
}

/// The states and moves of `dfa`.
pub(in crate::schema) fn of(dfa: &Dfa) -> Automaton {
    let state = |state: u32| {
        let mut moves = Vec::new();
        for byte in 0..=u8::MAX {
            match dfa.next(state, byte) {
                Dfa::DEAD => {}
                next => push(&mut moves, byte, next),
            }
        }
        State { moves, accepts: dfa.is_accept(state) }
    };
    Automaton { states: (0..dfa.state_count() as u32).map(state).collect() }
}

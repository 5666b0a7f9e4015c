//! Automata built state by state, for languages without a regex of reasonable size.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::smallvec;

use crate::grammar::pattern::{Automaton, Moves, State};
use crate::grammar::texts::Words;
use crate::lexer::Dfa;

/// Returns the automaton of the states that `step` reaches from `start` over the bytes of
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
        let mut moves = Moves::new();
        for &byte in alphabet {
            if let Some(next) = step(&state, byte) {
                // Neighbouring bytes usually lead to the same state.
                if let Some(&(_, _, last)) = moves.last()
                    && met[last as usize] == next
                {
                    push(&mut moves, byte, last);
                    continue;
                }
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
    Automaton::new(states)
}

/// Appends a move, and merges it with the last one if that leads to the same state and the bytes
/// are adjacent.
fn push(moves: &mut Moves, byte: u8, next: u32) {
    push_run(moves, (byte, byte), next);
}

/// Appends a move over a range of bytes, as [`push`] does.
pub(super) fn push_run(moves: &mut Moves, (first, last): (u8, u8), next: u32) {
    match moves.last_mut() {
        Some((_, before, to)) if *to == next && before.checked_add(1) == Some(first) => {
            *before = last;
        }
        _ => moves.push((first, last, next)),
    }
}

/// Matches exactly these words.
pub(super) fn words(words: &[&str]) -> Automaton {
    let mut sorted: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut all = Words::default();
    sorted.iter().filter(|word| !word.is_empty()).for_each(|word| all.add(word));
    let automaton = all.finish();
    if sorted.first() != Some(&&[][..]) {
        return automaton;
    }
    // No move leads back to the start.
    let mut states = automaton.states.to_vec();
    states[0].accepts = true;
    Automaton::minimal(states)
}

/// Prefix of excluded words: the state of `all` after it, and the possible next bytes. The last
/// byte of a word has no successor.
#[derive(Default)]
struct Beginning {
    at: u32,
    next: Vec<(u8, Option<u32>)>,
}

/// Matches the texts of `all` except `words`. `all` must match nothing after a word, its moves must
/// be ascending, and the languages of two of its states must differ by more than some words.
pub(super) fn without(all: &Automaton, words: impl Iterator<Item = String>) -> Automaton {
    let beginnings = beginnings(all, words);
    // The start, then the states of `all`, then the other states of the prefixes, without
    // duplicates.
    let mut states = vec![State::default()];
    states.extend(all.states.iter().cloned().map(|mut state| {
        state.moves.iter_mut().for_each(|(_, _, next)| *next += 1);
        state
    }));
    let hash = |state: &State| FxBuildHasher.hash_one(state);
    let mut known: HashTable<u32> = HashTable::with_capacity(states.len() + beginnings.len());
    for id in 1..states.len() as u32 {
        known.insert_unique(hash(&states[id as usize]), id, |&id| hash(&states[id as usize]));
    }
    let mut ids = vec![0; beginnings.len()];
    // In reverse order, because the successors of a prefix come after it.
    for (number, Beginning { at, mut next }) in beginnings.into_iter().enumerate().rev() {
        next.sort_unstable();
        let narrower = narrower(&states[at as usize + 1], &next, &ids);
        if number == 0 {
            states[0] = narrower;
            break;
        }
        let hashed = hash(&narrower);
        ids[number] = match known.find(hashed, |&id| states[id as usize] == narrower) {
            Some(&same) => same,
            None => {
                let fresh = states.len() as u32;
                states.push(narrower);
                known.insert_unique(hashed, fresh, |&id| hash(&states[id as usize]));
                fresh
            }
        };
    }
    match states.get(1) {
        Some(start) if *start != states[0] => {
            Automaton { is_minimal: all.is_minimal, ..Automaton::new(states) }
        }
        _ => all.clone(),
    }
}

/// Returns the prefixes of words, each after its own prefixes.
fn beginnings(all: &Automaton, words: impl Iterator<Item = String>) -> Vec<Beginning> {
    let step = |at: u32, byte: u8| {
        let moves = &all.states.get(at as usize)?.moves;
        let found = moves.iter().find(|(first, last, _)| (*first..=*last).contains(&byte))?;
        Some(found.2)
    };
    let mut beginnings = vec![Beginning::default()];
    for word in words {
        let mut here = 0;
        for (place, &byte) in word.as_bytes().iter().enumerate() {
            // A word that `all` does not match needs no exclusion.
            let Some(at) = step(beginnings[here].at, byte) else { break };
            let fresh = beginnings.len() as u32;
            let next = (place + 1 < word.len()).then_some(fresh);
            let known = beginnings[here].next.iter().find(|(known, _)| *known == byte);
            match (known, next) {
                (Some(&(_, Some(known))), _) => here = known as usize,
                (Some((_, None)), _) => break,
                (None, _) => {
                    beginnings[here].next.push((byte, next));
                    if next.is_some() {
                        beginnings.push(Beginning { at, next: Vec::new() });
                        here = fresh as usize;
                    }
                }
            }
        }
    }
    beginnings
}

/// Returns the state with the moves over some bytes redirected to the prefixes with these ids, or
/// removed.
fn narrower(state: &State, next: &[(u8, Option<u32>)], ids: &[u32]) -> State {
    let mut moves = Moves::with_capacity(state.moves.len() + 2 * next.len());
    for &(start, end, to) in &state.moves {
        // The first remaining byte of the range; past its end if none remains.
        let mut begin = u16::from(start);
        for &(byte, next) in next.iter().filter(|(byte, _)| (start..=end).contains(byte)) {
            let to_next = next.map(|next| ids[next as usize]);
            if to_next == Some(to) {
                continue;
            }
            if begin < u16::from(byte) {
                moves.push((begin as u8, byte - 1, to));
            }
            moves.extend(to_next.map(|next| (byte, byte, next)));
            begin = u16::from(byte) + 1;
        }
        if begin <= u16::from(end) {
            moves.push((begin as u8, end, to));
        }
    }
    State { moves, accepts: state.accepts }
}

/// Returns the states and moves of `dfa`.
pub(in crate::schema) fn of(dfa: &Dfa) -> Automaton {
    if dfa.is_empty() { Automaton::default() } else { Automaton::minimal(states_of(dfa)) }
}

/// Like `of`, but returns a list.
pub(super) fn states_of(dfa: &Dfa) -> Vec<State> {
    let runs = dfa.classes().runs();
    let state = |state: u32| {
        let (row, mut moves) = (dfa.row(state), Moves::new());
        for &(first, last, class) in &runs {
            match row[usize::from(class)] {
                Dfa::DEAD => {}
                next => push_run(&mut moves, (first, last), next),
            }
        }
        State { moves, accepts: dfa.is_accept(state) }
    };
    (0..dfa.state_count() as u32).map(state).collect()
}

/// Matches a text that begins with no blank, with any JSON blanks before and after it.
pub(in crate::schema) fn among_blanks(text: &str, before: bool, behind: bool) -> Automaton {
    let blanks = |next: u32| [(b'\t', b'\n', next), (b'\r', b'\r', next), (b' ', b' ', next)];
    let step =
        |(at, byte): (u32, u8)| State { moves: smallvec![(byte, byte, at + 1)], accepts: false };
    let mut states: Vec<State> = (0..).zip(text.bytes()).map(step).collect();
    if before {
        states.first_mut().into_iter().for_each(|start| start.moves.extend(blanks(0)));
    }
    let end = states.len() as u32;
    let moves = if behind { Moves::from_slice(&blanks(end)) } else { Moves::new() };
    states.push(State { moves, accepts: true });
    Automaton::new(states)
}

/// Whether the automaton matches the text, move by move.
#[cfg(test)]
pub(super) fn matches(automaton: &Automaton, text: &str) -> bool {
    let step = |state: &State, byte: u8| {
        let found = state.moves.iter().find(|(first, last, _)| (*first..=*last).contains(&byte));
        found.map(|&(_, _, next)| &automaton.states[next as usize])
    };
    let Some(start) = automaton.states.first() else { return false };
    text.bytes().try_fold(start, step).is_some_and(|state| state.accepts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_matched_and_nothing_else() {
        let automaton = words(&["tab", "", "cab", "ta", "tab", "été"]);
        let matches = |text: &str| matches(&automaton, text);
        for text in ["tab", "", "cab", "ta", "été"] {
            assert!(matches(text), "{text}");
        }
        for text in ["t", "tabs", "ca", "et", "ét"] {
            assert!(!matches(text), "{text}");
        }
        assert_eq!(automaton.states.len(), 10, "`tab` and `cab` end alike");
        assert_eq!(words(&[]).states.len(), 1);
    }

    #[test]
    fn words_are_left_out_of_the_smallest_automaton() {
        // All texts over `a` and `b` in quotes.
        let state =
            |moves: &[(u8, u8, u32)], accepts| State { moves: Moves::from_slice(moves), accepts };
        let all = Automaton::minimal(vec![
            state(&[(b'"', b'"', 1)], false),
            state(&[(b'"', b'"', 2), (b'a', b'b', 1)], false),
            state(&[], true),
        ]);
        let left_out = |words: &[&str]| without(&all, words.iter().map(|&word| word.to_owned()));
        let some = left_out(&["\"aab\"", "\"bab\"", "\"b\"", "\"ab\"", "\"abc\""]);
        let matches = |text: &str| matches(&some, text);
        for text in ["\"\"", "\"a\"", "\"ba\"", "\"aaba\"", "\"bb\"", "\"abb\""] {
            assert!(matches(text), "{text}");
        }
        for text in ["\"aab\"", "\"bab\"", "\"b\"", "\"ab\"", "\"", "a"] {
            assert!(!matches(text), "{text}");
        }
        // The start, the three of all texts, those after `"`, `"a`, `"b`, and `"aa` or `"ba`, and
        // the one where only the quote is missing.
        assert_eq!(some.states.len(), 9);
        assert!(some.is_minimal);
        assert_eq!(left_out(&[]), all);
        assert_eq!(left_out(&["\"c\""]), all);
    }
}

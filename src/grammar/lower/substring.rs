//! `%regex {"substring_chunks": [...]}`: the automaton of all runs of chunks.
//!
//! The runs of a list are the words of its suffix automaton (Blumer et al. 1985), here over chunks:
//! at most twice as many states as there are chunks, each accepting. Over bytes a chunk may begin
//! another, so a subset construction follows; for texts cut into words or characters nearly every
//! subset is a single position.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::grammar::pattern::{Automaton, Moves, State};

/// Maximum number of states. Terminals may allow fewer; this bounds the work before that is known.
const MAX_STATES: usize = 2_000_000;

/// Returns the automaton of the texts `chunks[n..m]`, concatenated, including the empty text, or
/// `None` if it grows too large.
pub(crate) fn automaton(chunks: &[String]) -> Option<Automaton> {
    let chunks: Vec<&str> =
        chunks.iter().map(String::as_str).filter(|chunk| !chunk.is_empty()).collect();
    let suffixes = Suffixes::of(&chunks);
    let positions = Positions::of(&suffixes)?;
    positions.determinize()
}

/// Returns the moves of each state of the suffix automaton, beginning with the start: the chunks
/// that may follow, and their targets. Each state accepts.
pub(crate) fn runs<'a>(chunks: &[&'a str]) -> Vec<Vec<(&'a str, usize)>> {
    let chunks: Vec<&str> = chunks.iter().copied().filter(|chunk| !chunk.is_empty()).collect();
    let moves = |state: Suffix<'a>| state.next.into_iter().collect();
    Suffixes::of(&chunks).states.into_iter().map(moves).collect()
}

/// A suffix automaton over chunks.
struct Suffixes<'a> {
    states: Vec<Suffix<'a>>,
}

#[derive(Clone, Default)]
struct Suffix<'a> {
    length: usize,
    link: Option<usize>,
    next: BTreeMap<&'a str, usize>,
}

impl<'a> Suffixes<'a> {
    fn of(chunks: &[&'a str]) -> Self {
        let mut states = vec![Suffix::default()];
        let mut last = 0;
        for &chunk in chunks {
            let new = states.len();
            states.push(Suffix { length: states[last].length + 1, ..Suffix::default() });
            let mut at = Some(last);
            while let Some(state) = at.filter(|&state| !states[state].next.contains_key(chunk)) {
                states[state].next.insert(chunk, new);
                at = states[state].link;
            }
            states[new].link = Some(match at.map(|state| (state, states[state].next[chunk])) {
                None => 0,
                Some((state, next)) if states[state].length + 1 == states[next].length => next,
                Some((state, next)) => {
                    let copy = states.len();
                    let length = states[state].length + 1;
                    states.push(Suffix { length, ..states[next].clone() });
                    let mut at = Some(state);
                    while let Some(state) =
                        at.filter(|&state| states[state].next.get(chunk) == Some(&next))
                    {
                        states[state].next.insert(chunk, copy);
                        at = states[state].link;
                    }
                    states[next].link = Some(copy);
                    copy
                }
            });
            last = new;
        }
        Self { states }
    }
}

/// Positions in chunks, byte by byte: at a boundary, or within a chunk that began in some state.
#[derive(Default)]
struct Positions {
    /// By position: the next byte, and the position after it.
    next: Vec<Vec<(u8, u32)>>,
    /// By position: the boundary that it also is, if a chunk ends there.
    ends: Vec<Option<u32>>,
    boundaries: u32,
}

impl Positions {
    fn of(suffixes: &Suffixes<'_>) -> Option<Self> {
        let boundaries = suffixes.states.len();
        let mut positions = Self {
            next: vec![Vec::new(); boundaries],
            ends: vec![None; boundaries],
            boundaries: boundaries as u32,
        };
        for (state, suffix) in suffixes.states.iter().enumerate() {
            for (chunk, &to) in &suffix.next {
                let mut at = state;
                for &byte in chunk.as_bytes() {
                    let known = positions.next[at].iter().find(|(known, _)| *known == byte);
                    at = match known {
                        Some(&(_, next)) => next as usize,
                        None => {
                            let next = positions.next.len();
                            if next >= MAX_STATES {
                                return None;
                            }
                            positions.next.push(Vec::new());
                            positions.ends.push(None);
                            positions.next[at].push((byte, next as u32));
                            next
                        }
                    };
                }
                positions.ends[at] = Some(to as u32);
            }
        }
        Some(positions)
    }

    fn determinize(&self) -> Option<Automaton> {
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut subsets = vec![vec![0]];
        numbers.insert(vec![0], 0);
        let (mut states, mut moves): (Vec<State>, usize) = (Vec::new(), 0);
        while let Some(subset) = subsets.get(states.len()).cloned() {
            let mut targets: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
            for &(byte, next) in subset.iter().flat_map(|&position| &self.next[position as usize]) {
                let target = targets.entry(byte).or_default();
                target.push(next);
                target.extend(self.ends[next as usize]);
            }
            let mut state = State { moves: Moves::with_capacity(targets.len()), accepts: false };
            state.accepts = subset.iter().any(|&position| position < self.boundaries);
            for (byte, mut target) in targets {
                // After the last byte of a chunk that is no prefix of another, only the boundary
                // matters.
                target.retain(|&position| {
                    position < self.boundaries || !self.next[position as usize].is_empty()
                });
                target.sort_unstable();
                target.dedup();
                let fresh = subsets.len() as u32;
                let number = *numbers.entry(target).or_insert_with_key(|target| {
                    subsets.push(target.clone());
                    fresh
                });
                state.moves.push((byte, byte, number));
            }
            moves += state.moves.len();
            states.push(state);
            if subsets.len() > MAX_STATES || moves > 4 * MAX_STATES {
                return None;
            }
        }
        Some(Automaton::new(states))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn matches(automaton: &Automaton, text: &str) -> bool {
        let mut at = 0;
        for byte in text.bytes() {
            let step = automaton.states[at].moves.iter().find(|step| step.0 == byte);
            let Some(&(_, _, next)) = step else { return false };
            at = next as usize;
        }
        automaton.states[at].accepts
    }

    #[test]
    fn the_runs_of_a_list_and_nothing_else() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..300 {
            let chunk = |random: &mut fastrand::Rng| {
                ["a", "b", "ab", "ba", "aab", "é", ""][random.usize(..7)].to_owned()
            };
            let chunks: Vec<String> = (0..random.usize(..7)).map(|_| chunk(&mut random)).collect();
            let automaton = automaton(&chunks).expect("small");
            let mut runs = HashSet::new();
            for from in 0..=chunks.len() {
                for to in from..=chunks.len() {
                    runs.insert(chunks[from..to].concat());
                }
            }
            for _ in 0..100 {
                let text: String = (0..random.usize(..6)).map(|_| chunk(&mut random)).collect();
                assert_eq!(matches(&automaton, &text), runs.contains(&text), "{chunks:?} {text:?}");
            }
            assert!(runs.iter().all(|run| matches(&automaton, run)), "{chunks:?}");
        }
    }
}

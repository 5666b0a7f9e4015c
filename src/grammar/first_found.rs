//! The first of several texts in a longer one, by the automaton of Aho and Corasick (*Efficient
//! String Matching*, Communications of the ACM 18, 1975).

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxBuildHasher;

use crate::grammar::pattern::{Automaton, Moves, State};

/// Texts to search for, distinct and not empty. Searches for one text each share the list, so it
/// has its hash and its automata ready.
#[derive(Clone, Debug)]
pub(crate) struct Texts(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    texts: Vec<String>,
    hash: u64,
    over_characters: OnceLock<FirstFound<char>>,
    over_bytes: OnceLock<FirstFound<u8>>,
}

impl From<Vec<String>> for Texts {
    fn from(texts: Vec<String>) -> Self {
        let hash = FxBuildHasher.hash_one(&texts);
        let (over_characters, over_bytes) = (OnceLock::new(), OnceLock::new());
        Self(Arc::new(Shared { texts, hash, over_characters, over_bytes }))
    }
}

impl Deref for Texts {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0.texts
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self.0.hash == other.0.hash && self.0.texts == other.0.texts
    }
}

impl Eq for Texts {}

impl Hash for Texts {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.0.hash);
    }
}

impl Texts {
    /// Returns their automaton over characters.
    pub(crate) fn over_characters(&self) -> &FirstFound<char> {
        let new = || FirstFound::new(self.iter().map(|text| text.chars()));
        self.0.over_characters.get_or_init(new)
    }

    /// Returns their automaton over bytes. Texts are UTF-8.
    pub(crate) fn over_bytes(&self) -> &FirstFound<u8> {
        let new = || FirstFound::new(self.iter().map(|text| text.bytes()));
        self.0.over_bytes.get_or_init(new)
    }
}

/// Free text that is searched for several texts: up to and with the first one found, or to its end
/// without any of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Search {
    pub(crate) texts: Texts,
    /// The number of the text that is found, which is the longest of those that end there. `None`:
    /// none is found, and the free text is not empty.
    pub(crate) found: Option<usize>,
}

/// The automaton over characters or bytes. Its states are the prefixes of the texts: each stands
/// for the texts of which it is the longest suffix. State 0 is the empty prefix.
#[derive(Debug)]
pub(crate) struct FirstFound<S> {
    /// By state: the moves that do not lead to state 0.
    moves: Vec<BTreeMap<S, usize>>,
    /// By state: the longest text that has been found in it. Such a state is not left.
    found: Vec<Option<usize>>,
    /// By text: the longest other text that it ends with.
    shorter: Vec<Option<usize>>,
    /// By text: whether some text has it as the longest one found.
    is_first: Vec<bool>,
}

impl Search {
    /// Returns its automaton over bytes.
    pub(crate) fn automaton(&self) -> Automaton {
        self.texts.over_bytes().automaton(self.found)
    }
}

impl<S: Copy + Ord> FirstFound<S> {
    /// Creates the automaton of `texts`.
    fn new(texts: impl Iterator<Item = impl Iterator<Item = S>>) -> Self {
        let mut children: Vec<BTreeMap<S, usize>> = vec![BTreeMap::new()];
        let mut found: Vec<Option<usize>> = vec![None];
        let mut ends = Vec::new();
        for (number, text) in texts.enumerate() {
            let mut at = 0;
            for symbol in text {
                let next = children.len();
                at = *children[at].entry(symbol).or_insert(next);
                if at == next {
                    children.push(BTreeMap::new());
                    found.push(None);
                }
            }
            found[at] = Some(number);
            ends.push(at);
        }
        // Breadth first: the moves of shorter prefixes are complete when longer ones need them.
        let mut moves = children.clone();
        let mut fails = vec![0; children.len()];
        let mut is_entered = vec![false; children.len()];
        let mut shorter = vec![None; ends.len()];
        is_entered[0] = true;
        let mut pending = VecDeque::from([0]);
        while let Some(state) = pending.pop_front() {
            let fail = fails[state];
            for (&symbol, &child) in &children[state] {
                if state != 0 {
                    fails[child] = moves[fail].get(&symbol).copied().unwrap_or(0);
                }
                is_entered[child] = is_entered[state] && found[state].is_none();
                let inherited = found[fails[child]];
                match found[child] {
                    Some(text) => shorter[text] = inherited,
                    None => found[child] = inherited,
                }
                pending.push_back(child);
            }
            if state != 0 {
                for (symbol, to) in moves[fail].clone() {
                    moves[state].entry(symbol).or_insert(to);
                }
            }
        }
        let is_first = ends.iter().map(|&end| is_entered[end]).collect();
        Self { moves, found, shorter, is_first }
    }

    /// Returns the texts that are found together with the `longest` one; none if a shorter one is
    /// always found before it.
    pub(crate) fn found_with(&self, longest: usize) -> Vec<usize> {
        let first = Some(longest).filter(|&longest| self.is_first[longest]);
        std::iter::successors(first, |&text| self.shorter[text]).collect()
    }

    /// Returns the moves of the states in which no text has been found. All other symbols lead to
    /// state 0.
    pub(crate) fn states(&self) -> impl Iterator<Item = (usize, Vec<(S, Reached)>)> + '_ {
        let searching = (0..self.moves.len()).filter(|&state| self.found[state].is_none());
        searching.map(|state| {
            let reached = |to: usize| self.found[to].map_or(Reached::State(to), Reached::Text);
            (state, self.moves[state].iter().map(|(&symbol, &to)| (symbol, reached(to))).collect())
        })
    }
}

/// The result of reading a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// A state in which no text has been found.
    State(usize),
    /// A text has been found: this one is the longest of those that end here.
    Text(usize),
}

/// The parts of UTF-8 that may be missing to the end of a character, each with the bytes that may
/// come next and the parts missing after them. The first one is the end of a character.
const UTF8: [&[(u8, u8, usize)]; 8] = [
    &[
        (0x00, 0x7f, 0),
        (0xc2, 0xdf, 1),
        (0xe0, 0xe0, 4),
        (0xe1, 0xec, 2),
        (0xed, 0xed, 5),
        (0xee, 0xef, 2),
        (0xf0, 0xf0, 6),
        (0xf1, 0xf3, 3),
        (0xf4, 0xf4, 7),
    ],
    &[(0x80, 0xbf, 0)],
    &[(0x80, 0xbf, 1)],
    &[(0x80, 0xbf, 2)],
    &[(0xa0, 0xbf, 1)],
    &[(0x80, 0x9f, 1)],
    &[(0x90, 0xbf, 2)],
    &[(0x80, 0x8f, 2)],
];

impl FirstFound<u8> {
    /// Returns the automaton of the texts that end with the first text found, if this is `end`; or,
    /// without `end`, of the texts that are not empty and have none of them in it.
    fn automaton(&self, end: Option<usize>) -> Automaton {
        let missing = self.missing();
        // The start, the states, those of state 0 within a character, and the end.
        let (first, within) = (1, self.moves.len());
        let place = |state: usize, missing: usize| match state {
            0 if missing > 0 => first + within + missing - 1,
            state => first + state,
        };
        let last = first + within + UTF8.len() - 1;
        let mut states = vec![State::default(); last + 1];
        states[last].accepts = end.is_some();
        for (state, named) in self.states() {
            let to = |reached| match reached {
                Reached::State(to) => Some(first + to),
                Reached::Text(text) => (end == Some(text)).then_some(last),
            };
            let named: Vec<(u8, Option<usize>)> =
                named.into_iter().map(|(byte, reached)| (byte, to(reached))).collect();
            states[first + state] = State {
                moves: moves(UTF8[missing[state]], &named, |missing| place(0, missing)),
                accepts: end.is_none() && missing[state] == 0,
            };
        }
        for (missing, bytes) in UTF8.iter().enumerate().skip(1) {
            states[place(0, missing)].moves = moves(bytes, &[], |missing| place(0, missing));
        }
        states[0] = State { moves: states[first].moves.clone(), accepts: false };
        Automaton::new(states)
    }

    /// Returns, by state, the part of UTF-8 that is missing.
    fn missing(&self) -> Vec<usize> {
        let mut missing = vec![usize::MAX; self.moves.len()];
        missing[0] = 0;
        let mut pending = vec![0];
        while let Some(state) = pending.pop() {
            for (&byte, &to) in &self.moves[state] {
                let bytes = UTF8[missing[state]].iter();
                let next = bytes.clone().find(|(first, last, _)| (*first..=*last).contains(&byte));
                if let Some(&(_, _, next)) = next.filter(|_| missing[to] == usize::MAX) {
                    missing[to] = next;
                    pending.push(to);
                }
            }
        }
        missing
    }
}

/// Returns moves over the bytes of UTF-8, ascending: `named` ones lead where they say, the others
/// to the state for the part that is missing then.
fn moves(
    bytes: &[(u8, u8, usize)],
    named: &[(u8, Option<usize>)],
    place: impl Fn(usize) -> usize,
) -> Moves {
    let mut moves = Moves::new();
    for &(first, last, missing) in bytes {
        let other = place(missing) as u32;
        let mut begin = u16::from(first);
        for &(byte, to) in named.iter().filter(|(byte, _)| (first..=last).contains(byte)) {
            if begin < u16::from(byte) {
                moves.push((begin as u8, byte - 1, other));
            }
            moves.extend(to.map(|to| (byte, byte, to as u32)));
            begin = u16::from(byte) + 1;
        }
        if begin <= u16::from(last) {
            moves.push((begin as u8, last, other));
        }
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the automaton of `search` matches `text`.
    fn matches(search: &Search, text: &[u8]) -> bool {
        let automaton = search.automaton();
        let step = |state: &State, byte: &u8| {
            let found = state.moves.iter().find(|(first, last, _)| (*first..=*last).contains(byte));
            found.map(|&(_, _, next)| &automaton.states[next as usize])
        };
        text.iter().try_fold(&automaton.states[0], step).is_some_and(|state| state.accepts)
    }

    /// The text found first, by definition: the longest of those that end first.
    fn first(texts: &[String], text: &str) -> Option<(usize, usize)> {
        (1..=text.len()).filter(|&end| text.is_char_boundary(end)).find_map(|end| {
            let found = (0..texts.len()).filter(|&number| text[..end].ends_with(&texts[number]));
            Some((end, found.max_by_key(|&number| texts[number].len())?))
        })
    }

    #[test]
    fn texts_are_searched_as_defined() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut word = |most: usize| -> String {
            (0..random.usize(1..=most))
                .map(|_| ['a', 'b', 'é', 'è', 'ы', '語'][random.usize(0..6)])
                .collect()
        };
        let (mut found_texts, mut free) = (0, 0);
        for _ in 0..2000 {
            let mut texts: Vec<String> = (0..3).map(|_| word(3)).collect();
            texts.sort();
            texts.dedup();
            let texts = Texts::from(texts);
            let text = word(8);
            let found = first(&texts, &text);
            for number in 0..texts.len() {
                let search = Search { texts: texts.clone(), found: Some(number) };
                let is_found = found == Some((text.len(), number));
                assert_eq!(matches(&search, text.as_bytes()), is_found, "{texts:?} {text}");
                let found_with = texts.over_characters().found_with(number);
                let ends = (0..texts.len()).filter(|&other| texts[number].ends_with(&texts[other]));
                let is_first = first(&texts, &texts[number]) == Some((texts[number].len(), number));
                let mut expected: Vec<usize> = ends.filter(|_| is_first).collect();
                expected.sort_by_key(|&text| std::cmp::Reverse(texts[text].len()));
                assert_eq!(found_with, expected, "{texts:?} {number}");
                found_texts += usize::from(is_found);
            }
            let search = Search { texts: texts.clone(), found: None };
            assert_eq!(matches(&search, text.as_bytes()), found.is_none(), "{texts:?} {text}");
            free += usize::from(found.is_none());
            // Not within a character.
            let cut = (1..text.len()).find(|&end| !text.is_char_boundary(end));
            assert!(cut.is_none_or(|cut| !matches(&search, &text.as_bytes()[..cut])), "{text}");
            assert!(!matches(&search, b""));
        }
        assert!(found_texts > 100 && free > 100, "{found_texts} {free}");
    }
}

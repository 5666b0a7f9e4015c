//! Tokens of a vocabulary as parts of a grammar, before any vocabulary is known.
//!
//! A token named in a rule is spelled with bytes that occur in no text: UTF-8 has no byte FF. So it
//! is a lexeme like others, and tables and scan states need no special case. llguidance spells its
//! tokens in the same way.

use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::automaton::{Automaton, Moves, State};

/// Tokens that a terminal denotes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Tokens {
    /// The tokens of this name, including angle brackets: special tokens or, if no special token
    /// has the name, ordinary ones with exactly this text.
    Name(String),
    /// The special tokens of this name, if the vocabulary has any.
    Special(String),
    /// The ids in these ranges, both ends included; ascending and disjoint.
    Ids(Vec<(u32, u32)>),
    /// Every token except these and those that end a text.
    Others(Box<Tokens>),
}

/// First byte of the spelling of a token; occurs in no text.
pub(crate) const MARK: u8 = 0xff;

/// Digits of the largest id that is spelled. Vocabularies are smaller.
const DIGITS: u32 = 8;

impl Tokens {
    /// Returns the spelling of the token of this name.
    pub(crate) fn name_spelling(name: &str) -> Vec<u8> {
        [&[MARK], name.as_bytes()].concat()
    }

    /// Returns the spelling of a token that is referred to by its id.
    pub(crate) fn id_spelling(id: u32) -> Vec<u8> {
        [&[MARK, b'['], id.to_string().as_bytes(), b"]"].concat()
    }

    /// Returns the spelling of every token that is not in `excluded`.
    pub(crate) fn others_spelling(excluded: &Self) -> Vec<u8> {
        [&[MARK, b'!'], excluded.to_string().as_bytes()].concat()
    }

    /// Whether an id is among these; always `false` unless the tokens are given by ids.
    pub(crate) fn has_id(&self, id: u32) -> bool {
        match self {
            Tokens::Name(_) | Tokens::Special(_) | Tokens::Others(_) => false,
            Tokens::Ids(ranges) => first_within(ranges, id.into(), id.into()).is_some(),
        }
    }

    /// Returns the ids that all of `members` have and none of `others`.
    pub(crate) fn exactly(members: &[&Self], others: &[&Self]) -> Self {
        let ranges = |tokens: &&Self| match tokens {
            Tokens::Name(_) | Tokens::Special(_) | Tokens::Others(_) => Vec::new(),
            Tokens::Ids(ranges) => ranges.clone(),
        };
        let all = members.iter().chain(others).flat_map(ranges);
        let mut begins: Vec<u32> =
            all.flat_map(|(first, last)| [Some(first), last.checked_add(1)]).flatten().collect();
        begins.sort_unstable();
        begins.dedup();
        let mut found: Vec<(u32, u32)> = Vec::new();
        for (index, &first) in begins.iter().enumerate() {
            let last = begins.get(index + 1).map_or(u32::MAX, |next| next - 1);
            if members.iter().all(|member| member.has_id(first))
                && !others.iter().any(|other| other.has_id(first))
            {
                match found.last_mut() {
                    Some((_, end)) if end.checked_add(1) == Some(first) => *end = last,
                    _ => found.push((first, last)),
                }
            }
        }
        Tokens::Ids(found)
    }

    /// Returns the automaton of the spellings. Its size is that of the name, or about ten states
    /// for each end of a range.
    pub(crate) fn spellings(&self) -> Automaton {
        match self {
            Tokens::Name(name) | Tokens::Special(name) => only(&Self::name_spelling(name)),
            Tokens::Others(excluded) => only(&Self::others_spelling(excluded)),
            Tokens::Ids(ranges) => Numbers::new(ranges).automaton(),
        }
    }
}

/// Returns the automaton of one text.
fn only(bytes: &[u8]) -> Automaton {
    let step = |(at, &byte): (usize, &u8)| State {
        moves: smallvec![(byte, byte, at as u32 + 1)],
        accepts: false,
    };
    let mut states: Vec<State> = bytes.iter().enumerate().map(step).collect();
    states.push(State { moves: Moves::new(), accepts: true });
    Automaton::new(states)
}

/// Builder of the automaton of the decimal numbers in some ranges, in brackets after the mark.
struct Numbers<'a> {
    ranges: &'a [(u32, u32)],
    states: Vec<State>,
    /// By count of digits: the state after this many digits from which any digits may follow.
    free: [Option<u32>; DIGITS as usize + 1],
}

/// Returns the first of the ascending ranges that contains a number from `first` to `last`.
fn first_within(ranges: &[(u32, u32)], first: u64, last: u64) -> Option<(u32, u32)> {
    let next = ranges.partition_point(|&(_, to)| u64::from(to) < first);
    ranges.get(next).copied().filter(|&(from, _)| u64::from(from) <= last)
}

/// State after the closing bracket.
const END: u32 = 2;

impl<'a> Numbers<'a> {
    fn new(ranges: &'a [(u32, u32)]) -> Self {
        let states = vec![
            State { moves: smallvec![(MARK, MARK, 1)], accepts: false },
            State { moves: smallvec![(b'[', b'[', 3)], accepts: false },
            State { moves: Moves::new(), accepts: true },
            State::default(),
        ];
        Self { ranges, states, free: [None; DIGITS as usize + 1] }
    }

    fn automaton(mut self) -> Automaton {
        for digit in 0..10 {
            self.digit(3, digit, 1);
        }
        Automaton::new(self.states)
    }

    /// Adds the move from a state by the last digit of `number`, which has `count` digits.
    fn digit(&mut self, from: u32, number: u64, count: u32) {
        let Some(to) = self.behind(number, count) else { return };
        let byte = b'0' + (number % 10) as u8;
        self.states[from as usize].moves.push((byte, byte, to));
    }

    /// Returns the state after `number`, or `None` if no number in the ranges begins with it.
    fn behind(&mut self, number: u64, count: u32) -> Option<u32> {
        let (mut some, mut all) = (false, true);
        // No digit follows a leading zero.
        let longest = if number == 0 { count } else { DIGITS };
        for more in 0..=longest - count {
            let power = 10_u64.pow(more);
            let (first, last) = (number * power, number * power + power - 1);
            let found = first_within(self.ranges, first, last);
            some |= found.is_some();
            // The ranges are not adjacent, so only a single one can contain them all.
            all &=
                found.is_some_and(|(from, to)| u64::from(from) <= first && last <= u64::from(to));
        }
        if !some {
            return None;
        }
        if all && number > 0 {
            return Some(self.free(count));
        }
        let state = self.add(first_within(self.ranges, number, number).is_some());
        if number > 0 && count < DIGITS {
            for digit in 0..10 {
                self.digit(state, number * 10 + digit, count + 1);
            }
        }
        Some(state)
    }

    /// Adds a state after which the bracket may close if `closes`.
    fn add(&mut self, closes: bool) -> u32 {
        let moves = if closes { smallvec![(b']', b']', END)] } else { Moves::new() };
        self.states.push(State { moves, accepts: false });
        self.states.len() as u32 - 1
    }

    fn free(&mut self, count: u32) -> u32 {
        if let Some(state) = self.free[count as usize] {
            return state;
        }
        let state = self.add(true);
        self.free[count as usize] = Some(state);
        if count < DIGITS {
            let next = self.free(count + 1);
            self.states[state as usize].moves.push((b'0', b'9', next));
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(automaton: &Automaton, text: &[u8]) -> bool {
        let mut at = 0;
        for byte in text {
            let step = automaton.states[at]
                .moves
                .iter()
                .find(|(first, last, _)| (first..=last).contains(&byte));
            let Some(&(_, _, next)) = step else { return false };
            at = next as usize;
        }
        automaton.states[at].accepts
    }

    #[test]
    fn ids_are_spelled_exactly_where_they_are_in_a_range() {
        for ranges in [
            vec![(0, 0)],
            vec![(7, 7), (10, 20)],
            vec![(0, 99), (101, 1999)],
            vec![(9, 10), (99, 101), (995, u32::MAX)],
            vec![(0, u32::MAX)],
        ] {
            let tokens = Tokens::Ids(ranges);
            let automaton = tokens.spellings();
            for id in 0..3000 {
                assert_eq!(
                    matches(&automaton, &Tokens::id_spelling(id)),
                    tokens.has_id(id),
                    "{tokens:?} {id}"
                );
            }
            assert!(!matches(&automaton, b"\xff[007]"));
            assert!(!matches(&automaton, b"\xff[]"));
        }
    }

    #[test]
    fn what_some_have_and_others_have_not() {
        let ids = |ranges: &[(u32, u32)]| Tokens::Ids(ranges.to_vec());
        let (all, some, few) = (ids(&[(0, u32::MAX)]), ids(&[(5, 9), (20, 30)]), ids(&[(7, 25)]));
        assert_eq!(Tokens::exactly(&[&all, &some], &[&few]), ids(&[(5, 6), (26, 30)]));
        assert_eq!(Tokens::exactly(&[&some, &few], &[]), ids(&[(7, 9), (20, 25)]));
        assert_eq!(Tokens::exactly(&[&all], &[&some, &few]), ids(&[(0, 4), (31, u32::MAX)]));
    }

    #[test]
    fn all_others_are_spelled_alike_and_begin_no_other_spelling() {
        let end = Tokens::Name("<end>".to_owned());
        let seven = Tokens::Ids(vec![(7, 7)]);
        let [others, but_seven] =
            [&end, &seven].map(|one| Tokens::Others(Box::new(one.clone())).spellings());
        assert!(matches(&others, b"\xff!<end>") && !matches(&others, b"\xff!<[7]>"));
        assert!(matches(&but_seven, b"\xff!<[7]>") && !matches(&end.spellings(), b"\xff!<end>"));
    }

    #[test]
    fn a_name_is_spelled_behind_the_mark() {
        let automaton = Tokens::Name("<|end|>".to_owned()).spellings();
        assert!(matches(&automaton, b"\xff<|end|>"));
        assert!(!matches(&automaton, b"<|end|>"));
    }
}

//! Tokens of a vocabulary as parts of a grammar, before any vocabulary is known.
//!
//! A token that a rule names is spelled by bytes that no text holds: UTF-8 has no byte FF. So it is
//! a lexeme like others, and neither tables nor scan states know of it. llguidance spells its
//! tokens in the same way.

use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::automaton::{Automaton, Moves, State};

/// Tokens that a terminal stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Tokens {
    /// The tokens of this name, angle brackets included: special tokens, or where no special token
    /// is called so, ordinary ones with just this text.
    Name(String),
    /// The ids in these ranges, both ends included; ascending, none in two of them.
    Ids(Vec<(u32, u32)>),
    /// Every token but these, and but those that end a text.
    Others(Box<Tokens>),
}

/// Begins the spelling of a token, and stands in no text.
pub(crate) const MARK: u8 = 0xff;

/// Digits of the largest id that is spelled. Vocabularies are narrower.
const DIGITS: u32 = 8;

impl Tokens {
    /// How the token of this name is spelled.
    pub(crate) fn name_spelling(name: &str) -> Vec<u8> {
        [&[MARK], name.as_bytes()].concat()
    }

    /// How the token of this id is spelled where it is meant by its id.
    pub(crate) fn id_spelling(id: u32) -> Vec<u8> {
        [&[MARK, b'['], id.to_string().as_bytes(), b"]"].concat()
    }

    /// How every token is spelled that is none of `excluded`.
    pub(crate) fn others_spelling(excluded: &Self) -> Vec<u8> {
        [&[MARK, b'!'], excluded.to_string().as_bytes()].concat()
    }

    /// Whether an id is among these; no id is where tokens are not told by their ids.
    pub(crate) fn has_id(&self, id: u32) -> bool {
        match self {
            Tokens::Name(_) | Tokens::Others(_) => false,
            Tokens::Ids(ranges) => first_within(ranges, id.into(), id.into()).is_some(),
        }
    }

    /// The ids that all of `members` have and none of `others`.
    pub(crate) fn exactly(members: &[&Self], others: &[&Self]) -> Self {
        let ranges = |tokens: &&Self| match tokens {
            Tokens::Name(_) | Tokens::Others(_) => Vec::new(),
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

    /// The automaton of the spellings. Its size is that of the name, or some ten states an end of a
    /// range.
    pub(crate) fn spellings(&self) -> Automaton {
        match self {
            Tokens::Name(name) => only(&Self::name_spelling(name)),
            Tokens::Others(excluded) => only(&Self::others_spelling(excluded)),
            Tokens::Ids(ranges) => Numbers::new(ranges).automaton(),
        }
    }
}

/// The automaton of one text.
fn only(bytes: &[u8]) -> Automaton {
    let step = |(at, &byte): (usize, &u8)| State {
        moves: smallvec![(byte, byte, at as u32 + 1)],
        accepts: false,
    };
    let mut states: Vec<State> = bytes.iter().enumerate().map(step).collect();
    states.push(State { moves: Moves::new(), accepts: true });
    Automaton::new(states)
}

/// Makes the automaton of the decimal numbers in some ranges, in brackets and behind the mark.
struct Numbers<'a> {
    ranges: &'a [(u32, u32)],
    states: Vec<State>,
    /// By count of digits: the state behind so many digits from which any digits may follow.
    free: [Option<u32>; DIGITS as usize + 1],
}

/// The first of the ranges, which ascend, that has a number from `first` to `last`.
fn first_within(ranges: &[(u32, u32)], first: u64, last: u64) -> Option<(u32, u32)> {
    let next = ranges.partition_point(|&(_, to)| u64::from(to) < first);
    ranges.get(next).copied().filter(|&(from, _)| u64::from(from) <= last)
}

/// The state behind the closing bracket.
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

    /// Leads from a state by the last digit of `number`, which has `count` of them, to what may
    /// follow.
    fn digit(&mut self, from: u32, number: u64, count: u32) {
        let Some(to) = self.behind(number, count) else { return };
        let byte = b'0' + (number % 10) as u8;
        self.states[from as usize].moves.push((byte, byte, to));
    }

    /// The state behind `number`; `None` where no number of the ranges begins so.
    fn behind(&mut self, number: u64, count: u32) -> Option<u32> {
        let (mut some, mut all) = (false, true);
        // Nothing follows a zero that begins a number.
        let longest = if number == 0 { count } else { DIGITS };
        for more in 0..=longest - count {
            let power = 10_u64.pow(more);
            let (first, last) = (number * power, number * power + power - 1);
            let found = first_within(self.ranges, first, last);
            some |= found.is_some();
            // The ranges do not touch, so one alone can hold all.
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

    /// A state behind which the bracket may close, or may not.
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

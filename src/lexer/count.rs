//! Lexemes that are held to a number of characters: of the texts of an automaton, those that enter
//! so many of its *marked* states, which are those behind a character.
//!
//! A string with a pattern and a greatest length takes, as one automaton, as many times the states
//! of the pattern as it may have characters. Here the two stay apart: a table that counts nothing,
//! and a [`Count`] beside it. A state of the whole is a state of the table and a count, and its
//! number is made of both, so that nothing has to be written out. Which of them lead to a lexeme is
//! told by one bit each ([`Count::find_live`]).
//!
//! One more count is *open*: there nothing is counted any more. Where there is no upper bound, it
//! comes behind the lower one. Where there is, no text leads there, but what happens there is what
//! happens as long as the bounds are far: walks of a vocabulary start from there.

use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use crate::grammar::pattern::Counted;
use crate::lexer::algebra;
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::made;
use crate::util::lists::Lists;
use crate::util::meter::Meter;
use crate::util::self_loops::LETTER;

/// The most states, as pairs, that an automaton may have.
pub(crate) const MOST_STATES: usize = 1 << 20;

/// What is counted, and the bounds.
#[derive(Clone, Debug)]
pub(crate) struct Count {
    /// By state of the table: whether to enter it counts.
    marked: Box<[bool]>,
    least: u32,
    most: Option<u32>,
    /// By state of the table: the counts with which it leads to a lexeme, one bit each, in whole
    /// words.
    live: Box<[u64]>,
    /// From each state of the table a lexeme is reached with so many marks.
    farthest: u32,
    /// Lengths of shortest rests, by state, once one is asked for.
    distances: OnceLock<Box<[u32]>>,
}

/// The bounds and the marks say all; the rest follows from these and from the table.
impl PartialEq for Count {
    fn eq(&self, other: &Self) -> bool {
        (&self.marked, self.least, self.most) == (&other.marked, other.least, other.most)
    }
}

impl Eq for Count {}

impl Hash for Count {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.marked, self.least, self.most).hash(state);
    }
}

impl Count {
    /// The count beside a table all of whose states lead to a lexeme; `None` where the two are too
    /// large together, or one of the numbers.
    pub(super) fn new(
        table: &Dfa,
        marked: Box<[bool]>,
        least: u32,
        most: Option<u32>,
    ) -> Option<Self> {
        let (live, distances) = (Box::default(), OnceLock::new());
        let mut count = Self { marked, least, most, live, farthest: 0, distances };
        let width = u64::from(most.unwrap_or(least)) + 2;
        let states = width.saturating_mul(count.marked.len() as u64);
        if states > MOST_STATES as u64 || count.marked.len() != table.table_states() {
            return None;
        }
        let before = before(table);
        count.farthest = count.find_farthest(table, &before);
        count.live = count.find_live(table, &before);
        Some(count)
    }

    /// The bounds, and by state of the table whether it is marked.
    pub(super) fn parts(&self) -> (&[bool], u32, Option<u32>) {
        (&self.marked, self.least, self.most)
    }

    /// How many counts there are.
    pub(super) fn width(&self) -> u32 {
        self.open() + 1
    }

    /// The count from which on nothing is counted.
    pub(super) fn open(&self) -> u32 {
        self.most.map_or(self.least, |most| most + 1)
    }

    /// The state of the table and the count of a state.
    #[inline]
    pub(super) fn split(&self, state: u32) -> (u32, u32) {
        (state / self.width(), state % self.width())
    }

    /// The number of a state of the table and a count.
    #[inline]
    pub(super) fn join(&self, at: u32, count: u32) -> u32 {
        at * self.width() + count
    }

    /// The state behind one of this count where the table leads to `next`; [`Dfa::DEAD`] where no
    /// lexeme is behind it.
    #[inline]
    pub(super) fn enter(&self, next: u32, count: u32) -> u32 {
        if next == Dfa::DEAD {
            return Dfa::DEAD;
        }
        let counts = self.marked[next as usize] && count != self.open();
        if counts && Some(count) == self.most {
            return Dfa::DEAD;
        }
        let count = count + u32::from(counts);
        if self.is_live(next, count) { self.join(next, count) } else { Dfa::DEAD }
    }

    /// Whether a lexeme is behind this state of the table with this count.
    #[inline]
    fn is_live(&self, at: u32, count: u32) -> bool {
        let word = self.live[at as usize * self.words() + count as usize / 64];
        word >> (count % 64) & 1 == 1
    }

    /// Whether a lexeme may have this count.
    #[inline]
    pub(super) fn is_met(&self, count: u32) -> bool {
        count >= self.least
    }

    /// From a state of this count on, texts that enter no more marked states than so many lead just
    /// where they lead from the open one.
    pub(super) fn slack(&self, count: u32) -> u32 {
        match self.most {
            _ if count == self.open() => u32::MAX,
            _ if !self.is_met(count) => 0,
            Some(most) => (most - count).saturating_sub(self.farthest),
            None => u32::MAX,
        }
    }

    /// Heap bytes, those of lengths among them: somebody may ask for these.
    pub(super) fn bytes(&self) -> usize {
        let states = self.marked.len() * self.width() as usize;
        self.marked.len() + self.live.len() * size_of::<u64>() + states * size_of::<u32>()
    }

    fn words(&self) -> usize {
        (self.width() as usize).div_ceil(64)
    }

    /// Zero-one breadth-first search from the lexemes back: the most marks that lie before the
    /// nearest one.
    fn find_farthest(&self, table: &Dfa, before: &Lists<u32>) -> u32 {
        let mut marks = vec![u32::MAX; self.marked.len()];
        let mut level: Vec<u32> = (0..marks.len() as u32).filter(|&at| table.ends(at)).collect();
        let (mut count, mut farthest) = (0, 0);
        while !level.is_empty() {
            let mut next = Vec::new();
            while let Some(at) = level.pop() {
                if marks[at as usize] != u32::MAX {
                    continue;
                }
                marks[at as usize] = count;
                farthest = count;
                let farther = if self.marked[at as usize] { &mut next } else { &mut level };
                farther.extend_from_slice(before.get(at as usize));
            }
            level = next;
            count += 1;
        }
        farthest
    }

    /// The counts with which each state leads to a lexeme: what the counts behind its moves come
    /// to, until nothing changes. A state to which a marked state leads back at once may be entered
    /// any number of times, so that all lower counts do as well; else a lower bound would be come
    /// to one by one.
    fn find_live(&self, table: &Dfa, before: &Lists<u32>) -> Box<[u64]> {
        let (words, open) = (self.words(), self.open() as usize);
        let states = self.marked.len();
        let bit = |count: usize| 1u64 << (count % 64);
        let mut live = vec![0u64; states * words];
        let mut waits = vec![false; states];
        let mut queue = std::collections::VecDeque::new();
        for at in 0..states {
            live[at * words + open / 64] |= bit(open);
            if table.ends(at as u32) {
                let counts = self.least as usize..=self.most.map_or(open, |most| most as usize);
                counts.for_each(|count| live[at * words + count / 64] |= bit(count));
            }
            // Without an upper bound, all states are live at the open count.
            if table.ends(at as u32) || self.most.is_none() {
                waits[at] = true;
                queue.push_back(at);
            }
        }
        // Without an upper bound the open count is the one behind the last.
        let last = if self.most.is_some() { open - 1 } else { open };
        let mut entered = vec![0u64; words];
        while let Some(at) = queue.pop_front() {
            waits[at] = false;
            entered.copy_from_slice(&live[at * words..][..words]);
            if self.marked[at] {
                if last < open {
                    entered[open / 64] &= !bit(open);
                }
                for word in 0..words {
                    let above = entered.get(word + 1).map_or(0, |above| above << 63);
                    entered[word] = entered[word] >> 1 | above;
                }
            }
            for &from in before.get(at) {
                let from = from as usize;
                let known = &mut live[from * words..][..words];
                let mut changed = false;
                for (known, &more) in known.iter_mut().zip(&entered) {
                    changed |= more & !*known != 0;
                    *known |= more;
                }
                if !changed {
                    continue;
                }
                if self.marked[from] && before.get(from).contains(&(from as u32)) {
                    fill_below(known, last);
                }
                if !std::mem::replace(&mut waits[from], true) {
                    queue.push_back(from);
                }
            }
        }
        live.into()
    }

    /// By state of the whole the length of its shortest rest: breadth first from the lexemes back.
    pub(super) fn distance(&self, table: &Dfa, state: u32) -> u32 {
        let distances = self.distances.get_or_init(|| {
            let before = before(table);
            let states = self.marked.len() as u32 * self.width();
            let mut distances = vec![u32::MAX; states as usize].into_boxed_slice();
            let ends = |&state: &u32| {
                let (at, count) = self.split(state);
                table.ends(at) && self.is_met(count)
            };
            let mut queue: Vec<u32> = (0..states).filter(ends).collect();
            queue.iter().for_each(|&state| distances[state as usize] = 0);
            let mut next = 0;
            while let Some(&state) = queue.get(next) {
                next += 1;
                let (at, count) = self.split(state);
                for &from in before.get(at as usize) {
                    for count in [count.saturating_sub(1), count] {
                        let from = self.join(from, count);
                        let is_new = distances[from as usize] == u32::MAX;
                        if is_new && self.enter(at, count) == state {
                            distances[from as usize] = distances[state as usize] + 1;
                            queue.push(from);
                        }
                    }
                }
            }
            distances
        });
        distances.get(state as usize).copied().unwrap_or(u32::MAX)
    }
}

/// Sets all bits below the highest one of those up to `last`, and that one.
fn fill_below(bits: &mut [u64], last: usize) {
    let highest = (0..=last).rev().find(|&at| bits[at / 64] >> (at % 64) & 1 == 1);
    if let Some(highest) = highest {
        bits[..highest / 64].fill(u64::MAX);
        bits[highest / 64] |= u64::MAX >> (63 - highest % 64);
    }
}

/// By state of the table, the states that lead there.
fn before(table: &Dfa) -> Lists<u32> {
    let mut moves: Vec<(u32, u32)> = Vec::new();
    for at in 0..table.table_states() as u32 {
        let mut last = Dfa::DEAD;
        for &next in table.table_row(at) {
            if next != Dfa::DEAD && next != last {
                moves.push((next, at));
            }
            last = next;
        }
    }
    moves.sort_unstable();
    moves.dedup();
    Lists::from_pairs(table.table_states(), &moves)
}

impl Dfa {
    /// The automaton of a pattern that counts: a table and a count, unless `is_written_out`.
    ///
    /// # Errors
    ///
    /// When the automaton exceeds a limit.
    pub(super) fn of_counted(
        counted: &Counted,
        is_written_out: bool,
        meter: &Meter,
    ) -> Result<Self, PatternError> {
        let Counted { automaton, marked, least, most } = counted;
        let (table, states) = made::as_it_is(automaton, meter)?;
        let marks =
            states.iter().map(|&state| marked.get(state).is_some_and(|&marked| marked)).collect();
        let too_large = || PatternError::too_large("it counts too far".to_owned());
        let count = Count::new(&table, marks, *least, *most).ok_or_else(too_large)?;
        // Most of the work is words of bits.
        meter.step(table.table.len() + 4 * count.live.len())?;
        if !count.is_live(0, 0) {
            return algebra::product::<Self>(&[], |_| false, meter);
        }
        let dfa = Self { count: Some(Box::new(count)), ..table };
        match is_written_out {
            true => algebra::product(&[dfa], |only| only[0], meter),
            false => Ok(dfa),
        }
    }

    /// Whether something is counted beside the table.
    pub(crate) fn counts(&self) -> bool {
        self.count.is_some()
    }

    /// Where lexemes are counted: the state of the table, and how many characters a text may have
    /// of which no bound takes notice; `u32::MAX` where it may have any number.
    pub(crate) fn counted(&self, state: u32) -> Option<(u32, u32)> {
        let count = self.count.as_ref().filter(|_| state != Self::DEAD)?;
        let (at, counted) = count.split(state);
        Some((at, count.slack(counted)))
    }

    /// The state that counts nothing at this state of the table, where lexemes are counted.
    pub(crate) fn open(&self, at: u32) -> Option<u32> {
        self.count.as_ref().map(|count| count.join(at, count.open()))
    }

    /// The state of the table amid most lexemes that are counted: behind what comes before the
    /// first character, and one letter.
    pub(crate) fn inside(&self) -> Option<u32> {
        let count = self.count.as_ref()?;
        let is_marked = |&&next: &&u32| count.marked.get(next as usize) == Some(&true);
        let &first = self.table_row(0).iter().find(is_marked)?;
        let behind = self.table_row(first)[usize::from(self.classes.get(LETTER))];
        Some(if behind == Self::DEAD { first } else { behind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::pattern::{Automaton, Pattern, RegexFlags, State};
    use crate::lexer::Compiler;
    use crate::util::limits::Limits;
    use proptest::prelude::*;

    fn compiled(regex: &str) -> Dfa {
        let pattern =
            Pattern::Regex { pattern: regex.to_owned(), flags: RegexFlags::default(), place: None };
        Compiler::new(&Meter::new(&Limits::default())).compile(&pattern).expect("a regex")
    }

    /// The texts of `regex`, which are ASCII, that have so many characters, each with a `!` behind
    /// it that does not count.
    fn counted(regex: &str, least: u32, most: Option<u32>) -> Counted {
        let dfa = compiled(regex);
        let end = dfa.state_count() as u32;
        let state = |at| {
            let moves = (0..=u8::MAX).map(|byte| (byte, byte, dfa.next(at, byte)));
            let ends = dfa.is_accept(at).then_some((b'!', b'!', end));
            let moves = ends.into_iter().chain(moves.filter(|&(_, _, next)| next != Dfa::DEAD));
            State { moves: moves.collect(), accepts: false }
        };
        let mut states: Vec<State> = (0..end).map(state).collect();
        states.push(State { accepts: true, ..State::default() });
        let marked = (0..=end).map(|at| at != end).collect();
        Counted { automaton: Automaton::new(states), marked, least, most }
    }

    fn both(regex: &str, least: u32, most: Option<u32>) -> [Dfa; 2] {
        let meter = Meter::new(&Limits::default());
        let counted = counted(regex, least, most);
        [false, true]
            .map(|is_written_out| Dfa::of_counted(&counted, is_written_out, &meter).expect("small"))
    }

    #[test]
    fn counts_are_those_of_an_intersection() {
        for regex in ["(a|bc)*", "a{2,5}|b", "(ab)*c?", "a*b{3}", "[ab]*a[ab]{2}", "a"] {
            for (least, most) in
                [(0, Some(4)), (3, Some(3)), (2, None), (0, None), (5, Some(9)), (70, Some(200))]
            {
                let [apart, written_out] = both(regex, least, most);
                let bounds = most.map_or(String::new(), |most| most.to_string());
                let meter = Meter::new(&Limits::default());
                let lengths = compiled(&format!("[abc]{{{least},{bounds}}}!"));
                let texts = compiled(&format!("({regex})!"));
                let expected = algebra::intersection(&texts, &lengths, &meter).expect("small");
                assert_eq!(written_out, expected, "{regex} {least} {most:?}");
                assert_eq!(apart.is_empty(), expected.is_empty());
                assert_eq!(apart.shortest(), expected.shortest(), "{regex} {least} {most:?}");
                assert_eq!(apart.shortest_length(), expected.shortest_length());
                assert!(apart.is_empty() || apart.counts());
            }
        }
    }

    #[test]
    fn what_counts_too_far_is_refused() {
        let meter = Meter::new(&Limits::default());
        let far = counted("(a|bc)*", 0, Some(u32::MAX));
        assert!(Dfa::of_counted(&far, false, &meter).is_err());
    }

    proptest! {
        /// Texts are matched as by the automaton that is written out, and live states are just
        /// those that lead to a lexeme.
        #[test]
        fn states_live_as_they_are_written_out(
            text in "[abc]{0,12}!?",
            least in 0u32..6,
            more in prop::option::of(0u32..6),
            regex in prop::sample::select(vec!["(a|bc)*", "(ab)*c?", "a*b{3}|c*", "[ab]*a[ab]{2}"]),
        ) {
            let [apart, written_out] = both(regex, least, more.map(|more| least + more));
            let mut states = [apart.start(), written_out.start()];
            for byte in text.bytes() {
                states = [apart.next(states[0], byte), written_out.next(states[1], byte)];
                prop_assert_eq!(states[0] == Dfa::DEAD, states[1] == Dfa::DEAD);
                prop_assert_eq!(apart.is_accept(states[0]), written_out.is_accept(states[1]));
                prop_assert_eq!(apart.distance(states[0]), written_out.distance(states[1]));
            }
        }
    }
}

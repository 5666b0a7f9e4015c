//! Lexemes with a bounded number of characters: of the texts of an automaton, those that enter a
//! given number of its *marked* states, which are the states after a character.
//!
//! As one automaton, a string with a pattern and a maximum length needs the states of the pattern
//! multiplied by the number of characters it may have. Here the two stay separate: a table that
//! counts nothing, and a [`Count`] with it. A state of the whole is a state of the table and a
//! count, and its number is computed from both, so that nothing has to be written out. One bit for
//! each such pair tells whether it leads to a lexeme ([`Count::find_live`]).
//!
//! Without an upper bound nothing is counted from the lower bound on.

use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use crate::lexer::table::{DEAD, Table};
use crate::util::lists::Lists;

/// Maximum number of states, as pairs, of an automaton.
pub(crate) const MOST_STATES: usize = 1 << 20;

/// The marked states and the bounds of a count.
#[derive(Clone, Debug)]
pub(crate) struct Count {
    /// By state of the table: whether entering it counts.
    marked: Box<[bool]>,
    least: u32,
    most: Option<u32>,
    /// By state of the table: the counts with which it leads to a lexeme, one bit each, in whole
    /// words.
    live: Box<[u64]>,
    /// Lengths of shortest suffixes by state, computed at the first request.
    distances: OnceLock<Box<[u32]>>,
}

/// The bounds and the marks determine everything; the rest follows from these and from the table.
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
    /// Creates the count for a table all of whose states lead to a lexeme. Returns `None` if the
    /// two together, or one of the numbers, are too large.
    pub(super) fn new(
        table: Table<'_>,
        marked: Box<[bool]>,
        least: u32,
        most: Option<u32>,
    ) -> Option<Self> {
        let (live, distances) = (Box::default(), OnceLock::new());
        let mut count = Self { marked, least, most, live, distances };
        let width = u64::from(most.unwrap_or(least)) + 1;
        let states = width.saturating_mul(count.marked.len() as u64);
        if states > MOST_STATES as u64 || count.marked.len() != table.states() {
            return None;
        }
        count.live = count.find_live(table, &before(table));
        Some(count)
    }

    /// Lower bound on the count.
    pub(super) fn least(&self) -> u32 {
        self.least
    }

    /// Upper bound on the count, if there is one.
    pub(super) fn most(&self) -> Option<u32> {
        self.most
    }

    /// Whether to enter a state of the table counts.
    pub(super) fn is_marked(&self, at: u32) -> bool {
        self.marked.get(at as usize) == Some(&true)
    }

    /// Returns the number of counts.
    pub(super) fn width(&self) -> u32 {
        self.last() + 1
    }

    /// Returns the greatest count. Without an upper bound it stands for all greater ones as well.
    fn last(&self) -> u32 {
        self.most.unwrap_or(self.least)
    }

    /// Returns the state of the table and the count of a state.
    #[inline]
    pub(super) fn split(&self, state: u32) -> (u32, u32) {
        (state / self.width(), state % self.width())
    }

    /// Returns the number of a state of the table with a count.
    #[inline]
    pub(super) fn join(&self, at: u32, count: u32) -> u32 {
        at * self.width() + count
    }

    /// Returns the state that follows one of this count when the table leads to `next`; [`DEAD`] if
    /// no lexeme can follow.
    #[inline]
    pub(super) fn enter(&self, next: u32, count: u32) -> u32 {
        if next == DEAD {
            return DEAD;
        }
        let counts = self.marked[next as usize];
        if counts && Some(count) == self.most {
            return DEAD;
        }
        let count = (count + u32::from(counts)).min(self.last());
        if self.is_live(next, count) { self.join(next, count) } else { DEAD }
    }

    /// Returns whether this state of the table with this count leads to a lexeme.
    #[inline]
    pub(super) fn is_live(&self, at: u32, count: u32) -> bool {
        let word = self.live[at as usize * self.words() + count as usize / 64];
        word >> (count % 64) & 1 == 1
    }

    /// Returns whether a lexeme may have this count.
    #[inline]
    pub(super) fn is_met(&self, count: u32) -> bool {
        count >= self.least
    }

    /// Returns the heap bytes, including the lengths, which may be computed later.
    pub(super) fn bytes(&self) -> usize {
        let states = self.marked.len() * self.width() as usize;
        self.marked.len() + self.live.len() * size_of::<u64>() + states * size_of::<u32>()
    }

    fn words(&self) -> usize {
        (self.width() as usize).div_ceil(64)
    }

    /// Returns the counts with which each state leads to a lexeme: the counts that its moves lead
    /// to are propagated backwards to a fixpoint. A marked state that moves to itself may be
    /// entered any number of times, so all lower counts are live as well; without this rule the
    /// search would reach a lower bound one count at a time.
    fn find_live(&self, table: Table<'_>, before: &Lists<u32>) -> Box<[u64]> {
        let (words, last) = (self.words(), self.last() as usize);
        let states = self.marked.len();
        let bit = |count: usize| 1u64 << (count % 64);
        let mut live = vec![0u64; states * words];
        let mut waits = vec![false; states];
        let mut queue = std::collections::VecDeque::new();
        for at in 0..states {
            if table.ends(at as u32) {
                let counts = self.least as usize..=last;
                counts.for_each(|count| live[at * words + count / 64] |= bit(count));
            }
            // Without an upper bound, all states are live at the last count.
            if self.most.is_none() {
                live[at * words + last / 64] |= bit(last);
            }
            if table.ends(at as u32) || self.most.is_none() {
                waits[at] = true;
                queue.push_back(at);
            }
        }
        let mut entered = vec![0u64; words];
        while let Some(at) = queue.pop_front() {
            waits[at] = false;
            entered.copy_from_slice(&live[at * words..][..words]);
            if self.marked[at] {
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

    /// Returns the length of the shortest suffix of a state. Breadth-first search backwards from
    /// the lexemes.
    pub(super) fn distance(&self, table: Table<'_>, state: u32) -> u32 {
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

/// Sets all bits below the highest set bit among those up to `last`.
fn fill_below(bits: &mut [u64], last: usize) {
    let highest = (0..=last).rev().find(|&at| bits[at / 64] >> (at % 64) & 1 == 1);
    if let Some(highest) = highest {
        bits[..highest / 64].fill(u64::MAX);
        bits[highest / 64] |= u64::MAX >> (63 - highest % 64);
    }
}

/// Returns, by state of the table, its predecessors.
fn before(table: Table<'_>) -> Lists<u32> {
    let mut moves: Vec<(u32, u32)> = Vec::new();
    for at in 0..table.states() as u32 {
        let mut last = DEAD;
        for &next in table.row(at) {
            if next != DEAD && next != last {
                moves.push((next, at));
            }
            last = next;
        }
    }
    moves.sort_unstable();
    moves.dedup();
    Lists::from_pairs(table.states(), &moves)
}

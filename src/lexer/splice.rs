//! Concatenation, alternation and repetition of automata, for parts that are no regexes: Thompson's
//! construction (1968) with automata for leaves.

use regex_automata::nfa::thompson::{BuildError, Builder, NFA, Transition};
use regex_automata::util::primitives::StateID;

use crate::lexer::determinize::{nfa_bytes, nfa_too_large};
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::util::meter::Meter;

/// A combination of automata.
pub(super) enum Splice {
    /// One after the other.
    Concat(Vec<Splice>),
    /// Any one of them.
    Alternation(Vec<Splice>),
    /// Repeated at least and at most this many times; without bound if the latter is `None`.
    Repeat(Box<Splice>, u32, Option<u32>),
    /// A text of the automaton.
    Leaf(Box<Dfa>),
}

/// Returns the nondeterministic automaton of `splice`, within the memory limit.
pub(super) fn nondeterministic(splice: &Splice, meter: &Meter) -> Result<NFA, PatternError> {
    let too_large = |TooLarge| nfa_too_large(meter).unwrap_or_else(|limit| limit);
    let mut nfa = Nfa { builder: Builder::new() };
    nfa.builder.set_utf8(false);
    nfa.builder.set_size_limit(Some(nfa_bytes(meter))).map_err(|error| too_large(error.into()))?;
    nfa.whole(splice).map_err(too_large)
}

/// The reason why the automaton was abandoned: the only limit that applies here.
struct TooLarge;

impl From<BuildError> for TooLarge {
    fn from(_: BuildError) -> Self {
        Self
    }
}

struct Nfa {
    builder: Builder,
}

impl Nfa {
    fn whole(&mut self, splice: &Splice) -> Result<NFA, TooLarge> {
        self.builder.start_pattern()?;
        let start = self.builder.add_empty()?;
        let end = self.add(splice, start)?;
        let last = self.builder.add_match()?;
        self.builder.patch(end, last)?;
        self.builder.finish_pattern(start)?;
        Ok(self.builder.build(start, start)?)
    }

    /// Appends `splice` to `start`, a state without successors; the returned end is such a state
    /// again.
    fn add(&mut self, splice: &Splice, start: StateID) -> Result<StateID, TooLarge> {
        match splice {
            Splice::Concat(parts) => parts.iter().try_fold(start, |at, part| self.add(part, at)),
            Splice::Alternation(parts) => {
                let fork = self.fork_from(start)?;
                let end = self.builder.add_empty()?;
                for part in parts {
                    let begin = self.builder.add_empty()?;
                    self.builder.patch(fork, begin)?;
                    let last = self.add(part, begin)?;
                    self.builder.patch(last, end)?;
                }
                Ok(end)
            }
            Splice::Repeat(part, min, max) => self.repeat(part, *min, *max, start),
            Splice::Leaf(dfa) => self.leaf(dfa, start),
        }
    }

    fn repeat(
        &mut self,
        part: &Splice,
        min: u32,
        max: Option<u32>,
        start: StateID,
    ) -> Result<StateID, TooLarge> {
        let mut at = start;
        for _ in 0..min {
            at = self.add(part, at)?;
        }
        let end = self.builder.add_empty()?;
        match max {
            None => {
                let fork = self.fork_from(at)?;
                let begin = self.builder.add_empty()?;
                self.builder.patch(fork, begin)?;
                let last = self.add(part, begin)?;
                self.builder.patch(last, fork)?;
                self.builder.patch(fork, end)?;
            }
            Some(max) => {
                for _ in min..max {
                    let fork = self.fork_from(at)?;
                    self.builder.patch(fork, end)?;
                    at = self.builder.add_empty()?;
                    self.builder.patch(fork, at)?;
                    at = self.add(part, at)?;
                }
                self.builder.patch(at, end)?;
            }
        }
        Ok(end)
    }

    /// Returns a state after `start` that may lead to several.
    fn fork_from(&mut self, start: StateID) -> Result<StateID, TooLarge> {
        let fork = self.builder.add_union(Vec::new())?;
        self.builder.patch(start, fork)?;
        Ok(fork)
    }

    fn leaf(&mut self, dfa: &Dfa, start: StateID) -> Result<StateID, TooLarge> {
        let end = self.builder.add_empty()?;
        // Moves lead to forks, which can be made before their successors are known.
        let states = 0..dfa.state_count() as u32;
        let mut forks: Vec<StateID> = Vec::with_capacity(dfa.state_count());
        for _ in states.clone() {
            forks.push(self.builder.add_union(Vec::new())?);
        }
        let Some(&first) = forks.first() else {
            let nothing = self.builder.add_fail()?;
            self.builder.patch(start, nothing)?;
            return Ok(end);
        };
        self.builder.patch(start, first)?;
        let runs = dfa.classes().runs();
        for (state, &fork) in states.zip(&forks) {
            let (row, mut moves) = (dfa.row(state), Vec::<Transition>::new());
            for &(start, end, class) in &runs {
                let Some(&next) = forks.get(row[usize::from(class)] as usize) else { continue };
                match moves.last_mut() {
                    Some(last) if last.next == next && last.end.checked_add(1) == Some(start) => {
                        last.end = end;
                    }
                    _ => moves.push(Transition { start, end, next }),
                }
            }
            if !moves.is_empty() {
                let moves = self.builder.add_sparse(moves)?;
                self.builder.patch(fork, moves)?;
            }
            if dfa.is_accept(state) {
                self.builder.patch(fork, end)?;
            }
        }
        Ok(end)
    }
}

//! From Hir to a DFA: Thompson's construction (by `regex-automata`), then the subset construction.
//!
//! The subset construction is our own rather than `regex-automata`'s because a lexer needs to know
//! whether the current state accepts *now*: theirs tells one byte later, which doubles the states
//! and has to be undone. Ours also counts its steps: theirs can be bounded in memory only, and a
//! set of a million positions takes long before it takes much memory. A set holds only the states
//! that read a byte, and the match state.
//!
//! With a lazy repetition, a set is a list in the order in which the regex tries its members, and
//! members after a match are left out (Pike 1987; the leftmost-first match of Perl and of Python's
//! `re`). A text is then accepted where `re` would stop if the rest did not match more, and the
//! longest accepted text is the one that `re` finds.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::Hir;
use rustc_hash::FxBuildHasher;

use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::minimize::RawDfa;
use crate::util::byte_classes::ByteClasses;
use crate::util::meter::{Holding, Meter};

/// The texts of an automaton that are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    All,
    /// The match that `re` finds first.
    First,
    /// Those with no other of them as a proper prefix. Continuations of a match are not followed,
    /// which saves most of the states of a regex that is searched for and counts.
    Shortest,
}

/// Returns the DFA of `nfa`, not minimal. Bounded by `meter` in time and memory.
pub(super) fn determinize(
    nfa: &thompson::NFA,
    texts: Texts,
    meter: &Meter,
) -> Result<RawDfa, PatternError> {
    let classes = ByteClasses::by_key(|byte| usize::from(nfa.byte_classes().get(byte)));
    let mut subsets = Subsets {
        nfa,
        texts,
        meter,
        held: meter.holding(),
        seen: vec![0; nfa.states().len()],
        generation: 0,
        stack: Vec::new(),
        steps: 0,
        sets: Vec::new(),
        ends: Vec::new(),
        ids: HashTable::new(),
        single: vec![UNKNOWN; nfa.states().len()],
        current: Vec::new(),
    };
    let table = subsets.run(&classes)?;
    let accept = (0..subsets.ends.len()).map(|id| subsets.accepts(id)).collect();
    Ok(RawDfa { classes, table, accept, trailing: None })
}

/// Returns a compiler for Thompson's construction. It caches the states of large character classes,
/// so it is worth reusing.
pub(super) fn thompson(meter: &Meter) -> thompson::Compiler {
    compiler(meter, thompson::WhichCaptures::None)
}

/// Returns the same for a Hir in which captures represent look-arounds.
pub(super) fn thompson_with_looks(meter: &Meter) -> thompson::Compiler {
    compiler(meter, thompson::WhichCaptures::All)
}

fn compiler(meter: &Meter, captures: thompson::WhichCaptures) -> thompson::Compiler {
    let mut compiler = thompson::Compiler::new();
    compiler.configure(
        thompson::Config::new()
            .utf8(false)
            .shrink(false)
            .which_captures(captures)
            .nfa_size_limit(Some(nfa_bytes(meter))),
    );
    compiler
}

/// Returns the automaton that `compiler` makes of `hir`.
pub(super) fn nondeterministic(
    compiler: &thompson::Compiler,
    hir: &Hir,
    meter: &Meter,
) -> Result<thompson::NFA, PatternError> {
    let nfa = compiler.build_from_hir(hir).or_else(|_| Err(nfa_too_large(meter)?))?;
    meter.step(nfa.states().len() * STEPS_OF_A_STATE + nfa.memory_usage() / BYTES_A_STEP)?;
    Ok(nfa)
}

/// Returns the error of an abandoned automaton, which has cost as much as one of the maximum size.
pub(super) fn nfa_too_large(meter: &Meter) -> Result<PatternError, PatternError> {
    meter.step(nfa_bytes(meter) / BYTES_A_STEP)?;
    let most = size(nfa_bytes(meter));
    let message = format!("its nondeterministic automaton takes more than {most}");
    Ok(PatternError::too_large(message).beyond(meter.too_many_bytes()))
}

/// Steps to make a state of a nondeterministic automaton.
const STEPS_OF_A_STATE: usize = 25;
/// Bytes of its transitions that are made in a step.
const BYTES_A_STEP: usize = 1;

/// Formats a number of bytes for people.
fn size(bytes: usize) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB", bytes >> 10),
        mebibytes => format!("{mebibytes} MiB"),
    }
}

/// Returns the maximum number of bytes of a nondeterministic automaton.
pub(super) fn nfa_bytes(meter: &Meter) -> usize {
    meter.most_bytes() / 8
}

struct Subsets<'a> {
    nfa: &'a thompson::NFA,
    texts: Texts,
    meter: &'a Meter,
    held: Holding,
    /// By NFA state: the generation in which it was last visited.
    seen: Vec<u32>,
    generation: u32,
    stack: Vec<StateID>,
    steps: usize,
    /// All sets, end to end, each sorted or in order.
    sets: Vec<StateID>,
    /// Where the set of each DFA state ends in `sets`.
    ends: Vec<usize>,
    ids: HashTable<u32>,
    /// By NFA state: the number of its closure, or [`UNKNOWN`].
    single: Vec<u32>,
    current: Vec<StateID>,
}

/// Not computed yet. Limits keep numbers far below.
const UNKNOWN: u32 = Dfa::DEAD - 1;

impl<'a> Subsets<'a> {
    /// Returns the transition table over `classes`, with states in the order of discovery.
    fn run(&mut self, classes: &ByteClasses) -> Result<Vec<u32>, PatternError> {
        let width = classes.count();
        let mut table: Vec<u32> = Vec::new();
        let mut targets: Vec<Vec<StateID>> = vec![Vec::new(); width];
        self.closure(&[self.nfa.start_anchored()])?;
        self.intern()?;
        let mut state = 0;
        while state < self.ends.len() {
            if state.is_multiple_of(64) {
                self.hold(table.capacity())?;
            }
            let row = table.len();
            if let Some(transitions) = self.alone(state) {
                table.resize(row + width, Dfa::DEAD);
                self.steps += transitions.len();
                for transition in transitions {
                    let next = self.after(transition.next)?;
                    let (from, to) = (classes.get(transition.start), classes.get(transition.end));
                    table[row + usize::from(from)..=row + usize::from(to)].fill(next);
                }
                state += 1;
                continue;
            }
            self.gather(state, classes, &mut targets)?;
            for class in 0..width {
                // Adjacent classes mostly lead to the same set.
                let next = match class.checked_sub(1) {
                    _ if targets[class].is_empty() => Dfa::DEAD,
                    Some(before) if targets[before] == targets[class] => table[row + before],
                    _ => {
                        self.closure(&targets[class])?;
                        self.intern()?
                    }
                };
                table.push(next);
            }
            state += 1;
        }
        Ok(table)
    }

    fn range(&self, set: usize) -> std::ops::Range<usize> {
        let start = set.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[set]
    }

    fn accepts(&self, set: usize) -> bool {
        self.sets[self.range(set)]
            .iter()
            .any(|&id| matches!(self.nfa.state(id), thompson::State::Match { .. }))
    }

    /// Returns the transitions of a set of one member, which are disjoint and ascending: within
    /// large character classes nearly all sets have one member.
    fn alone(&self, set: usize) -> Option<&'a [thompson::Transition]> {
        match &self.sets[self.range(set)] {
            &[only] => match self.nfa.state(only) {
                thompson::State::ByteRange { trans } => Some(std::slice::from_ref(trans)),
                thompson::State::Sparse(sparse) => Some(&sparse.transitions),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the number of the closure of this state alone.
    fn after(&mut self, state: StateID) -> Result<u32, PatternError> {
        if self.single[state.as_usize()] == UNKNOWN {
            self.closure(&[state])?;
            self.single[state.as_usize()] = self.intern()?;
        }
        Ok(self.single[state.as_usize()])
    }

    /// Collects the targets of the members of `set`, for each class.
    fn gather(
        &mut self,
        set: usize,
        classes: &ByteClasses,
        targets: &mut [Vec<StateID>],
    ) -> Result<(), PatternError> {
        targets.iter_mut().for_each(Vec::clear);
        let nfa = self.nfa;
        let most = self.meter.most_bytes() / (4 * size_of::<StateID>());
        let mut pushed = 0;
        let mut add = |transition: &thompson::Transition| {
            // The classes of an NFA are contiguous, so the classes of a byte range are those
            // between its ends.
            for class in classes.get(transition.start)..=classes.get(transition.end) {
                targets[usize::from(class)].push(transition.next);
                pushed += 1;
            }
            pushed <= most
        };
        for at in self.range(set) {
            let fits = match nfa.state(self.sets[at]) {
                thompson::State::ByteRange { trans } => add(trans),
                thompson::State::Sparse(sparse) => sparse.transitions.iter().all(&mut add),
                thompson::State::Dense(dense) => (0..=255u8).all(|byte| {
                    let next = dense.transitions[usize::from(byte)];
                    next == StateID::ZERO
                        || add(&thompson::Transition { start: byte, end: byte, next })
                }),
                _ => true,
            };
            if !fits {
                return Err(self.too_much_memory());
            }
        }
        self.steps += pushed;
        self.check_steps()
    }

    /// Sets `current` to the closure of `from`: the byte-reading and match states reachable without
    /// a byte.
    fn closure(&mut self, from: &[StateID]) -> Result<(), PatternError> {
        use thompson::State;
        self.generation += 1;
        self.current.clear();
        let nfa = self.nfa;
        for &start in from {
            self.stack.push(start);
            while let Some(id) = self.stack.pop() {
                self.steps += 1;
                if std::mem::replace(&mut self.seen[id.as_usize()], self.generation)
                    == self.generation
                {
                    continue;
                }
                match nfa.state(id) {
                    State::ByteRange { .. }
                    | State::Sparse(_)
                    | State::Dense(_)
                    | State::Match { .. } => {
                        self.current.push(id);
                    }
                    State::Union { alternates } => {
                        self.steps += alternates.len();
                        self.stack.extend(alternates.iter().rev());
                    }
                    State::BinaryUnion { alt1, alt2 } => self.stack.extend([*alt2, *alt1]),
                    State::Capture { next, .. } => self.stack.push(*next),
                    // The Hir contains no look-around: the lowering creates none.
                    State::Look { .. } | State::Fail => {}
                }
            }
        }
        self.check_steps()?;
        if self.texts == Texts::All {
            self.current.sort_unstable();
            return Ok(());
        }
        let is_match = |id: &StateID| matches!(nfa.state(*id), State::Match { .. });
        match (self.texts, self.current.iter().position(is_match)) {
            (Texts::First, Some(at)) => self.current.truncate(at + 1),
            (Texts::Shortest, Some(at)) => self.current = vec![self.current[at]],
            (Texts::Shortest, None) => self.current.sort_unstable(),
            _ => {}
        }
        Ok(())
    }

    /// Returns the number of the set in `current`, adding it if it is new; [`Dfa::DEAD`] for the
    /// empty set.
    fn intern(&mut self) -> Result<u32, PatternError> {
        if self.current.is_empty() {
            return Ok(Dfa::DEAD);
        }
        let hash = FxBuildHasher.hash_one(&self.current);
        let range = |id: u32| {
            let start = (id as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
            start..self.ends[id as usize]
        };
        if let Some(&id) = self.ids.find(hash, |&id| self.sets[range(id)] == self.current[..]) {
            return Ok(id);
        }
        if self.ends.len() >= self.meter.states() {
            return Err(self.meter.too_many_states().into());
        }
        let id = self.ends.len() as u32;
        self.sets.extend_from_slice(&self.current);
        self.ends.push(self.sets.len());
        let (sets, ends) = (&self.sets, &self.ends);
        self.ids.insert_unique(hash, id, |&id| {
            let start = (id as usize).checked_sub(1).map_or(0, |before| ends[before]);
            FxBuildHasher.hash_one(&sets[start..ends[id as usize]])
        });
        Ok(id)
    }

    /// Reports the steps since the last report to the meter, once they are many.
    fn check_steps(&mut self) -> Result<(), PatternError> {
        const MANY: usize = 1_000;
        if self.steps > MANY {
            self.meter.step(std::mem::take(&mut self.steps))?;
        }
        Ok(())
    }

    /// Updates the memory held: the sets, and a table of this many entries.
    fn hold(&mut self, entries: usize) -> Result<(), PatternError> {
        let own = self.sets.capacity() * size_of::<StateID>() + self.ends.capacity() * 24;
        let of_nfa = self.nfa.memory_usage() + self.nfa.states().len() * 8;
        Ok(self.held.set(own + entries * size_of::<u32>() + of_nfa)?)
    }

    fn too_much_memory(&self) -> PatternError {
        let most = size(self.meter.most_bytes());
        PatternError::too_large(format!("its automaton takes more than {most}"))
            .beyond(self.meter.too_many_bytes())
    }
}

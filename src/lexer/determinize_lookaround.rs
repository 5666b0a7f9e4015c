//! Subset construction for a regex with look-arounds.
//!
//! The text before a position of a lexeme is known when the position is reached: an automaton of
//! `.*X` runs along with the subsets, and a look-behind for `X` asks whether that automaton
//! accepts. The text after a position is known later: a thread that has passed a look-ahead carries
//! an automaton of `X`, its *watch*. The thread dies when the watch accepts and must not, or when
//! the watch can no longer accept and must. A subset therefore holds threads, each a state of the
//! nondeterministic automaton with the watches that are still open. All of this is finite, and the
//! resulting automaton contains no look-arounds.
//!
//! Watches that are still open at the end of the lexeme become conditions on the text after it
//! ([`super::trailing`]), unless the lexeme is a whole text. Where a look-behind may reach before
//! the first character of the lexeme, the automaton reads the whole text before the lexeme, then
//! [`Dfa::BEGIN`], then the lexeme. Until the lexeme begins, a subset has no threads, only the
//! states of the look-behinds. Minimisation reduces these to the distinctions that matter to the
//! pattern, mostly one of two states.
//!
//! A look-around within a look-ahead uses the same construction: after a text that ends with open
//! watches, the automaton reads on until they are decided. If the look-ahead has conditions on the
//! text before it, its automaton runs along from the beginning of the text, and the watch starts in
//! the state after [`Dfa::BEGIN`]. The automaton of a look-behind reads the text from the
//! beginning, so look-behinds within it are decided at once.
//!
//! In the Hir a look-around is an empty capture group whose number identifies the look-around.

use hashbrown::{HashMap, HashSet};
use regex_automata::nfa::thompson::{self, State};
use regex_automata::util::primitives::StateID;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::look_around::Watch;
use crate::lexer::minimize::RawDfa;
use crate::lexer::trailing;
use crate::util::byte_classes::ByteClasses;
use crate::util::meter::{Holding, Meter};

pub(super) use crate::lexer::look_around::{LookAround, Side, Watches};

/// Cost of looking a thread up, in steps of the plain construction.
const STEPS_OF_A_THREAD: usize = 10;

/// A state of the nondeterministic automaton, and the number of its watches.
type Thread = (StateID, u32);

/// A state of the DFA.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Subset {
    threads: Vec<Thread>,
    /// By look-around: the state of its automaton if that reads the text before it, else 0.
    behind: SmallVec<[u32; 2]>,
    /// Number of characters of the lexeme read so far, capped at the largest width of a
    /// look-behind.
    length: usize,
    /// Whether the lexeme has begun.
    begun: bool,
}

/// The text before the lexeme.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Unknown,
    /// It is read first.
    Read,
    /// The lexeme begins where the text does.
    Empty,
}

struct Subsets<'a> {
    nfa: &'a thompson::NFA,
    looks: &'a [LookAround],
    /// By look-around: the first one with the same automaton and side, which represents it in
    /// watches. So a thread that must both find and not find something is seen to die.
    leaders: Vec<usize>,
    /// The number of the first look-around among the captures.
    first_look: usize,
    keeps_order: bool,
    /// Whether the automaton reads on after the end of a text until no watch is open.
    completes: bool,
    before: Before,
    /// Whether a look-around has reached before the text that was read.
    has_reached_before: bool,
    meter: &'a Meter,
    held: Holding,
    steps: usize,
    watches: Vec<Watches>,
    numbers: HashMap<Watches, u32, FxBuildHasher>,
    subsets: Vec<Subset>,
    ids: HashMap<Subset, u32, FxBuildHasher>,
    /// Memory of the subsets, as a number of threads.
    size: usize,
}

/// Returns the DFA of `nfa`, whose captures are these look-arounds. With `keeps_order`, it accepts
/// only the match that `re` finds first.
pub(super) fn determinize(
    nfa: &thompson::NFA,
    looks: &[LookAround],
    keeps_order: bool,
    meter: &Meter,
) -> Result<Dfa, PatternError> {
    let mut all = Subsets { keeps_order, ..Subsets::new(nfa, looks, meter) };
    let (classes, table) = all.explore()?;
    let ends: Vec<Vec<u32>> = all.subsets.iter().map(|subset| all.open_at_end(subset)).collect();
    let accept = ends.iter().map(|open| !open.is_empty()).collect();
    let raw = RawDfa { classes, table, accept, trailing: None };
    let raw = trailing::ask(raw, &ends, &all.watches, looks, meter)?;
    Ok(Dfa { leading: all.before == Before::Read, ..raw.minimize(meter)? })
}

/// Returns the DFA of `nfa` for lexemes that are whole texts.
pub(super) fn determinize_whole(
    nfa: &thompson::NFA,
    looks: &[LookAround],
    meter: &Meter,
) -> Result<Dfa, PatternError> {
    let mut all = Subsets { before: Before::Empty, ..Subsets::new(nfa, looks, meter) };
    let (classes, table) = all.explore()?;
    let ends: Vec<Vec<u32>> = all.subsets.iter().map(|subset| all.open_at_end(subset)).collect();
    let mut holds = |open: &u32| all.watch(*open, Dfa::END).is_some();
    let accept = ends.iter().map(|open| open.iter().any(&mut holds)).collect();
    Ok(RawDfa { classes, table, accept, trailing: None }.minimize(meter)?)
}

/// Returns the DFA of a look-around on this side that contains look-arounds itself, the first of
/// which is number `first_look` of the whole pattern. That of a look-ahead accepts the texts of
/// `nfa` followed by as much text as decides the inner look-arounds.
pub(super) fn determinize_nested(
    nfa: &thompson::NFA,
    looks: &[LookAround],
    first_look: usize,
    side: Side,
    meter: &Meter,
) -> Result<Dfa, PatternError> {
    let before = if side == Side::Ahead { Before::Unknown } else { Before::Empty };
    let new = Subsets::new(nfa, looks, meter);
    let mut all = Subsets { first_look, completes: side == Side::Ahead, before, ..new };
    let (classes, table) = all.explore()?;
    let accept = all.subsets.iter().map(|subset| all.open_at_end(subset).contains(&0)).collect();
    let raw = RawDfa { classes, table, accept, trailing: None };
    Ok(Dfa { leading: all.before == Before::Read, ..raw.minimize(meter)? })
}

/// Returns contiguous classes of bytes that neither the automaton, nor a look-around, nor the test
/// for the first byte of a character tells apart.
fn classes(nfa: &thompson::NFA, looks: &[LookAround]) -> ByteClasses {
    let kind = |byte: u8| {
        let own = looks.iter().map(|look| look.dfa.classes.get(byte));
        let kinds: SmallVec<[u8; 4]> = own.chain([nfa.byte_classes().get(byte)]).collect();
        (is_begin(byte), [Dfa::BEGIN, Dfa::END].contains(&byte), kinds)
    };
    let mut class = 0;
    let mut before = kind(0);
    ByteClasses::by_key(|byte| {
        let kind = kind(byte);
        class += usize::from(kind != before);
        before = kind;
        class
    })
}

/// Returns whether a character begins with this byte.
fn is_begin(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// Returns, for each look-around, the first one with the same automaton and side.
fn leaders(looks: &[LookAround]) -> Vec<usize> {
    let same = |look: &LookAround| looks.iter().position(|other| other.looks_as(look));
    looks.iter().enumerate().map(|(number, look)| same(look).unwrap_or(number)).collect()
}

/// Whether the automaton of a look-around reads the text before it.
fn reads_before(look: &LookAround) -> bool {
    look.side != Side::Ahead || look.dfa.leading
}

impl<'a> Subsets<'a> {
    fn new(nfa: &'a thompson::NFA, looks: &'a [LookAround], meter: &'a Meter) -> Self {
        let mut all = Self {
            nfa,
            looks,
            leaders: leaders(looks),
            first_look: 0,
            keeps_order: false,
            completes: false,
            before: Before::Unknown,
            has_reached_before: false,
            meter,
            held: meter.holding(),
            steps: 0,
            watches: vec![Watches::new()],
            numbers: HashMap::default(),
            subsets: Vec::new(),
            ids: HashMap::default(),
            size: 0,
        };
        all.numbers.insert(Watches::new(), 0);
        all
    }

    /// Returns classes of bytes, and the transition table over them. If a look-around reaches
    /// before the text, the text before it is read first.
    fn explore(&mut self) -> Result<(ByteClasses, Vec<u32>), PatternError> {
        let classes = classes(self.nfa, self.looks);
        let mut table = self.run(&classes)?;
        if self.has_reached_before {
            let &mut Self { nfa, looks, meter, first_look, keeps_order, completes, .. } = self;
            let (before, new) = (Before::Read, Self::new(nfa, looks, meter));
            *self = Self { first_look, keeps_order, completes, before, ..new };
            table = self.run(&classes)?;
        }
        Ok((classes, table))
    }

    /// Returns the transition table over `classes`, with states in the order of discovery; a part
    /// of it, once a look-around has reached before the text.
    fn run(&mut self, classes: &ByteClasses) -> Result<Vec<u32>, PatternError> {
        let begin = |look: &LookAround| if reads_before(look) { look.dfa.start() } else { 0 };
        let behind = self.looks.iter().map(begin).collect();
        let nothing = Subset { threads: Vec::new(), behind, length: 0, begun: false };
        let is_read = self.before == Before::Read;
        let first = if is_read { nothing } else { self.begin(nothing)? };
        self.intern(first)?;
        let mut table = Vec::new();
        let mut state = 0;
        while let Some(subset) = self.subsets.get(state).cloned()
            && !self.has_reached_before
        {
            for &byte in classes.representatives() {
                let next = self.step(&subset, byte)?;
                table.push(next);
            }
            self.meter.step(std::mem::take(&mut self.steps))?;
            let watches = self.watches.len() * 2 * size_of::<Watches>();
            let bytes =
                table.capacity() * size_of::<u32>() + self.size * size_of::<Thread>() + watches;
            self.held.set(bytes)?;
            state += 1;
        }
        Ok(table)
    }

    /// Returns the subset in which the lexeme begins, given the look-behind states of `before`.
    fn begin(&mut self, before: Subset) -> Result<Subset, PatternError> {
        self.close(Subset { begun: true, ..before }, &[(self.nfa.start_anchored(), 0)])
    }

    /// Returns the numbers of the watches that are open in each thread that has reached the end.
    fn open_at_end(&self, subset: &Subset) -> Vec<u32> {
        let is_match = |&&(at, _): &&Thread| matches!(self.nfa.state(at), State::Match { .. });
        let mut open: Vec<u32> =
            subset.threads.iter().filter(is_match).map(|&(_, open)| open).collect();
        open.sort_unstable();
        open.dedup();
        open
    }

    /// Returns the number of the subset after `byte`, or [`Dfa::DEAD`] if there is none.
    fn step(&mut self, from: &Subset, byte: u8) -> Result<u32, PatternError> {
        if !from.begun && byte == Dfa::BEGIN {
            let begun = self.begin(from.clone())?;
            return self.intern(begun);
        }
        let mut next: Vec<Thread> = Vec::new();
        for &(at, watches) in &from.threads {
            self.steps += 1;
            let target = match self.nfa.state(at) {
                State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
                State::Sparse(sparse) => sparse.matches_byte(byte),
                State::Dense(dense) => dense.matches_byte(byte),
                State::Match { .. } if self.completes && watches != 0 => Some(at),
                _ => None,
            };
            if let Some(target) = target
                && let Some(watches) = self.watch(watches, byte)
            {
                next.push((target, watches));
            }
        }
        if next.is_empty() && from.begun {
            return Ok(Dfa::DEAD);
        }
        let after = |(look, &state): (&LookAround, &u32)| {
            if reads_before(look) { look.dfa.next(state, byte) } else { 0 }
        };
        let behind = self.looks.iter().zip(&from.behind).map(after).collect();
        // The number of characters matters only where the text before them is unknown.
        let counted = self.looks.iter().filter(|_| self.before == Before::Unknown);
        let most = counted.filter_map(|look| look.side.reach()).max().unwrap_or(0);
        let length = (from.length + usize::from(is_begin(byte))).min(most);
        let subset = Subset { threads: Vec::new(), behind, length, begun: from.begun };
        let subset = self.close(subset, &next)?;
        self.intern(subset)
    }

    /// Returns the watches after `byte`, or `None` if one of them fails.
    fn watch(&mut self, watches: u32, byte: u8) -> Option<u32> {
        let mut after = Watches::new();
        for &(number, state, negated) in &self.watches[watches as usize] {
            let dfa = &self.looks[number as usize].dfa;
            let next = dfa.next(state, byte);
            let has_failed = next == Dfa::DEAD || byte == Dfa::END && !dfa.is_accept(next);
            match has_failed || dfa.is_accept(next) {
                true if has_failed == negated => {}
                true => return None,
                false => after.push((number, next, negated)),
            }
        }
        self.all_of(after)
    }

    /// Returns the number of a set of watches that must all succeed, or `None` if they contradict
    /// each other.
    fn all_of(&mut self, mut watches: Watches) -> Option<u32> {
        watches.sort_unstable();
        watches.dedup();
        let contradicts = |pair: &[Watch]| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1);
        (!watches.windows(2).any(contradicts)).then(|| self.number(watches))
    }

    /// Returns the same threads, once for each way in which one of `watches` is the first to fail.
    fn where_fails(&mut self, pending: &[Thread], watches: u32) -> Vec<Thread> {
        let failing = self.watches[watches as usize].clone();
        let mut threads = Vec::new();
        for &(at, own) in pending {
            // The thread pushed last is tried first; the order of these does not matter.
            for (place, &(number, state, negated)) in failing.iter().enumerate() {
                let mut all = self.watches[own as usize].clone();
                all.extend_from_slice(&failing[..place]);
                all.push((number, state, !negated));
                threads.extend(self.all_of(all).map(|all| (at, all)));
            }
        }
        threads
    }

    fn number(&mut self, watches: Watches) -> u32 {
        let next = self.watches.len() as u32;
        let number = *self.numbers.entry(watches.clone()).or_insert(next);
        if number == next {
            self.watches.push(watches);
        }
        number
    }

    /// Adds to `subset` all threads reachable from these without a byte.
    fn close(&mut self, mut subset: Subset, from: &[Thread]) -> Result<Subset, PatternError> {
        let mut seen: HashSet<Thread, FxBuildHasher> = HashSet::default();
        let mut pending: Vec<Thread> = from.iter().rev().copied().collect();
        while let Some((at, watches)) = pending.pop() {
            self.steps += STEPS_OF_A_THREAD;
            if self.steps > 10_000 {
                self.meter.step(std::mem::take(&mut self.steps))?;
                self.held.set(
                    self.watches.len() * 2 * size_of::<Watches>() + self.size * size_of::<Thread>(),
                )?;
            }
            if !seen.insert((at, watches)) {
                continue;
            }
            match self.nfa.state(at) {
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => {
                    subset.threads.push((at, watches));
                }
                State::Match { .. } => {
                    subset.threads.push((at, watches));
                    // Later threads are tried only where this one fails: never, if no watch is
                    // open.
                    if self.keeps_order {
                        pending = self.where_fails(&pending, watches);
                    }
                }
                State::Union { alternates } => {
                    pending.extend(alternates.iter().rev().map(|&at| (at, watches)));
                }
                State::BinaryUnion { alt1, alt2 } => {
                    pending.extend([(*alt2, watches), (*alt1, watches)]);
                }
                State::Capture { next, group_index, slot, .. } => {
                    let is_begin = slot.as_usize() % 2 == 0;
                    let number = group_index.as_usize().checked_sub(self.first_look + 1);
                    let look = number.filter(|_| is_begin);
                    let passed = match look {
                        Some(look) => self.look(look, &subset, watches),
                        None => Some(watches),
                    };
                    pending.extend(passed.map(|watches| (*next, watches)));
                }
                State::Look { .. } | State::Fail => {}
            }
        }
        if !self.keeps_order {
            subset.threads.sort_unstable();
        }
        Ok(subset)
    }

    /// Returns the watches of a thread that passes a look-around, or `None` if it cannot pass.
    fn look(&mut self, number: usize, at: &Subset, watches: u32) -> Option<u32> {
        let look = &self.looks[number];
        let is_within = look.side.reach().is_some_and(|reach| reach <= at.length);
        if self.before == Before::Unknown && (look.dfa.leading || !is_within) {
            self.has_reached_before = true;
            return None;
        }
        let state = match look.side {
            Side::Behind(_) => at.behind[number],
            Side::Ahead if look.dfa.leading => look.dfa.next(at.behind[number], Dfa::BEGIN),
            Side::Ahead => look.dfa.start(),
        };
        let holds = look.dfa.is_accept(state);
        if holds || state == Dfa::DEAD || look.side != Side::Ahead {
            return (holds != look.negated).then_some(watches);
        }
        let mut watches = self.watches[watches as usize].clone();
        watches.push((self.leaders[number] as u32, state, look.negated));
        self.all_of(watches)
    }

    fn intern(&mut self, subset: Subset) -> Result<u32, PatternError> {
        if subset.threads.is_empty() && subset.begun && !self.subsets.is_empty() {
            return Ok(Dfa::DEAD);
        }
        if let Some(&id) = self.ids.get(&subset) {
            return Ok(id);
        }
        if self.subsets.len() >= self.meter.states() {
            return Err(self.meter.too_many_states().into());
        }
        self.size += 2 * (subset.threads.len() + subset.behind.len() + 1);
        let id = self.subsets.len() as u32;
        self.ids.insert(subset.clone(), id);
        self.subsets.push(subset);
        Ok(id)
    }
}

//! Boolean combinations of automata: what all of them match, what one does not.
//!
//! A state of the product is a tuple of the parts' states. The verdict on a text is a function of
//! the parts' verdicts, so intersection and complement are one construction (Rabin and Scott 1959).
//! A part that is dead stays in the tuple: where it is negated, that is just what is wanted. Where
//! the verdict is settled then and negative, the text is not followed any further.

use std::borrow::Borrow;
use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::grammar::pattern::{Automaton, State};
use crate::lexer::columns::{self, Runs};
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::minimize::{self, RawDfa};
use crate::util::byte_classes::ByteClasses;
use crate::util::meter::Meter;

/// Of so many parts it is found out whether the verdict is still open where some are dead.
const MOST_PRUNED: usize = 8;

/// A move is looked at three times, and becomes one run or two.
const STEPS_OF_A_MOVE: usize = 4;

/// Room is made for so many states before there are any.
const ROOM: usize = 1024;

/// The texts of which `holds` is true, given for each part whether the part matches. The text that
/// no part can go on from is not one: `holds` is false where all are false.
pub(crate) fn product<D: Borrow<Dfa>>(
    parts: &[D],
    holds: impl Fn(&[bool]) -> bool,
    meter: &Meter,
) -> Result<Dfa, PatternError> {
    let parts: Vec<&Dfa> = parts.iter().map(Borrow::borrow).collect();
    if parts.is_empty() {
        return Ok(Dfa::new(ByteClasses::one(), Vec::new(), Vec::new()));
    }
    let classes = ByteClasses::refinement(parts.iter().map(|part| part.classes()));
    // By class, which class of each part it is in.
    let within = |&byte: &u8| parts.iter().map(move |part| part.classes().get(byte));
    let within: Vec<u8> = classes.representatives().iter().flat_map(within).collect();
    let mut verdicts =
        Verdicts { parts: parts.len(), holds: &holds, open: [None; 1 << MOST_PRUNED] };
    // All tuples, end to end.
    let width = parts.len();
    let mut tuples: Vec<u32> = parts.iter().map(|part| part.start()).collect();
    let room = parts.iter().map(|part| part.state_count()).max().unwrap_or(0).min(ROOM);
    let mut ids: HashTable<u32> = HashTable::with_capacity(room);
    let hash = |tuple: &[u32]| {
        let mut hasher = FxHasher::default();
        tuple.iter().for_each(|&state| hasher.write_u32(state));
        hasher.finish()
    };
    ids.insert_unique(hash(&tuples), 0, |_| 0);
    let mut table: Vec<u32> = Vec::with_capacity(room * classes.count());
    let mut next = vec![Dfa::DEAD; width];
    let mut held = meter.holding();
    let mut at = 0;
    let mut rows: Vec<&[u32]> = Vec::with_capacity(width);
    while at * width < tuples.len() {
        rows.clear();
        rows.extend(parts.iter().zip(&tuples[at * width..]).map(|(part, &state)| match state {
            Dfa::DEAD => &[][..],
            state => part.row(state),
        }));
        for (class, of_parts) in within.chunks_exact(width).enumerate() {
            // Neighbouring classes lead to one tuple more often than not.
            let mut is_new = class == 0;
            for ((next, row), &class) in next.iter_mut().zip(&rows).zip(of_parts) {
                let state = row.get(usize::from(class)).copied().unwrap_or(Dfa::DEAD);
                is_new |= *next != state;
                *next = state;
            }
            if !is_new {
                table.extend(table.last().copied());
                continue;
            }
            if !verdicts.is_open(&next) {
                table.push(Dfa::DEAD);
                continue;
            }
            let is_next = |&id: &u32| {
                tuples[id as usize * width..].iter().zip(&next).all(|(one, other)| one == other)
            };
            let hashed = hash(&next);
            if let Some(&known) = ids.find(hashed, is_next) {
                table.push(known);
                continue;
            }
            let fresh = (tuples.len() / width) as u32;
            tuples.extend_from_slice(&next);
            ids.insert_unique(hashed, fresh, |&id| hash(&tuples[id as usize * width..][..width]));
            table.push(fresh);
        }
        at += 1;
        check_states(tuples.len() / width, meter)?;
        // Each tuple is hashed, and kept once.
        meter.step(classes.count() * (4 + width))?;
        held.set((tuples.capacity() + table.capacity()) * size_of::<u32>() + ids.capacity() * 5)?;
    }
    let mut each = vec![false; width];
    let verdict = |tuple: &[u32]| {
        for (part, (dfa, &state)) in parts.iter().zip(tuple).enumerate() {
            each[part] = dfa.is_accept(state);
        }
        holds(&each)
    };
    let accept = tuples.chunks_exact(width).map(verdict).collect();
    Ok(RawDfa { classes, table, accept, trailing: None }.minimize(meter)?)
}

/// Whether the verdict of a product is still open.
struct Verdicts<'a, H> {
    parts: usize,
    holds: &'a H,
    /// By which parts are alive, whether something may still hold, where that was asked for.
    open: [Option<bool>; 1 << MOST_PRUNED],
}

impl<H: Fn(&[bool]) -> bool> Verdicts<'_, H> {
    /// Whether something may still hold in these states.
    fn is_open(&mut self, states: &[u32]) -> bool {
        if self.parts > MOST_PRUNED {
            return states.iter().any(|&state| state != Dfa::DEAD);
        }
        let alive = states
            .iter()
            .rev()
            .fold(0, |alive, &state| alive << 1 | usize::from(state != Dfa::DEAD));
        let (parts, holds) = (self.parts, self.holds);
        *self.open[alive].get_or_insert_with(|| {
            let of = |verdicts: usize| {
                (0..parts).map(|part| verdicts >> part & 1 == 1).collect::<Vec<_>>()
            };
            (1..=alive).any(|verdicts| verdicts & !alive == 0 && holds(&of(verdicts)))
        })
    }
}

/// The texts that both match.
///
/// # Errors
///
/// When the automaton exceeds a limit.
pub(crate) fn intersection(one: &Dfa, other: &Dfa, meter: &Meter) -> Result<Dfa, PatternError> {
    product(&[one, other], |both| both == [true, true], meter)
}

/// The texts that the first matches and the second does not.
///
/// # Errors
///
/// When the automaton exceeds a limit.
pub(crate) fn difference(one: &Dfa, other: &Dfa, meter: &Meter) -> Result<Dfa, PatternError> {
    product(&[one, other], |both| both == [true, false], meter)
}

/// The minimal automaton of one that somebody made.
pub(super) fn minimal(automaton: &Automaton, meter: &Meter) -> Result<Dfa, PatternError> {
    let states = &automaton.states;
    let mut begins = [false; 257];
    for &(first, last, _) in states.iter().flat_map(|state| &state.moves) {
        begins[usize::from(first)] = true;
        begins[usize::from(last) + 1] = true;
    }
    let classes = ByteClasses::of_runs(&begins);
    check_states(states.len(), meter)?;
    let width = classes.count();
    let is_sorted = |state: &State| state.moves.is_sorted_by(|one, other| one.1 < other.0);
    let steps = states.iter().map(|state| match is_sorted(state) {
        true => STEPS_OF_A_MOVE * (1 + state.moves.len()),
        false => width * (1 + state.moves.len()),
    });
    meter.step(steps.sum())?;
    // What cannot be reached is left out: numbers are given in the order of reaching.
    let mut numbers = vec![Dfa::DEAD; states.len()];
    let mut reached: Vec<usize> = Vec::with_capacity(states.len());
    if let Some(first) = numbers.first_mut() {
        *first = 0;
        reached.push(0);
    }
    let moves: usize = states.iter().map(|state| state.moves.len()).sum();
    let mut held = meter.holding();
    held.set((2 * moves + 4 * states.len()) * size_of::<(u8, u32)>())?;
    let mut runs = Runs::with_capacity(states.len(), 2 * moves + states.len());
    let mut accept = Vec::with_capacity(states.len());
    let mut row: Vec<u32> = Vec::new();
    while let Some(state) = reached.get(accept.len()).and_then(|&state| states.get(state)) {
        let mut number = |next: u32| match numbers.get_mut(next as usize) {
            None => Dfa::DEAD,
            Some(number) => {
                if *number == Dfa::DEAD {
                    *number = reached.len() as u32;
                    reached.push(next as usize);
                }
                *number
            }
        };
        // Classes are in the order of their bytes.
        let over =
            |first, last| usize::from(classes.get(first))..usize::from(classes.get(last)) + 1;
        let moves = state.moves.iter().filter(|(first, last, _)| first <= last);
        let mut end = 0;
        if is_sorted(state) {
            for &(first, last, next) in moves {
                let span = over(first, last);
                if span.start > end {
                    runs.push((end as u8, Dfa::DEAD));
                }
                runs.push((span.start as u8, number(next)));
                end = span.end;
            }
        } else {
            // Of moves that overlap the first counts.
            row.clear();
            row.resize(width, Dfa::DEAD);
            moves.rev().for_each(|&(first, last, next)| row[over(first, last)].fill(next));
            for same in row.chunk_by(|one, other| one == other) {
                runs.push((end as u8, number(same[0])));
                end += same.len();
            }
        }
        if end < width {
            runs.push((end as u8, Dfa::DEAD));
        }
        runs.close();
        accept.push(state.accepts);
    }
    if automaton.is_minimal && !accept.is_empty() {
        let minimal = minimize::numbered(&classes, &runs, &accept, meter)?;
        debug_assert!(minimal == whole(classes, &runs, accept).minimize(meter)?, "not minimal");
        return Ok(minimal);
    }
    if accept.is_empty() {
        // The minimal automaton of nothing has no state; the raw one has a start.
        runs.push((0, Dfa::DEAD));
        runs.close();
        accept.push(false);
    }
    held.set(accept.len() * width * size_of::<u32>())?;
    Ok(whole(classes, &runs, accept).minimize(meter)?)
}

/// The automaton with these rows.
fn whole(classes: ByteClasses, runs: &Runs, accept: Vec<bool>) -> RawDfa {
    let width = classes.count();
    let mut table = Vec::with_capacity(accept.len() * width);
    for state in 0..accept.len() {
        for (classes, next) in columns::spans(runs.get(state), width) {
            table.extend(std::iter::repeat_n(next, classes.len()));
        }
    }
    RawDfa { classes, table, accept, trailing: None }
}

/// The texts of an automaton that begin with no other of them: nothing follows a match.
pub(super) fn first_matches(dfa: &Dfa, meter: &Meter) -> Result<Dfa, PatternError> {
    meter.step(dfa.state_count() * dfa.classes().count())?;
    let accept: Vec<bool> =
        (0..dfa.state_count() as u32).map(|state| dfa.is_accept(state)).collect();
    if accept.is_empty() {
        return Ok(dfa.clone());
    }
    let mut table = Vec::with_capacity(accept.len() * dfa.classes().count());
    let mut numbers = vec![Dfa::DEAD; accept.len()];
    let mut reached = vec![0];
    numbers[0] = 0;
    let mut at = 0;
    while let Some(&state) = reached.get(at) {
        for class in 0..dfa.classes().count() {
            let next = match accept[state as usize] {
                true => Dfa::DEAD,
                false => dfa.next_class(state, class as u8),
            };
            table.push(match next {
                Dfa::DEAD => Dfa::DEAD,
                next => {
                    let number = &mut numbers[next as usize];
                    if *number == Dfa::DEAD {
                        *number = reached.len() as u32;
                        reached.push(next);
                    }
                    *number
                }
            });
        }
        at += 1;
    }
    let accept = reached.iter().map(|&state| accept[state as usize]).collect();
    Ok(RawDfa { classes: dfa.classes().clone(), table, accept, trailing: None }.minimize(meter)?)
}

/// Whether so many states are within the limits.
pub(super) fn check_states(states: usize, meter: &Meter) -> Result<(), PatternError> {
    match states > meter.states() {
        true => Err(PatternError::too_large(format!(
            "its automaton has more than {} states",
            meter.states()
        ))),
        false => Ok(()),
    }
}

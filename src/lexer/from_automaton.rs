//! Automata that are given explicitly, state by state.

use crate::grammar::pattern::{Automaton, State};
use crate::lexer::algebra::check_states;
use crate::lexer::columns::{self, Runs};
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::minimize::{self, RawDfa};
use crate::util::byte_classes::ByteClasses;
use crate::util::meter::{Holding, Meter};

/// Cost of a move, which is visited three times and becomes one or two runs.
const STEPS_OF_A_MOVE: usize = 4;

/// The reachable part of an automaton, numbered in the order of discovery.
struct Reached {
    classes: ByteClasses,
    runs: Runs,
    accept: Vec<bool>,
    /// By new number, the old one.
    states: Vec<usize>,
}

/// Returns the minimal automaton.
pub(super) fn minimal(automaton: &Automaton, meter: &Meter) -> Result<Dfa, PatternError> {
    let mut held = meter.holding();
    let Reached { classes, mut runs, mut accept, .. } = reached(automaton, meter, &mut held)?;
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
    held.set(accept.len() * classes.count() * size_of::<u32>())?;
    Ok(whole(classes, &runs, accept).minimize(meter)?)
}

/// Returns the automaton as it is, without merging equivalent states, and the old number of each
/// state. All of its states must lead to a match.
pub(super) fn as_it_is(
    automaton: &Automaton,
    meter: &Meter,
) -> Result<(Dfa, Vec<usize>), PatternError> {
    let mut held = meter.holding();
    let Reached { classes, runs, accept, states } = reached(automaton, meter, &mut held)?;
    Ok((minimize::numbered(&classes, &runs, &accept, meter)?, states))
}

fn reached(
    automaton: &Automaton,
    meter: &Meter,
    held: &mut Holding,
) -> Result<Reached, PatternError> {
    let states = &automaton.states;
    let mut begins = [0u64; 4];
    let mut begin = |byte: u8| begins[usize::from(byte / 64)] |= 1 << (byte % 64);
    for &(first, last, _) in states.iter().flat_map(|state| &state.moves) {
        begin(first);
        last.checked_add(1).into_iter().for_each(&mut begin);
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
    // Unreachable states are left out: numbers are given in the order of discovery.
    let mut numbers = vec![Dfa::DEAD; states.len()];
    let mut reached: Vec<usize> = Vec::with_capacity(states.len());
    if let Some(first) = numbers.first_mut() {
        *first = 0;
        reached.push(0);
    }
    let moves: usize = states.iter().map(|state| state.moves.len()).sum();
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
            // The first of several overlapping moves applies.
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
    Ok(Reached { classes, runs, accept, states: reached })
}

/// Returns the automaton with these rows.
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

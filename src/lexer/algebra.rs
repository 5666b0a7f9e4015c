//! Boolean combinations of automata: what all of them match, what one does not.
//!
//! A state of the product is a tuple of the parts' states. The verdict on a text is a function of
//! the parts' verdicts, so intersection and complement are one construction (Rabin and Scott 1959).
//! A part that is dead stays in the tuple: where it is negated, that is just what is wanted.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::grammar::pattern::Automaton;
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::minimize::RawDfa;
use crate::util::byte_classes::ByteClasses;
use crate::util::meter::Meter;

/// The texts of which `holds` is true, given for each part whether the part matches. The text that
/// no part can go on from is not one: `holds` is false where all are false.
pub(crate) fn product(
    parts: &[Dfa],
    holds: impl Fn(&[bool]) -> bool,
    meter: &Meter,
) -> Result<Dfa, PatternError> {
    let key = |byte: u8| -> Vec<u8> { parts.iter().map(|part| part.classes().get(byte)).collect() };
    let mut numbers: HashMap<Vec<u8>, usize, FxBuildHasher> = HashMap::default();
    let classes = ByteClasses::by_key(|byte| {
        let next = numbers.len();
        *numbers.entry(key(byte)).or_insert(next)
    });
    let mut tuples: Vec<Box<[u32]>> = vec![parts.iter().map(Dfa::start).collect()];
    let mut ids: HashMap<Box<[u32]>, u32, FxBuildHasher> = HashMap::default();
    ids.insert(tuples[0].clone(), 0);
    let mut table = Vec::new();
    let mut held = meter.holding();
    let mut at = 0;
    while let Some(tuple) = tuples.get(at).cloned() {
        for &byte in classes.representatives() {
            let next = parts.iter().zip(&tuple).map(|(part, &state)| part.next(state, byte));
            let next: Box<[u32]> = next.collect();
            if next.iter().all(|&state| state == Dfa::DEAD) {
                table.push(Dfa::DEAD);
                continue;
            }
            let fresh = tuples.len() as u32;
            let id = *ids.entry(next).or_insert_with_key(|next| {
                tuples.push(next.clone());
                fresh
            });
            table.push(id);
        }
        at += 1;
        check_states(tuples.len(), meter)?;
        // Each tuple is hashed, and kept twice.
        meter.step(classes.count() * (4 + parts.len()))?;
        held.set(tuples.capacity() * (2 * 4 * parts.len() + 48) + table.capacity() * size_of::<u32>())?;
    }
    let verdict = |tuple: &[u32]| {
        let each: Vec<bool> = parts.iter().zip(tuple).map(|(part, &state)| part.is_accept(state)).collect();
        holds(&each)
    };
    let accept = tuples.iter().map(|tuple| verdict(tuple)).collect();
    Ok(RawDfa { classes, table, accept, trailing: None }.minimize(meter)?)
}

/// The texts that both match.
///
/// # Errors
///
/// When the automaton exceeds a limit.
pub(crate) fn intersection(one: &Dfa, other: &Dfa, meter: &Meter) -> Result<Dfa, PatternError> {
    product(&[one.clone(), other.clone()], |both| both == [true, true], meter)
}

/// The texts that the first matches and the second does not.
///
/// # Errors
///
/// When the automaton exceeds a limit.
pub(crate) fn difference(one: &Dfa, other: &Dfa, meter: &Meter) -> Result<Dfa, PatternError> {
    product(&[one.clone(), other.clone()], |both| both == [true, false], meter)
}

/// The minimal automaton of one that somebody made.
pub(super) fn minimal(automaton: &Automaton, meter: &Meter) -> Result<Dfa, PatternError> {
    let states = &automaton.states;
    let mut begins = [false; 257];
    for &(first, last, _) in states.iter().flat_map(|state| &state.moves) {
        begins[usize::from(first)] = true;
        begins[usize::from(last) + 1] = true;
    }
    let mut class = 0;
    let classes = ByteClasses::by_key(|byte| {
        class += usize::from(begins[usize::from(byte)]);
        class
    });
    check_states(states.len(), meter)?;
    meter.step(states.iter().map(|state| 1 + state.moves.len()).sum::<usize>() * classes.count())?;
    let mut held = meter.holding();
    held.set(states.len() * classes.count() * size_of::<u32>())?;
    // What cannot be reached is left out: numbers are given in the order of reaching.
    let mut numbers = vec![Dfa::DEAD; states.len()];
    let mut reached: Vec<usize> = Vec::new();
    if let Some(first) = numbers.first_mut() {
        *first = 0;
        reached.push(0);
    }
    let (mut table, mut accept) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(state) = reached.get(at).and_then(|&state| states.get(state)) {
        for &byte in classes.representatives() {
            let found = state.moves.iter().find(|(first, last, _)| (*first..=*last).contains(&byte));
            let target = found.map(|&(_, _, next)| next as usize).filter(|&next| next < states.len());
            table.push(match target {
                None => Dfa::DEAD,
                Some(target) => {
                    if numbers[target] == Dfa::DEAD {
                        numbers[target] = reached.len() as u32;
                        reached.push(target);
                    }
                    numbers[target]
                }
            });
        }
        accept.push(state.accepts);
        at += 1;
    }
    if accept.is_empty() {
        // The minimal automaton of nothing has no state; the raw one has a start.
        table = vec![Dfa::DEAD; classes.count()];
        accept = vec![false];
    }
    Ok(RawDfa { classes, table, accept, trailing: None }.minimize(meter)?)
}

/// The texts of an automaton that begin with no other of them: nothing follows a match.
pub(super) fn first_matches(dfa: &Dfa, meter: &Meter) -> Result<Dfa, PatternError> {
    meter.step(dfa.state_count() * dfa.classes().count())?;
    let accept: Vec<bool> = (0..dfa.state_count() as u32).map(|state| dfa.is_accept(state)).collect();
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
        true => {
            Err(PatternError::too_large(format!("its automaton has more than {} states", meter.states())))
        }
        false => Ok(()),
    }
}

//! Boolean combinations of automata: intersection, difference, complement.
//!
//! A state of the product is a tuple of the parts' states. The verdict on a text is a function of
//! the parts' verdicts, so intersection and complement are one construction (Rabin and Scott 1959).
//! A dead part stays in the tuple, since a negated part is satisfied when it is dead. Once dead
//! parts settle the verdict as negative, the text is not followed any further.

use std::borrow::{Borrow, Cow};
use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::minimize::RawDfa;
use crate::util::byte_classes::ByteClasses;
use crate::util::meter::Meter;

/// Number of parts up to which products with dead parts are tested for an open verdict.
const MOST_PRUNED: usize = 8;

/// Parts that advance in a step of the meter.
const PARTS_A_STEP: usize = 8;

/// Upper bound on the number of states for which room is reserved.
const ROOM: usize = 1024;

/// Returns the texts for which `holds` is true, given for each part whether the part matches. A
/// text that no part can continue is not accepted: `holds` is false if all are false.
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
    // By class, its class in each part.
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
    let mut rows: Vec<Cow<'_, [u32]>> = Vec::with_capacity(width);
    while at * width < tuples.len() {
        rows.clear();
        rows.extend(parts.iter().zip(&tuples[at * width..]).map(|(part, &state)| match state {
            Dfa::DEAD => Cow::default(),
            state => part.row(state),
        }));
        for (class, of_parts) in within.chunks_exact(width).enumerate() {
            // Adjacent classes mostly lead to one tuple.
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
        // Each tuple is hashed, and stored once.
        meter.step(classes.count() * (4 + width / PARTS_A_STEP))?;
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

/// Decides whether the verdict of a product is still open.
struct Verdicts<'a, H> {
    parts: usize,
    holds: &'a H,
    /// By the set of live parts, whether the product may still accept, once computed.
    open: [Option<bool>; 1 << MOST_PRUNED],
}

impl<H: Fn(&[bool]) -> bool> Verdicts<'_, H> {
    /// Returns whether the product may still accept from these states.
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

/// Returns the texts that both match.
///
/// # Errors
///
/// If the automaton exceeds a limit.
pub(crate) fn intersection(one: &Dfa, other: &Dfa, meter: &Meter) -> Result<Dfa, PatternError> {
    product(&[one, other], |both| both == [true, true], meter)
}

/// Returns the texts that the first matches and the second does not.
///
/// # Errors
///
/// If the automaton exceeds a limit.
pub(crate) fn difference(one: &Dfa, other: &Dfa, meter: &Meter) -> Result<Dfa, PatternError> {
    product(&[one, other], |both| both == [true, false], meter)
}

/// Returns the texts of an automaton with no other of them as a proper prefix: nothing follows a
/// match.
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

/// Checks that this many states are within the limits.
pub(super) fn check_states(states: usize, meter: &Meter) -> Result<(), PatternError> {
    match states > meter.states() {
        true => Err(meter.too_many_states().into()),
        false => Ok(()),
    }
}

//! Strings by their number of characters: their contents, and their JSON spelling.

use std::sync::Arc;

use smallvec::smallvec;

use crate::grammar::pattern::{Automaton, Counted, Moves, Pattern, State};
use crate::schema::text::escapes::Escapes;

/// Matches strings of at least `min` characters, and at most `max` if there is a maximum. Costs
/// eight states for each character of the larger bound.
pub(super) fn counted(min: u64, max: Option<u64>) -> Automaton {
    let last = max.unwrap_or(min);
    let mut states = Vec::new();
    for count in 0..=last {
        // The states of one count are consecutive.
        let here = (count * 8) as u32;
        let next = match max {
            None if count == last => here,
            _ => here + 8,
        };
        let is_full = max == Some(count);
        let mut moves = Moves::new();
        if !is_full {
            moves.push((0x00, 0x7f, next));
            moves.extend(leads(here));
        }
        states.push(State { moves, accepts: count >= min });
        states.extend(rests(here, next));
    }
    // After different counts, different numbers of characters may follow.
    let is_minimal = max.map_or(min == 0, |max| min <= max);
    Automaton { is_minimal, ..Automaton::new(states) }
}

/// Returns the JSON spelling of strings with a number of characters within `bounds`: with all
/// allowed escapes if `is_free`, otherwise only with necessary ones. `quotes` tells whether to
/// include the quotes before and after them.
pub(super) fn spelled(
    bounds: Bounds,
    quotes: [bool; 2],
    is_free: bool,
    allowed: &Escapes,
) -> Pattern {
    let (automaton, between) = uncounted(quotes, is_free, allowed);
    if bounds == (0, None) {
        return Pattern::Automaton(automaton);
    }
    let marked = (0..automaton.states.len()).map(|state| state == between).collect();
    bounded(automaton, marked, bounds, quotes[0])
}

/// Restricts an automaton to texts with a number of characters within the bounds. A marked state is
/// entered after each character, and once more after the opening quote if there is one.
pub(super) fn bounded(
    automaton: Automaton,
    marked: Arc<[bool]>,
    (min, max): Bounds,
    is_quoted: bool,
) -> Pattern {
    let marks = |count: u32| count.saturating_add(is_quoted.into());
    let (least, most) = (marks(min), max.map(marks));
    Pattern::Counted(Counted { automaton, marked, least, most })
}

/// Minimum and maximum number of characters.
pub(in crate::schema) type Bounds = (u32, Option<u32>);

/// Matches any characters. Also returns the state between two of them.
fn uncounted(
    [is_first, is_last]: [bool; 2],
    is_free: bool,
    allowed: &Escapes,
) -> (Automaton, usize) {
    let escapes = allowed.states(is_free, 0, BEHIND);
    let here = u32::from(is_first);
    let end = here + 8 + escapes.len() as u32;
    let mut states = Vec::with_capacity(end as usize + 1);
    if is_first {
        states.push(State { moves: smallvec![(b'"', b'"', 1)], accepts: false });
    }
    // In the order of their bytes, which saves the compiler a search.
    let mut lead: Moves = smallvec![(b' ', b'!', here)];
    if is_last {
        lead.push((b'"', b'"', end));
    }
    lead.extend([(b'#', b'[', here), (b'\\', b'\\', here + 8), (b']', 0x7f, here)]);
    lead.extend(leads(here));
    states.push(State { moves: lead, accepts: !is_last });
    states.extend(rests(here, here));
    states.extend(escapes.iter().map(|state| moved(state, here + 8, here)));
    states.push(State { moves: Moves::new(), accepts: is_last });
    let is_minimal = is_last && are_distinct(&escapes);
    (Automaton { is_minimal, ..Automaton::new(states) }, here as usize)
}

/// Placeholder for the state after a character.
const BEHIND: u32 = u32::MAX;

/// Renumbers a state from numbers that begin at 0 to numbers that begin at `first`.
fn moved(state: &State, first: u32, next: u32) -> State {
    let mut state = state.clone();
    for (_, _, to) in &mut state.moves {
        *to = if *to == BEHIND { next } else { first + *to };
    }
    state
}

/// Whether all of the states have moves, and no two have the same moves.
fn are_distinct(states: &[State]) -> bool {
    let is_first = |(at, state): (usize, &State)| {
        !state.moves.is_empty() && states[..at].iter().all(|other| other.moves != state.moves)
    };
    states.iter().enumerate().all(is_first)
}

/// Returns the moves from `here` over the first byte of a non-ASCII character, each to the state of
/// [`rests`] for the bytes that may follow.
fn leads(here: u32) -> [(u8, u8, u32); 8] {
    [
        (0xc2, 0xdf, here + 1),
        (0xe0, 0xe0, here + 4),
        (0xe1, 0xec, here + 2),
        (0xed, 0xed, here + 5),
        (0xee, 0xef, here + 2),
        (0xf0, 0xf0, here + 6),
        (0xf1, 0xf3, here + 3),
        (0xf4, 0xf4, here + 7),
    ]
}

/// Returns the states within a non-ASCII character that leads from `here` to `next`: those with
/// one, two, three bytes remaining, then those after lead bytes that restrict the second byte.
fn rests(here: u32, next: u32) -> [State; 7] {
    let moves = [
        (0x80, 0xbf, next),
        (0x80, 0xbf, here + 1),
        (0x80, 0xbf, here + 2),
        (0xa0, 0xbf, here + 1),
        (0x80, 0x9f, here + 1),
        (0x90, 0xbf, here + 2),
        (0x80, 0x8f, here + 2),
    ];
    moves.map(|only| State { moves: smallvec![only], accepts: false })
}

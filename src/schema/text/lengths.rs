//! Strings by their number of characters.

use crate::grammar::pattern::{Automaton, State};

/// Strings of `min` characters at least, and of `max` at most where there is a maximum. The larger
/// of the two is what it costs, eight states each.
pub(super) fn counted(min: u64, max: Option<u64>) -> Automaton {
    let last = max.unwrap_or(min);
    let mut states = Vec::new();
    for count in 0..=last {
        // The states of one count follow each other: at a character's start, then with one, two,
        // three bytes of it to come, then behind the lead bytes that narrow what the second may be.
        let here = (count * 8) as u32;
        let next = match max {
            None if count == last => here,
            _ => here + 8,
        };
        let is_full = max == Some(count);
        let tail = |from: u8, to: u8, then: u32| State { moves: vec![(from, to, then)], accepts: false };
        let lead = vec![
            (0x00, 0x7f, next),
            (0xc2, 0xdf, here + 1),
            (0xe0, 0xe0, here + 4),
            (0xe1, 0xec, here + 2),
            (0xed, 0xed, here + 5),
            (0xee, 0xef, here + 2),
            (0xf0, 0xf0, here + 6),
            (0xf1, 0xf3, here + 3),
            (0xf4, 0xf4, here + 7),
        ];
        let moves = if is_full { Vec::new() } else { lead };
        states.push(State { moves, accepts: count >= min });
        states.push(tail(0x80, 0xbf, next));
        states.push(tail(0x80, 0xbf, here + 1));
        states.push(tail(0x80, 0xbf, here + 2));
        states.push(tail(0xa0, 0xbf, here + 1));
        states.push(tail(0x80, 0x9f, here + 1));
        states.push(tail(0x90, 0xbf, here + 2));
        states.push(tail(0x80, 0x8f, here + 2));
    }
    Automaton { states }
}

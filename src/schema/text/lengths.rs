//! Strings by their number of characters: their contents, and how JSON spells them.

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
    Automaton { states: states.into() }
}

/// So many characters, as JSON spells them, with the escapes that are mandatory; a quote before
/// them, where `is_first`, and one behind them, where `is_last`. Costs fourteen states a character.
pub(super) fn spelled(min: u64, max: Option<u64>, is_first: bool, is_last: bool) -> Automaton {
    const STATES: u64 = 14;
    let last = max.unwrap_or(min);
    let start = u64::from(is_first);
    let end = (start + (last + 1) * STATES) as u32;
    let mut states = Vec::new();
    if is_first {
        states.push(State { moves: vec![(b'"', b'"', 1)], accepts: false });
    }
    for count in 0..=last {
        let here = (start + count * STATES) as u32;
        let next = match max {
            None if count == last => here,
            _ => here + STATES as u32,
        };
        let is_full = max == Some(count);
        let mut lead = Vec::new();
        if count >= min && is_last {
            lead.push((b'"', b'"', end));
        }
        if !is_full {
            lead.extend([
                (b' ', b'!', next),
                (b'#', b'[', next),
                (b'\\', b'\\', here + 8),
                (b']', 0x7f, next),
                (0xc2, 0xdf, here + 1),
                (0xe0, 0xe0, here + 4),
                (0xe1, 0xec, here + 2),
                (0xed, 0xed, here + 5),
                (0xee, 0xef, here + 2),
                (0xf0, 0xf0, here + 6),
                (0xf1, 0xf3, here + 3),
                (0xf4, 0xf4, here + 7),
            ]);
        }
        let state = |moves: Vec<(u8, u8, u32)>| State { moves, accepts: false };
        states.push(State { moves: lead, accepts: count >= min && !is_last });
        for (first, last, then) in [
            (0x80, 0xbf, next),
            (0x80, 0xbf, here + 1),
            (0x80, 0xbf, here + 2),
            (0xa0, 0xbf, here + 1),
            (0x80, 0x9f, here + 1),
            (0x90, 0xbf, here + 2),
            (0x80, 0x8f, here + 2),
        ] {
            states.push(state(vec![(first, last, then)]));
        }
        // Behind a backslash; then the digits of `\u`, of the characters without a letter.
        let letters = b"\"\\bfnrt".iter().map(|&letter| (letter, letter, next));
        states.push(state(letters.chain([(b'u', b'u', here + 9)]).collect()));
        states.push(state(vec![(b'0', b'0', here + 10)]));
        states.push(state(vec![(b'0', b'0', here + 11)]));
        states.push(state(vec![(b'0', b'0', here + 12), (b'1', b'1', here + 13)]));
        let digits = |ranges: &[(u8, u8)]| ranges.iter().map(|&(first, last)| (first, last, next)).collect();
        states.push(state(digits(&[(b'0', b'7'), (b'B', b'B'), (b'b', b'b'), (b'E', b'F'), (b'e', b'f')])));
        states.push(state(digits(&[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')])));
    }
    states.push(State { moves: Vec::new(), accepts: is_last });
    Automaton { states: states.into() }
}

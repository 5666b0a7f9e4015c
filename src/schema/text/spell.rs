//! From the contents of strings to the lexemes of JSON: quotes around them, and the escapes that
//! are mandatory.
//!
//! A quote, a backslash and the control characters cannot stand in a string as they are. Each has
//! one spelling here: the short escape where there is one, else `\u` and four digits. Every other
//! character stands for itself.

use rustc_hash::FxHashMap;

use crate::grammar::pattern::{Automaton, State};
use crate::lexer::Dfa;
use crate::schema::text::automaton::{push_run, runs};

/// Characters with a short escape: the character, and the letter behind the backslash.
const SHORT: [(u8, u8); 7] =
    [(b'"', b'"'), (b'\\', b'\\'), (8, b'b'), (12, b'f'), (b'\n', b'n'), (b'\r', b'r'), (b'\t', b't')];

/// The string as JSON spells it.
pub(super) fn literal(text: &str) -> String {
    let mut spelled = String::from("\"");
    for c in text.chars() {
        match SHORT.iter().find(|&&(of, _)| char::from(of) == c) {
            Some(&(_, letter)) => spelled.extend(['\\', char::from(letter)]),
            None if c < ' ' => spelled.push_str(&format!("\\u{:04x}", u32::from(c))),
            None => spelled.push(c),
        }
    }
    spelled.push('"');
    spelled
}

/// The automaton of the lexemes of the strings with these contents.
pub(super) fn spell(contents: &Dfa) -> Automaton {
    let count = contents.state_count() as u32;
    // State 0 reads the quote; the state `q` of the contents is `q + 1`; then the end.
    let end = count + 1;
    let mut states = vec![State::default(); count as usize + 2];
    states[0].moves.push((b'"', b'"', 1));
    states[end as usize].accepts = true;
    let mut made: FxHashMap<Vec<(u8, u8, u32)>, u32> = FxHashMap::default();
    let plain = plain_runs(contents);
    for state in 0..count {
        let target = |byte: u8| match contents.next(state, byte) {
            Dfa::DEAD => None,
            next => Some(next + 1),
        };
        let mut moves = Vec::new();
        for &run in &plain {
            if let Some(next) = target(run.0) {
                push_run(&mut moves, run, next);
            }
        }
        let mut escapes: Vec<(u8, u8, u32)> = Vec::new();
        for (of, letter) in SHORT {
            escapes.extend(target(of).map(|next| (letter, letter, next)));
        }
        let mut digits = Vec::new();
        for (first, half) in [(b'0', 0..16u8), (b'1', 16..32)] {
            let mut last = Vec::new();
            for code in half.filter(|&code| SHORT.iter().all(|&(of, _)| of != code)) {
                if let Some(next) = target(code) {
                    let digit = b"0123456789abcdef"[usize::from(code % 16)];
                    last.push((digit, digit, next));
                    if digit.is_ascii_alphabetic() {
                        let upper = digit.to_ascii_uppercase();
                        last.push((upper, upper, next));
                    }
                }
            }
            if !last.is_empty() {
                digits.push((first, first, state_of(last, &mut states, &mut made)));
            }
        }
        if !digits.is_empty() {
            for _ in 0..2 {
                let next = state_of(digits, &mut states, &mut made);
                digits = vec![(b'0', b'0', next)];
            }
            let next = state_of(digits, &mut states, &mut made);
            escapes.push((b'u', b'u', next));
        }
        if !escapes.is_empty() {
            moves.push((b'\\', b'\\', state_of(escapes, &mut states, &mut made)));
        }
        if contents.is_accept(state) {
            moves.push((b'"', b'"', end));
        }
        states[state as usize + 1].moves = moves;
    }
    Automaton { states }
}

/// Runs of bytes that stand for themselves and that no state of `contents` tells apart.
fn plain_runs(contents: &Dfa) -> Vec<(u8, u8)> {
    let mut plain = Vec::new();
    for (mut first, last) in runs(contents, b' ') {
        for escaped in [b'"', b'\\'] {
            if (first..=last).contains(&escaped) {
                if first < escaped {
                    plain.push((first, escaped - 1));
                }
                first = escaped + 1;
            }
        }
        if first <= last {
            plain.push((first, last));
        }
    }
    plain
}

/// A state with these moves that does not accept.
fn state_of(
    moves: Vec<(u8, u8, u32)>,
    states: &mut Vec<State>,
    made: &mut FxHashMap<Vec<(u8, u8, u32)>, u32>,
) -> u32 {
    if let Some(&known) = made.get(&moves) {
        return known;
    }
    let id = states.len() as u32;
    states.push(State { moves: moves.clone(), accepts: false });
    made.insert(moves, id);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_escaped_is_escaped() {
        assert_eq!(literal("a\"b\\c\n\u{1}é"), "\"a\\\"b\\\\c\\n\\u0001é\"");
    }
}

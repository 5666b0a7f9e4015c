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

/// The automaton of all lexemes: each character is written in any way that there is. Half a pair of
/// surrogates is no character, and most readers refuse it.
pub(super) fn any() -> Automaton {
    /// Between two characters.
    const INSIDE: u32 = 1;
    let hexadecimal = |next: u32| [(b'0', b'9', next), (b'A', b'F', next), (b'a', b'f', next)];
    let state = |moves: &[(u8, u8, u32)]| State { moves: moves.to_vec(), accepts: false };
    let states = [
        state(&[(b'"', b'"', INSIDE)]),
        state(&[
            (b' ', b'!', INSIDE),
            (b'"', b'"', 9),
            (b'#', b'[', INSIDE),
            (b'\\', b'\\', 10),
            (b']', 0x7f, INSIDE),
            (0xc2, 0xdf, 2),
            (0xe0, 0xe0, 5),
            (0xe1, 0xec, 3),
            (0xed, 0xed, 6),
            (0xee, 0xef, 3),
            (0xf0, 0xf0, 7),
            (0xf1, 0xf3, 4),
            (0xf4, 0xf4, 8),
        ]),
        // One, two, three bytes of a character to come; then with bounds on the first of them.
        state(&[(0x80, 0xbf, INSIDE)]),
        state(&[(0x80, 0xbf, 2)]),
        state(&[(0x80, 0xbf, 3)]),
        state(&[(0xa0, 0xbf, 2)]),
        state(&[(0x80, 0x9f, 2)]),
        state(&[(0x90, 0xbf, 3)]),
        state(&[(0x80, 0x8f, 3)]),
        State { moves: Vec::new(), accepts: true },
        // Behind a backslash: a letter, or a `u` and four digits.
        state(&[
            (b'"', b'"', INSIDE),
            (b'/', b'/', INSIDE),
            (b'\\', b'\\', INSIDE),
            (b'b', b'b', INSIDE),
            (b'f', b'f', INSIDE),
            (b'n', b'n', INSIDE),
            (b'r', b'r', INSIDE),
            (b't', b't', INSIDE),
            (b'u', b'u', 11),
        ]),
        state(&[
            (b'0', b'9', 14),
            (b'A', b'C', 14),
            (b'D', b'D', 12),
            (b'E', b'F', 14),
            (b'a', b'c', 14),
            (b'd', b'd', 12),
            (b'e', b'f', 14),
        ]),
        // `d`: below 8 a character, from there on the first half of a pair.
        state(&[(b'0', b'7', 15), (b'8', b'9', 16), (b'A', b'B', 16), (b'a', b'b', 16)]),
        // One, three, two digits to come.
        state(&hexadecimal(INSIDE)),
        state(&hexadecimal(15)),
        state(&hexadecimal(13)),
        // Two digits of the first half, then `\u`, and the second half.
        state(&hexadecimal(17)),
        state(&hexadecimal(18)),
        state(&[(b'\\', b'\\', 19)]),
        state(&[(b'u', b'u', 20)]),
        state(&[(b'D', b'D', 21), (b'd', b'd', 21)]),
        state(&[(b'C', b'F', 15), (b'c', b'f', 15)]),
    ];
    Automaton { states: states.into() }
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
    Automaton { states: states.into() }
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
    use crate::grammar::pattern::Pattern;
    use crate::lexer::Compiler;
    use crate::schema::text::automaton::among_blanks;
    use crate::schema::text::{counted, lengths, regex};
    use crate::util::limits::Limits;
    use crate::util::meter::Meter;

    fn compiled(pattern: &Pattern) -> Dfa {
        let meter = Meter::new(&Limits::default());
        Compiler::new(&meter).compile(pattern).expect("small")
    }

    #[test]
    fn automata_are_those_of_their_regexes() {
        let plain = r#"[^"\\\x00-\x1f]"#;
        let code = r"\\u(?:[0-9a-cA-Ce-fE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})";
        let pair = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}";
        let any_way = format!(r#""(?:{plain}|\\["\\/bfnrt]|{code}|{pair})*""#);
        assert_eq!(compiled(&Pattern::Automaton(any())), compiled(&regex(any_way)));
        let mandatory = r#"\\["\\bfnrt]|\\u00(?:0[0-7bBeEfF]|1[0-9a-fA-F])"#;
        for (min, max, counts) in [(0, Some(3), "{0,3}"), (2, Some(5), "{2,5}"), (2, None, "{2,}")] {
            let expected = compiled(&regex(format!("\"(?:{plain}|{mandatory}){counts}\"")));
            assert_eq!(compiled(&counted(min, max, [true, true])), expected);
            let contents = compiled(&Pattern::Automaton(lengths::counted(min, max)));
            assert_eq!(compiled(&Pattern::Automaton(spell(&contents))), expected);
        }
        let blanks = |text, before, behind| Pattern::Automaton(among_blanks(text, before, behind));
        assert_eq!(compiled(&blanks(", ", true, true)), compiled(&regex(r"[ \t\n\r]*, [ \t\n\r]*")));
        assert_eq!(compiled(&blanks("[", false, true)), compiled(&regex(r"\[[ \t\n\r]*")));
        assert_eq!(compiled(&blanks("]", true, false)), compiled(&regex(r"[ \t\n\r]*\]")));
    }

    #[test]
    fn what_must_be_escaped_is_escaped() {
        assert_eq!(literal("a\"b\\c\n\u{1}é"), "\"a\\\"b\\\\c\\n\\u0001é\"");
    }
}

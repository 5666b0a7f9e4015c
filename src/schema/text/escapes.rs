//! Escapes allowed in strings.

use smallvec::smallvec;

use crate::grammar::pattern::{Moves, State};
use crate::schema::options::{SchemaOptions, StringEscapes};

/// Characters with a short escape, each with the letter after the backslash.
const SHORT: [(u8, u8); 7] = [
    (b'"', b'"'),
    (b'\\', b'\\'),
    (8, b'b'),
    (12, b'f'),
    (b'\n', b'n'),
    (b'\r', b'r'),
    (b'\t', b't'),
];

/// The escapes allowed in strings.
#[derive(Clone, Debug)]
pub(in crate::schema) struct Escapes {
    scope: StringEscapes,
    /// Allowed short escapes.
    short: Vec<(u8, u8)>,
    /// Whether `\/` is allowed.
    slash: bool,
    /// Whether `\u` with four digits is allowed.
    coded: bool,
    /// Whether hexadecimal digits may have either case.
    either_case: bool,
}

impl Escapes {
    pub(super) fn new(options: &SchemaOptions) -> Self {
        let allows = |letter: u8| options.escape_letters.contains(char::from(letter));
        Self {
            scope: options.escapes,
            short: SHORT.into_iter().filter(|&(_, letter)| allows(letter)).collect(),
            slash: allows(b'/'),
            coded: allows(b'u'),
            either_case: true,
        }
    }

    /// Returns escapes with a single spelling of every character that must be escaped.
    pub(super) fn in_one_way(&self) -> Self {
        Self { either_case: false, ..self.clone() }
    }

    /// Whether strings without constraints may use any escape.
    pub(super) fn are_free(&self) -> bool {
        self.scope != StringEscapes::Needed
    }

    /// Whether strings constrained only in length may use any escape.
    pub(super) fn are_general(&self) -> bool {
        self.scope == StringEscapes::General
    }

    /// Whether every character can be written.
    pub(super) fn are_whole(&self) -> bool {
        self.coded
    }

    /// Returns the characters with an allowed short escape, each with the letter after the
    /// backslash.
    pub(super) fn short(&self) -> &[(u8, u8)] {
        &self.short
    }

    /// Returns the characters that can be written only as `\u` and four digits.
    pub(super) fn coded(&self) -> impl Iterator<Item = u8> {
        let must = (0..b' ').chain([b'"', b'\\']);
        must.filter(|&code| self.coded && self.short.iter().all(|&(of, _)| of != code))
    }

    /// Returns the JSON spelling of the string, or `None` if a character needs an escape that is
    /// not allowed.
    pub(super) fn literal(&self, text: &str) -> Option<String> {
        let stands = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if text.bytes().all(stands) {
            return Some(["\"", text, "\""].concat());
        }
        let mut spelled = String::from("\"");
        for c in text.chars() {
            match self.short.iter().find(|&&(of, _)| char::from(of) == c) {
                Some(&(_, letter)) => spelled.extend(['\\', char::from(letter)]),
                None if c < ' ' || c == '"' || c == '\\' => {
                    self.coded.then(|| spelled.push_str(&format!("\\u{:04x}", u32::from(c))))?;
                }
                None => spelled.push(c),
            }
        }
        spelled.push('"');
        Some(spelled)
    }

    /// Returns the moves over the last digits of codes.
    pub(super) fn last_digits(&self, codes: &[u8], to: impl Fn(u8) -> u32) -> Moves {
        let mut moves = Moves::new();
        for &code in codes {
            let digit = b"0123456789abcdef"[usize::from(code % 16)];
            moves.push((digit, digit, to(code)));
            if self.either_case && digit.is_ascii_alphabetic() {
                let upper = digit.to_ascii_uppercase();
                moves.push((upper, upper, to(code)));
            }
        }
        moves
    }

    /// Returns the states of an escaped character after its backslash, numbered from `first`; the
    /// end of the character leads to `next`. Includes all escapes if `is_free`, otherwise only
    /// necessary ones.
    pub(super) fn states(&self, is_free: bool, first: u32, next: u32) -> Vec<State> {
        let mut letters: Moves =
            self.short.iter().map(|&(_, letter)| (letter, letter, next)).collect();
        if is_free && self.slash {
            letters.push((b'/', b'/', next));
        }
        let mut states = vec![State { moves: letters, accepts: false }];
        if self.coded {
            states[0].moves.push((b'u', b'u', first + 1));
            let digits = if is_free { all_codes } else { Self::needed_codes };
            states.extend(digits(self, first + 1, next));
        }
        states
    }

    /// Returns the states of the four digits of necessary codes, which are below 256.
    fn needed_codes(&self, first: u32, next: u32) -> Vec<State> {
        let zero = |to: u32| State { moves: smallvec![(b'0', b'0', to)], accepts: false };
        let mut states = vec![zero(first + 1), zero(first + 2), State::default()];
        let codes: Vec<u8> = self.coded().collect();
        for half in codes.chunk_by(|one, other| one / 16 == other / 16) {
            let digit = b"01234567"[usize::from(half[0] / 16)];
            let last = first + states.len() as u32;
            states[2].moves.push((digit, digit, last));
            states.push(State { moves: self.last_digits(half, |_| next), accepts: false });
        }
        states
    }
}

/// Returns the states of the four digits of any character, or the eight of a surrogate pair with
/// `\u` between them. An unpaired surrogate is not a character, and most readers refuse it.
fn all_codes(_: &Escapes, first: u32, next: u32) -> Vec<State> {
    let state = |moves: &[(u8, u8, u32)]| State { moves: Moves::from_slice(moves), accepts: false };
    let hexadecimal = |to: u32| state(&[(b'0', b'9', to), (b'A', b'F', to), (b'a', b'f', to)]);
    let [surrogate, three, two, one, pair] = [1, 2, 3, 4, 5].map(|number| first + number);
    vec![
        state(&[
            (b'0', b'9', three),
            (b'A', b'C', three),
            (b'D', b'D', surrogate),
            (b'E', b'F', three),
            (b'a', b'c', three),
            (b'd', b'd', surrogate),
            (b'e', b'f', three),
        ]),
        // After `d`: a digit below 8 makes a character, others the first half of a pair.
        state(&[(b'0', b'7', two), (b'8', b'9', pair), (b'A', b'B', pair), (b'a', b'b', pair)]),
        // The remaining digits.
        hexadecimal(two),
        hexadecimal(one),
        hexadecimal(next),
        // Two digits of the first half, then `\u`, and the second half.
        hexadecimal(pair + 1),
        hexadecimal(pair + 2),
        state(&[(b'\\', b'\\', pair + 3)]),
        state(&[(b'u', b'u', pair + 4)]),
        state(&[(b'D', b'D', pair + 5), (b'd', b'd', pair + 5)]),
        state(&[(b'C', b'F', two), (b'c', b'f', two)]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_escaped_is_escaped_where_that_is_allowed() {
        let text = "a\"b\\c\n\u{1}é";
        let literal = |letters: &str| {
            let escape_letters = letters.to_owned();
            Escapes::new(&SchemaOptions { escape_letters, ..SchemaOptions::default() })
                .literal(text)
        };
        let all = SchemaOptions::default().escape_letters;
        assert_eq!(literal(&all).as_deref(), Some("\"a\\\"b\\\\c\\n\\u0001é\""));
        assert_eq!(literal("u").as_deref(), Some("\"a\\u0022b\\u005cc\\u000a\\u0001é\""));
        assert_eq!(literal("\"\\n"), None);
    }
}

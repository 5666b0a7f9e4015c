//! Sets of characters in ECMA-262 regular expressions.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::lexer::Regex;

/// Reason why a pattern is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal(pub(super) String);

pub(super) fn everything() -> ClassUnicode {
    set(&[('\0', char::MAX)])
}

pub(super) fn set(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(start, end)| ClassUnicodeRange::new(start, end)))
}

pub(super) fn complement(mut set: ClassUnicode) -> ClassUnicode {
    set.negate();
    set
}

/// Returns the characters of words.
pub(super) fn word() -> ClassUnicode {
    set(&[('0', '9'), ('A', 'Z'), ('a', 'z'), ('_', '_')])
}

/// Returns `\d`, `\w` or `\s` of ECMA-262, or the complement for an uppercase letter.
pub(super) fn category(letter: char) -> Option<ClassUnicode> {
    let set = match letter.to_ascii_lowercase() {
        'd' => set(&[('0', '9')]),
        'w' => word(),
        's' => set(&[
            ('\t', '\r'),
            (' ', ' '),
            ('\u{a0}', '\u{a0}'),
            ('\u{1680}', '\u{1680}'),
            ('\u{2000}', '\u{200a}'),
            ('\u{2028}', '\u{2029}'),
            ('\u{202f}', '\u{202f}'),
            ('\u{205f}', '\u{205f}'),
            ('\u{3000}', '\u{3000}'),
            ('\u{feff}', '\u{feff}'),
        ]),
        _ => return None,
    };
    Some(if letter.is_ascii_uppercase() { complement(set) } else { set })
}

/// Returns the only character of a set.
pub(super) fn single(set: &ClassUnicode) -> Option<char> {
    match set.ranges() {
        [only] if only.start() == only.end() => Some(only.start()),
        _ => None,
    }
}

/// Returns the minimum number of characters of the texts of a regex.
pub(super) fn least_width(regex: &Regex) -> u64 {
    match regex {
        Regex::Set(_) => 1,
        Regex::Concat(parts) => parts.iter().map(least_width).fold(0, u64::saturating_add),
        Regex::Alternation(parts) => parts.iter().map(least_width).min().unwrap_or(0),
        Regex::Repeat(inner, min, _) => least_width(inner).saturating_mul(u64::from(*min)),
        Regex::Start | Regex::End | Regex::Boundary { .. } | Regex::Look { .. } => 0,
    }
}

//! Sets of characters in ECMA-262 regular expressions.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

pub(crate) fn everything() -> ClassUnicode {
    set(&[('\0', char::MAX)])
}

pub(super) fn set(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(start, end)| ClassUnicodeRange::new(start, end)))
}

pub(super) fn complement(mut set: ClassUnicode) -> ClassUnicode {
    set.negate();
    set
}

/// Returns the POSIX class that the text begins with: `[:alpha:]` or `[:^alpha:]`.
pub(crate) fn posix_class(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("[:")?;
    let name = inner.strip_prefix('^').unwrap_or(inner);
    let rest = name.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let is_class = rest.len() < name.len() && rest.starts_with(":]");
    is_class.then(|| &text[..text.len() - rest.len() + 2])
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

/// Returns the class with the other case of each ASCII letter.
pub(crate) fn fold_ascii(mut class: ClassUnicode) -> ClassUnicode {
    let shifted = |from: u8, to: u8| {
        let mut part =
            ClassUnicode::new([ClassUnicodeRange::new(char::from(from), char::from(from + 25))]);
        part.intersect(&class);
        let shift = |c: char| char::from((c as u8).wrapping_sub(from).wrapping_add(to));
        let ranges = part.ranges().iter();
        ClassUnicode::new(ranges.map(|r| ClassUnicodeRange::new(shift(r.start()), shift(r.end()))))
    };
    let (lower, upper) = (shifted(b'A', b'a'), shifted(b'a', b'A'));
    class.union(&lower);
    class.union(&upper);
    class
}

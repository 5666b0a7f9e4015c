//! Escapes in strings and classes.
//!
//! `\n \t \r \a \b \f \v \e \0` are the escapes of C, `\xHH \uHHHH \UHHHHHHHH` denote one code
//! point, two surrogates in a row the character that they encode, and a backslash before any other
//! sign that sign. Other letters and digits are refused, since they were probably meant as escapes.

use crate::syntax::error::{SyntaxError, SyntaxErrorKind};

/// The first character or escape of a string or class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A code point, possibly a lone surrogate.
    Point(u32),
    /// `\d`, `\s` or `\w`: the ASCII digits, blanks, or characters of words.
    Shorthand(&'static [(u32, u32)]),
}

const DIGITS: &[(u32, u32)] = &[(0x30, 0x39)];
const BLANKS: &[(u32, u32)] = &[(0x09, 0x0d), (0x20, 0x20)];
const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)];

/// Takes one character or escape off the front of `rest`, which is not empty. `at` is its position
/// in the file.
pub(super) fn unit(rest: &mut &str, at: usize) -> Result<Unit, SyntaxError> {
    let mut chars = rest.chars();
    let first = chars.next().unwrap_or_default();
    if first != '\\' {
        *rest = chars.as_str();
        return Ok(Unit::Point(first.into()));
    }
    let Some(escaped) = chars.next() else {
        return Err(unknown(at..at + 1, "the backslash escapes nothing".to_owned()));
    };
    *rest = chars.as_str();
    Ok(Unit::Point(match escaped {
        'n' => 0x0a,
        't' => 0x09,
        'r' => 0x0d,
        'a' => 0x07,
        'b' => 0x08,
        'f' => 0x0c,
        'v' => 0x0b,
        'e' => 0x1b,
        '0' => 0,
        'x' => digits(rest, 2, at)?,
        'u' => with_surrogate(digits(rest, 4, at)?, rest),
        'U' => digits(rest, 8, at)?,
        'd' => return Ok(Unit::Shorthand(DIGITS)),
        's' => return Ok(Unit::Shorthand(BLANKS)),
        'w' => return Ok(Unit::Shorthand(WORD)),
        letter if letter.is_alphanumeric() => {
            let message = format!("`\\{letter}` is not an escape");
            return Err(unknown(at..at + 1 + letter.len_utf8(), message));
        }
        sign => sign.into(),
    }))
}

fn unknown(span: std::ops::Range<usize>, message: String) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::BadEscape, span, message).help(
        "a backslash is written `\\\\`, a character by its number `\\xHH`, `\\uHHHH` or \
         `\\UHHHHHHHH`",
    )
}

/// Returns the error for a code point that is no character.
pub(super) fn no_character(point: u32, span: std::ops::Range<usize>) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::BadEscape, span, format!("U+{point:04X} is not a character"))
        .help(
            "characters range from U+0000 to U+10FFFF, except for the surrogates U+D800 to U+DFFF",
        )
}

/// Takes `count` hexadecimal digits off `rest`.
fn digits(rest: &mut &str, count: usize, at: usize) -> Result<u32, SyntaxError> {
    let found = rest.bytes().take(count).take_while(u8::is_ascii_hexdigit).count();
    let (hex, behind) = rest.split_at(found);
    let span = at..at + 2 + found;
    if found < count {
        let message = format!("this escape has {found} hexadecimal digits; {count} are required");
        return Err(unknown(span, message));
    }
    *rest = behind;
    let point = u32::from_str_radix(hex, 16).unwrap_or(u32::MAX);
    if point > u32::from(char::MAX) {
        return Err(no_character(point, span));
    }
    Ok(point)
}

/// Returns the character that `high` encodes together with a low surrogate at the front of `rest`,
/// which is taken off; otherwise returns `high`.
fn with_surrogate(high: u32, rest: &mut &str) -> u32 {
    let low = |behind: &str| u32::from_str_radix(behind.get(..4)?, 16).ok();
    let pair = match (high, rest.strip_prefix("\\u").and_then(low)) {
        (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
            0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)
        }
        _ => return high,
    };
    *rest = &rest[6..];
    pair
}

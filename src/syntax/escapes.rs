//! Replacement of backslash escapes, common to all notations. Each notation defines its escapes and
//! their meanings.

use crate::syntax::error::{SyntaxError, SyntaxErrorKind};

/// A backslash with the text after it.
pub(in crate::syntax) struct Escape<'a, 'b> {
    /// Position of the backslash in the text, in bytes.
    pub(in crate::syntax) start: usize,
    /// The character after the backslash.
    pub(in crate::syntax) letter: char,
    /// The text after `letter`. The rest of the escape is to be removed from its front.
    pub(in crate::syntax) rest: &'b mut &'a str,
}

/// Returns `raw` with every escape replaced: `replace` appends the replacement. A backslash at the
/// end is literal. Reads the text once.
pub(in crate::syntax) fn unescape<E>(
    raw: &str,
    mut replace: impl FnMut(&mut String, Escape<'_, '_>) -> Result<(), E>,
) -> Result<String, E> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(backslash) = rest.find('\\') {
        text.push_str(&rest[..backslash]);
        let start = raw.len() - rest.len() + backslash;
        rest = &rest[backslash + 1..];
        let Some(letter) = rest.chars().next() else {
            text.push('\\');
            break;
        };
        rest = &rest[letter.len_utf8()..];
        replace(&mut text, Escape { start, letter, rest: &mut rest })?;
    }
    text.push_str(rest);
    Ok(text)
}

/// Takes `digits` hexadecimal digits off `rest`. `start` is the position of the escape's backslash.
pub(in crate::syntax) fn code_point(
    rest: &mut &str,
    digits: usize,
    start: usize,
) -> Result<char, SyntaxError> {
    let error = |length: usize, message: String, help: &str| {
        SyntaxError::new(SyntaxErrorKind::BadEscape, start..start + 2 + length, message).help(help)
    };
    let found = rest.bytes().take(digits).take_while(u8::is_ascii_hexdigit).count();
    if found < digits {
        return Err(error(
            found,
            format!("this escape has {found} hexadecimal digits; {digits} are required"),
            "write `\\xHH`, `\\uHHHH` or `\\UHHHHHHHH`; a backslash is written `\\\\`",
        ));
    }
    let (hex, behind) = rest.split_at(digits);
    let Some(character) = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32) else {
        return Err(error(
            digits,
            format!("U+{hex} is not a character"),
            "characters range from U+0000 to U+10FFFF, except for the surrogates U+D800 to U+DFFF",
        ));
    };
    *rest = behind;
    Ok(character)
}

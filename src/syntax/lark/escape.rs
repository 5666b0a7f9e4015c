//! Escapes in strings and regexes, as Lark has them.
//!
//! In a string, `\n \t \r \f \\ \"` and `\xHH \uHHHH \UHHHHHHHH` stand for one character; a
//! backslash before anything else stands for itself. A regex keeps its escapes, which are its own;
//! only `\/` loses its backslash.

use crate::syntax::error::{SyntaxError, SyntaxErrorKind};

/// What the string between the quotation marks stands for. `at` is where `raw` begins in the file.
pub(crate) fn string(raw: &str, at: usize) -> Result<String, SyntaxError> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(backslash) = rest.find('\\') {
        text.push_str(&rest[..backslash]);
        let start = at + raw.len() - rest.len() + backslash;
        rest = &rest[backslash + 1..];
        let Some(escaped) = rest.chars().next() else {
            text.push('\\');
            break;
        };
        rest = &rest[escaped.len_utf8()..];
        match escaped {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'f' => text.push('\x0c'),
            '\\' | '"' => text.push(escaped),
            'x' => text.push(code_point(&mut rest, 2, start)?),
            'u' => text.push(code_point(&mut rest, 4, start)?),
            'U' => text.push(code_point(&mut rest, 8, start)?),
            _ => text.extend(['\\', escaped]),
        }
    }
    text.push_str(rest);
    Ok(text)
}

/// Takes `digits` hexadecimal digits off `rest`. `start` is where the escape's backslash stands.
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
            format!("this escape has {found} hexadecimal digits, where {digits} are due"),
            "write `\\xHH`, `\\uHHHH` or `\\UHHHHHHHH`; a backslash is written `\\\\`",
        ));
    }
    let (hex, behind) = rest.split_at(digits);
    let Some(character) = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32) else {
        return Err(error(
            digits,
            format!("U+{hex} is no character"),
            "characters go from U+0000 to U+10FFFF, without the surrogates U+D800 to U+DFFF",
        ));
    };
    *rest = behind;
    Ok(character)
}

/// The regex between the slashes, with `\/` made `/`.
pub(crate) fn regex(raw: &str) -> String {
    let mut pattern = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(character) = chars.next() {
        if character != '\\' {
            pattern.push(character);
            continue;
        }
        match chars.next() {
            Some('/') => pattern.push('/'),
            Some(escaped) => pattern.extend(['\\', escaped]),
            None => pattern.push('\\'),
        }
    }
    pattern
}

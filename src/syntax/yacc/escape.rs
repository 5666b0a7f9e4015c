//! Escapes in quoted symbols.

use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::lark::escape::code_point;
use crate::syntax::yacc::place::Result;

/// What a quoted symbol stands for: the escapes are C's. `at` is where `raw` begins in the file.
pub(super) fn unescape(raw: &str, at: usize) -> Result<String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(backslash) = rest.find('\\') {
        text.push_str(&rest[..backslash]);
        let start = at + raw.len() - rest.len() + backslash;
        rest = &rest[backslash + 1..];
        let Some(escaped) = rest.chars().next() else { break };
        if escaped.is_digit(8) {
            let digits = rest.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let value = u32::from_str_radix(&rest[..digits], 8).unwrap_or(u32::MAX);
            rest = &rest[digits..];
            match char::from_u32(value).filter(char::is_ascii) {
                Some(character) => text.push(character),
                None => {
                    let span = start..start + 1 + digits;
                    return Err(SyntaxError::new(
                        SyntaxErrorKind::BadEscape,
                        span,
                        "a byte that is no character",
                    )
                    .help("write the character itself, or `\\uHHHH`"));
                }
            }
            continue;
        }
        rest = &rest[escaped.len_utf8()..];
        text.push(match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\x0c',
            'v' => '\x0b',
            'a' => '\x07',
            'b' => '\x08',
            '\\' | '\'' | '"' | '?' => escaped,
            'x' => code_point(&mut rest, 2, start)?,
            'u' => code_point(&mut rest, 4, start)?,
            'U' => code_point(&mut rest, 8, start)?,
            _ => {
                let span = start..start + 1 + escaped.len_utf8();
                let message = format!("`\\{escaped}` is no escape");
                return Err(SyntaxError::new(SyntaxErrorKind::BadEscape, span, message)
                    .help("a backslash is written `\\\\`"));
            }
        });
    }
    text.push_str(rest);
    Ok(text)
}

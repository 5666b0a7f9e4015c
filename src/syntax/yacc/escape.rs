//! Escapes in quoted symbols.

use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::escapes::{code_point, unescape};
use crate::syntax::yacc::place::Result;

/// Returns the value of a quoted symbol, with the escapes of C. `at` is where `raw` begins in the
/// file.
pub(super) fn symbol(raw: &str, at: usize) -> Result<String> {
    unescape(raw, |text, escape| {
        let start = at + escape.start;
        text.push(match escape.letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\x0c',
            'v' => '\x0b',
            'a' => '\x07',
            'b' => '\x08',
            letter @ ('\\' | '\'' | '"' | '?') => letter,
            digit @ '0'..='7' => octal(digit, escape.rest, start)?,
            'x' => code_point(escape.rest, 2, start)?,
            'u' => code_point(escape.rest, 4, start)?,
            'U' => code_point(escape.rest, 8, start)?,
            letter => {
                let span = start..start + 1 + letter.len_utf8();
                let message = format!("`\\{letter}` is not an escape");
                return Err(SyntaxError::new(SyntaxErrorKind::BadEscape, span, message)
                    .help("a backslash is written `\\\\`"));
            }
        });
        Ok(())
    })
}

/// Returns the character of up to three octal digits, `first` and those at the front of `rest`.
/// `start` is the position of the backslash.
fn octal(first: char, rest: &mut &str, start: usize) -> Result<char> {
    let more = rest.bytes().take(2).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let (digits, behind) = rest.split_at(more);
    *rest = behind;
    let values = [first].into_iter().chain(digits.chars()).filter_map(|digit| digit.to_digit(8));
    let value = values.fold(0, |value, digit| value * 8 + digit);
    char::from_u32(value).filter(char::is_ascii).ok_or_else(|| {
        let span = start..start + 2 + more;
        SyntaxError::new(SyntaxErrorKind::BadEscape, span, "the byte is not a character")
            .help("write the character itself, or `\\uHHHH`")
    })
}

//! The lexer of `.y` files. Code, types and references are lexemes of their own; comments are
//! skipped.

use crate::syntax::ast::Span;
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};

/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 1000;

/// Maximum length of a `<type>` or `[name]`, in bytes: keeps unclosed ones linear.
const MAX_BRACKETED: usize = 200;

type Result<T> = std::result::Result<T, SyntaxError>;

/// A lexeme of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexeme<'text> {
    /// `%%`.
    Section,
    /// `%{ ... %}`.
    Code,
    /// `%word`.
    Directive(&'text str),
    Name(&'text str),
    /// The text between quotation marks.
    Quoted(&'text str),
    Number,
    /// `{ ... }`.
    Braces,
    /// `<type>`.
    Type,
    /// `[name]`.
    Reference,
    Colon,
    Semicolon,
    /// `|`.
    Or,
    /// Any other character.
    Sign,
}

/// The lexemes of a file, in order. Linear.
#[derive(Debug)]
pub(super) struct Lexer<'text> {
    text: &'text str,
    at: usize,
}

impl<'text> Lexer<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'text str {
        &self.text[self.at..]
    }

    /// Returns the next lexeme and its span, after blanks and comments. The span of a
    /// [`Lexeme::Quoted`] is the text between the marks.
    pub(super) fn lexeme(&mut self) -> Result<Option<(Lexeme<'text>, Span)>> {
        self.skip_blanks()?;
        let (start, rest) = (self.at, self.rest());
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let word = |from: usize, more: &[u8]| {
            let of =
                |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || more.contains(byte);
            &rest[from..from + rest[from..].bytes().take_while(|byte| of(byte)).count()]
        };
        let (lexeme, length) = match first {
            '%' if rest.starts_with("%%") => (Lexeme::Section, 2),
            '%' if rest.starts_with("%{") => match rest.find("%}") {
                Some(end) => (Lexeme::Code, end + 2),
                None => return Err(unclosed(start, 2, "`%{` is not closed", "close it with `%}`")),
            },
            '%' => {
                let word = word(1, b"-");
                (Lexeme::Directive(word), 1 + word.len())
            }
            'a'..='z' | 'A'..='Z' | '_' | '.' => {
                let name = word(0, b".");
                if name.len() > MAX_NAME {
                    let message = format!("this name is longer than {MAX_NAME} bytes");
                    return Err(SyntaxError::new(
                        SyntaxErrorKind::BadName,
                        start..start + name.len(),
                        message,
                    ));
                }
                (Lexeme::Name(name), name.len())
            }
            '0'..='9' => (Lexeme::Number, word(0, b"").len()),
            '"' | '\'' => {
                let inner = quoted(rest, start)?;
                self.at += inner.len() + 2;
                return Ok(Some((Lexeme::Quoted(inner), start + 1..start + 1 + inner.len())));
            }
            '{' => match closing_brace(rest) {
                Some(end) => (Lexeme::Braces, end + 1),
                None => {
                    return Err(unclosed(
                        start,
                        1,
                        "this action is not closed",
                        "close it with `}`",
                    ));
                }
            },
            '<' | '[' => {
                let (lexeme, close) =
                    if first == '<' { (Lexeme::Type, b'>') } else { (Lexeme::Reference, b']') };
                let end = rest
                    .bytes()
                    .take(MAX_BRACKETED)
                    .position(|byte| byte == b'\n' || byte == close);
                match end.filter(|&end| rest.as_bytes()[end] == close) {
                    Some(end) => (lexeme, end + 1),
                    None => (Lexeme::Sign, 1),
                }
            }
            ':' => (Lexeme::Colon, 1),
            ';' => (Lexeme::Semicolon, 1),
            '|' => (Lexeme::Or, 1),
            _ => (Lexeme::Sign, first.len_utf8()),
        };
        self.at += length;
        Ok(Some((lexeme, start..self.at)))
    }

    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            let bytes = rest.as_bytes();
            match bytes {
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0b => self.at += 1,
                [b'/', b'/', ..] => self.at += rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => match rest[2..].find("*/") {
                    Some(end) => self.at += end + 4,
                    None => {
                        return Err(unclosed(
                            self.at,
                            2,
                            "this comment is not closed",
                            "close it with `*/`",
                        ));
                    }
                },
                _ => return Ok(()),
            }
        }
    }
}

fn unclosed(start: usize, length: usize, message: &str, help: &str) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::UnclosedBracket, start..start + length, message).help(help)
}

/// Returns the text between the quotation mark at the beginning of `rest` and the next one.
fn quoted(rest: &str, start: usize) -> Result<&str> {
    let mark = rest.as_bytes()[0];
    let mut bytes = rest.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if !matches!(rest.as_bytes().get(at + 1), Some(b'\n' | b'\r')) => {
                bytes.next();
            }
            _ if byte == mark && at == 1 => {
                let error = SyntaxError::new(
                    SyntaxErrorKind::EmptyLiteral,
                    start..start + 2,
                    "an empty string",
                );
                return Err(error.help("remove it: an empty alternative matches the empty text"));
            }
            _ if byte == mark => return Ok(&rest[1..at]),
            b'\n' => break,
            0..0x20 => {
                let message = format!("a string contains the character U+{byte:04X}");
                let span = start + at..start + at + 1;
                return Err(SyntaxError::new(SyntaxErrorKind::UnexpectedCharacter, span, message)
                    .help("write it as an escape such as `\\t`"));
            }
            _ => {}
        }
    }
    let length = rest.find('\n').unwrap_or(rest.len());
    let message = "this string is not closed on its line";
    Err(SyntaxError::new(SyntaxErrorKind::UnterminatedString, start..start + length, message)
        .help(format!("close it with `{}`", char::from(mark))))
}

/// Returns the position of the brace that closes the one at the beginning of `text`, skipping the
/// strings, characters and comments of the code between them.
fn closing_brace(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0u32);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at),
            b'}' => depth -= 1,
            b'"' => at += 1 + string_length(&bytes[at + 1..]),
            // A character; a lone mark is a lifetime or part of a word in a macro.
            b'\'' => match bytes[at + 1..] {
                [b'\\', _, ..] => {
                    at += 2 + bytes[at + 3..]
                        .iter()
                        .take(10)
                        .position(|&b| b == b'\'')
                        .map_or(0, |n| n + 1);
                }
                [_, b'\'', ..] => at += 2,
                _ => {}
            },
            // A raw string of Go, which has no escapes.
            b'`' => at += text[at + 1..].find('`').map_or(0, |length| length + 1),
            b'/' if bytes.get(at + 1) == Some(&b'/') => at += text[at..].find('\n')?,
            b'/' if bytes.get(at + 1) == Some(&b'*') => at += 3 + text[at + 2..].find("*/")?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the number of bytes before the quotation mark that closes a string, or of the line if
/// none does.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\n' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

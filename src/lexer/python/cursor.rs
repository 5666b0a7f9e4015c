//! The reading position in a regex.

use std::ops::Range;

use crate::lexer::error::{PatternError, PatternErrorKind};
use crate::util::diagnostic::Place;

/// A position in a regex.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    /// The next byte to be read, always at a character boundary.
    pub(super) pos: usize,
    pub(super) place: Option<&'a Place>,
}

impl Cursor<'_> {
    pub(super) fn peek(&self) -> Option<char> {
        self.text[self.pos..].chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.text[self.pos..].starts_with(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    /// Reads characters while `holds` is true for them, at most `most`.
    pub(super) fn take_while(&mut self, most: usize, holds: impl Fn(char) -> bool) {
        let mut count = 0;
        while count < most && self.peek().is_some_and(&holds) {
            self.bump();
            count += 1;
        }
    }

    /// Returns an error of syntax about the text from `start` to the position.
    pub(super) fn syntax(&self, start: usize, message: impl Into<String>) -> PatternError {
        self.error(PatternErrorKind::Syntax, start..self.pos, message)
    }

    /// Returns an error about the text from `start` to the position, which is not supported.
    pub(super) fn unsupported(&self, start: usize, message: impl Into<String>) -> PatternError {
        self.error(PatternErrorKind::Unsupported, start..self.pos, message)
    }

    /// Returns an error about the text from `start` to the position, which is too large.
    pub(super) fn too_large(&self, start: usize, message: impl Into<String>) -> PatternError {
        self.error(PatternErrorKind::TooLarge, start..self.pos, message)
    }

    pub(super) fn error(
        &self,
        kind: PatternErrorKind,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> PatternError {
        PatternError::new(kind, message).within(self.text, span, self.place)
    }
}

/// Returns the end of the alternative that continues at `at`: a `|` or a closing parenthesis.
pub(super) fn end_of_alternative(text: &[u8], mut at: usize) -> Option<usize> {
    let mut open = 0usize;
    loop {
        match text.get(at)? {
            b'\\' => at += 1,
            b'[' => {
                // A closing bracket at the beginning of a set is one of its characters.
                at += 1 + usize::from(text.get(at + 1) == Some(&b'^'));
                at += usize::from(text.get(at) == Some(&b']'));
                while *text.get(at)? != b']' {
                    at += 1 + usize::from(text[at] == b'\\');
                }
            }
            b'(' => open += 1,
            b')' | b'|' if open == 0 => return Some(at),
            b')' => open -= 1,
            _ => {}
        }
        at += 1;
    }
}

//! Sets of characters between brackets.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, Hir};

use crate::lexer::error::PatternError;
use crate::lexer::error::PatternErrorKind::Syntax;
use crate::lexer::python::escape::Escape;
use crate::lexer::python::parser::Parser;

impl Parser<'_, '_> {
    /// Reads a set; its opening bracket has been read.
    pub(super) fn set(&mut self, start: usize) -> Result<Hir, PatternError> {
        let negated = self.cursor.eat("^");
        let mut chars: Vec<ClassUnicodeRange> = Vec::new();
        let mut categories: Vec<ClassUnicodeRange> = Vec::new();
        let first = self.cursor.pos;
        loop {
            let from = self.cursor.pos;
            let low = match self.cursor.bump() {
                None => return Err(self.open_set(start)),
                Some(']') if from != first => break,
                Some(c) => self.set_member(c)?,
            };
            let range =
                if !self.cursor.text[self.cursor.pos..].starts_with("-]") && self.cursor.eat("-") {
                    match self.cursor.bump() {
                        None => return Err(self.open_set(start)),
                        Some(c) => Some(self.set_member(c)?),
                    }
                } else {
                    None
                };
            match (low, range) {
                (Escape::Char(c), None) => chars.push(ClassUnicodeRange::new(c, c)),
                (Escape::Category(category, negated), None) => {
                    categories.extend_from_slice(self.category(category, negated)?.ranges());
                }
                (Escape::Property(class), None) => {
                    categories.extend_from_slice(self.with_property(class)?.ranges());
                }
                (Escape::Char(low), Some(Escape::Char(high))) if low <= high => {
                    chars.push(ClassUnicodeRange::new(low, high));
                }
                (Escape::Char(_), Some(Escape::Char(_))) => {
                    return Err(self
                        .cursor
                        .syntax(from, "the range is empty: its ends are in the wrong order")
                        .help("write the smaller character first, or `\\-` for a hyphen"));
                }
                _ => {
                    return Err(self
                        .cursor
                        .syntax(from, "a class such as `\\w` cannot be an end of a range")
                        .help("write `\\-` for a hyphen"));
                }
            }
        }
        if self.builder.bytes && chars.iter().any(|range| u32::from(range.end()) > 0xff) {
            return Err(self
                .cursor
                .syntax(start, "a set of bytes contains a character that is not a byte")
                .help("write bytes from \\x00 to \\xfe, or remove allow_invalid_utf8"));
        }
        let mut class = ClassUnicode::new(chars);
        if self.flags.ignore_case {
            class = self.builder.folded(class, self.flags.ascii)?;
        }
        class.union(&ClassUnicode::new(categories));
        if negated {
            class.negate();
        }
        self.builder.class(class)
    }

    fn set_member(&mut self, c: char) -> Result<Escape, PatternError> {
        if c == '\\' { self.cursor.class_escape() } else { Ok(Escape::Char(c)) }
    }

    fn open_set(&self, start: usize) -> PatternError {
        self.cursor
            .error(Syntax, start..start + 1, "this set is not closed")
            .help("write `\\[` for the character")
    }
}

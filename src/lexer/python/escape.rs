//! The syntax after a backslash, outside and inside of sets.

use regex_syntax::hir::ClassUnicode;

use crate::lexer::error::PatternError;
use crate::lexer::python::cursor::Cursor;
use crate::lexer::python::unicode::{Category, property};

/// Maximum number of characters of the name of a property, including its brace. The longest name is
/// shorter.
const MAX_PROPERTY: usize = 100;

/// The meaning of an escape.
pub(super) enum Escape {
    Char(char),
    /// A category, or its complement.
    Category(Category, bool),
    /// The beginning or the end of a word, or its negation.
    Boundary(bool),
    /// A back reference to the group with this number.
    Reference,
    /// The beginning of the text.
    Begin,
    /// The end of the text.
    End,
    /// The characters with a Unicode property.
    Property(ClassUnicode),
}

impl Cursor<'_> {
    /// Reads an escape outside of sets; the backslash has been read.
    pub(super) fn escape(&mut self) -> Result<Escape, PatternError> {
        let start = self.pos - 1;
        let Some(c) = self.peek() else { return Err(self.trailing_backslash(start)) };
        if let Some(escape) = self.common_escape(start, c)? {
            return Ok(escape);
        }
        self.bump();
        match c {
            'A' => Ok(Escape::Begin),
            'Z' => Ok(Escape::End),
            'b' | 'B' => Ok(Escape::Boundary(c == 'B')),
            '0' => {
                self.take_while(2, |c| c.is_digit(8));
                let value =
                    u32::from_str_radix(&self.text[start + 1..self.pos], 8).unwrap_or_default();
                Ok(Escape::Char(char::from_u32(value).expect("two octal digits are below 64")))
            }
            '1'..='9' => {
                self.take_while(1, |c| c.is_ascii_digit());
                let digits = &self.text[start + 1..self.pos];
                if digits.len() == 2
                    && digits.bytes().all(|d| d < b'8')
                    && self.peek().is_some_and(|c| c.is_digit(8))
                {
                    self.bump();
                    return self.octal(start);
                }
                Ok(Escape::Reference)
            }
            c if c.is_ascii_alphabetic() => Err(self.bad_escape(start)),
            c => Ok(Escape::Char(c)),
        }
    }

    /// Reads an escape inside of a set; the backslash has been read.
    pub(super) fn class_escape(&mut self) -> Result<Escape, PatternError> {
        let start = self.pos - 1;
        let Some(c) = self.peek() else { return Err(self.trailing_backslash(start)) };
        if let Some(escape) = self.common_escape(start, c)? {
            return Ok(escape);
        }
        self.bump();
        match c {
            'b' => Ok(Escape::Char('\u{8}')),
            '0'..='7' => {
                self.take_while(2, |c| c.is_digit(8));
                self.octal(start)
            }
            c if c.is_ascii_alphanumeric() => Err(self.bad_escape(start)),
            c => Ok(Escape::Char(c)),
        }
    }

    /// Reads an escape that means the same inside and outside of sets.
    fn common_escape(&mut self, start: usize, c: char) -> Result<Option<Escape>, PatternError> {
        let escape = match c {
            'a' => Escape::Char('\u{7}'),
            'f' => Escape::Char('\u{C}'),
            'n' => Escape::Char('\n'),
            'r' => Escape::Char('\r'),
            't' => Escape::Char('\t'),
            'v' => Escape::Char('\u{B}'),
            'd' => Escape::Category(Category::Digit, false),
            'D' => Escape::Category(Category::Digit, true),
            's' => Escape::Category(Category::Space, false),
            'S' => Escape::Category(Category::Space, true),
            'w' => Escape::Category(Category::Word, false),
            'W' => Escape::Category(Category::Word, true),
            'p' | 'P' => return self.property(start, c == 'P').map(Some),
            'x' => return self.hex(start, 2).map(Some),
            'u' => return self.hex(start, 4).map(Some),
            'U' => return self.hex(start, 8).map(Some),
            'N' => {
                self.bump();
                if self.peek() == Some('{') {
                    self.take_while(usize::MAX, |c| c != '}');
                    self.bump();
                }
                return Err(self.unsupported(start, "character names are not supported").help(
                    "write the character itself, or its number: `\\uXXXX` or `\\UXXXXXXXX`",
                ));
            }
            _ => return Ok(None),
        };
        self.bump();
        Ok(Some(escape))
    }

    /// Reads `\p{Name}`, `\p{^Name}` or `\pN`, as the module `regex` defines it; `re` has no such
    /// escape.
    fn property(&mut self, start: usize, negated: bool) -> Result<Escape, PatternError> {
        self.bump();
        let from = self.pos;
        let name = if self.peek() == Some('{') {
            self.take_while(MAX_PROPERTY, |c| c != '}');
            let name = &self.text[from + 1..self.pos];
            if self.peek() != Some('}') {
                return Err(self.syntax(start, "the name of this property is not closed"));
            }
            self.bump();
            name
        } else {
            self.bump();
            &self.text[from..self.pos]
        };
        let (name, negated) = match name.strip_prefix('^') {
            Some(rest) => (rest, !negated),
            None => (name, negated),
        };
        match property(name) {
            Some(mut class) => {
                if negated {
                    class.negate();
                }
                Ok(Escape::Property(class))
            }
            None => Err(self
                .unsupported(start, format!("there is no character property `{name}`"))
                .help(
                    "write a general category (`\\p{L}`, `\\p{Lu}`), a script (`\\p{Greek}`) or \
                     a property (`\\p{Emoji}`)",
                )),
        }
    }

    /// Reads exactly `digits` hexadecimal digits.
    fn hex(&mut self, start: usize, digits: usize) -> Result<Escape, PatternError> {
        self.bump();
        let from = self.pos;
        self.take_while(digits, |c| c.is_ascii_hexdigit());
        let text = &self.text[from..self.pos];
        if text.len() != digits {
            return Err(
                self.syntax(start, format!("this escape needs {digits} hexadecimal digits"))
            );
        }
        let value = u32::from_str_radix(text, 16).unwrap_or(u32::MAX);
        match char::from_u32(value) {
            Some(c) => Ok(Escape::Char(c)),
            None if value < 0x11_0000 => Err(self
                .unsupported(start, "a surrogate never occurs in UTF-8 text")
                .help("remove it, or write the character that the surrogate pair encodes")),
            None => Err(self.syntax(start, "there is no character past U+10FFFF")),
        }
    }

    /// Returns the octal escape from `start` to here.
    fn octal(&mut self, start: usize) -> Result<Escape, PatternError> {
        match u32::from_str_radix(&self.text[start + 1..self.pos], 8) {
            Ok(value @ ..=0o377) => Ok(Escape::Char(char::from_u32(value).unwrap_or_default())),
            _ => Err(self.syntax(start, "the largest octal escape is \\377")),
        }
    }

    pub(super) fn back_reference(&self, start: usize) -> PatternError {
        let message = "no finite automaton can follow a back reference to a group with infinitely \
                       many texts";
        self.unsupported(start, message).help(
            "refer to a group of at most 128 texts that comes earlier in the same group and is not \
             repeated, or use a rule instead of a terminal",
        )
    }

    fn bad_escape(&self, start: usize) -> PatternError {
        self.syntax(start, format!("`{}` is not an escape", &self.text[start..self.pos]))
            .help("a letter or digit after a backslash is an escape only if Python defines it")
    }

    fn trailing_backslash(&self, start: usize) -> PatternError {
        self.syntax(start, "the pattern ends in a backslash").help("write `\\\\` for a backslash")
    }
}

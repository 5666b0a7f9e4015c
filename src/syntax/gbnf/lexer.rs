//! The lexer of the notation.
//!
//! A name before `::=` is a separate kind of word, so that line ends need not mark where a rule
//! begins. Every byte is visited a bounded number of times.

use hashbrown::HashSet;

use crate::syntax::ast::Span;
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::gbnf::ast::{Attributes, Class, TokenName, TokenReference};
use crate::syntax::gbnf::escape::{self, Unit};
use crate::syntax::gbnf::token::Token;

/// Maximum number of repetitions of one expression.
const MAX_REPETITIONS: usize = 200;

/// Maximum number of words in a file: bounds the tree, whose nodes are larger than their text.
pub(crate) const MAX_WORDS: usize = 1 << 22;

type Result<T> = std::result::Result<T, SyntaxError>;

/// The words of a file, each between its byte offsets.
#[derive(Debug)]
pub(super) struct Lexer<'input> {
    pub(super) text: &'input str,
    pub(super) at: usize,
    words: usize,
    /// Positions of the open brackets.
    open: Vec<usize>,
    /// Number of consecutive repetitions before this position.
    repetitions: usize,
    /// The names that are defined between angle brackets, found at the first request.
    bracketed: Option<HashSet<&'input str>>,
    /// The names of functions that rules have; found when first asked for.
    pub(super) defined_functions: Option<HashSet<&'input str>>,
}

impl<'input> Lexer<'input> {
    /// Creates a lexer for `text`, after a byte order mark if there is one.
    pub(super) fn new(text: &'input str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let open = Vec::new();
        Self { text, at, words: 0, open, repetitions: 0, bracketed: None, defined_functions: None }
    }

    pub(super) fn rest(&self) -> &'input str {
        &self.text[self.at..]
    }

    pub(super) fn take(&mut self, length: usize) -> &'input str {
        let taken = &self.rest()[..length];
        self.at += length;
        taken
    }

    /// Returns the next word, `None` after the last.
    pub(super) fn word(&mut self) -> Result<Option<(usize, Token<'input>, usize)>> {
        self.skip_blanks()?;
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            return match self.open.last() {
                Some(&open) => Err(unclosed(open, "the file ends")),
                None => Ok(None),
            };
        };
        let token = match first {
            '"' | '\'' => self.literal(first)?,
            '[' => self.class()?,
            '.' => {
                self.take(1);
                Token::Class(Class { negated: true, ranges: Vec::new() })
            }
            '<' | '!' => self.token()?,
            '{' => self.count()?,
            _ if is_name_character(first) => self.name()?,
            _ => self.sign(first)?,
        };
        self.repetitions = match token {
            Token::Star | Token::Plus | Token::Question | Token::Count { .. } => {
                self.repetitions + 1
            }
            _ => 0,
        };
        if self.repetitions > MAX_REPETITIONS {
            let message =
                format!("one expression has more than {MAX_REPETITIONS} repetition signs");
            return Err(SyntaxError::new(SyntaxErrorKind::TooDeep, start..start + 1, message)
                .help("move the inner part to a rule of its own"));
        }
        self.count_word()?;
        Ok(Some((start, token, self.at)))
    }

    /// Counts a word.
    pub(super) fn count_word(&mut self) -> Result<()> {
        self.words += 1;
        if self.words > MAX_WORDS {
            let message = format!("the file has more than {MAX_WORDS} words");
            return Err(SyntaxError::new(SyntaxErrorKind::TooLarge, self.at..self.at, message));
        }
        Ok(())
    }

    /// Passes over white space and comments.
    pub(super) fn skip_blanks(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            self.at += match rest.as_bytes() {
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0b => 1,
                [b'#', ..] | [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => self.comment("*/")?,
                [b'(', b'*', ..] => self.comment("*)")?,
                _ => match rest.chars().next() {
                    Some(blank) if blank.is_whitespace() => blank.len_utf8(),
                    _ => return Ok(()),
                },
            };
        }
    }

    /// Returns the length of the comment here, which ends with `end`.
    fn comment(&self, end: &str) -> Result<usize> {
        match self.rest()[2..].find(end) {
            Some(length) => Ok(length + 4),
            None => Err(SyntaxError::new(
                SyntaxErrorKind::UnclosedBracket,
                self.at..self.at + 2,
                "this comment is not closed",
            )
            .help(format!("close it with `{end}`"))),
        }
    }

    /// Reads a name, including a `::=` after it.
    fn name(&mut self) -> Result<Token<'input>> {
        let length = name_length(self.rest());
        let start = self.at;
        let name = self.take(length);
        if let Some(attributes) = self.attributes() {
            return self.definition(name, attributes, start);
        }
        if self.takes_definition()? {
            return self.definition(name, Attributes::default(), start);
        }
        Ok(match self.call(name)? {
            Some(call) => Token::Call(call),
            None => Token::Name(name.into()),
        })
    }

    fn definition(
        &self,
        name: &'input str,
        attributes: Attributes,
        start: usize,
    ) -> Result<Token<'input>> {
        match self.open.last() {
            Some(&open) => {
                Err(unclosed(open, "the next rule begins").related(start..self.at, "here"))
            }
            None => Ok(Token::Defined(name.into(), attributes)),
        }
    }

    /// Reads `::=` if it follows, possibly after blanks, and returns whether it does.
    fn takes_definition(&mut self) -> Result<bool> {
        let before = self.at;
        self.skip_blanks()?;
        let defines = self.rest().starts_with("::=");
        self.at = if defines { self.at + 3 } else { before };
        Ok(defines)
    }

    /// Reads `<[1000]>` or `<think>`, possibly after a `!`; `<name> ::=`, or `<name>` if such a
    /// rule is defined.
    fn token(&mut self) -> Result<Token<'input>> {
        let start = self.at;
        let negated = self.rest().starts_with('!');
        let inner = &self.rest()[usize::from(negated)..];
        let end = inner.find(['>', '\n']).filter(|&end| inner.as_bytes()[end] == b'>' && end > 1);
        let (true, Some(end)) = (inner.starts_with('<'), end) else {
            let message = if negated { "`!` negates nothing" } else { "this `<` is not closed" };
            return Err(SyntaxError::new(
                SyntaxErrorKind::UnexpectedCharacter,
                start..start + 1,
                message,
            )
            .help("a token is written `<[1000]>` or `<think>`, any other token `!<[1000]>`"));
        };
        let name = &inner[1..end];
        self.at += usize::from(negated) + end + 1;
        if !negated && name_length(name) == name.len() {
            if self.takes_definition()? {
                return self.definition(name, Attributes::default(), start);
            }
            if self.is_bracketed(name) {
                return Ok(Token::Name(name.into()));
            }
        }
        let token = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            None => TokenName::Text(format!("<{name}>")),
            Some(digits) => match digits.trim().parse() {
                Ok(id) => TokenName::Id(id),
                Err(_) => {
                    let message = format!("`{digits}` is not a token number");
                    let span = start..self.at;
                    return Err(SyntaxError::new(SyntaxErrorKind::BadNumber, span, message)
                        .help("write the token's number, as in `<[1000]>`"));
                }
            },
        };
        Ok(Token::TokenReference(TokenReference { negated, token }))
    }

    /// Returns whether the file contains some `<name> ::=`. A match in a string or comment is
    /// harmless enough not to need a second lexer: the name is then reported as undefined.
    fn is_bracketed(&mut self, name: &str) -> bool {
        let text = self.text;
        let bracketed = self.bracketed.get_or_insert_with(|| {
            let ends = text
                .match_indices("::=")
                .filter_map(|(at, _)| text[..at].trim_end().strip_suffix('>'));
            ends.filter_map(|before| {
                // Names are short; this keeps the search linear.
                let from = before.len().saturating_sub(1000);
                let from = (from..before.len()).find(|&at| before.is_char_boundary(at))?;
                Some(&before[from + before[from..].rfind('<')? + 1..])
            })
            .collect()
        });
        bracketed.contains(name)
    }

    pub(super) fn literal(&mut self, mark: char) -> Result<Token<'input>> {
        let start = self.at;
        self.take(1);
        let mut text = String::new();
        loop {
            let at = self.at;
            if self.rest().is_empty() {
                return Err(SyntaxError::new(
                    SyntaxErrorKind::UnterminatedString,
                    start..start + 1,
                    "this string is not closed",
                )
                .help(format!("close it with {mark}, and write {mark} inside it as \\{mark}")));
            }
            if self.rest().starts_with(mark) {
                self.take(1);
                return Ok(Token::Literal(text));
            }
            match self.unit()? {
                Unit::Point(point) => match char::from_u32(point) {
                    Some(character) => text.push(character),
                    None => return Err(escape::no_character(point, at..self.at)),
                },
                Unit::Shorthand(_) => {
                    let message = "a string contains a character class";
                    return Err(SyntaxError::new(SyntaxErrorKind::BadEscape, at..self.at, message)
                        .help("put the class in square brackets; a backslash is written `\\\\`"));
                }
            }
        }
    }

    fn class(&mut self) -> Result<Token<'input>> {
        let start = self.at;
        self.take(1);
        let negated = self.rest().starts_with('^');
        self.take(usize::from(negated));
        let mut ranges = Vec::new();
        loop {
            match self.rest().as_bytes() {
                [] => {
                    return Err(SyntaxError::new(
                        SyntaxErrorKind::UnclosedBracket,
                        start..start + 1,
                        "this character class is not closed",
                    )
                    .help("close it with `]`, and write `]` inside it as `\\]`"));
                }
                [b']', ..] => {
                    self.take(1);
                    return Ok(Token::Class(Class { negated, ranges }));
                }
                _ => {}
            }
            let first = match self.unit()? {
                Unit::Point(first) => first,
                Unit::Shorthand(shorthand) => {
                    ranges.extend(shorthand);
                    continue;
                }
            };
            let is_range = matches!(self.rest().as_bytes(), [b'-', next, ..] if *next != b']');
            if !is_range {
                ranges.push((first, first));
                continue;
            }
            self.take(1);
            match self.unit()? {
                Unit::Point(last) => ranges.push((first, last)),
                // `[a-\d]` contains a hyphen, as in regexes.
                Unit::Shorthand(shorthand) => {
                    ranges.extend([(first, first), (0x2d, 0x2d)]);
                    ranges.extend(shorthand);
                }
            }
        }
    }

    fn unit(&mut self) -> Result<Unit> {
        let mut rest = self.rest();
        let unit = escape::unit(&mut rest, self.at)?;
        self.at = self.text.len() - rest.len();
        Ok(unit)
    }

    /// Reads `{2}`, `{2,}`, `{2,5}`, `{,5}`, or XGrammar's `{2,-1}` for `{2,}`.
    fn count(&mut self) -> Result<Token<'input>> {
        let start = self.at;
        let error = |span: Span, kind, message: &str| {
            Err(SyntaxError::new(kind, span, message)
                .help("a count is written `{2}`, `{2,}`, `{2,5}` or `{,5}`"))
        };
        let Some(length) = self.rest().find('}').filter(|&length| length < 100) else {
            return error(
                start..start + 1,
                SyntaxErrorKind::BadRepetition,
                "this `{` is not closed",
            );
        };
        let inner = &self.take(length + 1)[1..length];
        let span = start..self.at;
        let (min, max) = inner.split_once(',').map_or((inner, None), |(min, max)| (min, Some(max)));
        let without_end = |max: &'input str| if max.trim() == "-1" { "" } else { max.trim() };
        let none = inner.split(',').all(|part| part.trim().is_empty());
        let (min, max) = (min.trim(), max.map(without_end));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if none || !is_number(min) || !max.is_none_or(is_number) {
            return error(span, SyntaxErrorKind::BadRepetition, "this is not a count");
        }
        let number = |digits: &str| if digits.is_empty() { Ok(0) } else { digits.parse::<u32>() };
        let (min, max) =
            match (number(min), max.filter(|max| !max.is_empty()).map(number).transpose(), max) {
                (Ok(min), Ok(None), None) => (min, Some(min)),
                (Ok(min), Ok(max), _) => (min, max),
                _ => return error(span, SyntaxErrorKind::BadNumber, "this count is out of range"),
            };
        if max.is_some_and(|max| min > max) {
            return error(
                span,
                SyntaxErrorKind::BadRepetition,
                "the minimum count is greater than the maximum",
            );
        }
        Ok(Token::Count { min, max })
    }

    fn sign(&mut self, first: char) -> Result<Token<'input>> {
        let start = self.at;
        let token = match first {
            '|' => Token::Or,
            '?' => Token::Question,
            '*' => Token::Star,
            '+' => Token::Plus,
            ';' => Token::Semicolon,
            '(' if self.rest().starts_with("(=") => Token::LeftAssertion,
            '(' => Token::LeftParen,
            ')' => Token::RightParen,
            _ => return Err(unexpected_character(first, start)),
        };
        self.take(if token == Token::LeftAssertion { 2 } else { 1 });
        match token {
            Token::LeftParen | Token::LeftAssertion => {
                self.open.push(start);
            }
            Token::RightParen if self.open.pop().is_none() => {
                let message = "`)` closes nothing";
                return Err(SyntaxError::new(
                    SyntaxErrorKind::UnmatchedBracket,
                    start..self.at,
                    message,
                )
                .help(
                    "remove it, or put `(` before it; literal text is written in quotation marks",
                ));
            }
            _ => {}
        }
        Ok(token)
    }
}

pub(super) fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '-'
}

/// The bytes of the name at the head of `text`.
pub(super) fn name_length(text: &str) -> usize {
    text.find(|character| !is_name_character(character)).unwrap_or(text.len())
}

fn unclosed(open: usize, end: &str) -> SyntaxError {
    let message = format!("`(` is not closed before {end}");
    SyntaxError::new(SyntaxErrorKind::UnclosedBracket, open..open + 1, message)
        .help("close it with `)`")
}

fn unexpected_character(found: char, at: usize) -> SyntaxError {
    let help = match found {
        '$' => "replace the placeholder by its text before the grammar is read",
        ':' | '=' => "a definition is written `name ::= ...`",
        '/' => "patterns between slashes are Lark's notation; write a character class or a rule",
        _ => "literal text is written in quotation marks, a character class in square brackets",
    };
    let message = if found.is_control() {
        format!("the character U+{:04X} is not part of the notation", u32::from(found))
    } else {
        format!("`{found}` is not part of the notation")
    };
    SyntaxError::new(SyntaxErrorKind::UnexpectedCharacter, at..at + found.len_utf8(), message)
        .help(help)
}

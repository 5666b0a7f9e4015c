//! The parser proper: recursive over groups, with a limit on their depth.

use std::ops::Range;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, Hir};

use crate::grammar::pattern::RegexFlags;
use crate::lexer::error::PatternError;
use crate::lexer::error::PatternErrorKind::Syntax;
use crate::lexer::lower::{Builder, MAX_DEPTH};
use crate::lexer::python::cursor::{Cursor, end_of_alternative};
use crate::lexer::python::escape::Escape;
use crate::lexer::python::groups::Groups;
use crate::lexer::python::unicode::Category;
use crate::util::diagnostic::Place;

/// Parses `text` with the flags written after it.
pub(in crate::lexer) fn parse(
    text: &str,
    flags: RegexFlags,
    place: Option<&Place>,
    builder: &mut Builder<'_>,
) -> Result<Hir, PatternError> {
    let flags = Flags {
        ignore_case: flags.ignore_case,
        dot_all: flags.dot_all,
        multi_line: flags.multi_line,
        verbose: flags.verbose,
        ascii: flags.bytes,
    };
    Parser::new(text, flags, place, builder).whole()
}

/// The flags in force at a position of the pattern.
#[derive(Clone, Copy)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) dot_all: bool,
    pub(super) multi_line: bool,
    pub(super) verbose: bool,
    pub(super) ascii: bool,
}

/// The item before a quantifier.
pub(super) struct Item {
    pub(super) hir: Hir,
    pub(super) repeated: bool,
}

/// The construct that an opening parenthesis begins.
pub(super) enum Group {
    /// Nothing: a comment, or flags for the whole pattern.
    Nothing,
    /// A group, with the flags inside of it.
    Inside(Flags),
    /// The same with a number.
    Numbered(usize),
    /// A back reference to the group of this name.
    Reference(Range<usize>),
    /// A conditional on the group of this name.
    Conditional(Range<usize>),
    /// A look-around: whether it looks ahead, and whether it must not match.
    Look { ahead: bool, negated: bool },
}

/// A regex being read.
pub(super) struct Parser<'a, 'b> {
    pub(super) cursor: Cursor<'a>,
    pub(super) builder: &'a mut Builder<'b>,
    pub(super) flags: Flags,
    pub(super) groups: Groups<'a>,
    /// Whether flags for the whole pattern may appear here.
    pub(super) at_start: bool,
}

impl<'a, 'b> Parser<'a, 'b> {
    fn new(
        text: &'a str,
        flags: Flags,
        place: Option<&'a Place>,
        builder: &'a mut Builder<'b>,
    ) -> Self {
        let cursor = Cursor { text, pos: 0, place };
        Self { cursor, builder, flags, groups: Groups::default(), at_start: true }
    }

    fn whole(&mut self) -> Result<Hir, PatternError> {
        let outer = self.builder.is_only_way;
        self.builder.is_only_way &= self.is_alone();
        let hir = self.alternatives(0);
        self.builder.is_only_way = outer;
        let hir = hir?;
        if self.cursor.pos < self.cursor.text.len() {
            return Err(self
                .cursor
                .error(
                    Syntax,
                    self.cursor.pos..self.cursor.pos + 1,
                    "this parenthesis closes nothing",
                )
                .help("write `\\)` for the character"));
        }
        Ok(hir)
    }

    /// Reads alternatives up to a closing parenthesis (left unread) or the end.
    fn alternatives(&mut self, depth: usize) -> Result<Hir, PatternError> {
        let mut parts = vec![self.sequence(depth)?];
        while self.cursor.eat("|") {
            self.at_start = false;
            parts.push(self.sequence(depth)?);
        }
        Ok(self.builder.alternation(parts))
    }

    /// Returns whether the alternative that begins here is the only one of its group, and the group
    /// is not repeated.
    fn is_alone(&self) -> bool {
        let text = self.cursor.text.as_bytes();
        match end_of_alternative(text, self.cursor.pos) {
            _ if self.flags.verbose => false,
            None => true,
            Some(end) => {
                text[end] == b')' && !matches!(text.get(end + 1), Some(b'*' | b'+' | b'?' | b'{'))
            }
        }
    }

    pub(super) fn sequence(&mut self, depth: usize) -> Result<Hir, PatternError> {
        let mut items: Vec<Item> = Vec::new();
        while let Some(c) = self.cursor.peek() {
            if c == '|' || c == ')' {
                break;
            }
            let start = self.cursor.pos;
            self.cursor.bump();
            if self.flags.verbose && matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{B}' | '\u{C}') {
                continue;
            }
            if self.flags.verbose && c == '#' {
                self.cursor.take_while(usize::MAX, |c| c != '\n');
                continue;
            }
            let hir = match c {
                '*' => {
                    self.quantify(&mut items, start, 0, None)?;
                    continue;
                }
                '+' => {
                    self.quantify(&mut items, start, 1, None)?;
                    continue;
                }
                '?' => {
                    self.quantify(&mut items, start, 0, Some(1))?;
                    continue;
                }
                '{' => match self.counts(start)? {
                    Some((min, max)) => {
                        self.quantify(&mut items, start, min, max)?;
                        continue;
                    }
                    None => self.literal('{')?,
                },
                '(' => match self.group(start)? {
                    Group::Nothing => continue,
                    Group::Inside(flags) => self.inside(start, flags, depth)?,
                    Group::Numbered(number) => {
                        let group = self.inside(start, self.flags, depth)?;
                        let asked = self.behind_condition(number, (start, &group), depth)?;
                        if let Some(item) = asked {
                            items.push(item);
                            break;
                        }
                        if let Some(item) = self.behind_group(number, (start, &group), depth)? {
                            items.push(item);
                            break;
                        }
                        group
                    }
                    Group::Reference(name) => {
                        let text = self.cursor.text;
                        self.reference(start, &text[name])?
                    }
                    Group::Conditional(name) => self.conditional(start, name, depth)?,
                    Group::Look { ahead, negated } => self.look(start, (ahead, negated), depth)?,
                },
                '[' => self.set(start)?,
                '.' if self.flags.dot_all => self.any_but(&[])?,
                '.' => self.any_but(&['\n'])?,
                '$' => self.dollar()?,
                '^' => self.caret()?,
                '\\' => self.escape(start)?,
                c => self.literal(c)?,
            };
            self.at_start = false;
            items.push(Item { hir, repeated: false });
        }
        Ok(self.builder.concat(items.into_iter().map(|item| item.hir).collect()))
    }

    /// Reads an escape; its backslash at `start` has been read.
    fn escape(&mut self, start: usize) -> Result<Hir, PatternError> {
        match self.cursor.escape()? {
            Escape::Char(c) => self.escaped(c),
            Escape::Category(category, negated) => {
                let class = self.category(category, negated)?;
                self.builder.class(class)
            }
            Escape::Boundary(negated) => self.boundary(negated),
            Escape::Reference => {
                let text = self.cursor.text;
                self.reference(start, &text[start + 1..self.cursor.pos])
            }
            Escape::Begin => self.builder.after_text(&Hir::empty()),
            Escape::End => self.builder.end_of_text(),
            Escape::Property(class) => {
                let class = self.with_property(class)?;
                self.builder.class(class)
            }
        }
    }

    /// Returns a character that was written with an escape: in a regex of bytes, a byte.
    fn escaped(&mut self, c: char) -> Result<Hir, PatternError> {
        match u8::try_from(c) {
            Ok(byte) if self.builder.bytes && !c.is_ascii() => Ok(Hir::literal([byte])),
            _ => self.literal(c),
        }
    }

    pub(super) fn literal(&mut self, c: char) -> Result<Hir, PatternError> {
        if self.flags.ignore_case && (c.is_ascii() || !self.builder.bytes) {
            return self.builder.folded_char(c, self.flags.ascii);
        }
        Ok(Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()))
    }

    pub(super) fn any_but(&mut self, excluded: &[char]) -> Result<Hir, PatternError> {
        let mut class = ClassUnicode::new(excluded.iter().map(|&c| ClassUnicodeRange::new(c, c)));
        class.negate();
        self.builder.class(class)
    }

    pub(super) fn category(
        &mut self,
        category: Category,
        negated: bool,
    ) -> Result<ClassUnicode, PatternError> {
        let mut class = self.builder.folding.tables.category(category, self.flags.ascii);
        self.builder.spend(class.ranges().len())?;
        if negated {
            class.negate();
        }
        Ok(class)
    }

    /// Returns the characters of a property; under the flag `i`, also those that fold to one of
    /// them.
    pub(super) fn with_property(
        &mut self,
        class: ClassUnicode,
    ) -> Result<ClassUnicode, PatternError> {
        self.builder.spend(class.ranges().len())?;
        if self.flags.ignore_case && !self.builder.bytes {
            return self.builder.folded(class, false);
        }
        Ok(class)
    }

    /// Reads the rest of `{m}`, `{m,}`, `{,n}`, `{m,n}`. Reads nothing and returns `None` for
    /// anything else, because then the brace is text.
    fn counts(&mut self, start: usize) -> Result<Option<(u32, Option<u32>)>, PatternError> {
        let after_brace = self.cursor.pos;
        self.cursor.take_while(usize::MAX, |c| c.is_ascii_digit());
        let low = after_brace..self.cursor.pos;
        let mut high = low.clone();
        if self.cursor.eat(",") {
            let from = self.cursor.pos;
            self.cursor.take_while(usize::MAX, |c| c.is_ascii_digit());
            high = from..self.cursor.pos;
        } else if low.is_empty() {
            return Ok(None);
        }
        if !self.cursor.eat("}") {
            self.cursor.pos = after_brace;
            return Ok(None);
        }
        let number = |range: Range<usize>| match &self.cursor.text[range] {
            "" => Ok(None),
            digits => match digits.parse::<u32>() {
                Ok(u32::MAX) | Err(_) => Err(self
                    .cursor
                    .too_large(start, "this count is too large")
                    .help("write `*` or `+` for an unbounded repetition")),
                Ok(number) => Ok(Some(number)),
            },
        };
        let (min, max) = (number(low)?.unwrap_or(0), number(high)?);
        if max.is_some_and(|max| max < min) {
            return Err(self
                .cursor
                .syntax(start, "the minimum count is greater than the maximum")
                .help("write the smaller count first"));
        }
        Ok(Some((min, max)))
    }

    /// Repeats the last item. The quantifier is the text from `start` to here; its suffix has not
    /// been read.
    fn quantify(
        &mut self,
        items: &mut [Item],
        start: usize,
        min: u32,
        max: Option<u32>,
    ) -> Result<(), PatternError> {
        let end = self.cursor.pos;
        let Some(item) = items.last_mut() else {
            return Err(self.cursor.error(Syntax, start..end, "there is nothing to repeat").help(
                format!("write `\\{}` for the character", &self.cursor.text[start..start + 1]),
            ));
        };
        if item.repeated {
            return Err(self
                .cursor
                .error(Syntax, start..end, "a repetition is repeated")
                .help("put the inner repetition in parentheses: `(?:...)`"));
        }
        if self.cursor.eat("+") {
            return Err(self
                .cursor
                .unsupported(start, "a possessive quantifier is not supported")
                .help(
                    "remove its `+` and exclude from the repeated part the text that follows it",
                ));
        }
        let greedy = !self.cursor.eat("?");
        item.hir =
            self.builder.repeat(std::mem::replace(&mut item.hir, Hir::empty()), min, max, greedy);
        item.repeated = true;
        Ok(())
    }

    /// Reads the inside of a group and its closing parenthesis.
    pub(super) fn inside(
        &mut self,
        start: usize,
        flags: Flags,
        depth: usize,
    ) -> Result<Hir, PatternError> {
        if depth + 1 > MAX_DEPTH {
            return Err(self
                .cursor
                .too_large(start, format!("groups are nested more than {MAX_DEPTH} levels deep"))
                .help("define the inner parts as separate terminals, or reduce the nesting"));
        }
        self.at_start = false;
        let outer = std::mem::replace(&mut self.flags, flags);
        let was_only_way = self.builder.is_only_way;
        self.builder.is_only_way &= self.is_alone();
        let hir = self.alternatives(depth + 1);
        self.builder.is_only_way = was_only_way;
        let hir = hir?;
        self.flags = outer;
        if !self.cursor.eat(")") {
            return Err(self
                .cursor
                .error(Syntax, start..start + 1, "this parenthesis is not closed")
                .help("write `\\(` for the character"));
        }
        Ok(hir)
    }
}

//! Regexes in XGrammar's syntax: a whole text, `\d \w \s` as in ECMAScript, lazy repetitions as
//! plain ones, `^` and `$` at the ends. Parsed by `regex-syntax`.

use regex_syntax::ast::{self, Ast, ClassSet, ClassSetItem};
use regex_syntax::hir::{Class, HirKind};

use crate::grammar::characters::charset::CharSet;
use crate::grammar::characters::expr::{ExprId, Exprs};

/// Maximum nesting depth of groups.
const DEEPEST: u32 = 48;

/// Flags that apply to a whole regex.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags {
    /// Whether ASCII letters match either case.
    pub(super) ignore_case: bool,
    /// Whether `.` matches any character, including line feeds.
    pub(super) dot_all: bool,
}

/// Returns the texts that the regex matches as a whole, or a message on the unsupported part.
pub(super) fn read(exprs: &mut Exprs, pattern: &str, mut flags: Flags) -> Result<ExprId, String> {
    let pattern = match pattern.strip_prefix("(?i)") {
        Some(rest) => {
            flags.ignore_case = true;
            rest
        }
        None => pattern,
    };
    let pattern = &with_plain_sets(pattern);
    let parsed = ast::parse::ParserBuilder::new().nest_limit(DEEPEST).build().parse(pattern);
    let parsed = parsed.map_err(|error| format!("the regex is invalid: {}", error.kind()))?;
    let mut reader = Reader { exprs, pattern, flags };
    reader.expr(&parsed, Ends { first: true, last: true })
}

/// Returns the regex with ECMAScript's sets and escapes in the syntax of `regex-syntax`, which has
/// sets in sets and operations on them, and neither `\0` nor control letters.
fn with_plain_sets(pattern: &str) -> String {
    let mut written = String::with_capacity(pattern.len());
    let mut rest = pattern.chars().peekable();
    // Within a set: whether a range may begin at the member before, and whether one has begun.
    let mut set: Option<(bool, bool)> = None;
    while let Some(c) = rest.next() {
        match (c, set) {
            ('\\', _) => match rest.next() {
                Some('0') if !rest.peek().is_some_and(char::is_ascii_digit) => {
                    written.push_str("\\x00");
                }
                Some('e') => written.push_str("\\x1B"),
                Some('c') if rest.peek().is_some_and(char::is_ascii_alphabetic) => {
                    let letter = rest.next().map_or(0, u32::from);
                    written.push_str(&format!("\\x{:02X}", letter % 32));
                }
                next => {
                    written.push(c);
                    written.extend(next);
                    if next.is_some_and(|letter| "dDwWsSpP".contains(letter)) {
                        // No range begins at a class.
                        set = set.map(|_| (false, false));
                        continue;
                    }
                }
            },
            ('[', None) => {
                written.push(c);
                written.extend(rest.next_if_eq(&'^'));
                set = Some((false, false));
                continue;
            }
            (']', Some(_)) => {
                written.push(c);
                set = None;
                continue;
            }
            ('-', Some((true, _))) if rest.peek() != Some(&']') => {
                written.push(c);
                set = Some((false, true));
                continue;
            }
            ('[' | '-' | '&' | '~', Some(_)) => written.extend(['\\', c]),
            _ => written.push(c),
        }
        // A member ends a range, or may begin one.
        set = set.map(|(_, began)| (!began, false));
    }
    written
}

/// Whether the text begins, or ends, with a part.
#[derive(Clone, Copy)]
struct Ends {
    first: bool,
    last: bool,
}

struct Reader<'a> {
    exprs: &'a mut Exprs,
    pattern: &'a str,
    flags: Flags,
}

impl Reader<'_> {
    /// Recurses as deep as groups nest.
    fn expr(&mut self, ast: &Ast, ends: Ends) -> Result<ExprId, String> {
        Ok(match ast {
            Ast::Empty(_) => self.exprs.empty(),
            Ast::Flags(_) => {
                return Err("flags are allowed only at the beginning, as `(?i)`".to_owned());
            }
            Ast::Literal(literal) => {
                let set = self.cased(CharSet::of(literal.c));
                self.exprs.class(set)
            }
            Ast::Dot(_) => {
                let set = match self.flags.dot_all {
                    true => CharSet::default(),
                    false => CharSet::of('\n'),
                };
                self.exprs.class(set.complement())
            }
            Ast::Assertion(assertion) => match assertion.kind {
                ast::AssertionKind::StartLine if ends.first => self.exprs.empty(),
                ast::AssertionKind::EndLine if ends.last => self.exprs.empty(),
                _ => return Err(format!("`{}` is not allowed here", self.shown(&assertion.span))),
            },
            Ast::ClassUnicode(class) => {
                let set = self.unicode(class)?;
                self.exprs.class(set)
            }
            Ast::ClassPerl(class) => self.exprs.class(perl(class)),
            Ast::ClassBracketed(class) => {
                let set = self.bracketed(class)?;
                self.exprs.class(set)
            }
            Ast::Repetition(repetition) => {
                let (min, max) = match &repetition.op.kind {
                    ast::RepetitionKind::ZeroOrOne => (0, Some(1)),
                    ast::RepetitionKind::ZeroOrMore => (0, None),
                    ast::RepetitionKind::OneOrMore => (1, None),
                    ast::RepetitionKind::Range(range) => match *range {
                        ast::RepetitionRange::Exactly(count) => (count, Some(count)),
                        ast::RepetitionRange::AtLeast(min) => (min, None),
                        ast::RepetitionRange::Bounded(min, max) => (min, Some(max)),
                    },
                };
                let inner = self.expr(&repetition.ast, Ends { first: false, last: false })?;
                self.exprs.repeat(inner, min, max)
            }
            Ast::Group(group) => match &group.kind {
                ast::GroupKind::NonCapturing(flags) if !flags.items.is_empty() => {
                    return Err("flags are allowed only at the beginning, as `(?i)`".to_owned());
                }
                _ => self.expr(&group.ast, ends)?,
            },
            Ast::Alternation(alternation) => {
                let ways = alternation.asts.iter().map(|way| self.expr(way, ends));
                let ways = ways.collect::<Result<_, _>>()?;
                self.exprs.choice(ways)
            }
            Ast::Concat(concat) => {
                let last = concat.asts.len() - 1;
                let mut parts = Vec::with_capacity(concat.asts.len());
                for (place, part) in concat.asts.iter().enumerate() {
                    let ends =
                        Ends { first: ends.first && place == 0, last: ends.last && place == last };
                    parts.push(self.expr(part, ends)?);
                }
                self.exprs.concat(parts)
            }
        })
    }

    fn bracketed(&self, class: &ast::ClassBracketed) -> Result<CharSet, String> {
        // Unreachable: the signs of operations on sets are escaped, as members.
        let ClassSet::Item(item) = &class.kind else {
            return Err(format!("the set `{}` has an operation", self.shown(&class.span)));
        };
        let mut ranges = Vec::new();
        self.item(item, &mut ranges)?;
        let set = self.cased(CharSet::new(&ranges));
        Ok(if class.negated { set.complement() } else { set })
    }

    fn item(&self, item: &ClassSetItem, ranges: &mut Vec<(u32, u32)>) -> Result<(), String> {
        match item {
            ClassSetItem::Empty(_) => {}
            ClassSetItem::Literal(literal) => ranges.push((literal.c.into(), literal.c.into())),
            ClassSetItem::Range(range) => ranges.push((range.start.c.into(), range.end.c.into())),
            ClassSetItem::Unicode(class) => ranges.extend_from_slice(self.unicode(class)?.ranges()),
            ClassSetItem::Perl(class) => ranges.extend_from_slice(perl(class).ranges()),
            ClassSetItem::Union(union) => {
                for item in &union.items {
                    self.item(item, ranges)?;
                }
            }
            ClassSetItem::Ascii(_) | ClassSetItem::Bracketed(_) => {
                let shown = self.shown(item.span());
                return Err(format!(
                    "a character class contains `{shown}`: write a bracket as `\\[`"
                ));
            }
        }
        Ok(())
    }

    /// `\p{...}`.
    fn unicode(&self, class: &ast::ClassUnicode) -> Result<CharSet, String> {
        let shown = self.shown(&class.span);
        let parsed = regex_syntax::parse(shown).map_err(|_| {
            format!(
                "`{shown}` is not a character \
                                                                     class"
            )
        })?;
        match parsed.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                let ranges = class.iter().map(|range| (range.start().into(), range.end().into()));
                Ok(CharSet::new(&ranges.collect::<Vec<_>>()))
            }
            _ => Err(format!("`{shown}` is not a character class")),
        }
    }

    /// Returns the set with the other case of each ASCII letter, if case is ignored.
    fn cased(&self, set: CharSet) -> CharSet {
        if !self.flags.ignore_case {
            return set;
        }
        let mut ranges = set.ranges().to_vec();
        for (from, to) in [((0x41, 0x5a), 0x20i64), ((0x61, 0x7a), -0x20)] {
            for (first, last) in set.intersection(&CharSet::new(&[from])).ranges() {
                let moved = |point: u32| u32::try_from(i64::from(point) + to).unwrap_or(point);
                ranges.push((moved(*first), moved(*last)));
            }
        }
        CharSet::new(&ranges)
    }

    fn shown(&self, span: &ast::Span) -> &str {
        self.pattern.get(span.start.offset..span.end.offset).unwrap_or_default()
    }
}

/// ECMAScript's white space and line terminators (ECMA-262, 22.2.2.9).
const SPACE: [(u32, u32); 10] = [
    (0x09, 0x0d),
    (0x20, 0x20),
    (0xa0, 0xa0),
    (0x1680, 0x1680),
    (0x2000, 0x200a),
    (0x2028, 0x2029),
    (0x202f, 0x202f),
    (0x205f, 0x205f),
    (0x3000, 0x3000),
    (0xfeff, 0xfeff),
];

/// `\d`, `\s`, `\w` and their complements.
fn perl(class: &ast::ClassPerl) -> CharSet {
    let set = CharSet::new(match class.kind {
        ast::ClassPerlKind::Digit => &[(0x30, 0x39)],
        ast::ClassPerlKind::Space => &SPACE,
        ast::ClassPerlKind::Word => &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)],
    });
    if class.negated { set.complement() } else { set }
}

//! Parser of ECMA-262 regular expressions.

use std::ops::Range;

use regex_syntax::hir::ClassUnicode;

use crate::grammar::regex::properties::property;
use crate::grammar::regex::sets::{
    category, complement, everything, fold_ascii, posix_class, set, single, word,
};
use crate::grammar::regex::{Refusal, Regex};

/// Approximation of a pattern that is not regular or too large: back-references match nothing, and
/// counts larger than those of any automaton are lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Less {
    /// Nothing more.
    Far,
    /// Parts exclude the separators next to them.
    Apart,
    /// All but small counts are lowered, except in look-aheads, which mostly bound the whole text.
    Small,
}

impl Less {
    /// Returns the number above which counts are lowered, and the number they are lowered to.
    fn counts(self, is_in_look: bool) -> (u32, u32) {
        match self {
            Self::Small if !is_in_look => (MOST_SMALL, MOST_SMALL),
            _ => (MOST_REPEATED, 4_000),
        }
    }
}

/// Parses `text`, or an approximation of it if `less` is given. Also returns whether the tree was
/// approximated by a smaller language.
pub(crate) fn parse(text: &str, less: Option<Less>) -> Result<(Regex, bool), Refusal> {
    let mut parser = Parser::new(text, less);
    Ok((parser.whole()?, parser.is_narrow))
}

/// Parses `text`, with a `.` that matches any character only if `dot_all`, and otherwise all but
/// the line feed. If `ignore_case`, ASCII letters match either case.
pub(crate) fn parse_ascii(text: &str, ignore_case: bool, dot_all: bool) -> Result<Regex, Refusal> {
    // Rules count any repetition, automata only short ones.
    let most_repeated = u32::MAX;
    let parser = Parser::new(text, None);
    Parser { ignore_case, dot_all, is_ascii: true, most_repeated, ..parser }.whole()
}

/// Repetition counts in braces.
#[derive(Debug)]
pub(crate) struct Braces {
    /// Position of the braces in the text.
    pub(crate) place: Range<usize>,
    pub(crate) min: u32,
    pub(crate) max: u32,
    /// Minimum number of characters of the repeated part.
    pub(crate) width: u64,
}

/// Returns all braces of a text that are outside of look-arounds and have an upper bound, in order;
/// none if the text is not a pattern.
pub(crate) fn braces(text: &str) -> Vec<Braces> {
    let mut parser = Parser::new(text, None);
    if parser.whole().is_err() {
        return Vec::new();
    }
    parser.braces.sort_unstable_by_key(|braces| braces.place.start);
    parser.braces
}

struct Parser<'a> {
    /// Length of the whole text.
    length: usize,
    rest: &'a str,
    depth: usize,
    ignore_case: bool,
    /// Whether `.` matches any character.
    dot_all: bool,
    /// Whether only ASCII letters have two cases, and only the line feed ends a line.
    is_ascii: bool,
    /// Both flags outside of each open group.
    outer: Vec<(bool, bool)>,
    /// Whether the group that is being opened has its own flags.
    has_flags: bool,
    /// Number of open look-arounds.
    looks: usize,
    /// Number of open negative look-arounds.
    negations: usize,
    /// Allowed approximation, and whether any was used.
    less: Option<Less>,
    is_narrow: bool,
    /// Maximum repetition count.
    most_repeated: u32,
    /// Braces read so far.
    braces: Vec<Braces>,
    /// First construct that belongs to other dialects and not to ECMA-262.
    foreign: Option<Foreign>,
}

/// A construct of other dialects of regular expressions.
pub(crate) struct Foreign {
    pub(crate) text: String,
    /// Whether it is read as ECMA-262 reads it, as plain characters, and not as other dialects do.
    pub(crate) is_literal: bool,
}

/// Maximum nesting depth of groups.
const DEPTH: usize = 60;
/// Repetition counts above which others are lowered.
const MOST_SMALL: u32 = 8;
/// Maximum repetition count in an automaton.
const MOST_REPEATED: u32 = 20_000;

impl<'a> Parser<'a> {
    fn new(text: &'a str, less: Option<Less>) -> Self {
        Self {
            length: text.len(),
            rest: text,
            depth: 0,
            ignore_case: false,
            dot_all: false,
            is_ascii: false,
            outer: Vec::new(),
            has_flags: false,
            looks: 0,
            negations: 0,
            less,
            is_narrow: false,
            most_repeated: MOST_REPEATED,
            braces: Vec::new(),
            foreign: None,
        }
    }
}

/// Returns the first construct in a pattern that belongs to other dialects and not to ECMA-262.
pub(crate) fn foreign(text: &str) -> Option<Foreign> {
    let mut parser = Parser::new(text, None);
    // If the pattern is invalid, only the part before the error is checked.
    let _ = parser.alternatives();
    parser.foreign
}

impl Parser<'_> {
    /// Records that the construct just read belongs to another dialect, whose meaning it has.
    fn note_foreign(&mut self, text: impl Into<String>) {
        self.foreign.get_or_insert_with(|| Foreign { text: text.into(), is_literal: false });
    }

    /// Records that other dialects give a meaning to these characters.
    fn note_literal(&mut self, text: impl Into<String>) {
        self.foreign.get_or_insert_with(|| Foreign { text: text.into(), is_literal: true });
    }

    /// Returns the position in the text at which the rest begins.
    fn place(&self) -> usize {
        self.length - self.rest.len()
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn whole(&mut self) -> Result<Regex, Refusal> {
        let regex = self.alternatives()?;
        match self.rest {
            "" => Ok(regex),
            _ => Err(Refusal("a closing parenthesis closes nothing".to_owned())),
        }
    }

    fn alternatives(&mut self) -> Result<Regex, Refusal> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Refusal(format!("groups nest more than {DEPTH} levels deep")));
        }
        let mut parts = vec![self.sequence()?];
        while self.eat("|") {
            parts.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Regex::Alternation(parts) })
    }

    fn sequence(&mut self) -> Result<Regex, Refusal> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek().filter(|c| !"|)".contains(*c)) {
            self.bump();
            let atom = match c {
                '^' => Regex::Start,
                '$' => Regex::End,
                '.' if self.dot_all => Regex::Set(everything()),
                '.' if self.is_ascii => Regex::Set(complement(set(&[('\n', '\n')]))),
                '.' => Regex::Set(complement(set(&[
                    ('\n', '\n'),
                    ('\r', '\r'),
                    ('\u{2028}', '\u{2029}'),
                ]))),
                '(' => match self.group()? {
                    Some(group) => group,
                    None => continue,
                },
                '[' => Regex::Set(self.class()?),
                '\\' => self.escape()?,
                '*' | '+' | '?' => return Err(Refusal(format!("`{c}` repeats nothing"))),
                c => self.character(c),
            };
            parts.push(self.quantified(atom)?);
        }
        Ok(Regex::Concat(parts))
    }

    /// Returns the set with the other case of each letter, if case is ignored.
    fn cased(&self, mut set: ClassUnicode) -> ClassUnicode {
        match (self.ignore_case, self.is_ascii) {
            (false, _) => {}
            (true, true) => set = fold_ascii(set),
            (true, false) => set.case_fold_simple(),
        }
        set
    }

    fn character(&self, c: char) -> Regex {
        Regex::Set(self.cased(set(&[(c, c)])))
    }

    fn group(&mut self) -> Result<Option<Regex>, Refusal> {
        let looks =
            [("?=", true, false), ("?!", true, true), ("?<=", false, false), ("?<!", false, true)];
        for (open, ahead, negated) in looks {
            if self.eat(open) {
                self.looks += 1;
                self.negations += usize::from(negated);
                let inner = self.inside()?;
                self.negations -= usize::from(negated);
                self.looks -= 1;
                return Ok(Some(Regex::Look { ahead, negated, inner: Box::new(inner) }));
            }
        }
        if self.eat("?#") {
            self.note_foreign("(?#...)");
            let end =
                self.rest.find(')').ok_or_else(|| Refusal("a comment is not closed".to_owned()))?;
            self.rest = &self.rest[end + 1..];
            return Ok(None);
        }
        if let Some(is_group) = self.flags() {
            return if is_group { self.inside().map(Some) } else { Ok(None) };
        }
        let is_of_python = self.rest.starts_with("?P<");
        if self.eat("?<") || self.eat("?P<") {
            if is_of_python {
                self.note_foreign("(?P<...>...)");
            }
            let end = self
                .rest
                .find('>')
                .ok_or_else(|| Refusal("the name of a group is not closed".to_owned()))?;
            self.rest = &self.rest[end + 1..];
        } else if !self.eat("?:") && self.peek() == Some('?') {
            return Err(Refusal("ECMA-262 has no such kind of group".to_owned()));
        }
        self.inside().map(Some)
    }

    /// Reads flags of a group or of the rest of one, as in other dialects: `(?i:` and `(?i)`.
    /// Returns whether they are of a group.
    fn flags(&mut self) -> Option<bool> {
        let (flags, rest) = self.rest.strip_prefix('?')?.split_once([':', ')'])?;
        let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
        let is_held = |flags: &str| flags.chars().all(|flag| "isu".contains(flag));
        if flags.is_empty() || !is_held(on) || !is_held(off) {
            return None;
        }
        let is_group = self.rest.as_bytes().get(flags.len() + 1) == Some(&b':');
        self.note_foreign(format!("(?{flags}{}", if is_group { ":...)" } else { ")" }));
        if is_group {
            self.outer.push((self.ignore_case, self.dot_all));
            self.has_flags = true;
        }
        for (flags, is_on) in [(on, true), (off, false)] {
            self.ignore_case = if flags.contains('i') { is_on } else { self.ignore_case };
            self.dot_all = if flags.contains('s') { is_on } else { self.dot_all };
        }
        self.rest = rest;
        Some(is_group)
    }

    fn inside(&mut self) -> Result<Regex, Refusal> {
        // A group's own flags were set before its inside is read.
        if !std::mem::take(&mut self.has_flags) {
            self.outer.push((self.ignore_case, self.dot_all));
        }
        let inner = self.alternatives()?;
        if !self.eat(")") {
            return Err(Refusal("a group is not closed".to_owned()));
        }
        (self.ignore_case, self.dot_all) = self.outer.pop().unwrap_or_default();
        Ok(inner)
    }

    fn quantified(&mut self, atom: Regex) -> Result<Regex, Refusal> {
        let from = self.place();
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.counts()? {
                Some((min, max)) => {
                    if let Some(max) = max.filter(|_| self.looks == 0) {
                        let (place, width) = (from..self.place(), atom.least_width());
                        self.braces.push(Braces { place, min, max, width });
                    }
                    self.eat("?");
                    return self.repeat(atom, min, max);
                }
                None => return Ok(atom),
            },
            _ => return Ok(atom),
        };
        self.bump();
        // Lazy and greedy quantifiers match the same texts.
        self.eat("?");
        self.repeat(atom, min, max)
    }

    fn repeat(&mut self, atom: Regex, min: u32, max: Option<u32>) -> Result<Regex, Refusal> {
        let less = self.less.filter(|_| self.negations == 0);
        let less = less.map(|less| less.counts(self.looks > 0));
        let max = match (max, less) {
            (Some(max), Some((above, most))) if max > above && min <= most => {
                self.is_narrow = true;
                Some(most)
            }
            (max, _) => max,
        };
        match atom {
            Regex::Start | Regex::End | Regex::Boundary { .. } | Regex::Look { .. } => {
                // Repetition makes no difference.
                Ok(if min == 0 { Regex::Concat(Vec::new()) } else { atom })
            }
            _ if max.is_some_and(|max| max < min) => {
                Err(Refusal("the minimum count is greater than the maximum".to_owned()))
            }
            _ if min.max(max.unwrap_or(0)) > self.most_repeated => {
                let most = self.most_repeated;
                Err(Refusal(format!("an expression is repeated more than {most} times")))
            }
            _ => Ok(Regex::Repeat(Box::new(atom), min, max)),
        }
    }

    /// Reads `{3}`, `{3,}` or `{3,5}`; any other brace is a character.
    fn counts(&mut self) -> Result<Option<(u32, Option<u32>)>, Refusal> {
        let Some(end) = self.rest.find('}') else { return Ok(None) };
        let inside = &self.rest[1..end];
        let (min, max) =
            inside.split_once(',').map_or((inside, None), |(min, max)| (min, Some(max)));
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(min) || max.is_some_and(|max| !max.is_empty() && !is_number(max)) {
            if min.is_empty() && max.is_some_and(is_number) {
                self.note_literal(&self.rest[..=end]);
            }
            return Ok(None);
        }
        let number = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
        let counts = match max {
            None => (number(min), Some(number(min))),
            Some("") => (number(min), None),
            Some(max) => (number(min), Some(number(max))),
        };
        self.rest = &self.rest[end + 1..];
        Ok(Some(counts))
    }

    fn escape(&mut self) -> Result<Regex, Refusal> {
        if self.half_a_pair().is_some() {
            return Ok(Regex::Set(set(&[])));
        }
        match self.peek() {
            // Other dialects have letters for the ends of a text.
            Some('A') => {
                self.note_foreign(r"\A");
                self.bump();
                Ok(Regex::Start)
            }
            Some(end @ ('z' | 'Z')) => {
                self.note_foreign(format!(r"\{end}"));
                self.bump();
                Ok(Regex::End)
            }
            Some(letter @ ('b' | 'B')) => {
                self.bump();
                Ok(Regex::Boundary { word: word(), negated: letter == 'B' })
            }
            Some('1'..='9' | 'k') if self.less.is_some() && self.negations == 0 => {
                let name = self.rest.strip_prefix("k<").and_then(|rest| rest.split_once('>'));
                let is_digit = |c: char| c.is_ascii_digit();
                self.rest = name.map_or(self.rest.trim_start_matches(is_digit), |(_, rest)| rest);
                self.is_narrow = true;
                Ok(Regex::Set(set(&[])))
            }
            Some('1'..='9' | 'k') => Err(Refusal("a back-reference is not regular".to_owned())),
            _ => {
                let set = self.escaped_set()?;
                Ok(Regex::Set(self.cased(set)))
            }
        }
    }

    /// Returns the characters that an escape means, inside or outside of a class.
    fn escaped_set(&mut self) -> Result<ClassUnicode, Refusal> {
        let c = self.bump().ok_or_else(|| Refusal("the pattern ends in `\\`".to_owned()))?;
        if let Some(category) = category(c) {
            return Ok(category);
        }
        let character = match c {
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            'a' => '\u{7}',
            'e' => '\u{1b}',
            '0' => '\0',
            'c' => match self.bump() {
                Some(letter) if letter.is_ascii_alphabetic() => char::from(letter as u8 % 32),
                _ => return Err(Refusal("`\\c` must be followed by a letter".to_owned())),
            },
            'x' => self.code(2)?,
            'u' if self.eat("{") => {
                let end = self.rest.find('}').unwrap_or(self.rest.len());
                let code = u32::from_str_radix(&self.rest[..end], 16).ok().and_then(char::from_u32);
                self.rest = self.rest.get(end + 1..).unwrap_or("");
                code.ok_or_else(|| {
                    Refusal("`\\u{...}` is not the number of a character".to_owned())
                })?
            }
            'u' => self.code(4)?,
            'p' | 'P' => return self.property(c == 'P'),
            c if c.is_ascii_alphanumeric() => {
                return Err(Refusal(format!("`\\{c}` is not an escape of ECMA-262")));
            }
            c => c,
        };
        Ok(set(&[(character, character)]))
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        let text = self
            .rest
            .get(..digits)
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        self.rest = &self.rest[digits..];
        u32::from_str_radix(text, 16).ok()
    }

    /// Reads an unpaired surrogate after the backslash. It is not a character, so nothing matches
    /// it.
    fn half_a_pair(&mut self) -> Option<u32> {
        let code = |text: &str| {
            let digits =
                text.get(..4).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
            u32::from_str_radix(digits, 16).ok()
        };
        let half =
            code(self.rest.strip_prefix('u')?).filter(|half| (0xd800..0xe000).contains(half))?;
        let other = self.rest[5..].strip_prefix("\\u").and_then(code);
        if half < 0xdc00 && other.is_some_and(|other| (0xdc00..0xe000).contains(&other)) {
            return None;
        }
        self.rest = &self.rest[5..];
        Some(half)
    }

    fn code(&mut self, digits: usize) -> Result<char, Refusal> {
        let refusal = || Refusal(format!("expected {digits} hexadecimal digits"));
        let first = self.hexadecimal(digits).ok_or_else(refusal)?;
        let code = match first {
            0xd800..0xdc00 if self.eat("\\u") => {
                let second = self.hexadecimal(4).filter(|code| (0xdc00..0xe000).contains(code));
                0x10000 + ((first - 0xd800) << 10) + (second.ok_or_else(refusal)? - 0xdc00)
            }
            code => code,
        };
        char::from_u32(code)
            .ok_or_else(|| Refusal("half of a surrogate pair is not a character".to_owned()))
    }

    fn property(&mut self, negated: bool) -> Result<ClassUnicode, Refusal> {
        let (class, rest, is_foreign) = property(self.rest)?;
        if is_foreign {
            self.note_foreign(format!("\\p{}", &self.rest[..self.rest.len() - rest.len()]));
        }
        self.rest = rest;
        Ok(if negated { complement(class) } else { class })
    }

    fn class(&mut self) -> Result<ClassUnicode, Refusal> {
        let negated = self.eat("^");
        let mut all = set(&[]);
        let open = || Refusal("a character class is not closed".to_owned());
        while !self.eat("]") {
            if let Some(name) = posix_class(self.rest) {
                self.note_literal(name);
            }
            let first = self.member().ok_or_else(open)??;
            let range = self
                .rest
                .strip_prefix('-')
                .filter(|rest| !rest.starts_with(']') && !rest.is_empty());
            let Some(rest) = range else {
                all.union(&first.set());
                continue;
            };
            self.rest = rest;
            let last = self.member().ok_or_else(open)??;
            match (first, last) {
                (Member::Character(first), Member::Character(last)) if first <= last => {
                    all.union(&range_of(first, last));
                }
                (Member::Character(_), Member::Character(_)) => {
                    return Err(Refusal("the ends of a range are reversed".to_owned()));
                }
                // A hyphen next to `\d` is a hyphen.
                (first, last) => {
                    [first.set(), last.set(), set(&[('-', '-')])]
                        .iter()
                        .for_each(|part| all.union(part));
                }
            }
        }
        let all = self.cased(all);
        Ok(if negated { complement(all) } else { all })
    }

    fn member(&mut self) -> Option<Result<Member, Refusal>> {
        let c = self.bump()?;
        let member = |set: ClassUnicode| match single(&set) {
            Some(only) => Member::Character(u32::from(only)),
            None => Member::Set(set),
        };
        Some(match c {
            '\\' if self.eat("b") => Ok(Member::Character(8)),
            '\\' => match self.half_a_pair() {
                Some(half) => Ok(Member::Character(half)),
                None => self.escaped_set().map(member),
            },
            c => Ok(Member::Character(u32::from(c))),
        })
    }
}

/// Member of a class: a character or unpaired surrogate, or the set that an escape means.
enum Member {
    Character(u32),
    Set(ClassUnicode),
}

impl Member {
    fn set(self) -> ClassUnicode {
        match self {
            Self::Character(only) => range_of(only, only),
            Self::Set(set) => set,
        }
    }
}

/// Returns the characters of a range, whose ends may be unpaired surrogates.
fn range_of(first: u32, last: u32) -> ClassUnicode {
    let first = char::from_u32(first).unwrap_or('\u{e000}');
    let last = char::from_u32(last).unwrap_or('\u{d7ff}');
    if first <= last { set(&[(first, last)]) } else { set(&[]) }
}

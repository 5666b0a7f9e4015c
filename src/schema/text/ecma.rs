//! Regular expressions of ECMA-262, as `pattern` has them: a parser, and what they mean in the
//! patterns of the lexer.
//!
//! A schema's pattern is searched for, not matched: `a` is found in `cat`. Where it is anchored at
//! the ends of its alternatives, the search falls away. Where it asks for more (an anchor inside, a
//! word boundary, a look-around) the text is put between two marks, noncharacters that no text
//! holds: `^` is then a look-behind for the first mark, `$` a look-ahead for the second, and both
//! lie within the marked text, which is what the lexer's look-arounds need.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use crate::grammar::pattern::{Pattern, RegexFlags};

/// A regular expression.
#[derive(Clone, Debug)]
enum Regex {
    Set(ClassUnicode),
    Concat(Vec<Regex>),
    Alternation(Vec<Regex>),
    Repeat(Box<Regex>, u32, Option<u32>),
    Start,
    End,
    /// One of the [`MARKS`].
    Mark(usize),
    /// A word boundary, or that there is none.
    Boundary(bool),
    Look {
        ahead: bool,
        negated: bool,
        inner: Box<Regex>,
    },
}

/// The marks before and behind a text.
pub(super) const MARKS: [char; 2] = ['\u{10fffe}', '\u{10ffff}'];

/// What a pattern of a schema means.
pub(super) enum Meaning {
    /// The texts themselves; or, where the end is open, what they begin with.
    Plain { pattern: Pattern, is_open: bool },
    /// The texts between two [`MARKS`].
    Marked(Pattern),
}

/// Why a pattern is not held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal(pub(super) String);

/// Whether a pattern refers back to what a group of it matched.
pub(in crate::schema) fn refers_back(text: &str) -> bool {
    let may_refer = |pair: &[u8]| pair[0] == b'\\' && matches!(pair[1], b'1'..=b'9' | b'k');
    text.as_bytes().windows(2).any(may_refer) && read(text, true).is_ok_and(|(_, is_narrow)| is_narrow)
}

/// Reads `text`. The branches of the pattern, whose union is meant; and whether that is less than the
/// pattern says. If `may_narrow`, a back-reference matches nothing where it stands: its other
/// alternatives are left.
pub(super) fn read(text: &str, may_narrow: bool) -> Result<(Vec<Meaning>, bool), Refusal> {
    let mut parser =
        Parser { rest: text, depth: 0, ignore_case: false, negations: 0, may_narrow, is_narrow: false };
    let regex = parser.alternatives()?;
    if !parser.rest.is_empty() {
        return Err(Refusal("a parenthesis closes nothing".to_owned()));
    }
    let mut meanings = Vec::new();
    branches(regex, (false, false), &mut meanings);
    Ok((meanings, parser.is_narrow))
}

/// Takes anchors off the ends of the alternatives of `regex`; the pair says which ends were
/// anchored outside of it.
fn branches(regex: Regex, anchored: (bool, bool), meanings: &mut Vec<Meaning>) {
    match regex {
        Regex::Alternation(parts) => parts.into_iter().for_each(|part| branches(part, anchored, meanings)),
        Regex::Concat(mut parts) => {
            let (mut start, mut end) = anchored;
            while matches!(parts.first(), Some(Regex::Start)) {
                parts.remove(0);
                start = true;
            }
            while matches!(parts.last(), Some(Regex::End)) {
                parts.pop();
                end = true;
            }
            match <[Regex; 1]>::try_from(parts) {
                Ok([only @ (Regex::Alternation(_) | Regex::Concat(_))]) => {
                    branches(only, (start, end), meanings);
                }
                Ok([only]) => meanings.push(branch(&only, start, end)),
                Err(parts) => meanings.push(branch(&Regex::Concat(parts), start, end)),
            }
        }
        other => branches(Regex::Concat(vec![other]), anchored, meanings),
    }
}

fn branch(regex: &Regex, start: bool, end: bool) -> Meaning {
    let is_marked = looks(regex);
    let mut text = String::new();
    let any = |text: &mut String| {
        print(&Regex::Set(everything()), is_marked, text);
        text.push('*');
    };
    if is_marked {
        text.push(MARKS[0]);
    }
    if !start {
        any(&mut text);
    }
    text.push_str("(?:");
    print(regex, is_marked, &mut text);
    text.push(')');
    if is_marked {
        if !end {
            any(&mut text);
        }
        text.push(MARKS[1]);
    }
    let pattern = Pattern::Regex { pattern: text, flags: RegexFlags::default(), place: None };
    if is_marked { Meaning::Marked(pattern) } else { Meaning::Plain { pattern, is_open: !end } }
}

fn looks(regex: &Regex) -> bool {
    match regex {
        Regex::Set(_) | Regex::Mark(_) => false,
        Regex::Concat(parts) | Regex::Alternation(parts) => parts.iter().any(looks),
        Regex::Repeat(inner, ..) => looks(inner),
        Regex::Start | Regex::End | Regex::Boundary(_) | Regex::Look { .. } => true,
    }
}

/// Writes the regex in the syntax of Python's `re`. Where the text is `marked`, its characters are
/// others than the marks.
fn print(regex: &Regex, is_marked: bool, text: &mut String) {
    let mut group = |open: &str, parts: &[Regex], between: &str| {
        text.push_str(open);
        for (at, part) in parts.iter().enumerate() {
            text.push_str(if at > 0 { between } else { "" });
            print(part, is_marked, text);
        }
        text.push(')');
    };
    match regex {
        Regex::Set(set) if is_marked => {
            let mut set = set.clone();
            set.intersect(&everything_but_marks());
            print_set(&set, text);
        }
        Regex::Set(set) => print_set(set, text),
        Regex::Mark(at) => text.push(MARKS[*at]),
        Regex::Concat(parts) => group("(?:", parts, ""),
        Regex::Alternation(parts) => group("(?:", parts, "|"),
        Regex::Look { ahead, negated, inner } => {
            let open = match (ahead, negated) {
                (true, false) => "(?=",
                (true, true) => "(?!",
                (false, false) => "(?<=",
                (false, true) => "(?<!",
            };
            // Within a look-around an anchor may read its mark.
            let inner = marked(inner, *ahead);
            group(open, std::slice::from_ref(&inner), "");
        }
        Regex::Start => text.extend(["(?<=", &MARKS[0].to_string(), ")"]),
        Regex::End => text.extend(["(?=", &MARKS[1].to_string(), ")"]),
        Regex::Boundary(true) => {
            text.push_str("(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))");
        }
        Regex::Boundary(false) => {
            text.push_str("(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))");
        }
        Regex::Repeat(inner, min, max) => {
            group("(?:", std::slice::from_ref(inner), "");
            text.push_str(&match (min, max) {
                (0, None) => "*".to_owned(),
                (1, None) => "+".to_owned(),
                (0, Some(1)) => "?".to_owned(),
                (min, None) => format!("{{{min},}}"),
                (min, Some(max)) => format!("{{{min},{max}}}"),
            });
        }
    }
}

/// The inside of a look-around, in which anchors are marks.
fn marked(regex: &Regex, ahead: bool) -> Regex {
    let all = |parts: &[Regex]| parts.iter().map(|part| marked(part, ahead)).collect();
    match regex {
        Regex::End if ahead => Regex::Mark(1),
        Regex::Start if !ahead => Regex::Mark(0),
        Regex::Concat(parts) => Regex::Concat(all(parts)),
        Regex::Alternation(parts) => Regex::Alternation(all(parts)),
        Regex::Repeat(inner, min, max) => Regex::Repeat(Box::new(marked(inner, ahead)), *min, *max),
        other => other.clone(),
    }
}

fn print_set(set: &ClassUnicode, text: &mut String) {
    if set.ranges().is_empty() {
        text.push_str("[^\\s\\S]");
        return;
    }
    text.push('[');
    for range in set.ranges() {
        let (start, end) = (u32::from(range.start()), u32::from(range.end()));
        text.push_str(&format!("\\U{start:08x}"));
        if start < end {
            text.push_str(&format!("-\\U{end:08x}"));
        }
    }
    text.push(']');
}

fn everything() -> ClassUnicode {
    set(&[('\0', char::MAX)])
}

fn everything_but_marks() -> ClassUnicode {
    set(&[('\0', '\u{10fffd}')])
}

fn set(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(start, end)| ClassUnicodeRange::new(start, end)))
}

fn complement(mut set: ClassUnicode) -> ClassUnicode {
    set.negate();
    set
}

/// `\d`, `\w` and `\s` of ECMA-262.
fn category(letter: char) -> Option<ClassUnicode> {
    let set = match letter.to_ascii_lowercase() {
        'd' => set(&[('0', '9')]),
        'w' => set(&[('0', '9'), ('A', 'Z'), ('a', 'z'), ('_', '_')]),
        's' => set(&[
            ('\t', '\r'),
            (' ', ' '),
            ('\u{a0}', '\u{a0}'),
            ('\u{1680}', '\u{1680}'),
            ('\u{2000}', '\u{200a}'),
            ('\u{2028}', '\u{2029}'),
            ('\u{202f}', '\u{202f}'),
            ('\u{205f}', '\u{205f}'),
            ('\u{3000}', '\u{3000}'),
            ('\u{feff}', '\u{feff}'),
        ]),
        _ => return None,
    };
    Some(if letter.is_ascii_uppercase() { complement(set) } else { set })
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
    ignore_case: bool,
    /// How many look-arounds are open that forbid something.
    negations: usize,
    /// Whether a back-reference may match nothing, and whether one does.
    may_narrow: bool,
    is_narrow: bool,
}

/// How deep groups may nest.
const DEPTH: usize = 60;
/// How often something may be repeated by a count.
const MOST_REPEATED: u32 = 20_000;

impl Parser<'_> {
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

    fn alternatives(&mut self) -> Result<Regex, Refusal> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Refusal(format!("groups nest more than {DEPTH} deep")));
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
                '.' => Regex::Set(complement(set(&[('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')]))),
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

    fn character(&self, c: char) -> Regex {
        let mut set = set(&[(c, c)]);
        if self.ignore_case {
            set.case_fold_simple();
        }
        Regex::Set(set)
    }

    fn group(&mut self) -> Result<Option<Regex>, Refusal> {
        let looks = [("?=", true, false), ("?!", true, true), ("?<=", false, false), ("?<!", false, true)];
        for (open, ahead, negated) in looks {
            if self.eat(open) {
                self.negations += usize::from(negated);
                let inner = self.inside()?;
                self.negations -= usize::from(negated);
                return Ok(Some(Regex::Look { ahead, negated, inner: Box::new(inner) }));
            }
        }
        if self.eat("?i)") {
            self.ignore_case = true;
            return Ok(None);
        }
        if self.eat("?<") || self.eat("?P<") {
            let end =
                self.rest.find('>').ok_or_else(|| Refusal("the name of a group does not end".to_owned()))?;
            self.rest = &self.rest[end + 1..];
        } else if !self.eat("?:") && self.peek() == Some('?') {
            return Err(Refusal("no group of ECMA-262 begins with `(?` like this".to_owned()));
        }
        self.inside().map(Some)
    }

    fn inside(&mut self) -> Result<Regex, Refusal> {
        let inner = self.alternatives()?;
        if !self.eat(")") {
            return Err(Refusal("a group does not end".to_owned()));
        }
        Ok(inner)
    }

    fn quantified(&mut self, atom: Regex) -> Result<Regex, Refusal> {
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.counts()? {
                Some(counts) => {
                    self.eat("?");
                    return self.repeat(atom, counts.0, counts.1);
                }
                None => return Ok(atom),
            },
            _ => return Ok(atom),
        };
        self.bump();
        // Lazy or not, the same texts match.
        self.eat("?");
        self.repeat(atom, min, max)
    }

    fn repeat(&self, atom: Regex, min: u32, max: Option<u32>) -> Result<Regex, Refusal> {
        match atom {
            Regex::Start | Regex::End | Regex::Boundary(_) | Regex::Look { .. } => {
                // Once is as good as often.
                Ok(if min == 0 { Regex::Concat(Vec::new()) } else { atom })
            }
            _ if max.is_some_and(|max| max < min) => {
                Err(Refusal("counts stand the wrong way round".to_owned()))
            }
            _ if min.max(max.unwrap_or(0)) > MOST_REPEATED => {
                Err(Refusal(format!("something is repeated more than {MOST_REPEATED} times")))
            }
            _ => Ok(Regex::Repeat(Box::new(atom), min, max)),
        }
    }

    /// `{3}`, `{3,}`, `{3,5}`; any other brace is a character.
    fn counts(&mut self) -> Result<Option<(u32, Option<u32>)>, Refusal> {
        let Some(end) = self.rest.find('}') else { return Ok(None) };
        let inside = &self.rest[1..end];
        let (min, max) = inside.split_once(',').map_or((inside, None), |(min, max)| (min, Some(max)));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(min) || max.is_some_and(|max| !max.is_empty() && !is_number(max)) {
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
        match self.peek() {
            Some('b') => {
                self.bump();
                Ok(Regex::Boundary(true))
            }
            Some('B') => {
                self.bump();
                Ok(Regex::Boundary(false))
            }
            Some('1'..='9' | 'k') if self.may_narrow && self.negations == 0 => {
                let name = self.rest.strip_prefix("k<").and_then(|rest| rest.split_once('>'));
                let is_digit = |c: char| c.is_ascii_digit();
                self.rest = name.map_or(self.rest.trim_start_matches(is_digit), |(_, rest)| rest);
                self.is_narrow = true;
                Ok(Regex::Set(set(&[])))
            }
            Some('1'..='9' | 'k') => Err(Refusal("a back-reference is no regular expression".to_owned())),
            _ => {
                let mut set = self.escaped_set()?;
                if self.ignore_case {
                    set.case_fold_simple();
                }
                Ok(Regex::Set(set))
            }
        }
    }

    /// What an escape stands for, within a class or without.
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
            '0' => '\0',
            'c' => match self.bump() {
                Some(letter) if letter.is_ascii_alphabetic() => char::from(letter as u8 % 32),
                _ => return Err(Refusal("`\\c` wants a letter".to_owned())),
            },
            'x' => self.code(2)?,
            'u' if self.eat("{") => {
                let end = self.rest.find('}').unwrap_or(self.rest.len());
                let code = u32::from_str_radix(&self.rest[..end], 16).ok().and_then(char::from_u32);
                self.rest = self.rest.get(end + 1..).unwrap_or("");
                code.ok_or_else(|| Refusal("`\\u{...}` names no character".to_owned()))?
            }
            'u' => self.code(4)?,
            'p' | 'P' => return self.property(c == 'P'),
            c if c.is_ascii_alphanumeric() => {
                return Err(Refusal(format!("`\\{c}` is no escape of ECMA-262")));
            }
            c => c,
        };
        Ok(set(&[(character, character)]))
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        let text =
            self.rest.get(..digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        self.rest = &self.rest[digits..];
        u32::from_str_radix(text, 16).ok()
    }

    fn code(&mut self, digits: usize) -> Result<char, Refusal> {
        let refusal = || Refusal(format!("{digits} hexadecimal digits are missing"));
        let first = self.hexadecimal(digits).ok_or_else(refusal)?;
        let code = match first {
            0xd800..0xdc00 if self.eat("\\u") => {
                let second = self.hexadecimal(4).filter(|code| (0xdc00..0xe000).contains(code));
                0x10000 + ((first - 0xd800) << 10) + (second.ok_or_else(refusal)? - 0xdc00)
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(|| Refusal("half of a surrogate pair is no character".to_owned()))
    }

    fn property(&mut self, negated: bool) -> Result<ClassUnicode, Refusal> {
        let name = self.rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let (name, rest) = name.ok_or_else(|| Refusal("`\\p` wants a name in braces".to_owned()))?;
        self.rest = rest;
        let parsed = regex_syntax::parse(&format!("\\p{{{name}}}"));
        let unknown = || Refusal(format!("no property of characters is called `{}`", name.escape_debug()));
        let hir = parsed.map_err(|_| unknown())?;
        let class = match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => class.clone(),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).map_err(|_| unknown())?;
                let only = text.chars().next().ok_or_else(unknown)?;
                set(&[(only, only)])
            }
            _ => return Err(unknown()),
        };
        Ok(if negated { complement(class) } else { class })
    }

    fn class(&mut self) -> Result<ClassUnicode, Refusal> {
        let negated = self.eat("^");
        let mut all = set(&[]);
        let open = || Refusal("a character class does not end".to_owned());
        while !self.eat("]") {
            let first = self.member().ok_or_else(open)??;
            let range = self.rest.strip_prefix('-').filter(|rest| !rest.starts_with(']') && !rest.is_empty());
            let Some(rest) = range else {
                all.union(&first);
                continue;
            };
            self.rest = rest;
            let last = self.member().ok_or_else(open)??;
            match (single(&first), single(&last)) {
                (Some(first), Some(last)) if first <= last => all.union(&set(&[(first, last)])),
                (Some(_), Some(_)) => return Err(Refusal("a range of a class is empty".to_owned())),
                // A hyphen beside `\d` is a hyphen.
                _ => [first, last, set(&[('-', '-')])].iter().for_each(|part| all.union(part)),
            }
        }
        if self.ignore_case {
            all.case_fold_simple();
        }
        Ok(if negated { complement(all) } else { all })
    }

    fn member(&mut self) -> Option<Result<ClassUnicode, Refusal>> {
        let c = self.bump()?;
        Some(match c {
            '\\' if self.eat("b") => Ok(set(&[('\u{8}', '\u{8}')])),
            '\\' => self.escaped_set(),
            c => Ok(set(&[(c, c)])),
        })
    }
}

/// The character that a set consists of.
fn single(set: &ClassUnicode) -> Option<char> {
    match set.ranges() {
        [only] if only.start() == only.end() => Some(only.start()),
        _ => None,
    }
}

//! Translation of regexes in the syntax of the crate `regex` into that of Python's `re`.
//!
//! llguidance reads regexes in Rust's syntax. Syntax that only Rust has is rewritten: nested sets,
//! set operations and POSIX classes as the ranges that `regex-syntax` finds, `\z`, `\x{41}`,
//! `(?<n>..)`, and flags that apply from their position on. All else means the same or is passed
//! on, so look-around and references, which that crate rejects, are still accepted.

use std::fmt::Write;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, HirKind};

use crate::grammar::pattern::RegexFlags;
use crate::grammar::regex::sets::posix_class;

/// Contents of a set equivalent to Rust's `\w`.
const WORD: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}";

/// Returns the regex in Python's syntax.
///
/// # Errors
///
/// The message of `regex-syntax` for an invalid set.
pub(super) fn as_python(regex: &str, flags: RegexFlags) -> Result<String, String> {
    let flags = Flags {
        ignore_case: flags.ignore_case,
        multi_line: flags.multi_line,
        verbose: flags.verbose,
        bytes: flags.bytes,
    };
    let level = Level { flags, opened: Vec::new() };
    let mut all = Translation { text: regex, at: 0, out: String::new(), levels: vec![level] };
    while all.at < regex.len() {
        all.item()?;
    }
    // An unclosed group stays unclosed; the parser reports it.
    if all.levels.len() == 1 {
        all.close_flags();
    }
    Ok(all.out)
}

/// Flags that affect the translation.
#[derive(Clone, Copy)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    verbose: bool,
    bytes: bool,
}

/// A group.
struct Level {
    flags: Flags,
    /// Flags set within the group; each now has a group of its own.
    opened: Vec<String>,
}

struct Translation<'a> {
    text: &'a str,
    at: usize,
    out: String,
    levels: Vec<Level>,
}

impl Translation<'_> {
    fn flags(&self) -> Flags {
        self.levels[self.levels.len() - 1].flags
    }

    /// Copies the text up to `end`.
    fn copy(&mut self, end: usize) {
        self.out.push_str(&self.text[self.at..end]);
        self.at = end;
    }

    fn item(&mut self) -> Result<(), String> {
        let text = self.text;
        let rest = &text[self.at..];
        let Some(c) = rest.chars().next() else { return Ok(()) };
        match c {
            '\\' => return self.escape(),
            '[' => return self.set(),
            '(' => self.open(),
            ')' => {
                self.close_flags();
                if self.levels.len() > 1 {
                    self.levels.pop();
                }
                self.copy(self.at + 1);
            }
            '|' => {
                let opened = self.levels[self.levels.len() - 1].opened.clone();
                opened.iter().for_each(|_| self.out.push(')'));
                self.copy(self.at + 1);
                opened.iter().for_each(|flags| self.open_flags(flags));
            }
            '$' if !self.flags().multi_line => {
                self.out.push_str(r"\Z");
                self.at += 1;
            }
            '#' if self.flags().verbose => {
                let end = rest.find('\n').unwrap_or(rest.len());
                self.copy(self.at + end);
            }
            c => self.copy(self.at + c.len_utf8()),
        }
        Ok(())
    }

    fn open_flags(&mut self, flags: &str) {
        let _ = write!(self.out, "(?{flags}:");
    }

    fn close_flags(&mut self) {
        let level = self.levels.len() - 1;
        self.levels[level].opened.drain(..).for_each(|_| self.out.push(')'));
    }

    /// Translates an opening parenthesis.
    fn open(&mut self) {
        let mut flags = self.flags();
        let rest = &self.text[self.at..];
        if rest.starts_with("(?<") && !rest.starts_with("(?<=") && !rest.starts_with("(?<!") {
            self.out.push_str("(?P<");
            self.at += 3;
        } else if let Some(inner) = rest.strip_prefix("(?") {
            let length = inner.find(|c: char| c != '-' && !c.is_ascii_alphabetic());
            let (names, end) = inner.split_at(length.unwrap_or(inner.len()));
            let is_flags = !names.is_empty() && (end.starts_with(')') || end.starts_with(':'));
            if is_flags {
                let (on, off) = names.split_once('-').unwrap_or((names, ""));
                for (name, flag) in [
                    ('i', &mut flags.ignore_case),
                    ('m', &mut flags.multi_line),
                    ('x', &mut flags.verbose),
                ] {
                    *flag = on.contains(name) || *flag && !off.contains(name);
                }
            }
            if is_flags && end.starts_with(')') {
                self.at += 2 + names.len() + 1;
                self.open_flags(names);
                let level = self.levels.len() - 1;
                self.levels[level].flags = flags;
                self.levels[level].opened.push(names.to_owned());
                return;
            }
            self.copy(self.at + 2 + if is_flags { names.len() + 1 } else { 0 });
        } else {
            self.copy(self.at + 1);
        }
        self.levels.push(Level { flags, opened: Vec::new() });
    }

    /// Translates an escape outside of sets.
    fn escape(&mut self) -> Result<(), String> {
        let rest = &self.text[self.at..];
        let words = [
            (r"\z", r"\Z".to_owned()),
            (r"\b{start}", r"\b(?=\w)".to_owned()),
            (r"\<", r"\b(?=\w)".to_owned()),
            (r"\b{end}", r"\b(?<=\w)".to_owned()),
            (r"\>", r"\b(?<=\w)".to_owned()),
            (r"\b{start-half}", r"(?<!\w)".to_owned()),
            (r"\b{end-half}", r"(?!\w)".to_owned()),
        ];
        if let Some((word, python)) = words.iter().find(|(word, _)| rest.starts_with(word)) {
            self.out.push_str(python);
            self.at += word.len();
            return Ok(());
        }
        if !self.flags().bytes
            && let Some((members, is_negated)) = category(rest)
        {
            let _ = write!(self.out, "[{}{members}]", if is_negated { "^" } else { "" });
            self.at += 2;
            return Ok(());
        }
        if is_braced(rest) {
            let end = self.at + rest.find('}').map_or(rest.len(), |end| end + 1);
            return self.by_ranges(end);
        }
        let length = rest.chars().take(2).map(char::len_utf8).sum::<usize>();
        self.copy(self.at + length);
        Ok(())
    }

    /// Translates a set; it stays as written if Python reads it the same way.
    fn set(&mut self) -> Result<(), String> {
        let Some(end) = end_of_set(self.text, self.at) else {
            self.copy(self.text.len());
            return Ok(());
        };
        let set = &self.text[self.at..end];
        let is_verbose = self.flags().verbose && set.contains([' ', '\t', '\n', '\r', '#']);
        let has_words = set.contains(r"\W") || set.contains(r"\w") && self.flags().bytes;
        if has_operations(set) || is_verbose || has_words || has_braces(set) {
            return self.by_ranges(end);
        }
        let mut chars = set.char_indices();
        while let Some((at, c)) = chars.next() {
            if c != '\\' {
                self.out.push(c);
                continue;
            }
            let escaped = chars.next().map_or(set.len(), |(at, c)| at + c.len_utf8());
            match category(&set[at..]).filter(|_| !self.flags().bytes) {
                Some((members, false)) => self.out.push_str(members),
                Some((members, true)) => self.out.push_str(&members.replace(r"\p", r"\P")),
                None => self.out.push_str(&set[at..escaped]),
            }
        }
        self.at = end;
        Ok(())
    }

    /// Replaces the text up to `end` with the ranges that `regex-syntax` finds for it.
    fn by_ranges(&mut self, end: usize) -> Result<(), String> {
        let Flags { ignore_case, verbose, bytes, .. } = self.flags();
        let mut parser = ParserBuilder::new()
            .unicode(!bytes)
            .utf8(false)
            .case_insensitive(ignore_case)
            .ignore_whitespace(verbose)
            .nest_limit(MOST_NESTED)
            .build();
        let written = &self.text[self.at..end];
        let hir = parser.parse(written).map_err(|error| match error {
            regex_syntax::Error::Parse(error) => error.kind().to_string(),
            regex_syntax::Error::Translate(error) => error.kind().to_string(),
            error => error.to_string(),
        })?;
        let ranges = ranges(hir.kind());
        if ranges.is_empty() {
            // The empty set.
            self.out.push_str("(?!)");
        } else {
            // The ranges include both cases.
            self.out.push_str(if ignore_case { "(?-i:[" } else { "[" });
            for (first, last) in ranges {
                let _ = match bytes {
                    true => write!(self.out, r"\x{first:02x}-\x{last:02x}"),
                    false => write!(self.out, r"\U{first:08x}-\U{last:08x}"),
                };
            }
            self.out.push_str(if ignore_case { "])" } else { "]" });
        }
        self.at = end;
        Ok(())
    }
}

/// Maximum nesting depth of sets.
const MOST_NESTED: u32 = 50;

/// Returns the characters, or bytes, of a set.
fn ranges(set: &HirKind) -> Vec<(u32, u32)> {
    match set {
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().map(|range| (range.start().into(), range.end().into())).collect()
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.iter().map(|range| (range.start().into(), range.end().into())).collect()
        }
        // A set of one character is a literal.
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => text.chars().map(|c| (c.into(), c.into())).collect(),
            Err(_) => literal.0.iter().map(|&byte| (byte.into(), byte.into())).collect(),
        },
        _ => Vec::new(),
    }
}

/// Returns the contents of a set equivalent to the category that `text` begins with, and whether it
/// is negated.
fn category(text: &str) -> Option<(&'static str, bool)> {
    let mut chars = text.strip_prefix('\\')?.chars();
    match chars.next()? {
        'd' => Some((r"\p{Nd}", false)),
        'D' => Some((r"\p{Nd}", true)),
        's' => Some((r"\p{White_Space}", false)),
        'S' => Some((r"\p{White_Space}", true)),
        'w' => Some((WORD, false)),
        'W' => Some((WORD, true)),
        _ => None,
    }
}

/// Whether `text` begins with the number of a character in braces.
fn is_braced(text: &str) -> bool {
    [r"\x{", r"\u{", r"\U{"].iter().any(|escape| text.starts_with(escape))
}

fn has_braces(set: &str) -> bool {
    escapes(set).any(is_braced)
}

/// Returns the suffix of `set` at each backslash that is not itself escaped.
fn escapes(set: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + set[at..].find('\\')?;
        let escaped = set[start + 1..].chars().next().map_or(0, char::len_utf8);
        at = start + 1 + escaped;
        Some(&set[start..])
    })
}

/// Whether a set contains another set, a POSIX class or an operation, all plain characters in
/// Python.
pub(super) fn has_operations(set: &str) -> bool {
    let inner = set.strip_prefix('[').unwrap_or(set);
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '[' => return true,
            '&' | '~' if inner[at + 1..].starts_with(c) => return true,
            // `--` at either end is two hyphens.
            '-' if at > 0 && inner[at + 1..].starts_with('-') && at + 3 < inner.len() => {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Returns the end of the set that begins at `at`, or `None` if it is not closed.
fn end_of_set(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = 0u32;
    let mut at = at;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 1,
            b'[' => match posix_class(&text[at..]).filter(|_| open > 0) {
                Some(class) => at += class.len() - 1,
                None => {
                    open += 1;
                    at += usize::from(bytes.get(at + 1) == Some(&b'^'));
                    // In first position `]` is one of the characters.
                    at += usize::from(bytes.get(at + 1) == Some(&b']'));
                }
            },
            b']' if open == 1 => return Some(at + 1),
            b']' => open -= 1,
            _ => {}
        }
        at += 1;
    }
}

/// Returns the sets of a regex that contain syntax read as plain characters outside Rust.
pub(super) fn sets_with_operations(regex: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = regex[at..].chars().next() {
        match c {
            '\\' => at += 1 + regex[at + 1..].chars().next().map_or(0, char::len_utf8),
            '[' => match end_of_set(regex, at) {
                Some(end) => {
                    found.extend(Some(&regex[at..end]).filter(|set| is_likely_meant(set)));
                    at = end;
                }
                // Nothing here is meant as Rust's.
                None => break,
            },
            c => at += c.len_utf8(),
        }
    }
    found
}

/// Whether these signs are hardly meant as plain characters.
fn is_likely_meant(set: &str) -> bool {
    let is_class = |begin: usize| begin > 0 && posix_class(&set[begin..]).is_some();
    set.match_indices("[:").any(|(begin, _)| is_class(begin))
        || set.trim_start_matches("[^").trim_start_matches('[').find("&&").is_some_and(|at| at > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regexes_of_rust_are_written_as_python_has_them() {
        for (rust, python) in [
            ("a[bc]d", "a[bc]d"),
            ("[[:digit:]]+", r"[\U00000030-\U00000039]+"),
            ("[a-e&&[^ae]]", r"[\U00000062-\U00000064]"),
            ("[a-e--c]", r"[\U00000061-\U00000062\U00000064-\U00000065]"),
            (r"[\x{41}\u{1F600}]", r"[\U00000041-\U00000041\U0001f600-\U0001f600]"),
            (r"\x{41}\u{1F600}", r"[\U00000041-\U00000041][\U0001f600-\U0001f600]"),
            (r"(?<n>a)\z", r"(?P<n>a)\Z"),
            (r"(?<!a)(?=b)c$", r"(?<!a)(?=b)c\Z"),
            ("(?m)a$", "(?m:a$)"),
            ("a(?i)b|c(?x)d", "a(?i:b)|(?i:c(?x:d))"),
            ("(a(?i)b)c", "(a(?i:b))c"),
            ("(?i)[a&&a]", r"(?i:(?-i:[\U00000041-\U00000041\U00000061-\U00000061]))"),
            ("[a&&b]", "(?!)"),
            (r"\d[\S\d]", r"[\p{Nd}][\P{White_Space}\p{Nd}]"),
            (r"[]a-]\[[^]]", r"[]a-]\[[^]]"),
            ("[a-z", "[a-z"),
            ("(?:a)(b", "(?:a)(b"),
        ] {
            let got = as_python(rust, RegexFlags::default());
            assert_eq!(got.as_deref(), Ok(python), "{rust}");
        }
        assert!(as_python("[z-a&&b]", RegexFlags::default()).is_err());
        assert_eq!(sets_with_operations("[a&&b][[:alpha:]][&&][a[b]"), ["[a&&b]", "[[:alpha:]]"]);
    }
}

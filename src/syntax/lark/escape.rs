//! Escapes in strings and regexes, as in Lark.
//!
//! In a string, `\n \t \r \f \\ \"` and `\xHH \uHHHH \UHHHHHHHH` denote one character; a backslash
//! before anything else is literal. After `%llguidance`, `\b` and `\/` do too, as in JSON. A regex
//! keeps its own escapes, and only `\/` loses its backslash; [`undone`] finds regexes that Lark
//! reads differently from what is written, because it replaces escapes before `re` does.

use std::convert::Infallible;

use crate::syntax::error::SyntaxError;
use crate::syntax::escapes::{code_point, unescape};

/// Returns the value of the string between the quotation marks. `at` is where `raw` begins in the
/// file; `is_json` says whether JSON's escapes are read as well.
pub(crate) fn string(raw: &str, at: usize, is_json: bool) -> Result<String, SyntaxError> {
    let text = unescape(raw, |text, escape| {
        let start = at + escape.start;
        match escape.letter {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'f' => text.push('\x0c'),
            '"' => text.push('"'),
            'b' if is_json => text.push('\x08'),
            '/' if is_json => text.push('/'),
            'x' => text.push(code_point(escape.rest, 2, start)?),
            'u' => text.push(code_point(escape.rest, 4, start)?),
            'U' => text.push(code_point(escape.rest, 8, start)?),
            letter => text.extend(['\\', letter]),
        }
        Ok(())
    })?;
    // At the end, as in Lark: a backslash may also have come from `\x5c`.
    Ok(text.replace("\\\\", "\\"))
}

/// Returns the regex that Lark reads for `pattern`, if it has another meaning. Quotation marks lose
/// the last backslash before them, even an escaped one, so that `\\"` is `\"`; and `\x5b` is `[`,
/// the beginning of a set. Invalid escapes are left for the regex parser to refuse.
pub(crate) fn undone(pattern: &str, is_verbose: bool) -> Option<String> {
    let (read, is_other) = as_lark_reads(pattern, is_verbose);
    is_other.then_some(read)
}

/// Returns the regex that Lark reads, and whether its meaning differs from what is written.
pub(super) fn as_lark_reads(pattern: &str, is_verbose: bool) -> (String, bool) {
    let mut is_other = false;
    let mut sets = Sets::default();
    let read = unescape(pattern, |read, escape| {
        let mut behind = *escape.rest;
        let stands_for = match escape.letter {
            '\\' if behind.starts_with('"') => {
                is_other = true;
                read.push('\\');
                return Ok(());
            }
            '"' => {
                read.push('"');
                return Ok(());
            }
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'f' => Some('\x0c'),
            'x' => code_point(&mut behind, 2, 0).ok(),
            'u' => code_point(&mut behind, 4, 0).ok(),
            'U' => code_point(&mut behind, 8, 0).ok(),
            _ => None,
        };
        match stands_for {
            Some(character) => {
                is_other |= match character {
                    '\\' | '[' | ']' | '^' | '-' => true,
                    // In a set these are literal.
                    '.' | '$' | '*' | '+' | '?' | '{' | '}' | ',' | '|' | '(' | ')' => {
                        !sets.is_open(read)
                    }
                    '#' => is_verbose,
                    character => is_verbose && character.is_ascii_whitespace(),
                };
                *escape.rest = behind;
                read.push(character);
            }
            None => read.extend(['\\', escape.letter]),
        }
        Ok::<_, Infallible>(())
    });
    let Ok(read) = read;
    (read, is_other)
}

/// Tracks whether a set of characters is open at the end of a regex that is being written.
#[derive(Debug, Default)]
struct Sets {
    /// Number of bytes that have been visited.
    seen: usize,
    is_escaped: bool,
    /// Where the characters of an open set begin: there `]` is literal.
    open: Option<usize>,
}

impl Sets {
    fn is_open(&mut self, regex: &str) -> bool {
        for (at, character) in regex.bytes().enumerate().skip(self.seen) {
            if std::mem::take(&mut self.is_escaped) {
                continue;
            }
            match (character, self.open) {
                (b'\\', _) => self.is_escaped = true,
                (b'[', None) => self.open = Some(at + 1),
                (b'^', Some(first)) if first == at => self.open = Some(at + 1),
                (b']', Some(first)) if at > first => self.open = None,
                _ => {}
            }
        }
        self.seen = regex.len();
        self.open.is_some()
    }
}

/// Returns the regex between the slashes, with `\/` replaced by `/`.
pub(crate) fn regex(raw: &str) -> String {
    let Ok(pattern) = unescape(raw, |pattern, escape| {
        match escape.letter {
            '/' => pattern.push('/'),
            letter => pattern.extend(['\\', letter]),
        }
        Ok::<_, Infallible>(())
    });
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with results of Lark itself.
    #[test]
    fn literals_are_what_lark_takes_them_for() {
        let mut wrong = Vec::new();
        let data = include_str!("../../../tests/data/lark-escapes.tsv");
        for line in data.lines().filter(|line| !line.starts_with('#')) {
            let (literal, expected) = line.split_once('\t').unwrap();
            let [literal, expected] =
                [literal, expected].map(|field| serde_json::from_str::<String>(field).unwrap());
            let read = match literal.strip_prefix('/').and_then(|rest| rest.rsplit_once('/')) {
                // A backslash before a slash has no effect.
                Some((inner, flags)) => {
                    regex(&as_lark_reads(&regex(inner), flags == "x").0) == regex(&expected)
                }
                None => string(&literal[1..literal.len() - 1], 0, false)
                    .is_ok_and(|text| text == expected),
            };
            if !read {
                wrong.push(format!("{literal} is {expected:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} literals:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn only_what_means_something_else_is_undone() {
        for (written, verbose, read) in [
            (r#"[^"\\]"#, false, None),
            (r#"[^\\"]"#, false, Some(r#"[^\"]"#)),
            (r#"\\\""#, false, None),
            (r"\n\x41\u00e9", false, None),
            (r"\n", true, Some("\n")),
            (r"\x5b\n", false, Some("[\n")),
        ] {
            assert_eq!(undone(written, verbose).as_deref(), read, "{written}");
        }
    }
}

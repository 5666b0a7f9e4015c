//! The words that llguidance adds to the notation: special tokens, counts in braces, JSON, grammars
//! within grammars.
//!
//! None of them is a word of Lark's, so no Lark file changes its meaning.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::syntax::ast::{Options, TokenNames};
use crate::syntax::error::SyntaxErrorKind;
use crate::syntax::lark::lexer::{Lexer, Result};
use crate::syntax::lark::token::{Shortened, Token};

/// Maximum number of chunks of one `%regex`, including single characters: each becomes states of an
/// automaton.
const MAX_CHUNKS: usize = 1 << 20;

/// The argument of `%llguidance`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenOptions {
    /// Accepted without effect: masks do not depend on forced bytes.
    #[serde(rename = "no_forcing")]
    _no_forcing: Option<bool>,
    allow_invalid_utf8: Option<bool>,
    allow_initial_skip: Option<bool>,
    skip_repetition: Option<SkipRepetition>,
    /// The name of `"skip_repetition": "once"` up to llguidance 1.9.
    ignore_once: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SkipRepetition {
    Once,
    #[serde(other)]
    Many,
}

/// The argument of `%regex`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRegex {
    substring_words: Option<String>,
    substring_chars: Option<String>,
    substring_chunks: Option<Vec<String>>,
}

impl<'input> Lexer<'input> {
    /// Reads a directive of the dialect with its argument; returns `None` if `word` is not one.
    pub(super) fn dialect_directive(
        &mut self,
        word: &str,
        start: usize,
    ) -> Result<Option<Token<'input>>> {
        Ok(Some(match word {
            // XGrammar's name for it.
            "llguidance" | "grammar_options" => {
                let (options, _) = self.json::<WrittenOptions>("%llguidance", start)?;
                self.has_json_escapes = true;
                Token::Options(Options {
                    allow_initial_skip: options.allow_initial_skip,
                    skip_once: (options.skip_repetition)
                        .map(|skip| matches!(skip, SkipRepetition::Once))
                        .or(options.ignore_once),
                    allow_invalid_utf8: options.allow_invalid_utf8,
                })
            }
            "regex" => {
                let (regex, _) = self.json::<WrittenRegex>("%regex", start)?;
                Token::Substring(self.chunks(regex, start)?)
            }
            "if" => self.condition(start)?,
            "json" => Token::Json(self.json::<IgnoredAny>("%json", start)?.1),
            "lark" => {
                let blanks = self.run(|byte| byte.is_ascii_whitespace());
                self.at += blanks;
                if self.byte(0) != Some(b'{') {
                    let message = "`%lark` has no grammar".to_owned();
                    return Err(self
                        .error(SyntaxErrorKind::BadDialect, start..self.at, message)
                        .help("write the grammar in braces: `%lark { start: \"a\" }`"));
                }
                let at = self.at;
                self.at += 1;
                self.open_bracket(&Token::Nested, at)?;
                Token::Nested
            }
            _ => return Ok(None),
        }))
    }

    /// Reads JSON and returns its value and its text.
    fn json<T: DeserializeOwned>(&mut self, what: &str, start: usize) -> Result<(T, &'input str)> {
        let rest = self.rest();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<T>();
        let problem = match values.next() {
            Some(Ok(value)) => {
                let length = values.byte_offset();
                return Ok((value, self.take(length).trim()));
            }
            Some(Err(error)) => error.to_string(),
            None => "it is missing".to_owned(),
        };
        let message = format!("the JSON after {what} cannot be read: {problem}");
        Err(self.error(SyntaxErrorKind::BadDialect, start..self.at, message).help(match what {
            "%regex" => {
                "write `%regex {\"substring_words\": \"...\"}`, or `substring_chars`, or \
                 `substring_chunks` and a list"
            }
            "%llguidance" => {
                "the options are no_forcing, allow_initial_skip, allow_invalid_utf8 and \
                 ignore_once (true or false), and skip_repetition (\"once\")"
            }
            _ => "write a JSON value in braces",
        }))
    }

    fn chunks(&self, regex: WrittenRegex, start: usize) -> Result<Vec<String>> {
        let error = |kind, message: &str| {
            self.error(kind, start..self.at, message.to_owned())
                .help("write one of substring_words, substring_chars and substring_chunks")
        };
        let chunks = match regex {
            WrittenRegex {
                substring_words: Some(text),
                substring_chars: None,
                substring_chunks: None,
            } => words(&text),
            WrittenRegex {
                substring_words: None,
                substring_chars: Some(text),
                substring_chunks: None,
            } => text.chars().map(String::from).collect(),
            WrittenRegex {
                substring_words: None,
                substring_chars: None,
                substring_chunks: Some(chunks),
            } => chunks,
            WrittenRegex {
                substring_words: None,
                substring_chars: None,
                substring_chunks: None,
            } => {
                return Err(error(SyntaxErrorKind::BadDialect, "this %regex is empty"));
            }
            _ => return Err(error(SyntaxErrorKind::BadDialect, "this %regex has several members")),
        };
        if chunks.len() > MAX_CHUNKS {
            return Err(error(
                SyntaxErrorKind::TooLarge,
                "this %regex has more than a million chunks",
            ));
        }
        Ok(chunks)
    }

    /// Reads `@name`.
    pub(super) fn grammar_name(&mut self) -> Token<'input> {
        self.at += 1;
        Token::GrammarName(
            self.take(self.run(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))),
        )
    }

    /// Returns whether the `~` or `{` here is followed by a number or a comma.
    pub(super) fn count_follows(&self) -> bool {
        let rest = self.rest()[1..].trim_start_matches([' ', '\t']);
        match *rest.as_bytes() {
            [b'0'..=b'9', ..] | [b'+' | b'-', b'0'..=b'9', ..] => true,
            [b',', ..] => self.byte(0) == Some(b'{'),
            _ => false,
        }
    }

    /// Returns whether the sign here begins an expression rather than continuing one: it is
    /// preceded by a blank or an opening sign.
    pub(super) fn begins_expression(&self) -> bool {
        self.before().is_none_or(|byte| byte.is_ascii_whitespace() || b"([|&:,".contains(&byte))
    }

    /// Returns the length in bytes of the special token that begins here, if one does.
    pub(super) fn special_token_length(&self) -> Option<usize> {
        let rest = self.rest();
        let end = rest.find(|c: char| c == '>' || c.is_whitespace())?;
        (rest[end..].starts_with('>') && end > 1 && !rest[1..end].contains('<')).then_some(end + 1)
    }

    /// Reads `<|name|>` or `<[ids]>`, which [`Lexer::special_token_length`] has found here.
    pub(super) fn special_token(&mut self) -> Result<Token<'input>> {
        let start = self.at;
        let written = self.take(self.special_token_length().unwrap_or(0));
        let Some(ids) = written.strip_prefix("<[").and_then(|rest| rest.strip_suffix("]>")) else {
            return Ok(Token::Named(TokenNames::Name(written.to_owned())));
        };
        match token_ids(ids) {
            Ok(ids) => Ok(Token::Named(TokenNames::Ids(ids))),
            Err(problem) => {
                let message = format!("`{}` is not a set of tokens: {problem}", Shortened(written));
                Err(self.error(SyntaxErrorKind::BadDialect, start..self.at, message).help(
                    "write ids and ranges: `<[7]>`, `<[7,10-20]>`, all others: `<[^7,10-20]>`, \
                     all: `<[*]>`",
                ))
            }
        }
    }
}

/// Returns the ids in `written` as ascending ranges with gaps between them.
fn token_ids(written: &str) -> std::result::Result<Vec<(u32, u32)>, String> {
    let (is_negated, list) = match written.strip_prefix('^') {
        Some(list) => (true, list),
        None => (false, written),
    };
    if list == "*" {
        return if is_negated {
            Err("it excludes every token".to_owned())
        } else {
            Ok(vec![(0, u32::MAX)])
        };
    }
    let mut ranges = Vec::new();
    for range in list.split(',').map(str::trim).filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let id = |digits: &str| {
            let digits = digits.trim();
            digits.parse::<u32>().map_err(|_| format!("`{}` is not an id", Shortened(digits)))
        };
        let (first, last) = (id(first)?, id(last)?);
        if first > last {
            return Err(format!("the range {first}-{last} is reversed"));
        }
        ranges.push((first, last));
    }
    if ranges.is_empty() {
        return Err("it contains no id".to_owned());
    }
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (first, last) in ranges {
        match merged.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = (*end).max(last),
            _ => merged.push((first, last)),
        }
    }
    if !is_negated {
        return Ok(merged);
    }
    let mut others = Vec::new();
    let mut next = Some(0);
    for (first, last) in merged {
        if let Some(next) = next.filter(|&next| next < first) {
            others.push((next, first - 1));
        }
        next = last.checked_add(1);
    }
    others.extend(next.map(|next| (next, u32::MAX)));
    if others.is_empty() { Err("it excludes every token".to_owned()) } else { Ok(others) }
}

/// Splits the text where the kind of its characters changes: words, white space, everything else.
fn words(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        c if c.is_whitespace() => 0,
        c if c.is_alphanumeric() || c == '_' => 1,
        _ => 2,
    };
    let mut chunks: Vec<String> = Vec::new();
    let mut last = None;
    for c in text.chars() {
        match chunks.last_mut() {
            Some(chunk) if last == Some(kind(c)) => chunk.push(c),
            _ => chunks.push(c.to_string()),
        }
        last = Some(kind(c));
    }
    chunks
}

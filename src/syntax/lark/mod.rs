//! The reader of Lark's grammar notation: a lexer by hand in front of a parser that LALRPOP
//! generates.
//!
//! The generated parser keeps its stack on the heap, and the lexer bounds the nesting, so that no
//! file can exhaust the stack; both are linear in the file.

mod build;
mod dialect;
pub(in crate::syntax) mod escape;
mod lexer;
mod parameter;
#[cfg(test)]
mod tests;
pub(in crate::syntax) mod token;

use lalrpop_util::{ParseError, lalrpop_mod};

pub(crate) use crate::syntax::lark::escape::undone;

use crate::syntax::ast::{File, Span};
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::lark::lexer::Lexer;
use crate::syntax::lark::token::Token;
use crate::syntax::words::until_fault;

lalrpop_mod!(
    #[allow(
        clippy::all,
        clippy::pedantic,
        clippy::unwrap_used,
        missing_debug_implementations,
        unreachable_pub,
        unused_qualifications
    )]
    generated,
    "lark.rs"
);

/// The largest file, in bytes.
pub(crate) const MAX_BYTES: usize = 16 << 20;

/// Reads a file in Lark's notation, with our directives. Names are not looked up.
///
/// Fails with the first fault. Linear in the text.
pub(crate) fn parse_lark(text: &str) -> Result<File, SyntaxError> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, more than {MAX_BYTES}", text.len());
        return Err(SyntaxError::new(SyntaxErrorKind::TooLarge, 0..0, message)
            .help("split it and import the parts"));
    }
    let words = until_fault(Lexer::new(text), Lexer::word);
    generated::FileParser::new().parse(words).map_err(|error| match error {
        ParseError::User { error } => error,
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            unexpected(text, &token, start..end, &expected)
        }
        ParseError::ExtraToken { token: (start, token, end) } => {
            unexpected(text, &token, start..end, &[])
        }
        // The lexer ends each file with a line end, behind which another item may always follow.
        ParseError::UnrecognizedEof { location, expected } => {
            unexpected(text, &Token::LineEnd, location..location, &expected)
        }
        ParseError::InvalidToken { location } => {
            unexpected(text, &Token::LineEnd, location..location, &[])
        }
    })
}

/// The error for a word that cannot stand where it stands.
fn unexpected(text: &str, found: &Token<'_>, span: Span, expected: &[String]) -> SyntaxError {
    let expected = Expected::new(expected);
    let found_text = match found {
        Token::LineEnd if text[span.start.min(text.len())..].trim().is_empty() => {
            "the end of the file".to_string()
        }
        _ => found.to_string(),
    };
    let message = format!("found {found_text}, expected {}", expected.words());
    let span_start = span.start;
    let error = SyntaxError::new(SyntaxErrorKind::UnexpectedToken, span, message);
    match other_notation(text, found, span_start).or_else(|| help(found, &expected)) {
        Some(help) => error.help(help),
        None => error,
    }
}

/// What to do with a file that is not Lark's, or not the part of the dialect that is read.
fn other_notation(text: &str, found: &Token<'_>, at: usize) -> Option<&'static str> {
    if *found != Token::Colon {
        return None;
    }
    // Each sign of `::` is a word.
    let (before, rest) = (text[..at].trim_end_matches(':'), text[at..].trim_start_matches(':'));
    let colons = text.len() - rest.len() - before.len();
    match colons {
        2 if rest.starts_with('=') => Some(
            "rules with `::=` are GBNF, which is read from a file `.gbnf`, by `--notation gbnf` \
             and by \
             `Grammar::from_gbnf`",
        ),
        _ => None,
    }
}

/// What to write instead, for the mistakes one makes.
fn help(found: &Token<'_>, expected: &Expected<'_>) -> Option<&'static str> {
    let at_item = expected.has("%import");
    let in_expression = expected.has("regex") && expected.has("|");
    Some(match found {
        Token::LineEnd if expected.has(":") => {
            "a definition is written `name: ...`; a line that continues the last one begins with \
             `|`, or the last one ends with a backslash"
        }
        Token::Question | Token::Star | Token::Plus | Token::Tilde if in_expression => {
            "one repetition follows a symbol, a literal or a group; put what is repeated twice in \
             a group of its own"
        }
        Token::Colon if in_expression => {
            "begin each definition on a line of its own; literal text stands in double quotes"
        }
        Token::LeftBrace => {
            "a template is used as `name{argument}` with a rule's name; a count is written `~3..5`"
        }
        Token::LeftParen | Token::LeftBracket if expected.has("regex") => {
            "the arguments of a template are names, strings and regexes; give a group a rule of \
             its own"
        }
        Token::Or if at_item => {
            "a line that begins with `|` continues a definition; there is none before it"
        }
        _ if expected.has(":") && !at_item => {
            "a definition is written `name: ...`; a line that continues the last one begins with \
             `|`, or the last one ends with a backslash"
        }
        Token::Dot | Token::Number(_) if in_expression => {
            "a priority stands behind the name that is defined: `NAME.2: ...`"
        }
        _ if at_item => {
            "a line begins with the name that it defines, or with a directive such as `%import`"
        }
        Token::RuleName(_) if expected.is_word() => {
            "only terminals and strings can stand in this directive"
        }
        Token::Regex { .. } if expected.is_word() => "give the regex a name, and write that",
        Token::TerminalName(_) if expected.has("rule name") => "this must be a name in lower case",
        Token::LineEnd if expected.is_word() => "the operands of a directive stand on its line",
        _ => return None,
    })
}

/// The words that could have come, by their names in the generated parser.
struct Expected<'a>(Vec<&'a str>);

impl<'a> Expected<'a> {
    fn new(names: &'a [String]) -> Self {
        // Where something of llguidance's could come, something of Lark's could as well: that is
        // said.
        const DIALECT: [&str; 11] = [
            "special token",
            "grammar name",
            "%llguidance",
            "%regex",
            "%json",
            "%lark {",
            "{ with a count",
            "~ before an expression",
            "&",
            "::parameter",
            "%if",
        ];
        Self(
            names
                .iter()
                .map(|name| name.trim_matches('"'))
                .filter(|name| !DIALECT.contains(name))
                .collect(),
        )
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    /// Whether an operand of a directive is due: a terminal or its string.
    fn is_word(&self) -> bool {
        self.has("string") && !self.has("regex")
    }

    /// A list for people: groups of words that always come together have a name.
    fn words(&self) -> String {
        const GROUPS: [(&str, &[&str]); 5] = [
            (
                "a definition or a directive",
                &[
                    "rule name",
                    "terminal name",
                    "?",
                    "!",
                    "%import",
                    "%ignore",
                    "%declare",
                    "%override",
                    "%extend",
                    "%start",
                    "%lexer",
                    "%match",
                    "%reserved",
                    "%fallback",
                    "%soft",
                    "%exclusive",
                    "%lookahead",
                    "%left",
                    "%right",
                    "%nonassoc",
                    "%indent",
                ],
            ),
            (
                "a name, a string, a regex, `(` or `[`",
                &["rule name", "terminal name", "string", "regex", "(", "["],
            ),
            ("a repetition", &["?", "*", "+", "~"]),
            ("a name, a string or a regex", &["rule name", "terminal name", "string", "regex"]),
            ("a name", &["rule name", "terminal name"]),
        ];
        let mut left = self.0.clone();
        let mut words = Vec::new();
        for (name, group) in GROUPS {
            if group.iter().all(|word| left.contains(word)) {
                left.retain(|word| !group.contains(word));
                words.push(name.to_string());
            }
        }
        words.extend(left.into_iter().map(|word| match word {
            "rule name" => "a rule's name".to_string(),
            "terminal name" => "a terminal's name".to_string(),
            "string" => "a string".to_string(),
            "regex" => "a regex".to_string(),
            "number" => "a number".to_string(),
            "end of line" => "the end of the line".to_string(),
            sign => format!("`{sign}`"),
        }));
        match words.split_last() {
            None => "nothing more".to_string(),
            Some((only, [])) => only.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
        }
    }
}

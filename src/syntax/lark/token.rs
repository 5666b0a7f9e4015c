//! The words of Lark's notation, between the lexer and the generated parser.

use std::fmt;

use crate::syntax::ast::{Options, TokenNames};
use crate::syntax::parameter::{Condition, Value};

/// A word of the notation. Names borrow from the file; strings and regexes have their escapes
/// replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token<'input> {
    /// `expr`, `_list`.
    RuleName(&'input str),
    /// `NUMBER`, `_NL`.
    TerminalName(&'input str),
    /// `"text"` or `"text"i`.
    Literal {
        text: String,
        ignore_case: bool,
    },
    /// `/pattern/flags`.
    Regex {
        pattern: String,
        flags: &'input str,
    },
    /// `2`, `-1`, `+3`: after `.`, `..`, `~` and in a count only; after `=` also `0.7`.
    Number(&'input str),
    /// The end of the file, or of a line that the next one does not continue.
    LineEnd,
    Colon,
    Comma,
    /// `|`, also at the beginning of a line.
    Or,
    Dot,
    DotDot,
    Arrow,
    Tilde,
    Question,
    Star,
    Plus,
    Bang,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    /// `{` before a number or a comma.
    LeftCount,
    /// `~` before anything but a number.
    Not,
    And,
    Equals,
    /// `<|name|>`, `<[1-5]>`.
    Named(TokenNames),
    /// `@name`, without the sign.
    GrammarName(&'input str),
    /// `%llguidance {...}`.
    Options(Options),
    /// `%regex {...}`: its chunks.
    Substring(Vec<String>),
    /// `%json {...}`: its JSON.
    Json(&'input str),
    /// `%lark {`.
    Nested,
    /// `::value`.
    Parameter(Value),
    /// `%if condition`.
    If(Condition),
    Import,
    Ignore,
    Declare,
    Override,
    Extend,
    Start,
    Lexer,
    Match,
    Conflicts,
    Reserved,
    Fallback,
    Soft,
    Exclusive,
    Lookahead,
    Left,
    Right,
    Nonassoc,
    Prec,
    Indent,
}

/// The word of each directive, without the `%`.
pub(crate) const DIRECTIVES: [(&str, Token<'static>); 19] = [
    ("import", Token::Import),
    ("ignore", Token::Ignore),
    ("declare", Token::Declare),
    ("override", Token::Override),
    ("extend", Token::Extend),
    ("start", Token::Start),
    ("lexer", Token::Lexer),
    ("match", Token::Match),
    ("conflicts", Token::Conflicts),
    ("reserved", Token::Reserved),
    ("fallback", Token::Fallback),
    ("soft", Token::Soft),
    ("exclusive", Token::Exclusive),
    ("lookahead", Token::Lookahead),
    ("left", Token::Left),
    ("right", Token::Right),
    ("nonassoc", Token::Nonassoc),
    ("prec", Token::Prec),
    ("indent", Token::Indent),
];

/// The name in error messages.
impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self {
            Token::RuleName(name) => return write!(f, "the rule name `{}`", Shortened(name)),
            Token::TerminalName(name) => {
                return write!(f, "the terminal name `{}`", Shortened(name));
            }
            Token::Literal { text, .. } => {
                return write!(f, "the string {:?}", Shortened(text).to_string());
            }
            Token::Regex { pattern, .. } => {
                return write!(f, "the regex `/{}/`", Shortened(pattern));
            }
            Token::Number(digits) => return write!(f, "the number `{}`", Shortened(digits)),
            Token::LineEnd => return f.write_str("the end of the line"),
            Token::Colon => ":",
            Token::Comma => ",",
            Token::Or => "|",
            Token::Dot => ".",
            Token::DotDot => "..",
            Token::Arrow => "->",
            Token::Tilde => "~",
            Token::Question => "?",
            Token::Star => "*",
            Token::Plus => "+",
            Token::Bang => "!",
            Token::LeftParen => "(",
            Token::RightParen => ")",
            Token::LeftBracket => "[",
            Token::RightBracket => "]",
            Token::LeftBrace => "{",
            Token::RightBrace => "}",
            Token::LeftCount => "{",
            Token::Not => "~",
            Token::And => "&",
            Token::Equals => "=",
            Token::Named(_) => return f.write_str("a special token"),
            Token::GrammarName(name) => {
                return write!(f, "the grammar name `@{}`", Shortened(name));
            }
            Token::Options(_) => "%llguidance",
            Token::Substring(_) => "%regex",
            Token::Json(_) => "%json",
            Token::Nested => "%lark {",
            Token::Parameter(value) => return write!(f, "`::{value}`"),
            Token::If(_) => "%if",
            directive => {
                let word = DIRECTIVES
                    .iter()
                    .find(|(_, token)| token == directive)
                    .map_or("", |(word, _)| word);
                return write!(f, "`%{word}`");
            }
        };
        write!(f, "`{sign}`")
    }
}

/// The beginning of a text that may be long, for messages.
pub(crate) struct Shortened<'a>(pub(crate) &'a str);

impl fmt::Display for Shortened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 40;
        match self.0.char_indices().nth(MOST) {
            Some((end, _)) => write!(f, "{}...", &self.0[..end]),
            None => f.write_str(self.0),
        }
    }
}

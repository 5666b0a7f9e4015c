//! Syntax trees of regular expressions, over sets of characters. The order in which alternatives
//! are tried has no effect.
//!
//! [`ecma`] is the parser of ECMA-262, with its [`sets`] and [`properties`] of characters. Regexes
//! of Python stay text, because back references need it: the lexer parses them.

pub(crate) mod ecma;
mod properties;
pub(crate) mod sets;

use regex_syntax::hir::ClassUnicode;

/// A regular expression.
#[derive(Clone, Debug)]
pub(crate) enum Regex {
    Set(ClassUnicode),
    Concat(Vec<Regex>),
    Alternation(Vec<Regex>),
    Repeat(Box<Regex>, u32, Option<u32>),
    /// The beginning of the text.
    Start,
    /// The end of the text.
    End,
    /// The beginning or the end of a word of these characters, or any other position if `negated`.
    Boundary {
        word: ClassUnicode,
        negated: bool,
    },
    Look {
        ahead: bool,
        negated: bool,
        inner: Box<Regex>,
    },
}

/// Reason why a regex is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) String);

impl Regex {
    /// Returns the minimum number of characters of the texts.
    fn least_width(&self) -> u64 {
        match self {
            Regex::Set(_) => 1,
            Regex::Concat(parts) => {
                parts.iter().map(Regex::least_width).fold(0, u64::saturating_add)
            }
            Regex::Alternation(parts) => parts.iter().map(Regex::least_width).min().unwrap_or(0),
            Regex::Repeat(inner, min, _) => inner.least_width().saturating_mul(u64::from(*min)),
            Regex::Start | Regex::End | Regex::Boundary { .. } | Regex::Look { .. } => 0,
        }
    }
}

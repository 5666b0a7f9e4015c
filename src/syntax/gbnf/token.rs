//! The words of the notation, between the lexer and the generated parser.

use std::borrow::Cow;
use std::fmt;

use crate::syntax::gbnf::ast::{Attributes, Call, Class, TokenReference};
use crate::syntax::lark::token::Shortened;

/// A word of the notation, with escapes replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token<'input> {
    /// `name ::=`, `name[lazy] ::=`.
    Defined(Cow<'input, str>, Attributes),
    /// A name that is not being defined.
    Name(Cow<'input, str>),
    /// `"text"` or `'text'`.
    Literal(String),
    /// `[a-z]` or `.`.
    Class(Class),
    /// `<[1000]>` or `<think>`, with an optional `!` before it.
    TokenReference(TokenReference),
    /// `Regex("[a-z]+")`.
    Call(Call),
    /// `{2,5}` and its siblings.
    Count { min: u32, max: Option<u32> },
    /// `|`.
    Or,
    /// `?`.
    Question,
    /// `*`.
    Star,
    /// `+`.
    Plus,
    /// `(`.
    LeftParen,
    /// `(=`.
    LeftAssertion,
    /// `)`.
    RightParen,
    /// `;`.
    Semicolon,
}

/// The name in error messages.
impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Token::Defined(name, _) => return write!(f, "the definition of `{}`", Shortened(name)),
            Token::Name(name) => return write!(f, "the name `{}`", Shortened(name)),
            Token::Literal(text) => {
                return write!(f, "the string {:?}", Shortened(text).to_string());
            }
            Token::Class(_) => "a character class",
            Token::TokenReference(_) => "a token",
            Token::Call(_) => "a function",
            Token::Count { .. } => "a count",
            Token::Or => "`|`",
            Token::Question => "`?`",
            Token::Star => "`*`",
            Token::Plus => "`+`",
            Token::LeftParen => "`(`",
            Token::LeftAssertion => "`(=`",
            Token::RightParen => "`)`",
            Token::Semicolon => "`;`",
        })
    }
}

//! The reader of GBNF and its relatives: a lexer by hand in front of a parser that LALRPOP
//! generates.
//!
//! GBNF is llama.cpp's notation. transformers-CFG, SynCode, XGrammar and others have notations that
//! differ from it in details. No text means one thing in one of them and another thing in another,
//! so one reader takes them all:
//!
//! * `#`, `//`, `/* */` and `(* *)` are comments.
//! * A rule begins where a name stands before `::=`, and ends where the next one begins, or with
//!   `;`. So line ends say nothing, and alternatives and sequences may go over any number of lines.
//! * Names are made of letters, digits, `_` and `-`, in any case and order. `<name>` is a name
//!   where a rule of that name is defined between angle brackets; else a token.
//! * Strings stand in `"` or `'`.
//! * `Regex("[a-z]+")` and the like are XGrammar's functions where no rule is called so.
//! * A repetition may be repeated: `(a+)?` is `a+?`, which is not lazy.
//!
//! The generated parser keeps its stack on the heap, and deep groups become rules before it sees
//! them, so that no file can exhaust the stack; all of it is linear in the file.

pub(crate) mod ast;
mod calls;
mod escape;
mod lexer;
mod nesting;
#[cfg(test)]
mod tests;
mod token;

use lalrpop_util::{ParseError, lalrpop_mod};

use crate::syntax::ast::Span;
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::gbnf::ast::File;
use crate::syntax::gbnf::lexer::Lexer;
use crate::syntax::gbnf::nesting::unnested;
use crate::syntax::lark::MAX_BYTES;
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
    "gbnf.rs"
);

/// Reads a file in GBNF or a relative of it. Names are not looked up.
///
/// Fails with the first fault. Linear in the text.
pub(crate) fn parse_gbnf(text: &str) -> Result<File, SyntaxError> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, more than {MAX_BYTES}", text.len());
        return Err(SyntaxError::new(SyntaxErrorKind::TooLarge, 0..0, message));
    }
    let words = unnested(until_fault(Lexer::new(text), Lexer::word));
    generated::FileParser::new().parse(words).map_err(|error| match error {
        ParseError::User { error } => error,
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            unexpected(&token.to_string(), start..end, &expected)
        }
        ParseError::ExtraToken { token: (start, token, end) } => {
            unexpected(&token.to_string(), start..end, &[])
        }
        ParseError::UnrecognizedEof { location, expected } => {
            unexpected("the end of the file", location..location, &expected)
        }
        ParseError::InvalidToken { location } => {
            unexpected("the end of the file", location..location, &[])
        }
    })
}

/// The error for a word that cannot stand where it stands.
fn unexpected(found: &str, span: Span, expected: &[String]) -> SyntaxError {
    // Brackets are the lexer's business: a definition inside of one it refuses.
    let has = |word: &str| expected.iter().any(|name| name.trim_matches('"') == word);
    let (expected, help) = if has("name") {
        (
            "an expression",
            "a repetition stands behind what it repeats: a name, a string, a class or a group",
        )
    } else {
        ("a definition", "a definition is written `name ::= ...`")
    };
    let message = format!("found {found}, expected {expected}");
    SyntaxError::new(SyntaxErrorKind::UnexpectedToken, span, message).help(help)
}

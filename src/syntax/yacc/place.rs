//! Helpers of the readers of rules and of declarations: beginnings of rules, names with their
//! positions, and faults.

use crate::syntax::ast::{Span, Spanned};
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::yacc::lexer::Lexeme;

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// Returns whether a rule begins at `at`: a name, an optional reference, and a colon.
pub(super) fn begins_rule(lexemes: &[(Lexeme<'_>, Span)], at: usize) -> bool {
    let is = |at: usize, wanted: Lexeme<'_>| {
        lexemes.get(at).is_some_and(|(lexeme, _)| *lexeme == wanted)
    };
    is(at + 1, Lexeme::Colon) || is(at + 1, Lexeme::Reference) && is(at + 2, Lexeme::Colon)
}

/// Returns a name with its position.
pub(super) fn named(name: &str, span: &Span) -> Spanned<String> {
    Spanned { node: name.to_string(), span: span.clone() }
}

pub(super) fn fault(span: Span, message: impl Into<String>) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::Yacc, span, message)
}

pub(super) fn misplaced(span: &Span, help: &str) -> SyntaxError {
    fault(span.clone(), "this is not allowed here").help(help)
}

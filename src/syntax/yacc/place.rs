//! Helpers of the readers of rules and of declarations: beginnings of rules, names with their
//! positions, and faults.

use crate::syntax::ast::{Span, Spanned};
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::yacc::lexer::Piece;

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// Returns whether a rule begins at `at`: a name, an optional reference, and a colon.
pub(super) fn begins_rule(pieces: &[(Piece<'_>, Span)], at: usize) -> bool {
    let is =
        |at: usize, wanted: Piece<'_>| pieces.get(at).is_some_and(|(piece, _)| *piece == wanted);
    is(at + 1, Piece::Colon) || is(at + 1, Piece::Reference) && is(at + 2, Piece::Colon)
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

//! What the reader of rules and that of declarations have in common: where rules begin, names with
//! their places, and faults.

use crate::syntax::ast::{Span, Spanned};
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::yacc::lexer::Piece;

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// Whether a rule begins at `at`: a name, maybe that of a reference, and a colon.
pub(super) fn begins_rule(pieces: &[(Piece<'_>, Span)], at: usize) -> bool {
    let is =
        |at: usize, wanted: Piece<'_>| pieces.get(at).is_some_and(|(piece, _)| *piece == wanted);
    is(at + 1, Piece::Colon) || is(at + 1, Piece::Reference) && is(at + 2, Piece::Colon)
}

/// A name and where it stands.
pub(super) fn named(name: &str, span: &Span) -> Spanned<String> {
    Spanned { node: name.to_string(), span: span.clone() }
}

pub(super) fn fault(span: Span, message: impl Into<String>) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::Yacc, span, message)
}

pub(super) fn misplaced(span: &Span, help: &str) -> SyntaxError {
    fault(span.clone(), "this cannot stand here").help(help)
}

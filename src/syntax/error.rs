//! Syntax errors of grammar files: the first fault, as plain data.

use std::fmt;
use std::sync::Arc;

use crate::syntax::ast::Span;
use crate::util::diagnostic::{Diagnostic, Place};

/// The kind of a fault; each has a stable kebab-case name, [`SyntaxErrorKind::code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SyntaxErrorKind {
    /// The file has more bytes or more words than the reader accepts.
    TooLarge,
    /// Brackets are nested too deeply.
    TooDeep,
    /// A character with which no word of the notation begins.
    UnexpectedCharacter,
    /// A word of the notation where another is expected.
    UnexpectedToken,
    /// A string without its closing quotation mark.
    UnterminatedString,
    /// A regex without its closing slash.
    UnterminatedRegex,
    /// An escape in a string that denotes no character.
    BadEscape,
    /// An empty string or regex.
    EmptyLiteral,
    /// A name of mixed case or with too many underscores.
    BadName,
    /// A word after `%` that is not a directive.
    UnknownDirective,
    /// A bracket that is not closed.
    UnclosedBracket,
    /// A closing bracket without an opening one, or with one of another kind.
    UnmatchedBracket,
    /// A number that does not fit.
    BadNumber,
    /// A repetition with a negative count, or with its bounds reversed.
    BadRepetition,
    /// A range of characters whose ends are not single characters in order.
    BadRange,
    /// An import that names no definition.
    BadImport,
    /// A `%lookahead` without a condition, or with more than one word.
    BadLookahead,
    /// A construct of llguidance's dialect that is empty or malformed.
    BadDialect,
    /// A definition, or another item, that is not allowed in this file.
    Misplaced,
    /// A Yacc file that its reader refuses.
    Yacc,
}

impl SyntaxErrorKind {
    /// Returns the kind's stable name, as in [`Diagnostic::code`].
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::TooLarge => "file-too-large",
            Self::TooDeep => "nesting-too-deep",
            Self::UnexpectedCharacter => "unexpected-character",
            Self::UnexpectedToken => "unexpected-token",
            Self::UnterminatedString => "unterminated-string",
            Self::UnterminatedRegex => "unterminated-regex",
            Self::BadEscape => "bad-escape",
            Self::EmptyLiteral => "empty-literal",
            Self::BadName => "bad-name",
            Self::UnknownDirective => "unknown-directive",
            Self::UnclosedBracket => "unclosed-bracket",
            Self::UnmatchedBracket => "unmatched-bracket",
            Self::BadNumber => "bad-number",
            Self::BadRepetition => "bad-repetition",
            Self::BadRange => "bad-range",
            Self::BadImport => "bad-import",
            Self::BadLookahead => "bad-lookahead",
            Self::BadDialect => "bad-dialect",
            Self::Misplaced => "misplaced-item",
            Self::Yacc => "bad-yacc",
        }
    }
}

/// The text to which a span belongs, among those given to a front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SourceText {
    /// The grammar (the only text of a Lark file; the `.y` text of a Yacc grammar).
    Grammar,
    /// The terminal definitions next to a Yacc grammar.
    Terminals,
}

/// The reason why a grammar file could not be read. Only the first fault is kept: later ones are
/// mostly consequences of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: SyntaxErrorKind,
    source: SourceText,
    span: Span,
    message: String,
    help: Option<String>,
    related: Option<(Span, &'static str)>,
}

impl SyntaxError {
    /// Creates a fault at `span` of the grammar. `message` says what was found and what was
    /// expected, in one sentence without a final stop.
    pub(crate) fn new(kind: SyntaxErrorKind, span: Span, message: impl Into<String>) -> Self {
        let (source, message) = (SourceText::Grammar, message.into());
        Self(Box::new(Inner { kind, source, span, message, help: None, related: None }))
    }

    /// Adds a suggestion of what to write instead.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.0.help = Some(text.into());
        self
    }

    /// Adds a second place, with a note on it.
    pub(crate) fn related(mut self, span: Span, text: &'static str) -> Self {
        self.0.related = Some((span, text));
        self
    }

    /// Sets the text to which the spans belong, if it is not the grammar.
    pub(crate) fn within(mut self, source: SourceText) -> Self {
        self.0.source = source;
        self
    }

    /// Returns the kind of the fault.
    #[cfg(test)]
    pub(crate) fn kind(&self) -> SyntaxErrorKind {
        self.0.kind
    }

    /// Returns the text to which the span belongs.
    pub(crate) fn source_text(&self) -> SourceText {
        self.0.source
    }

    /// Returns the bytes at fault.
    #[cfg(test)]
    pub(crate) fn span(&self) -> Span {
        self.0.span.clone()
    }

    /// Returns the error as a diagnostic; `source` is the caller's name for the text that
    /// [`SyntaxError::source_text`] returns, and `text` is that text.
    pub(crate) fn diagnostic(&self, source: &Arc<str>, text: &str) -> Diagnostic {
        let Inner { kind, span, message, help, related, .. } = &*self.0;
        let mut diagnostic = Diagnostic::error(kind.code(), message.clone()).at(Place::new(
            source,
            text,
            span.clone(),
        ));
        if let Some((span, note)) = related {
            diagnostic = diagnostic.related(Place::new(source, text, span.clone()), *note);
        }
        match help {
            Some(help) => diagnostic.help(help.clone()),
            None => diagnostic,
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match &self.0.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SyntaxError {}

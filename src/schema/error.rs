//! Errors for schemas that are refused.

use std::error::Error;
use std::fmt;

use crate::util::diagnostic::{Cause, Diagnostic, Place};
use crate::util::meter::LimitReached;

/// Kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaErrorKind {
    /// The text is not JSON, or an object in it contains a key twice.
    InvalidJson,
    /// The JSON is not a schema: a keyword has a value that its draft does not allow.
    InvalidSchema,
    /// A `$ref` does not lead to a schema in the given documents.
    UnresolvedReference,
    /// Schemas refer to one another about the same value in an endless cycle.
    ReferenceCycle,
    /// No value satisfies the schema.
    Unsatisfiable,
    /// The keyword is known but not supported.
    UnsupportedKeyword,
    /// The regular expression is not valid in ECMA-262, or its language is not regular.
    UnsupportedPattern,
    /// The format is unknown and the options ask for strict formats.
    UnknownFormat,
    /// The schema exceeds a limit.
    TooLarge,
}

impl SchemaErrorKind {
    /// Returns the stable name used in diagnostics.
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidJson => "schema-json",
            Self::InvalidSchema => "schema-invalid",
            Self::UnresolvedReference => "schema-reference",
            Self::ReferenceCycle => "schema-cycle",
            Self::Unsatisfiable => "schema-unsatisfiable",
            Self::UnsupportedKeyword => "schema-keyword",
            Self::UnsupportedPattern => "schema-pattern",
            Self::UnknownFormat => "schema-format",
            Self::TooLarge => "schema-too-large",
        }
    }
}

/// Reason why a schema was refused, with its location and advice.
#[derive(Clone, PartialEq, Eq)]
pub struct SchemaError(Box<Inner>);

/// Boxed, so that `Result`s stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: SchemaErrorKind,
    message: String,
    pointer: String,
    place: Option<Place>,
    example: Option<String>,
    help: Option<String>,
    limit: Option<LimitReached>,
}

impl SchemaError {
    pub(super) fn new(kind: SchemaErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Inner {
            kind,
            message,
            pointer: String::new(),
            place: None,
            example: None,
            help: None,
            limit: None,
        }))
    }

    /// Sets the location, unless it is known already.
    pub(super) fn at(mut self, pointer: String, place: Place) -> Self {
        if self.0.place.is_none() {
            self.0.pointer = pointer;
            self.0.place = Some(place);
        }
        self
    }

    /// Adds an example.
    pub(super) fn example(mut self, text: impl Into<String>) -> Self {
        self.0.example = Some(text.into());
        self
    }

    /// Adds advice on how to write the schema instead.
    pub(super) fn help(mut self, text: impl Into<String>) -> Self {
        self.0.help = Some(text.into());
        self
    }

    /// Records the limit of building that was reached.
    pub(super) fn beyond(mut self, limit: LimitReached) -> Self {
        self.0.limit = Some(limit);
        self
    }

    /// Returns the limit of building that was reached, if that is the reason.
    pub fn limit(&self) -> Option<&LimitReached> {
        self.0.limit.as_ref()
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> SchemaErrorKind {
        self.0.kind
    }

    /// Returns the JSON pointer to the faulty value, from the root of its document; empty for the
    /// document itself.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// Returns the error as a [`Diagnostic`], with its location.
    pub fn diagnostic(&self) -> Diagnostic {
        let inner = &*self.0;
        let message = match inner.pointer.is_empty() {
            true => inner.message.clone(),
            false => format!("{} (at #{})", inner.message, inner.pointer),
        };
        let mut diagnostic = Diagnostic::error(inner.kind.code(), message).at(inner.place.clone());
        diagnostic.example.clone_from(&inner.example);
        diagnostic.help.clone_from(&inner.help);
        diagnostic.cause = inner.limit.clone().map(Cause::Limit);
        diagnostic
    }
}

impl From<LimitReached> for SchemaError {
    fn from(limit: LimitReached) -> Self {
        let mut error = Self::new(SchemaErrorKind::TooLarge, limit.to_string()).help(limit.help());
        error.0.limit = Some(limit);
        error
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostic().fmt(f)
    }
}

/// Same as `Display`, because `main` prints the error that it returns with `Debug`.
impl fmt::Debug for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for SchemaError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.limit().map(|limit| limit as _)
    }
}

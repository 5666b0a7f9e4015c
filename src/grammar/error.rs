//! Errors of grammars that are rejected.

use std::error::Error;
use std::fmt;

use crate::util::diagnostic::{self, Cause, Diagnostic, Severity};
use crate::util::meter::LimitReached;

/// Cause that ended the reading or the compiling of a grammar, for programs that must distinguish
/// the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrammarErrorKind {
    /// The grammar itself: its text, its structure, or a token that it names and the vocabulary
    /// lacks. The [codes](Diagnostic::code) of the findings say more.
    Grammar,
    /// A limit was reached, or the work was cancelled: [`GrammarError::limit`] says which.
    Limit,
    /// An imported file exists, but cannot be read.
    Import,
}

/// Error of a grammar that is rejected when it is read or compiled: one or more [`Diagnostic`]s,
/// each with its place, an example, and a suggestion.
///
/// Its [source](Error::source) is the [`LimitReached`], or the [`std::io::Error`] of an import.
#[derive(Clone, PartialEq, Eq)]
pub struct GrammarError {
    diagnostics: Vec<Diagnostic>,
}

impl GrammarError {
    /// An error made of `diagnostics`, at least one of which is an error.
    pub(crate) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        debug_assert!(diagnostics.iter().any(|d| d.severity == Severity::Error));
        Self { diagnostics }
    }

    /// Creates an error of `errors` and the known warnings, which may include the cause.
    pub(crate) fn beside(mut errors: Vec<Diagnostic>, warnings: Vec<Diagnostic>) -> Self {
        errors.extend(warnings);
        Self::new(diagnostic::fold(errors))
    }

    /// Returns the findings, errors and warnings: those of reading in the order of the file, those
    /// of compiling with errors first.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the cause that ended the work.
    pub fn kind(&self) -> GrammarErrorKind {
        match self.cause() {
            Some(Cause::Limit(_)) => GrammarErrorKind::Limit,
            Some(Cause::Import(_)) => GrammarErrorKind::Import,
            None => GrammarErrorKind::Grammar,
        }
    }

    /// Returns the limit at which the work stopped, if that is the reason.
    pub fn limit(&self) -> Option<&LimitReached> {
        self.diagnostics.iter().find_map(Diagnostic::limit)
    }

    /// Returns the approximate number of heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let of = |finding: &Diagnostic| {
            500 + finding.message.len() + text(&finding.example) + text(&finding.help)
        };
        self.diagnostics.iter().map(of).sum()
    }

    fn cause(&self) -> Option<&Cause> {
        self.diagnostics.iter().find_map(|finding| finding.cause.as_ref())
    }
}

impl From<Diagnostic> for GrammarError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::new(vec![diagnostic])
    }
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        diagnostic::fmt_all(&self.diagnostics, f)
    }
}

/// Formats as `Display` does, since `main` prints a returned error with `Debug`.
impl fmt::Debug for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for GrammarError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause().map(Cause::error)
    }
}

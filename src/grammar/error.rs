//! Why a grammar was refused.

use std::error::Error;
use std::fmt;

use crate::util::diagnostic::{self, Cause, Diagnostic, Severity};
use crate::util::meter::LimitReached;

/// What ended the reading or the compiling of a grammar, for programs that must tell the cases
/// apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrammarErrorKind {
    /// The grammar itself: its text, its shape, or a token that it names and the vocabulary lacks.
    /// The [codes](Diagnostic::code) of the findings say more.
    Grammar,
    /// A limit was reached, or the work was cancelled: [`GrammarError::limit`] says which.
    Limit,
    /// A file that the grammar imports is there, but cannot be read.
    Import,
}

/// Why a grammar was refused, when it was read or when it was compiled: one [`Diagnostic`] or more,
/// each with its place, an example, and what to write instead.
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

    /// The error of `errors`, with what is known beside them: the cause may be among it.
    pub(crate) fn beside(mut errors: Vec<Diagnostic>, warnings: Vec<Diagnostic>) -> Self {
        errors.extend(warnings);
        Self::new(diagnostic::fold(errors))
    }

    /// The findings, errors and warnings: in the order of the file where reading found them, errors
    /// first where compiling did.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// What ended the work.
    pub fn kind(&self) -> GrammarErrorKind {
        match self.cause() {
            Some(Cause::Limit(_)) => GrammarErrorKind::Limit,
            Some(Cause::Import(_)) => GrammarErrorKind::Import,
            None => GrammarErrorKind::Grammar,
        }
    }

    /// The limit at which the work stopped, if that is the reason.
    pub fn limit(&self) -> Option<&LimitReached> {
        self.diagnostics.iter().find_map(Diagnostic::limit)
    }

    /// Heap bytes, about.
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

/// As it is displayed: `main` prints the error that it returns so.
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

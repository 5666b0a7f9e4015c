//! Why a grammar cannot be used, though it could be read.

use std::fmt;

use crate::util::diagnostic::{self, Diagnostic, Severity};
use crate::util::meter::LimitReached;

/// Why no constraint could be built: one [`Diagnostic`] or more, each with an example and what to
/// write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    diagnostics: Vec<Diagnostic>,
}

impl BuildError {
    /// An error of these findings, at least one of which is an error.
    pub(super) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        debug_assert!(diagnostics.iter().any(|d| d.severity == Severity::Error));
        Self { diagnostics }
    }

    /// The error of `errors`, with what is known beside them: the cause may be among it.
    pub(super) fn beside(mut errors: Vec<Diagnostic>, warnings: Vec<Diagnostic>) -> Self {
        errors.extend(warnings);
        Self::new(diagnostic::fold(errors))
    }

    /// The error of these findings, some of which are errors.
    pub(super) fn errors_first(mut diagnostics: Vec<Diagnostic>) -> Self {
        diagnostics.sort_by_key(|diagnostic| diagnostic.severity != Severity::Error);
        Self::new(diagnostics)
    }

    /// The limit at which building stopped, if that is the reason.
    pub fn limit(&self) -> Option<&LimitReached> {
        self.diagnostics.iter().find_map(|finding| finding.limit.as_ref())
    }

    /// Heap bytes, about.
    pub(super) fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let of =
            |finding: &Diagnostic| 500 + finding.message.len() + text(&finding.example) + text(&finding.help);
        self.diagnostics.iter().map(of).sum()
    }

    /// The findings, errors and warnings. An error comes first.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        diagnostic::fmt_all(&self.diagnostics, f)
    }
}

impl std::error::Error for BuildError {}

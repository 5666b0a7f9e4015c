//! Why a grammar was refused.

use std::fmt;

use crate::util::diagnostic::{self, Diagnostic};
use crate::util::meter::LimitReached;

/// Why a grammar file was refused: one [`Diagnostic`] or more, each with its place and what to
/// write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrammarError {
    diagnostics: Vec<Diagnostic>,
}

impl GrammarError {
    /// An error made of `diagnostics`, at least one of which is an error.
    pub(crate) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics }
    }

    /// The findings, errors and warnings, in the order of the file where they have a place.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl GrammarError {
    /// The limit at which reading stopped, if that is the reason.
    pub fn limit(&self) -> Option<&LimitReached> {
        self.diagnostics.iter().find_map(|finding| finding.limit.as_ref())
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

impl std::error::Error for GrammarError {}

//! The error of building a constraint from the text of its grammar.

use std::fmt;

use crate::grammar::GrammarError;
use crate::schema::SchemaError;
use crate::util::diagnostic::Diagnostic;
use crate::util::meter::LimitReached;

/// The reason why no constraint was built: the grammar or the schema was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The grammar, or the grammar derived from a schema, was refused when it was compiled.
    Grammar(GrammarError),
    /// The schema was refused when it was read.
    Schema(SchemaError),
}

impl BuildError {
    /// Returns the findings, errors and warnings, each with its position.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            Self::Grammar(error) => error.diagnostics().to_vec(),
            Self::Schema(error) => vec![error.diagnostic()],
        }
    }

    /// Returns the approximate number of heap bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Grammar(error) => error.bytes(),
            Self::Schema(error) => GrammarError::new(vec![error.diagnostic()]).bytes(),
        }
    }

    /// Returns the limit at which the work stopped, if that is the reason.
    pub fn limit(&self) -> Option<&LimitReached> {
        match self {
            Self::Grammar(error) => error.limit(),
            Self::Schema(error) => error.limit(),
        }
    }
}

impl From<GrammarError> for BuildError {
    fn from(error: GrammarError) -> Self {
        Self::Grammar(error)
    }
}

impl From<SchemaError> for BuildError {
    fn from(error: SchemaError) -> Self {
        Self::Schema(error)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grammar(error) => error.fmt(f),
            Self::Schema(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Grammar(error) => Some(error),
            Self::Schema(error) => Some(error),
        }
    }
}

//! Why a grammar that is read from its text became no constraint.

use std::fmt;

use crate::grammar::GrammarError;
use crate::schema::SchemaError;
use crate::util::diagnostic::Diagnostic;
use crate::util::meter::LimitReached;

/// Why there is no constraint: the grammar was refused, or the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The grammar was refused; or that of a schema, when it was compiled.
    Grammar(GrammarError),
    /// The schema was refused, when it was read.
    Schema(SchemaError),
}

impl BuildError {
    /// The findings, errors and warnings, each with its place.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            Self::Grammar(error) => error.diagnostics().to_vec(),
            Self::Schema(error) => vec![error.diagnostic()],
        }
    }

    /// Heap bytes, about.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Grammar(error) => error.bytes(),
            Self::Schema(error) => GrammarError::new(vec![error.diagnostic()]).bytes(),
        }
    }

    /// The limit at which the work stopped, if that is the reason.
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

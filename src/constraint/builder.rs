//! How constraints are built and loaded within limits, said once.

use std::fmt;

use super::{CompiledGrammar, Constraint, LoadError};
use crate::grammar::{Grammar, GrammarError, GrammarReader};
use crate::schema::{SchemaError, SchemaOptions};
use crate::util::diagnostic::Diagnostic;
use crate::util::limits::Limits;
use crate::util::meter::LimitReached;
use crate::vocab::Vocabulary;

/// Builds and loads constraints and compiled grammars within [`Limits`].
///
/// What needs no limits of its own is a function of [`Constraint`] and of [`CompiledGrammar`]:
/// [`Constraint::new`] and the like, with the default limits.
///
/// ```
/// use lrmask::{Constraint, GrammarReader, Limits, Vocabulary};
///
/// let limits = Limits::strict().build_bytes(64 << 20);
/// let grammar = GrammarReader::new().limits(&limits).lark("start: \"a\"+")?;
/// let builder = Constraint::builder().limits(&limits);
/// let constraint = builder.build(&grammar, &Vocabulary::single_bytes())?;
/// assert!(constraint.matcher().allows(u32::from(b'a')));
/// # Ok::<(), lrmask::GrammarError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConstraintBuilder {
    pub(super) limits: Limits,
}

/// Why there is no constraint: the grammar was refused, or the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The grammar was refused; or that of a schema, when it was compiled.
    Grammar(GrammarError),
    /// The schema was refused, when it was read.
    Schema(SchemaError),
}

impl ConstraintBuilder {
    /// The limits of building; they hold for what is built as well ([`Limits::mask_steps`],
    /// [`Limits::index_bytes`] and others). What reading a grammar took counts as spent.
    #[must_use]
    pub fn limits(mut self, limits: &Limits) -> Self {
        self.limits = limits.clone();
        self
    }

    /// Compiles a grammar: see [`CompiledGrammar::new`].
    ///
    /// # Errors
    ///
    /// As [`CompiledGrammar::new`].
    pub fn compile(&self, grammar: &Grammar) -> Result<CompiledGrammar, GrammarError> {
        CompiledGrammar::compile(grammar, &self.limits)
    }

    /// The constraint that `grammar` puts on `vocabulary`: see [`Constraint::new`].
    ///
    /// # Errors
    ///
    /// As [`Constraint::new`].
    pub fn build(
        &self,
        grammar: &Grammar,
        vocabulary: &Vocabulary,
    ) -> Result<Constraint, GrammarError> {
        self.compile(grammar)?.constraint(vocabulary)
    }

    /// The constraint that the JSON Schema in `text` puts on `vocabulary`: see
    /// [`Constraint::from_schema`].
    ///
    /// # Errors
    ///
    /// As [`Constraint::from_schema`].
    pub fn schema(
        &self,
        text: &str,
        options: &SchemaOptions,
        vocabulary: &Vocabulary,
    ) -> Result<Constraint, BuildError> {
        let schema = GrammarReader::new().limits(&self.limits).json_schema(text, options)?;
        Ok(self.build(&schema.grammar(), vocabulary)?)
    }

    /// Loads a constraint: see [`Constraint::load`].
    ///
    /// # Errors
    ///
    /// As [`Constraint::load`], and when what is loaded would take more than
    /// [`Limits::build_bytes`].
    pub fn load(
        &self,
        saved: impl AsRef<[u8]> + Send + Sync + 'static,
        vocabulary: &Vocabulary,
    ) -> Result<Constraint, LoadError> {
        Constraint::loaded(saved, vocabulary, &self.limits)
    }

    /// Loads a compiled grammar: see [`CompiledGrammar::load`].
    ///
    /// # Errors
    ///
    /// As [`CompiledGrammar::load`], and when what is loaded would take more than
    /// [`Limits::build_bytes`].
    pub fn load_compiled(&self, bytes: &[u8]) -> Result<CompiledGrammar, LoadError> {
        CompiledGrammar::loaded(bytes, &self.limits)
    }
}

impl BuildError {
    /// The findings, errors and warnings, each with its place.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            Self::Grammar(error) => error.diagnostics().to_vec(),
            Self::Schema(error) => vec![error.diagnostic()],
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

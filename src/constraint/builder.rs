//! The builder that builds and loads constraints within limits.

use super::build_error::BuildError;
use super::{CompiledGrammar, Constraint, LoadError, Source};
use crate::grammar::{Grammar, GrammarError};
use crate::util::limits::Limits;
use crate::vocab::Vocabulary;

/// Builds and loads constraints and compiled grammars within [`Limits`].
///
/// With the default limits, use the functions of [`Constraint`] and [`CompiledGrammar`] instead,
/// such as [`Constraint::new`].
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

impl ConstraintBuilder {
    /// Sets the limits of building; they apply to the built constraint as well
    /// ([`Limits::mask_steps`], [`Limits::index_bytes`] and others). The cost of reading a grammar
    /// counts towards them.
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

    /// Builds the constraint of `grammar` for `vocabulary`: see [`Constraint::new`].
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

    /// Reads a grammar from its text and builds its constraint for `vocabulary`.
    ///
    /// # Errors
    ///
    /// As [`Source::grammar`] and [`Constraint::new`].
    pub fn read(&self, source: &Source, vocabulary: &Vocabulary) -> Result<Constraint, BuildError> {
        Ok(self.build(&source.grammar(&self.limits)?, vocabulary)?)
    }

    /// Loads a constraint: see [`Constraint::load`].
    ///
    /// # Errors
    ///
    /// As [`Constraint::load`].
    pub fn load(
        &self,
        saved: impl AsRef<[u8]>,
        vocabulary: &Vocabulary,
    ) -> Result<Constraint, LoadError> {
        Constraint::loaded(saved.as_ref(), vocabulary, &self.limits)
    }

    /// Loads a compiled grammar: see [`CompiledGrammar::load`].
    ///
    /// # Errors
    ///
    /// As [`CompiledGrammar::load`].
    pub fn load_compiled(&self, saved: impl AsRef<[u8]>) -> Result<CompiledGrammar, LoadError> {
        CompiledGrammar::loaded(saved.as_ref(), &self.limits)
    }
}

//! The builder that builds and loads constraints within limits.

use super::build_error::BuildError;
use super::ignored::{Ignored, IgnoredText};
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
    ignored: IgnoredText,
    /// Whether schemas are read with the bounds for models.
    bounds_schemas: bool,
}

/// Upper bound on the characters of a run of ignored text, for models.
const RUN_FOR_MODELS: u32 = 64;

impl ConstraintBuilder {
    /// Sets the limits of building; they apply to the built constraint as well
    /// ([`Limits::mask_steps`], [`Limits::index_bytes`] and others). The cost of reading a grammar
    /// counts towards them.
    #[must_use]
    pub fn limits(mut self, limits: &Limits) -> Self {
        self.limits = limits.clone();
        self
    }

    /// Sets which ignored text is allowed. Ignored text that is not allowed still ends lexemes, so
    /// the language only becomes smaller: `--` does not become two minus signs where it begins a
    /// comment.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Ignored, Vocabulary};
    ///
    /// let lark = "start: A (\"-\" A)*\nA: /[a-z]+/\n%ignore / +/\n%ignore /--[^\\n]*/";
    /// let grammar = Grammar::from_lark(lark)?;
    /// let builder = Constraint::builder().ignored(Ignored::Blanks).ignored_run(2);
    /// let mut matcher = builder.build(&grammar, &Vocabulary::single_bytes())?.matcher();
    /// assert!(matcher.advance_bytes(b"a -  b").is_ok());
    /// assert!(matcher.advance_bytes(b" --").is_err() && matcher.advance_bytes(b"   ").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ignored(mut self, kinds: Ignored) -> Self {
        self.ignored.kinds = kinds;
        self
    }

    /// Bounds each run of ignored text, between two lexemes that are not ignored, to this many
    /// characters. If other terminals may begin like ignored text, each ignored lexeme is bounded
    /// instead, with the warning `ignored-run`. No effect on grammars with `%indent`.
    ///
    /// Costs an automaton of the states of ignored text, times this number.
    #[must_use]
    pub fn ignored_run(mut self, characters: u32) -> Self {
        self.ignored.run = Some(characters);
        self
    }

    /// Sets what keeps a model from writing for ever where the grammar would let it: no comments
    /// ([`Ignored::Blanks`]), at most 64 characters of ignored text in a row
    /// ([`ConstraintBuilder::ignored_run`]), and the bounds of
    /// [`SchemaOptions::for_models`](crate::SchemaOptions::for_models) for schemas that
    /// [`ConstraintBuilder::read`] reads. All of these are off by default, since they narrow the
    /// language.
    #[must_use]
    pub fn for_models(mut self) -> Self {
        self.bounds_schemas = true;
        self.ignored(Ignored::Blanks).ignored_run(RUN_FOR_MODELS)
    }

    /// Compiles a grammar: see [`CompiledGrammar::new`].
    ///
    /// # Errors
    ///
    /// As [`CompiledGrammar::new`].
    pub fn compile(&self, grammar: &Grammar) -> Result<CompiledGrammar, GrammarError> {
        let restricted = self.ignored.restrict(grammar, &self.limits)?;
        CompiledGrammar::compile(restricted.as_ref().unwrap_or(grammar), &self.limits)
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
        let grammar = match self.bounds_schemas {
            true => source.for_models().grammar(&self.limits)?,
            false => source.grammar(&self.limits)?,
        };
        Ok(self.build(&grammar, vocabulary)?)
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

//! The façade: a grammar and a vocabulary become a constraint.

mod build_error;
mod builder;
mod cache;
mod compiled;
mod disjoint;
mod empty;
mod explore;
mod lexemes;
mod saved;
mod source;
#[cfg(test)]
mod tests;
mod texts;
mod tokens;
mod warm;

use std::fmt;
use std::sync::Arc;

use crate::grammar::{Grammar, GrammarError};
use crate::index::Index;
use crate::matcher::{Matcher, TokenMask};
use crate::schema::SchemaOptions;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::TokenId;
use crate::vocab::{Vocabulary, VocabularyError};

pub use crate::index::IndexSize;
pub use build_error::BuildError;
pub use builder::ConstraintBuilder;
pub use cache::ConstraintCache;
pub use compiled::{CompiledGrammar, GrammarSize, Stage};
pub use saved::{LoadError, is_saved};
pub use source::Source;
pub use warm::Warmup;

/// A grammar and a vocabulary, ready to constrain any number of sequences in any number of threads.
///
/// Cloning shares. What is computed for one sequence serves all.
#[derive(Clone)]
pub struct Constraint {
    compiled: CompiledGrammar,
    index: Arc<Index>,
    warnings: Vec<Diagnostic>,
}

impl Constraint {
    /// The constraint that `grammar` puts on `vocabulary`, with the default [`Limits`].
    ///
    /// Costs the grammar's tables and scanners, milliseconds for a programming language; nothing
    /// that grows with the vocabulary.
    ///
    /// # Errors
    ///
    /// When the engine cannot do the grammar exactly, a limit is exceeded, or the vocabulary lacks
    /// a token that the grammar names: the error says where and what to write instead.
    ///
    /// [`Limits`]: crate::Limits
    pub fn new(grammar: &Grammar, vocabulary: &Vocabulary) -> Result<Self, GrammarError> {
        Self::builder().build(grammar, vocabulary)
    }

    /// What builds and loads constraints within other limits than the default ones.
    pub fn builder() -> ConstraintBuilder {
        ConstraintBuilder::default()
    }

    /// The constraint that a JSON schema puts on `vocabulary`, with the default [`Limits`].
    ///
    /// # Errors
    ///
    /// As [`JsonSchema::parse`](crate::JsonSchema::parse), with the kind and the pointer of what is
    /// at fault, and as [`Constraint::new`].
    ///
    /// ```
    /// use lrmask::{BuildError, Constraint, SchemaErrorKind, SchemaOptions, Vocabulary};
    ///
    /// let text = r#"{"properties": {"a": {"minLength": "b"}}}"#;
    /// let options = SchemaOptions::default();
    /// let refused = Constraint::from_schema(text, &options, &Vocabulary::single_bytes());
    /// let Err(BuildError::Schema(error)) = refused else { panic!("it is no length") };
    /// assert_eq!(error.kind(), SchemaErrorKind::InvalidSchema);
    /// assert_eq!(error.pointer(), "/properties/a/minLength");
    /// ```
    ///
    /// [`Limits`]: crate::Limits
    pub fn from_schema(
        text: &str,
        options: &SchemaOptions,
        vocabulary: &Vocabulary,
    ) -> Result<Self, BuildError> {
        Self::builder().read(&Source::json_schema(text, options), vocabulary)
    }

    /// How many questions whether a text can be completed took more than
    /// [`Limits::decision_steps`], or came after [`Limits::mask_steps`]; and how often rules that
    /// derive nothing were not followed in all their ways. Each counts as a no: as long as this is
    /// 0 masks are exact, and else some may be too narrow. None is ever too wide.
    ///
    /// [`Limits::decision_steps`]: crate::Limits::decision_steps
    /// [`Limits::mask_steps`]: crate::Limits::mask_steps
    pub fn undecided(&self) -> usize {
        self.compiled.undecided()
    }

    /// A matcher for one sequence.
    pub fn matcher(&self) -> Matcher {
        Matcher::new(self.index.clone())
    }

    /// A matcher whose text ends by these tokens, in place of the vocabulary's stop tokens. There
    /// may be none. What is computed is shared with all other matchers. A mask costs a step more
    /// for each stop token.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["a", "", ""])?.with_stop_tokens([1])?;
    /// let constraint = Constraint::new(&Grammar::from_lark("start: \"a\"*")?, &vocabulary)?;
    /// let matcher = constraint.matcher_with_stops([2])?;
    /// assert!(matcher.allows(0) && !matcher.allows(1) && matcher.allows(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A stop token that is not below the width.
    pub fn matcher_with_stops(
        &self,
        stops: impl IntoIterator<Item: Into<TokenId>>,
    ) -> Result<Matcher, VocabularyError> {
        let stops: Arc<[TokenId]> = stops.into_iter().map(Into::into).collect();
        self.vocabulary().check_stops(&stops)?;
        Ok(self.matcher().with_stops(stops))
    }

    /// A mask of the right width, to be filled again and again.
    pub fn new_mask(&self) -> TokenMask {
        TokenMask::new(self.index.vocabulary().width())
    }

    /// The compiled grammar, which can be joined with other vocabularies.
    pub fn compiled(&self) -> &CompiledGrammar {
        &self.compiled
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        self.index.vocabulary()
    }

    /// What the grammar's author should know, and what of the grammar the vocabulary cannot spell.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Heap bytes of the compiled grammar, of the index as large as it has become, and of what the
    /// scanner has met; without the vocabulary, which is the caller's.
    pub fn bytes(&self) -> usize {
        let size = self.index.size();
        self.compiled.bytes() + size.bytes + size.scanner_bytes
    }

    /// Whether texts have led the scanner to more than [`Limits::index_bytes`] of scan states and
    /// the like. These have numbers that sequences hold, so they cannot be dropped one by one. A
    /// constraint that is outgrown works as before, and grows on: use a new one for new sequences,
    /// as [`ConstraintCache`] does. Few grammars ever come to that, those in which longer matches
    /// stay pending in ever new combinations. Costs some loads.
    ///
    /// [`Limits::index_bytes`]: crate::Limits::index_bytes
    pub fn is_outgrown(&self) -> bool {
        let limit = self.compiled.limits.index_bytes.saturating_add(self.compiled.bytes());
        self.compiled.scanner.met_bytes() > limit
    }

    /// How large the index has become.
    pub fn index_size(&self) -> IndexSize {
        self.index.size()
    }
}

impl fmt::Debug for Constraint {
    /// Sizes; the tables would be a hundred thousand lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constraint")
            .field("compiled", &self.compiled)
            .field("vocabulary", self.vocabulary())
            .finish_non_exhaustive()
    }
}

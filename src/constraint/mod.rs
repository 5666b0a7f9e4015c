//! The façade: combines a grammar and a vocabulary into a constraint.

mod build_error;
mod builder;
mod cache;
mod compiled;
mod disjoint;
mod empty;
mod explore;
mod ignored;
mod lexemes;
mod saved;
mod source;
#[cfg(test)]
mod tests;
mod texts;
mod tokens;
mod trace;
mod warm;

use std::fmt;
use std::sync::Arc;

use crate::grammar::pattern::Pattern;
use crate::grammar::{Grammar, GrammarError};
use crate::index::Index;
use crate::matcher::{Listener, Matcher, TokenMask};
use crate::schema::SchemaOptions;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::TokenId;
use crate::vocab::{CanonicalError, CanonicalTokens, Vocabulary, VocabularyError};

pub use crate::index::IndexSize;
pub use build_error::BuildError;
pub use builder::ConstraintBuilder;
pub use cache::ConstraintCache;
pub use compiled::{CompiledGrammar, GrammarSize, Stage};
pub use ignored::Ignored;
pub use saved::{LoadError, is_saved};
pub use source::Source;
pub use trace::{Trace, TracedToken};
pub use warm::Warmup;

/// A grammar and a vocabulary, ready to constrain any number of sequences in any number of threads.
///
/// Cloning shares the constraint, and results computed for one sequence are cached for all.
#[derive(Clone)]
pub struct Constraint {
    compiled: CompiledGrammar,
    index: Arc<Index>,
    warnings: Vec<Diagnostic>,
    lookahead: Option<usize>,
    canonical: Option<Arc<CanonicalTokens>>,
}

impl Constraint {
    /// Builds the constraint of `grammar` for `vocabulary`, with the default [`Limits`].
    ///
    /// Costs the grammar's tables and scanners, milliseconds for a programming language; nothing
    /// that grows with the vocabulary.
    ///
    /// # Errors
    ///
    /// If the engine cannot represent the grammar exactly, a limit is exceeded, or the vocabulary
    /// lacks a token that the grammar names. The error gives the position and a replacement.
    ///
    /// [`Limits`]: crate::Limits
    pub fn new(grammar: &Grammar, vocabulary: &Vocabulary) -> Result<Self, GrammarError> {
        Self::builder().build(grammar, vocabulary)
    }

    /// Returns a builder, for limits other than the default ones.
    pub fn builder() -> ConstraintBuilder {
        ConstraintBuilder::default()
    }

    /// Builds the constraint of a JSON schema for `vocabulary`, with the default [`Limits`].
    ///
    /// # Errors
    ///
    /// As [`JsonSchema::parse`](crate::JsonSchema::parse), with the kind of the error and a pointer
    /// to it, and as [`Constraint::new`].
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

    /// Returns the number of questions whether a text can be completed that took more than
    /// [`Limits::decision_steps`] or came after [`Limits::mask_steps`], plus the number of times
    /// that rules deriving the empty text were not followed in all ways. Each counts as a no: masks
    /// are exact while this is 0, and some may be too narrow afterwards. None is ever too wide.
    ///
    /// [`Limits::decision_steps`]: crate::Limits::decision_steps
    /// [`Limits::mask_steps`]: crate::Limits::mask_steps
    pub fn undecided(&self) -> usize {
        self.compiled.undecided()
    }

    /// Creates a matcher for one sequence.
    pub fn matcher(&self) -> Matcher {
        let matcher = Matcher::new(self.index.clone()).with_lookahead(self.lookahead);
        matcher.with_canonical(self.canonical.clone())
    }

    /// Creates a listener for one sequence, which reports rules and terminals that begin and end,
    /// and the parse tree. It reads the text once more than the sequence's matcher does.
    pub fn listener(&self) -> Listener {
        Listener::new(self.index.clone())
    }

    /// Creates a matcher whose text ends with these tokens instead of the vocabulary's stop tokens.
    /// The list may be empty. Computed results are shared with all other matchers. A mask costs one
    /// more step for each stop token.
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
    /// If a stop token is not below the width.
    pub fn matcher_with_stops(
        &self,
        stops: impl IntoIterator<Item: Into<TokenId>>,
    ) -> Result<Matcher, VocabularyError> {
        let stops: Arc<[TokenId]> = stops.into_iter().map(Into::into).collect();
        self.vocabulary().check_stops(&stops)?;
        Ok(self.matcher().with_stops(stops))
    }

    /// Returns this constraint with masks that look only this many terminals ahead: they also
    /// forbid every token within which more lexemes end ([`Matcher::lexemes_ended`]). Both
    /// constraints share one index.
    ///
    /// The masks reproduce maskers with a bounded lookahead, to measure how often these interfere
    /// with a model (DOMINO, section 3.3 and table 4). They are too narrow, and empty where the
    /// vocabulary lacks the tokens of a terminal, or where a budget leaves only tokens that they
    /// forbid. A mask takes milliseconds, because no result is kept. Saving does not keep the
    /// lookahead.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["1", "+", "+1", "1+1"])?;
    /// let grammar = Grammar::from_lark("start: /[0-9]+/ (\"+\" /[0-9]+/)*")?;
    /// let constraint = Constraint::new(&grammar, &vocabulary)?;
    /// let allowed = |lookahead| {
    ///     let mut matcher = constraint.with_lookahead(lookahead).matcher();
    ///     matcher.advance_bytes(b"1").map(|()| {
    ///         (0u32..4).filter(|&token| matcher.allows(token)).collect::<Vec<_>>()
    ///     })
    /// };
    /// assert_eq!(allowed(0)?, [0, 1]);
    /// assert_eq!(allowed(1)?, [0, 1, 2]);
    /// assert_eq!(allowed(2)?, [0, 1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_lookahead(&self, terminals: usize) -> Self {
        Self { lookahead: Some(terminals), ..self.clone() }
    }

    /// Returns this constraint with masks that allow only the tokens that the model's own tokenizer
    /// would make (Koo, section 4.3; Berglund et al. 2024): after each token, some sentence begins
    /// with the text so far, and the tokenizer cuts it into the tokens so far and others. Both
    /// constraints share one index.
    ///
    /// The tokenizer must be a byte-pair encoding whose merges the vocabulary's file has: a
    /// `tokenizer.json`, a SentencePiece or GGUF model, a built-in vocabulary, or with
    /// [`Vocabulary::with_split_pattern`] a tiktoken file and with [`Vocabulary::with_merges`] any.
    ///
    /// Costs up to a second for a large vocabulary, once for it and all its clones, and about 60
    /// bytes for each token. A mask takes some tens of milliseconds. Saving does not keep this.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::builtin("gpt2")?;
    /// let grammar = Grammar::from_lark("start: \"true\" | \"false\"")?;
    /// let constraint = Constraint::new(&grammar, &vocabulary)?.with_canonical_tokens()?;
    /// let mut mask = constraint.new_mask();
    /// constraint.matcher().fill_mask(&mut mask);
    /// let tokens: Vec<_> = mask.tokens().filter_map(|token| vocabulary.bytes(token)).collect();
    /// assert_eq!(tokens, [&b"true"[..], b"false"]); // not "t" or "fal"
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the tokenizer is of another kind, or cannot be followed; if the grammar has lists whose
    /// items must differ, limits the tokens of rules, or allows texts that are not UTF-8; or if no
    /// sentence of it has canonical tokens.
    pub fn with_canonical_tokens(&self) -> Result<Self, CanonicalError> {
        let scanner = &self.compiled.scanner;
        if scanner.lexis().has_distinct() {
            return Err(CanonicalError::DistinctItems);
        }
        if scanner.has_budgets() {
            return Err(CanonicalError::TokenLimits);
        }
        if self
            .compiled
            .grammar
            .terminals
            .iter()
            .any(|terminal| terminal.pattern.as_ref().is_some_and(Pattern::reads_bytes))
        {
            return Err(CanonicalError::NotText);
        }
        let canonical = Some(self.vocabulary().canonical_tokens()?);
        let constraint = Self { canonical, ..self.clone() };
        match constraint.matcher().can_be_canonical() {
            true => Ok(constraint),
            false => Err(CanonicalError::NoSentence),
        }
    }

    /// Creates a mask of the right width, which can be filled repeatedly.
    pub fn new_mask(&self) -> TokenMask {
        TokenMask::new(self.index.vocabulary().width())
    }

    /// Returns the compiled grammar, which can be joined with other vocabularies.
    pub fn compiled(&self) -> &CompiledGrammar {
        &self.compiled
    }

    /// Returns the vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        self.index.vocabulary()
    }

    /// Returns warnings for the grammar's author, including those on parts of the grammar that the
    /// vocabulary cannot spell.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Returns the heap bytes of the compiled grammar, of the index at its current size, and of the
    /// scanner's states; without the vocabulary, which belongs to the caller.
    pub fn bytes(&self) -> usize {
        let size = self.index.size();
        self.compiled.bytes() + size.bytes + size.scanner_bytes
    }

    /// Whether texts have created more than [`Limits::index_bytes`] of scan states and similar
    /// objects. Sequences refer to these by number, so they cannot be dropped one by one. An
    /// outgrown constraint still works, and still grows: use a new one for new sequences, as
    /// [`ConstraintCache`] does. Few grammars reach this limit, those in which longer matches stay
    /// pending in ever new combinations. Costs a few loads.
    ///
    /// [`Limits::index_bytes`]: crate::Limits::index_bytes
    pub fn is_outgrown(&self) -> bool {
        let limit = self.compiled.limits.index_bytes.saturating_add(self.compiled.bytes());
        self.compiled.scanner.met_bytes() > limit
    }

    /// Returns the current size of the index.
    pub fn index_size(&self) -> IndexSize {
        self.index.size()
    }
}

impl fmt::Debug for Constraint {
    /// Writes sizes only; the tables would be a hundred thousand lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constraint")
            .field("compiled", &self.compiled)
            .field("vocabulary", self.vocabulary())
            .finish_non_exhaustive()
    }
}

//! The reason why canonical sequences are not known.

use std::fmt;

/// The reason why masks cannot be limited to the tokens that the model's own tokenizer makes:
/// [`Constraint::with_canonical_tokens`](crate::Constraint::with_canonical_tokens).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CanonicalError {
    /// The tokenizer is of another kind than BPE, with this name.
    NotBpe(String),
    /// The vocabulary was read without merges: a list of tokens, or a `vocab.json`.
    NoMerges,
    /// The vocabulary has merges, but the file does not say how texts are split before.
    NoPattern,
    /// The tokenizer splits or rewrites texts in a way that cannot be followed.
    Step(String),
    /// Items of a list must differ (`uniqueItems`), so the end of a text depends on all of it.
    DistinctItems,
    /// The tokens of some lexemes are limited (`max_tokens` of a rule).
    TokenLimits,
    /// The grammar allows texts that are not UTF-8 (`allow_invalid_utf8`): no tokenizer reads them.
    NotText,
    /// No sentence of the grammar was found that the tokenizer cuts into tokens of the vocabulary.
    NoSentence,
}

impl fmt::Display for CanonicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBpe(kind) => write!(
                f,
                "canonical tokens are known for BPE only, and the tokenizer is a {kind} model; use \
                 the constraint without them"
            ),
            Self::NoMerges => f.write_str(
                "the vocabulary has no merges; read the model's tokenizer.json, or add them with \
                 `Vocabulary::with_merges`",
            ),
            Self::NoPattern => f.write_str(
                "the vocabulary's file does not say how the tokenizer splits texts; set the \
                 pattern with `Vocabulary::with_split_pattern`",
            ),
            Self::Step(what) => write!(
                f,
                "the tokenizer cannot be followed: {what}; use the constraint without canonical \
                 tokens, or set another pattern with `Vocabulary::with_split_pattern`"
            ),
            Self::DistinctItems => f.write_str(
                "canonical tokens cannot be kept where items must differ; remove `uniqueItems`, or \
                 use the constraint without canonical tokens",
            ),
            Self::TokenLimits => f.write_str(
                "canonical tokens cannot be kept where `max_tokens` limits a rule; remove it, or \
                 use the constraint without canonical tokens",
            ),
            Self::NotText => f.write_str(
                "the grammar allows texts that are not UTF-8, and tokenizers read only text; \
                 remove `allow_invalid_utf8`, or use the constraint without canonical tokens",
            ),
            Self::NoSentence => f.write_str(
                "no sentence of the grammar was found that the tokenizer cuts into tokens of the \
                 vocabulary; check with `lrmask check` what the vocabulary cannot spell",
            ),
        }
    }
}

impl std::error::Error for CanonicalError {}

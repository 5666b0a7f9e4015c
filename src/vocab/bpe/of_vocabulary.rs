//! The byte-pair encoding of a vocabulary.

use std::sync::Arc;

use super::{
    Bpe, CanonicalError, CanonicalTokens, Letters, Merge, ONE_PIECE, Ranks, Tables, Tokenizer,
};
use crate::vocab::Vocabulary;
use crate::vocab::error::{VocabularyError, VocabularyErrorKind};

impl Vocabulary {
    /// Adds the merges of the model's byte-pair encoding, in their order, each as the bytes of its
    /// two parts: a `vocab.json` and a list of tokens have none. Most other readers find them, as
    /// [`Vocabulary::from_tokenizer_json`] does. They are used by
    /// [`Constraint::with_canonical_tokens`](crate::Constraint::with_canonical_tokens) only.
    ///
    /// A text is one piece, unless [`Vocabulary::with_split_pattern`] is called afterwards.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["a", "b", "ab"])?.with_merges([("a", "b")])?;
    /// let grammar = Grammar::from_lark("start: \"ab\"+")?;
    /// let constraint = Constraint::new(&grammar, &vocabulary)?.with_canonical_tokens()?;
    /// assert!(constraint.matcher().allows(2) && !constraint.matcher().allows(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the bytes of the two parts together are no token.
    pub fn with_merges<A: AsRef<[u8]>, B: AsRef<[u8]>>(
        mut self,
        merges: impl IntoIterator<Item = (A, B)>,
    ) -> Result<Self, VocabularyError> {
        let mut list = Vec::new();
        for (rank, (left, right)) in merges.into_iter().enumerate() {
            let (left, right) = (left.as_ref(), right.as_ref());
            let token = self.token(&[left, right].concat()).ok_or_else(|| {
                let (left, right) = (left.escape_ascii(), right.escape_ascii());
                VocabularyError::new(
                    VocabularyErrorKind::Argument,
                    format!("merge {rank} makes \"{left}{right}\", which is no token"),
                )
            })?;
            list.push(Merge { token: token.get(), left: left.len() as u32 });
        }
        let bpe = Bpe::new(Ranks::Merges(list.into()), Letters::Bytes).with_pattern(ONE_PIECE);
        self.tokenizer = bpe.into();
        self.tables = Tables::default();
        Ok(self)
    }

    /// Sets the pattern by which the model's tokenizer splits texts before it merges: a tiktoken
    /// file does not contain it. It is used by
    /// [`Constraint::with_canonical_tokens`](crate::Constraint::with_canonical_tokens) only. No
    /// effect on vocabularies without merges.
    ///
    /// The pattern is a regex of which each alternative may end in a negative look-ahead for a
    /// class of characters: `\s+(?!\S)`. Those of GPT-2, GPT-4 and GPT-4o are
    /// [`Vocabulary::GPT2_PATTERN`], [`Vocabulary::CL100K_PATTERN`] and
    /// [`Vocabulary::O200K_PATTERN`].
    #[must_use]
    pub fn with_split_pattern(mut self, pattern: &str) -> Self {
        if let Tokenizer::Bpe(bpe) = &self.tokenizer {
            self.tokenizer = Bpe::clone(bpe).with_pattern(pattern).into();
            self.tables = Tables::default();
        }
        self
    }

    /// Returns the tables of the canonical sequences, which are computed on first use and shared by
    /// all clones.
    pub(crate) fn canonical_tokens(&self) -> Result<Arc<CanonicalTokens>, CanonicalError> {
        match &self.tokenizer {
            Tokenizer::Unknown(error) => Err(error.clone()),
            Tokenizer::Bpe(bpe) => {
                self.tables.get_or_init(|| CanonicalTokens::new(self, bpe).map(Arc::new)).clone()
            }
        }
    }
}

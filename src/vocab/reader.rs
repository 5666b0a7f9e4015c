//! What reading a vocabulary takes beside its file, said once for all formats.

use super::Vocabulary;
use super::builder::VocabularyBuilder;
use super::error::VocabularyError;
use crate::util::limits::Limits;

/// Reads vocabularies of any format within [`Limits`].
///
/// What takes a file alone is a function of [`Vocabulary`]: [`Vocabulary::from_file_bytes`] and the
/// like, with the default limits.
///
/// ```
/// use lrmask::{Limits, VocabularyErrorKind, VocabularyReader};
///
/// let reader = VocabularyReader::new().limits(&Limits::strict().token_ids(2));
/// assert_eq!(reader.file_bytes(br#"["a", "b"]"#)?.width(), 2);
/// let error = reader.file_bytes(br#"["a", "b", "c"]"#).unwrap_err();
/// assert_eq!(error.kind(), VocabularyErrorKind::Limit);
/// # Ok::<(), lrmask::VocabularyError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct VocabularyReader {
    limits: Limits,
}

impl Vocabulary {
    /// A vocabulary of plain byte strings, as anything that holds bytes; the id of each is its
    /// position, and an empty one is a hole. Costs a copy of the bytes, and the trie: some 50 ms
    /// for 128,000 tokens.
    ///
    /// # Errors
    ///
    /// More tokens or bytes than the default [`Limits`] allow, a token longer than 65,535 bytes, or
    /// no token at all.
    pub fn from_tokens<T: AsRef<[u8]>>(
        tokens: impl IntoIterator<Item = T>,
    ) -> Result<Self, VocabularyError> {
        VocabularyReader::new().tokens(tokens)
    }
}

impl VocabularyReader {
    /// A reader with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// The limits of reading: [`Limits::vocabulary_bytes`], [`Limits::token_bytes`] and
    /// [`Limits::token_ids`].
    #[must_use]
    pub fn limits(mut self, limits: &Limits) -> Self {
        self.limits = limits.clone();
        self
    }

    /// A vocabulary of plain byte strings: see [`Vocabulary::from_tokens`].
    ///
    /// # Errors
    ///
    /// As [`Vocabulary::from_tokens`].
    pub fn tokens<T: AsRef<[u8]>>(
        &self,
        tokens: impl IntoIterator<Item = T>,
    ) -> Result<Vocabulary, VocabularyError> {
        let mut builder = VocabularyBuilder::within(&self.limits);
        for (id, token) in tokens.into_iter().enumerate() {
            builder.widen(id as u64)?;
            builder.token(id as u64, token.as_ref())?;
        }
        builder.finish()
    }

    /// Within what files are read.
    pub(super) fn within(&self) -> &Limits {
        &self.limits
    }
}

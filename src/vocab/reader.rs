//! Reads vocabularies with options common to all formats.

use super::Vocabulary;
use super::builder::VocabularyBuilder;
use super::error::VocabularyError;
use crate::util::limits::Limits;

/// Reads vocabularies of any format within [`Limits`].
///
/// The functions of [`Vocabulary`], such as [`Vocabulary::from_file_bytes`], read a file with the
/// default limits.
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
    /// Creates a vocabulary of byte strings, whose ids are their positions; an empty one is a hole.
    /// Costs a copy of the bytes, and the trie: about 50 ms for 128,000 tokens.
    ///
    /// # Errors
    ///
    /// If there are more tokens or bytes than the default [`Limits`] allow, a token longer than
    /// 65,535 bytes, or no token at all.
    pub fn from_tokens<T: AsRef<[u8]>>(
        tokens: impl IntoIterator<Item = T>,
    ) -> Result<Self, VocabularyError> {
        VocabularyReader::new().tokens(tokens)
    }
}

impl VocabularyReader {
    /// Creates a reader with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits of reading: [`Limits::vocabulary_bytes`], [`Limits::token_bytes`] and
    /// [`Limits::token_ids`].
    #[must_use]
    pub fn limits(mut self, limits: &Limits) -> Self {
        self.limits = limits.clone();
        self
    }

    /// Creates a vocabulary of byte strings: see [`Vocabulary::from_tokens`].
    ///
    /// # Errors
    ///
    /// The same as for [`Vocabulary::from_tokens`].
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

    /// Returns the limits of reading.
    pub(super) fn within(&self) -> &Limits {
        &self.limits
    }
}

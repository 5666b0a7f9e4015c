//! Why a vocabulary could not be made: a kind for programs, a message for people.

use std::fmt;

/// What went wrong, for programs that must tell the cases apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VocabularyErrorKind {
    /// The bytes are of no format that is known.
    UnknownFormat,
    /// The format is known, but the content does not keep to it.
    Malformed,
    /// The file is sound, but what bytes its tokens stand for cannot be known.
    Unsupported,
    /// One id stands for two different tokens.
    DuplicateId,
    /// An id, a length or a count is past its limit.
    Limit,
    /// No built-in vocabulary has this name.
    UnknownName,
    /// An argument does not fit the vocabulary: an id past its width, a width below its ids.
    Argument,
}

/// Why a vocabulary was refused; the message says what was found and what to do.
#[derive(Clone, PartialEq, Eq)]
pub struct VocabularyError {
    kind: VocabularyErrorKind,
    message: String,
}

impl VocabularyError {
    /// An error of the given kind.
    pub(crate) fn new(kind: VocabularyErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The file does not keep to its format.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(VocabularyErrorKind::Malformed, message)
    }

    /// The bytes of the tokens cannot be known.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(VocabularyErrorKind::Unsupported, message)
    }

    /// Something is past its limit.
    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self::new(VocabularyErrorKind::Limit, message)
    }

    /// What went wrong, for programs.
    pub fn kind(&self) -> VocabularyErrorKind {
        self.kind
    }
}

impl fmt::Display for VocabularyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// As it is displayed: `main` prints the error that it returns so.
impl fmt::Debug for VocabularyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for VocabularyError {}

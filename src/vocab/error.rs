//! The reason why a vocabulary could not be built: a kind for programs, a message for people.

use std::fmt;

/// The kind of an error, for programs that must distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VocabularyErrorKind {
    /// The bytes have no known format.
    UnknownFormat,
    /// The format is known, but the content violates it.
    Malformed,
    /// The file is valid, but the bytes of its tokens cannot be determined.
    Unsupported,
    /// One id is used for two different tokens.
    DuplicateId,
    /// An id, a length or a count exceeds its limit.
    Limit,
    /// No built-in vocabulary has this name.
    UnknownName,
    /// An argument does not fit the vocabulary: an id not below its width, a width too small for
    /// its ids.
    Argument,
}

/// The error of a refused vocabulary; the message states the problem and the remedy.
#[derive(Clone, PartialEq, Eq)]
pub struct VocabularyError {
    kind: VocabularyErrorKind,
    message: String,
}

impl VocabularyError {
    /// Creates an error of the given kind.
    pub(crate) fn new(kind: VocabularyErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Creates an error for a file that violates its format.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(VocabularyErrorKind::Malformed, message)
    }

    /// Creates an error for tokens whose bytes cannot be determined.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(VocabularyErrorKind::Unsupported, message)
    }

    /// Creates an error for an exceeded limit.
    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self::new(VocabularyErrorKind::Limit, message)
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> VocabularyErrorKind {
        self.kind
    }
}

impl fmt::Display for VocabularyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Same as `Display`, because `main` prints a returned error with `Debug`.
impl fmt::Debug for VocabularyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for VocabularyError {}

//! Why saved bytes were not loaded.

use std::fmt;

use crate::util::saving::Malformed;

/// What is wrong with saved bytes, for programs that must tell the cases apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// The bytes are of something else.
    NotSaved,
    /// They were saved by another version of this crate.
    Version,
    /// They are cut off, or some byte is not what was saved.
    Damaged,
    /// They were saved with another vocabulary.
    OtherVocabulary,
    /// They hold a grammar without a vocabulary: load it as a
    /// [`CompiledGrammar`](crate::CompiledGrammar).
    NoVocabulary,
    /// What is loaded would take more than a limit allows.
    Limit,
    /// Checksum and version are right, but the content is not what this crate writes.
    Malformed,
}

/// Why saved bytes were refused. In any case: compile the grammar again, and save that.
#[derive(Clone, PartialEq, Eq)]
pub struct LoadError {
    kind: LoadErrorKind,
    /// What could not be read, if that is the reason.
    what: Option<&'static str>,
}

impl LoadError {
    pub(super) fn of(kind: LoadErrorKind) -> Self {
        Self { kind, what: None }
    }

    /// What is wrong, for programs.
    pub fn kind(&self) -> LoadErrorKind {
        self.kind
    }
}

impl From<Malformed> for LoadError {
    fn from(malformed: Malformed) -> Self {
        Self { kind: LoadErrorKind::Malformed, what: Some(malformed.what) }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            LoadErrorKind::NotSaved => "these bytes are no saved constraint",
            LoadErrorKind::Version => {
                "this was saved by another version of lrmask; compile the \
                 grammar and save it again"
            }
            LoadErrorKind::Damaged => {
                "this is cut off or damaged; compile the grammar and save \
                 it again"
            }
            LoadErrorKind::OtherVocabulary => {
                "this was saved with another vocabulary (or other special tokens, stop tokens, or \
                 width of the logits); \
                 load it with that one, or build a constraint for this one"
            }
            LoadErrorKind::NoVocabulary => {
                "this is a compiled grammar without a vocabulary; load it as a CompiledGrammar"
            }
            LoadErrorKind::Limit => {
                "this takes more than `build_bytes` or `build_steps` of the limits allow; raise \
                 them"
            }
            LoadErrorKind::Malformed => {
                "this was not written by this version of lrmask, though \
                 it says so"
            }
        })?;
        if let Some(what) = self.what {
            write!(f, ": {what} cannot be read")?;
        }
        Ok(())
    }
}

/// As it is displayed: `main` prints the error that it returns so.
impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LoadError {}

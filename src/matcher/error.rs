//! Why a token or a text was refused, and why rows could not be filled.

use std::fmt;

use crate::util::id::TokenId;

/// Why a token or a text was refused, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AdvanceErrorKind {
    /// No sentence goes on so: [`AdvanceError::accepted_bytes`] says up to where one does.
    Grammar,
    /// The text is no sentence yet, so it may not end here.
    Incomplete,
    /// A stop token was taken before; only stop tokens may follow.
    Finished,
    /// The id is not below the width of the logits.
    Width,
    /// The id has no bytes, and the grammar does not name it: a special token, a hole or padding.
    NoText,
    /// Whether the text can be completed was not decided within
    /// [`Limits::mask_steps`](crate::Limits::mask_steps) and
    /// [`Limits::decision_steps`](crate::Limits::decision_steps), which counts as a no; or the text
    /// has taken all of its [`Limits::reading_steps`](crate::Limits::reading_steps).
    Limit,
}

/// A token or a text that the grammar does not allow at this point. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvanceError {
    kind: AdvanceErrorKind,
    token: Option<TokenId>,
    accepted: usize,
}

impl AdvanceError {
    pub(super) fn new(kind: AdvanceErrorKind, token: Option<TokenId>, accepted: usize) -> Self {
        Self { kind, token, accepted }
    }

    /// Why it was refused.
    pub fn kind(&self) -> AdvanceErrorKind {
        self.kind
    }

    /// The token that was refused; `None` when bytes were.
    pub fn token(&self) -> Option<TokenId> {
        self.token
    }

    /// How many of the leading bytes are viable: the byte at this offset is the first one that no
    /// sentence has there.
    pub fn accepted_bytes(&self) -> usize {
        self.accepted
    }
}

impl fmt::Display for AdvanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.token {
            Some(token) => write!(f, "token {token} is not allowed here: ")?,
            None => f.write_str("these bytes are not allowed here: ")?,
        }
        match self.kind {
            AdvanceErrorKind::Grammar => write!(
                f,
                "no sentence of the grammar has the byte at offset {}; the mask tells which tokens \
                 are allowed",
                self.accepted
            ),
            AdvanceErrorKind::Incomplete => {
                f.write_str("the text is no sentence yet; complete it first")
            }
            AdvanceErrorKind::Finished => {
                f.write_str("a stop token was taken before; take it back or reset the matcher")
            }
            AdvanceErrorKind::Width => {
                f.write_str("the id is not below the width of the logits; check the vocabulary")
            }
            AdvanceErrorKind::NoText => {
                f.write_str("the id has no bytes, and the grammar does not name it")
            }
            AdvanceErrorKind::Limit => f.write_str(
                "whether the text can be completed was not decided in time; raise \
                 `decision_steps`, `mask_steps` and `reading_steps` of the limits",
            ),
        }
    }
}

impl std::error::Error for AdvanceError {}

/// Where bytes are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// How many are viable.
    pub(super) accepted: usize,
    /// Whether it is only that there was no time to decide.
    pub(super) is_undecided: bool,
}

impl Refused {
    /// No sentence has the byte at this offset.
    pub(super) fn at(accepted: usize) -> Self {
        Self { accepted, is_undecided: false }
    }

    /// There was no time to decide.
    pub(super) fn undecided(accepted: usize) -> Self {
        Self { accepted, is_undecided: true }
    }

    /// The same with so many bytes before.
    pub(super) fn behind(self, before: usize) -> Self {
        Self { accepted: before + self.accepted, ..self }
    }

    /// Of two ways to read a text, the one that went further.
    pub(super) fn max(self, other: Self) -> Self {
        let further = if other.accepted > self.accepted { other } else { self };
        Self { is_undecided: self.is_undecided || other.is_undecided, ..further }
    }
}

/// Why rows were not filled. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowError {
    /// A row has fewer words than a mask.
    Short {
        /// The words of the row.
        words: usize,
        /// The words of the mask.
        needed: usize,
    },
    /// The buffer has no such row.
    Missing {
        /// Which row.
        row: usize,
        /// How many whole rows there are.
        rows: usize,
    },
    /// Two matchers are to fill one row.
    Twice {
        /// Which row.
        row: usize,
    },
    /// A draft follows one that does not stand before it.
    Parent {
        /// Which draft.
        draft: usize,
    },
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { words, needed } => write!(
                f,
                "a row of {words} words is too short for the mask; make it {needed} words, or cut \
                 the vocabulary by `Vocabulary::with_width`"
            ),
            Self::Missing { row, rows } => {
                write!(f, "the buffer has {rows} rows, and no row {row}; make it larger")
            }
            Self::Twice { row } => write!(f, "row {row} is given twice; give it to one matcher"),
            Self::Parent { draft } => {
                write!(f, "draft {draft} follows a later one; put drafts after their parents")
            }
        }
    }
}

impl std::error::Error for RowError {}

//! Errors for refused tokens and texts, and for rows that cannot be filled.

use std::fmt;

use crate::util::id::TokenId;

/// The reason why a token or a text was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AdvanceErrorKind {
    /// No sentence continues this way; [`AdvanceError::accepted_bytes`] is the length of the
    /// longest viable prefix.
    Grammar,
    /// The grammar continues this way, but the text would repeat an item of a list whose items must
    /// differ.
    RepeatedItem,
    /// The text is not a sentence yet, so it may not end here.
    Incomplete,
    /// A stop token was taken before; only stop tokens may follow.
    Finished,
    /// Bytes taken back from the prompt are left to write, and come first: see
    /// [`Matcher::heal`](crate::Matcher::heal).
    Unwritten,
    /// The id is not below the width of the logits.
    Width,
    /// The id has no bytes, and the grammar does not use it: a special token, a gap or padding.
    NoText,
    /// More lexemes end within the token than
    /// [`Constraint::with_lookahead`](crate::Constraint::with_lookahead) allows.
    Lookahead,
    /// Whether the text can be completed was not decided within
    /// [`Limits::mask_steps`](crate::Limits::mask_steps) and
    /// [`Limits::decision_steps`](crate::Limits::decision_steps), which counts as a no; or the text
    /// has taken all of its [`Limits::reading_steps`](crate::Limits::reading_steps).
    Limit,
    /// The text could not be ended within its budget ([`Matcher::set_budget`]) after it.
    ///
    /// [`Matcher::set_budget`]: crate::Matcher::set_budget
    Budget,
    /// The model's tokenizer would cut the text into other tokens:
    /// [`Constraint::with_canonical_tokens`](crate::Constraint::with_canonical_tokens).
    Canonical,
}

impl AdvanceErrorKind {
    /// Returns the reason as one word, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grammar => "grammar",
            Self::RepeatedItem => "repeated-item",
            Self::Incomplete => "incomplete",
            Self::Finished => "finished",
            Self::Unwritten => "unwritten",
            Self::Width => "width",
            Self::NoText => "no-text",
            Self::Lookahead => "lookahead",
            Self::Limit => "limit",
            Self::Budget => "budget",
            Self::Canonical => "canonical",
        }
    }
}

/// A token or text that the grammar does not allow at this point. The matcher is unchanged.
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

    /// Returns the reason.
    pub fn kind(&self) -> AdvanceErrorKind {
        self.kind
    }

    /// Returns the refused token; `None` if bytes were refused.
    pub fn token(&self) -> Option<TokenId> {
        self.token
    }

    /// Returns the length of the longest viable prefix: the byte at this offset is the first that
    /// no sentence has there.
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
                "no sentence of the grammar continues with the byte at offset {}; the mask shows \
                 which tokens are allowed",
                self.accepted
            ),
            AdvanceErrorKind::RepeatedItem => write!(
                f,
                "the byte at offset {} would repeat an item of a list whose items must differ; \
                 choose another item",
                self.accepted
            ),
            AdvanceErrorKind::Incomplete => {
                f.write_str("the text is not a sentence yet; complete it first")
            }
            AdvanceErrorKind::Finished => {
                f.write_str("a stop token has ended the text; roll it back or reset the matcher")
            }
            AdvanceErrorKind::Unwritten => f.write_str(
                "bytes taken back from the prompt come first; write those that `unwritten` returns",
            ),
            AdvanceErrorKind::Width => {
                f.write_str("the id is not below the width of the logits; check the vocabulary")
            }
            AdvanceErrorKind::NoText => {
                f.write_str("the id has no bytes, and the grammar does not name it")
            }
            AdvanceErrorKind::Lookahead => f.write_str(
                "more lexemes end within it than the lookahead of the constraint; raise the \
                 lookahead, or use the constraint without one",
            ),
            AdvanceErrorKind::Limit => f.write_str(
                "whether the text can be completed was not decided in time; raise \
                 `decision_steps`, `mask_steps` and `reading_steps` of the limits",
            ),
            AdvanceErrorKind::Budget => {
                f.write_str("the text could not be ended within its budget of tokens after it")
            }
            AdvanceErrorKind::Canonical => f.write_str(
                "the model's tokenizer cuts every text that continues this way into other tokens",
            ),
        }
    }
}

impl std::error::Error for AdvanceError {}

/// The position at which bytes are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// Length of the longest viable prefix.
    pub(super) accepted: usize,
    /// Whether the only reason is that a step limit was reached.
    pub(super) is_undecided: bool,
}

impl Refused {
    /// Returns a refusal because no sentence has the byte at this offset.
    pub(super) fn at(accepted: usize) -> Self {
        Self { accepted, is_undecided: false }
    }

    /// Returns a refusal because a step limit was reached.
    pub(super) fn undecided(accepted: usize) -> Self {
        Self { accepted, is_undecided: true }
    }

    /// Shifts the position by this many preceding bytes.
    pub(super) fn behind(self, before: usize) -> Self {
        Self { accepted: before + self.accepted, ..self }
    }

    /// Returns the refusal of the longer viable prefix, for two readings of one text.
    pub(super) fn max(self, other: Self) -> Self {
        let further = if other.accepted > self.accepted { other } else { self };
        Self { is_undecided: self.is_undecided || other.is_undecided, ..further }
    }
}

/// The reason why rows were not filled. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowError {
    /// A row has fewer words than a mask.
    Short {
        /// Number of words of the row.
        words: usize,
        /// Number of words of the mask.
        needed: usize,
    },
    /// The buffer has no such row.
    Missing {
        /// Index of the row.
        row: usize,
        /// Number of whole rows in the buffer.
        rows: usize,
    },
    /// Two matchers are given for one row.
    Twice {
        /// Index of the row.
        row: usize,
    },
    /// A draft follows one that does not precede it in the list.
    Parent {
        /// Index of the draft.
        draft: usize,
    },
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { words, needed } => write!(
                f,
                "a row of {words} words is too short for the mask; make it {needed} words, or \
                 narrow the vocabulary with `Vocabulary::with_width`"
            ),
            Self::Missing { row, rows } => {
                write!(
                    f,
                    "the buffer has only {rows} rows, so there is no row {row}; make it larger"
                )
            }
            Self::Twice { row } => write!(f, "row {row} is given twice; give it to one matcher"),
            Self::Parent { draft } => {
                write!(f, "draft {draft} follows a later one; put drafts after their parents")
            }
        }
    }
}

impl std::error::Error for RowError {}

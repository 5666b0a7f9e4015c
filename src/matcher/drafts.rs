//! Masks along the draft tokens of a smaller model, without taking them.

use super::error::RowError;
use super::{Matcher, Moment};
use crate::util::id::TokenId;

/// A draft token, which follows the text so far or another draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draft {
    /// The token.
    pub token: TokenId,
    /// Index of the preceding draft, which is less than this draft's own; `None` if this draft
    /// follows the text so far.
    pub parent: Option<usize>,
}

impl Draft {
    /// Returns drafts in which each token follows the one before.
    pub fn chain(tokens: impl IntoIterator<Item: Into<TokenId>>) -> Vec<Self> {
        let tokens = tokens.into_iter().enumerate();
        tokens
            .map(|(place, token)| Self { token: token.into(), parent: place.checked_sub(1) })
            .collect()
    }
}

impl Matcher {
    /// Fills one row for the text so far and one for each draft of a chain or a tree: row 0 with
    /// the mask of the text so far, row `i + 1` with the mask after draft `i` and its predecessors.
    /// Row `r` is `rows[r * stride..][..stride]`; `stride` is in words, at least
    /// `width.div_ceil(32)`, and words past the mask are cleared. Returns for each draft whether it
    /// and all its predecessors are allowed; the rows of the others are left unchanged. The matcher
    /// does not change.
    ///
    /// Costs one mask and one advance for each draft.
    ///
    /// ```
    /// use lrmask::{Constraint, Draft, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["a", "b", "c"])?;
    /// let grammar = Grammar::from_lark("start: \"a\" (\"b\" | \"c\" \"a\")")?;
    /// let matcher = Constraint::new(&grammar, &vocabulary)?.matcher();
    /// let mut rows = [u32::MAX; 4];
    /// let allowed = matcher.fill_draft_masks(&Draft::chain([0u32, 2, 2]), &mut rows, 1)?;
    /// assert_eq!(allowed, [true, true, false]);
    /// assert_eq!(rows, [0b001, 0b110, 0b001, u32::MAX]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If rows are too short or too few, or if a draft follows a later one.
    pub fn fill_draft_masks(
        &self,
        drafts: &[Draft],
        rows: &mut [u32],
        stride: usize,
    ) -> Result<Vec<bool>, RowError> {
        self.check_row(stride)?;
        let count = rows.len() / stride.max(1);
        if count <= drafts.len() {
            return Err(RowError::Missing { row: drafts.len(), rows: count });
        }
        let is_early = |(place, draft): (usize, &Draft)| draft.parent.is_none_or(|of| of < place);
        if let Some(draft) = (0..drafts.len()).find(|&place| !is_early((place, &drafts[place]))) {
            return Err(RowError::Parent { draft });
        }
        let mut rows = rows.chunks_exact_mut(stride.max(1));
        if let Some(row) = rows.next() {
            self.fill_wide_row(&self.now, row);
        }
        let mut after: Vec<Option<Moment>> = Vec::with_capacity(drafts.len());
        for (draft, row) in drafts.iter().zip(rows) {
            let before = match draft.parent {
                None => Some(&self.now),
                Some(parent) => after[parent].as_ref(),
            };
            let next = before.and_then(|before| self.after_token(before, draft.token).ok());
            if let Some(next) = &next {
                self.fill_wide_row(next, row);
            }
            after.push(next);
        }
        Ok(after.iter().map(Option::is_some).collect())
    }
}

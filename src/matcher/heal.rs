//! Token healing: bytes that must be written before the constraint's own text goes on.
//!
//! While some of them are left, a token is allowed if its bytes begin them, or if it begins with
//! all of them and the grammar allows the rest. The latter are the mask of another vocabulary, that
//! of the rests (`Vocabulary::after_prefix`), at the same configuration.

use std::sync::Arc;

use super::error::{AdvanceError, AdvanceErrorKind, Refused};
use super::{Matcher, Moment, Progress};
use crate::util::id::TokenId;

/// Bytes taken back from the end of a prompt, some of which are not written yet.
#[derive(Debug)]
pub(super) struct Healing {
    prefix: Arc<[u8]>,
    /// Number of bytes written; less than all.
    written: usize,
}

impl Healing {
    /// Returns the bytes that are not written yet; at least one.
    fn left(&self) -> &[u8] {
        &self.prefix[self.written..]
    }
}

impl Matcher {
    /// Demands that `bytes` are written before the constraint's own text begins, or goes on: the
    /// end of the prompt, which was taken back. Until then a token is allowed if its bytes begin
    /// those that are left, or if it begins with all of them and the text so far may go on with the
    /// rest. The grammar does not read the bytes, and the text may not end before they are written.
    /// All methods take them into account.
    ///
    /// [`Vocabulary::take_back`] finds the bytes, and [`FreeText`](crate::FreeText) heals text
    /// without a grammar. No effect after a stop token; after another call that is not written yet,
    /// these bytes replace those that are left. This is no step for [`Matcher::rollback`], and
    /// [`Matcher::reset`] returns to it if it preceded all steps.
    ///
    /// Costs a copy. A mask while bytes are left costs as much as a first mask of the tokens that
    /// begin with all of them, unless one of the constraint's last sixteen masks of this kind left
    /// the same bytes.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, TakeBack, TokenId, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["Age", ":", " ", " 4", "42", " x", "4"])?;
    /// let constraint = Constraint::new(&Grammar::from_lark("start: /[0-9]+/")?, &vocabulary)?;
    /// let prompt = [0, 1, 2].map(TokenId::from); // "Age: "
    /// let taken = vocabulary.take_back(&prompt, TakeBack::Word);
    /// assert_eq!((taken.kept, &taken.bytes[..]), (2, &b" "[..]));
    ///
    /// let mut matcher = constraint.matcher();
    /// matcher.heal(&taken.bytes);
    /// let mut mask = constraint.new_mask();
    /// matcher.fill_mask(&mut mask);
    /// assert!(mask.tokens().eq([2, 3].map(TokenId::from))); // " " again, or " 4"
    /// matcher.advance(3)?;
    /// assert!(matcher.is_accepting() && matcher.allows(4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`Vocabulary::take_back`]: crate::Vocabulary::take_back
    pub fn heal(&mut self, bytes: &[u8]) {
        if self.now.progress != Progress::Finished {
            let healing = Healing { prefix: bytes.into(), written: 0 };
            self.now.healing = (!bytes.is_empty()).then(|| Arc::new(healing));
        }
    }

    /// Returns the bytes of [`Matcher::heal`] that are not written yet.
    pub fn unwritten(&self) -> &[u8] {
        self.now.unwritten()
    }

    /// Fills a row with the tokens that may be next while bytes are left to write.
    #[cold]
    pub(super) fn fill_healing_row(&self, at: &Moment, healing: &Healing, row: &mut [u32]) {
        self.fill_plain_healing_row(at, healing, row);
        if at.left().is_none() && self.canonical.is_none() {
            return;
        }
        for (index, word) in row.iter_mut().enumerate() {
            for bit in (0..32).filter(|bit| *word >> bit & 1 == 1).collect::<Vec<u32>>() {
                if self.after_token(at, TokenId(index as u32 * 32 + bit)).is_err() {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// Fills a row with the tokens that the grammar allows.
    pub(super) fn fill_plain_row(&self, at: &Moment, row: &mut [u32]) {
        match &at.healing {
            Some(healing) => self.fill_plain_healing_row(at, healing, row),
            None => self.fill_shared_row(at, row),
        }
    }

    /// Fills a row with the tokens that the grammar allows while bytes are left to write.
    pub(super) fn fill_plain_healing_row(&self, at: &Moment, healing: &Healing, row: &mut [u32]) {
        let index = self.index.after_prefix(healing.left());
        let rests = Self { index, now: at.healed(), ..self.clone() };
        rests.fill_shared_row(&rests.now, row);
        for token in self.vocabulary().prefixes_of(healing.left()) {
            row[token.index() / 32] |= 1 << (token.get() % 32);
        }
    }

    /// Returns the state after a token while bytes are left to write. Tokens that write them are
    /// not taken from a budget.
    #[cold]
    pub(super) fn after_healing(
        &self,
        from: &Moment,
        healing: &Arc<Healing>,
        token: TokenId,
    ) -> Result<Moment, AdvanceError> {
        let written = self.vocabulary().bytes(token).ok_or(Refused::at(0));
        let after = written.and_then(|bytes| {
            let (moment, rest) = from.write(healing, bytes)?;
            let written = bytes.len() - rest.len();
            if self.index.spelled().mark().is_some_and(|mark| rest.contains(&mark)) {
                return Err(Refused::at(written));
            }
            let after = self.after_bytes(&moment, rest);
            Ok((moment, rest, after.map_err(|refused| refused.behind(written))?))
        });
        let after =
            after.map_err(|refused| self.healing_error(from, healing, Some(token), refused));
        let (moment, rest, after) = after?;
        if let Some(tables) = &self.canonical {
            return self.canonically(tables, from, token, after, false);
        }
        if rest.is_empty() {
            return Ok(after);
        }
        let length = healing.left().len() + rest.len();
        let kept = self.with_same_budget(&moment, length, after);
        kept.map_err(|error| AdvanceError::new(error.kind(), Some(token), length))
    }

    /// Returns the state after bytes while others are left to write, and what the grammar reads of
    /// them.
    #[cold]
    pub(super) fn text_while_healing<'b>(
        &self,
        healing: &Arc<Healing>,
        bytes: &'b [u8],
    ) -> Result<(Moment, &'b [u8]), AdvanceError> {
        let written = self.now.write(healing, bytes);
        let written =
            written.map_err(|refused| self.healing_error(&self.now, healing, None, refused));
        let (now, rest) = written?;
        if rest.is_empty() {
            let now = match &self.canonical {
                Some(tables) => {
                    self.canonically_after_text(tables, &now, bytes.len(), now.clone())?
                }
                None => now,
            };
            return Ok((now, rest));
        }
        let next = Self { now, ..self.clone() }.checked_text(rest);
        let length = bytes.len() - rest.len();
        let next = next.map_err(|error| {
            AdvanceError::new(error.kind(), None, length + error.accepted_bytes())
        });
        Ok((next?, rest))
    }

    /// Returns the state after bytes of a token that may have more bytes, some of which may be left
    /// to write.
    pub(super) fn within_healing(&self, from: &Moment, bytes: &[u8]) -> Result<Moment, Refused> {
        let Some(healing) = &from.healing else { return self.within_token(from, bytes) };
        let (moment, rest) = from.write(healing, bytes)?;
        self.within_token(&moment, rest)
    }

    /// Returns the error for a token, or bytes, while bytes are left to write.
    fn healing_error(
        &self,
        from: &Moment,
        healing: &Healing,
        token: Option<TokenId>,
        refused: Refused,
    ) -> AdvanceError {
        let error = self.error(from, token, &[], refused);
        let is_prefix = refused.accepted < healing.left().len();
        match error.kind() {
            AdvanceErrorKind::Grammar | AdvanceErrorKind::Incomplete if is_prefix => {
                AdvanceError::new(AdvanceErrorKind::Unwritten, token, refused.accepted)
            }
            _ => error,
        }
    }

    /// Returns what the grammar reads of a token: nothing of the bytes that are left to write.
    #[cold]
    pub(super) fn read_while_healing(&self, healing: &Healing, token: TokenId) -> &[u8] {
        let bytes = self.vocabulary().bytes(token).unwrap_or_default();
        bytes.get(healing.left().len()..).unwrap_or_default()
    }
}

impl Moment {
    /// Returns the bytes that are left to write.
    pub(super) fn unwritten(&self) -> &[u8] {
        self.healing.as_ref().map_or(&[], |healing| healing.left())
    }

    /// Returns the state after all bytes that are left to write.
    pub(super) fn healed(&self) -> Self {
        Self { healing: None, ..self.clone() }
    }

    /// Returns the state after those of the bytes that are left to write which `bytes` begins with,
    /// and the rest of `bytes`.
    pub(super) fn write<'b>(
        &self,
        healing: &Arc<Healing>,
        bytes: &'b [u8],
    ) -> Result<(Self, &'b [u8]), Refused> {
        let left = healing.left();
        let common = left.iter().zip(bytes).take_while(|(left, byte)| left == byte).count();
        if common < left.len().min(bytes.len()) {
            return Err(Refused::at(common));
        }
        let written = healing.written + common;
        let healing = (written < healing.prefix.len())
            .then(|| Arc::new(Healing { prefix: healing.prefix.clone(), written }));
        Ok((Self { healing, ..self.clone() }, &bytes[common..]))
    }
}

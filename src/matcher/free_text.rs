//! Token healing for text without a grammar.

use super::error::{AdvanceError, AdvanceErrorKind};
use super::mask::TokenMask;
use crate::util::id::TokenId;
use crate::vocab::Vocabulary;

/// Text without a grammar that must begin with the bytes taken back from a prompt:
/// [`Matcher::heal`] where there is no constraint. Before they are written a token is allowed if
/// its bytes begin those that are left, or begin with all of them; afterwards every token is.
///
/// ```
/// use lrmask::{FreeText, TakeBack, TokenId, Vocabulary};
///
/// let vocabulary = Vocabulary::from_tokens(["see", " http", ":", "://", "/"])?;
/// let prompt = [0, 1, 2].map(TokenId::from); // "see http:"
/// let taken = vocabulary.take_back(&prompt, TakeBack::Tokens(1));
/// let mut text = FreeText::new(&vocabulary, &taken.bytes);
/// assert!(text.mask().tokens().eq([2, 3].map(TokenId::from))); // ":" or "://"
/// text.advance(3)?;
/// assert!(text.unwritten().is_empty() && text.allows(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Matcher::heal`]: crate::Matcher::heal
#[derive(Clone, Debug)]
pub struct FreeText {
    vocabulary: Vocabulary,
    prefix: Vec<u8>,
    /// Number of bytes written before each step, and now.
    before: Vec<usize>,
    written: usize,
}

impl FreeText {
    /// Begins a text with these bytes.
    pub fn new(vocabulary: &Vocabulary, prefix: &[u8]) -> Self {
        let (vocabulary, prefix) = (vocabulary.clone(), prefix.to_vec());
        Self { vocabulary, prefix, before: Vec::new(), written: 0 }
    }

    /// Returns the bytes that are not written yet.
    pub fn unwritten(&self) -> &[u8] {
        &self.prefix[self.written..]
    }

    /// Returns the tokens that may come next; all of them once the bytes are written. Costs a mask
    /// and the tokens in it.
    pub fn mask(&self) -> TokenMask {
        let width = self.vocabulary.width();
        let mut mask = TokenMask::new(width);
        let row = mask.words_mut();
        let left = self.unwritten();
        if left.is_empty() {
            row.fill(u32::MAX);
            if let Some(last) = row.last_mut() {
                *last >>= width.next_multiple_of(32) - width;
            }
            return mask;
        }
        let longer = self.vocabulary.longer_than(left).iter().map(TokenId::from);
        for token in self.vocabulary.prefixes_of(left).chain(longer) {
            row[token.index() / 32] |= 1 << (token.get() % 32);
        }
        mask
    }

    /// Whether `token` may come next, without computing the mask.
    pub fn allows(&self, token: impl Into<TokenId>) -> bool {
        self.after(token.into()).is_ok()
    }

    /// Takes `token`. Succeeds if and only if its bit in the mask is set.
    ///
    /// # Errors
    ///
    /// If the token is not allowed. Nothing changes then.
    pub fn advance(&mut self, token: impl Into<TokenId>) -> Result<(), AdvanceError> {
        let written = self.after(token.into())?;
        self.before.push(std::mem::replace(&mut self.written, written));
        Ok(())
    }

    /// Rolls back the last `steps` tokens, or all of them if there are fewer. Returns the number of
    /// tokens rolled back.
    pub fn rollback(&mut self, steps: usize) -> usize {
        let kept = self.before.len().saturating_sub(steps);
        self.written = self.before.get(kept).copied().unwrap_or(self.written);
        self.before.drain(kept..).count()
    }

    /// Returns the number of bytes written after `token`.
    fn after(&self, token: TokenId) -> Result<usize, AdvanceError> {
        let left = self.unwritten();
        let error = |kind, accepted| Err(AdvanceError::new(kind, Some(token), accepted));
        if token.index() >= self.vocabulary.width() {
            return error(AdvanceErrorKind::Width, 0);
        }
        if left.is_empty() {
            return Ok(self.written);
        }
        let Some(bytes) = self.vocabulary.bytes(token) else {
            return error(AdvanceErrorKind::Unwritten, 0);
        };
        let common = left.iter().zip(bytes).take_while(|(left, byte)| left == byte).count();
        match common == left.len().min(bytes.len()) {
            true => Ok(self.written + common),
            false => error(AdvanceErrorKind::Unwritten, common),
        }
    }
}

//! Opportunistic masking (DOMINO, section 3.5): the mask is computed only when the model's free
//! choice is refused.

use super::{AdvanceError, Matcher, TokenMask};
use crate::util::id::TokenId;

/// How a matcher's tokens were chosen by [`Matcher::sample_with`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Choices {
    /// Number of free choices that were allowed, so that no mask was computed.
    pub free: u64,
    /// Number of tokens that were chosen with a mask.
    pub masked: u64,
}

impl Matcher {
    /// Chooses the next token and takes it. Calls `choose(None)` for the free choice of the
    /// sampler; if that token is refused, calls `choose(Some(mask))` for a choice among the allowed
    /// tokens. Returns the token that was taken. [`Matcher::choices`] counts both cases.
    ///
    /// If each call of `choose` draws anew from the model's distribution, the tokens have the same
    /// distribution as if each had been drawn with the mask; a greedy choice is the same token.
    ///
    /// Costs one advance if the free choice is allowed, which takes less time than a new mask. A
    /// refused choice costs a mask and an allocation for it.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, TokenMask, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["a", "b", "c"])?;
    /// let grammar = Grammar::from_lark("start: \"a\" (\"b\" | \"c\")")?;
    /// let mut matcher = Constraint::new(&grammar, &vocabulary)?.matcher();
    /// let scores = [0.9_f32, 0.2, 0.4];
    /// let best = |mask: Option<&TokenMask>| {
    ///     let allowed = (0..3u32).filter(|&token| mask.is_none_or(|mask| mask.contains(token)));
    ///     allowed.max_by(|&a, &b| scores[a as usize].total_cmp(&scores[b as usize])).unwrap_or(0)
    /// };
    /// assert_eq!(matcher.sample_with(best)?.get(), 0); // the free choice
    /// assert_eq!(matcher.sample_with(best)?.get(), 2); // "a" is refused here
    /// assert_eq!((matcher.choices().free, matcher.choices().masked), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the choice among the allowed tokens is not one of them. The matcher is unchanged then.
    pub fn sample_with<T: Into<TokenId>>(
        &mut self,
        mut choose: impl FnMut(Option<&TokenMask>) -> T,
    ) -> Result<TokenId, AdvanceError> {
        let free = choose(None).into();
        if self.advance(free).is_ok() {
            self.choices.free += 1;
            return Ok(free);
        }
        let mut mask = TokenMask::default();
        self.fill_mask(&mut mask);
        let token = choose(Some(&mask)).into();
        self.advance(token)?;
        self.choices.masked += 1;
        Ok(token)
    }

    /// Returns how often [`Matcher::sample_with`] took the free choice and how often it needed the
    /// mask, since the matcher was created or reset. A clone goes on with the counts so far.
    /// Rolling back does not change them: they count work.
    pub fn choices(&self) -> Choices {
        self.choices
    }
}

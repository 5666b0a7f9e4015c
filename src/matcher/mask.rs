//! The mask in the layout that serving engines use.

use crate::util::aligned::AlignedRow;
use crate::util::id::TokenId;

/// The set of tokens that may come next: one bit per token, bit `t % 32` of word `t / 32`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TokenMask {
    words: AlignedRow,
    width: usize,
}

impl TokenMask {
    /// Creates a mask of `width` bits, none set.
    pub fn new(width: usize) -> Self {
        Self { words: vec![0; width.div_ceil(32)].into(), width }
    }

    /// Returns the number of bits, which is the width of the logits.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether `token` is in the mask, so that it may come next. False for ids past the width.
    pub fn contains(&self, token: impl Into<TokenId>) -> bool {
        let token = token.into();
        self.words.get(token.index() / 32).is_some_and(|word| word >> (token.0 % 32) & 1 == 1)
    }

    /// Returns the words, `width.div_ceil(32)` of them.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the words for writing. Bits past the width must stay clear.
    pub fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }

    /// Whether no token may come next. Reads each word.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Sets the logits of all tokens that may not come next to negative infinity, including those
    /// past the mask's width. Reads each word, and writes each such logit.
    ///
    /// ```
    /// let mut mask = lrmask::TokenMask::new(3);
    /// mask.words_mut()[0] = 0b101;
    /// let mut logits = [1.0, 2.0, 3.0, 4.0];
    /// mask.apply(&mut logits);
    /// assert_eq!(logits, [1.0, f32::NEG_INFINITY, 3.0, f32::NEG_INFINITY]);
    /// ```
    pub fn apply(&self, logits: &mut [f32]) {
        let words = self.words.iter().copied().chain(std::iter::repeat(0));
        for (logits, word) in logits.chunks_mut(32).zip(words) {
            if word == u32::MAX {
                continue;
            }
            for (bit, logit) in logits.iter_mut().enumerate() {
                if word >> bit & 1 == 0 {
                    *logit = f32::NEG_INFINITY;
                }
            }
        }
    }

    /// Returns the number of tokens that may come next.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the tokens that may come next, in ascending order.
    pub fn tokens(&self) -> impl Iterator<Item = TokenId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            (0..32)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| TokenId(index as u32 * 32 + bit))
        })
    }

    pub(crate) fn resize(&mut self, width: usize) {
        if self.width != width {
            *self = Self::new(width);
        }
    }
}

/// Properties of a mask besides its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskInfo {
    is_exact: bool,
    is_full: bool,
}

impl MaskInfo {
    pub(super) fn new(row: &[u32], width: usize, is_exact: bool) -> Self {
        let last = u32::MAX >> (width.next_multiple_of(32) - width);
        // The last word usually decides: it holds special tokens and padding.
        let is_full = row.split_last().is_none_or(|(&end, before)| {
            end == last && before.iter().all(|&word| word == u32::MAX)
        });
        Self { is_exact, is_full }
    }

    /// Whether the mask is certainly exact: no limit was reached, neither in this text nor in the
    /// decisions that masks of this grammar depend on. Otherwise the mask may be too narrow; it is
    /// never too wide.
    pub fn is_exact(self) -> bool {
        self.is_exact
    }

    /// Whether all tokens may come next, so that the mask need not be applied.
    pub fn is_full(self) -> bool {
        self.is_full
    }
}

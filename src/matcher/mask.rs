//! The mask, as serving engines want it.

use crate::util::aligned::AlignedRow;
use crate::util::id::TokenId;

/// Which tokens may come next: one bit a token, bit `t % 32` of word `t / 32`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TokenMask {
    words: AlignedRow,
    width: usize,
}

impl TokenMask {
    /// A mask of `width` bits, none set.
    pub fn new(width: usize) -> Self {
        Self { words: vec![0; width.div_ceil(32)].into(), width }
    }

    /// The number of bits: the width of the logits.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether `token` may come next; false for ids past the width.
    pub fn allows(&self, token: impl Into<TokenId>) -> bool {
        let token = token.into();
        self.words.get(token.index() / 32).is_some_and(|word| word >> (token.0 % 32) & 1 == 1)
    }

    /// The words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// How many tokens may come next.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The tokens that may come next, ascending.
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

    pub(crate) fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }
}

//! Tokens that may make more readings of a text than are carried.
//!
//! A word that may be read in two ways doubles the readings. Masks know nothing of their number, so tokens that hold several
//! such words are tried one by one wherever a mask allows them. In most vocabularies there are none: few tokens hold a space.

use std::sync::OnceLock;

use super::Index;
use crate::util::id::TokenId;

/// How many readings of one text are carried at the same time. More than one is rare, more than a handful takes
/// a grammar made for it; the token or byte that would exceed the bound is refused, and its bit not set. Where each one
/// would, there is no way on.
pub(crate) const MAX_READINGS: usize = 64;

/// Behind a text of more readings than these, all tokens of a mask are tried.
pub(crate) const FEW_READINGS: usize = 8;

/// The tokens that may make more than [`MAX_READINGS`] of one reading, and of [`FEW_READINGS`].
#[derive(Debug, Default)]
pub(super) struct Crowded {
    of_one: OnceLock<Box<[TokenId]>>,
    of_few: OnceLock<Box<[TokenId]>>,
}

impl Index {
    /// The tokens that may make more than [`MAX_READINGS`] of one. Found when first asked for, as those of
    /// [`Index::crowded_of_few`]: time in proportion to the bytes of tokens long enough, and none where no word has two
    /// readings.
    pub(crate) fn crowded_of_one(&self) -> &[TokenId] {
        self.crowded.of_one.get_or_init(|| self.tokens_that_multiply(MAX_READINGS))
    }

    /// The tokens that may make more than [`MAX_READINGS`] of [`FEW_READINGS`].
    pub(crate) fn crowded_of_few(&self) -> &[TokenId] {
        self.crowded.of_few.get_or_init(|| self.tokens_that_multiply(MAX_READINGS / FEW_READINGS))
    }

    /// The tokens that may make more than `times` as many readings.
    fn tokens_that_multiply(&self, times: usize) -> Box<[TokenId]> {
        // So many whole words make just as many, and one may have begun before the token.
        let count = times.ilog2() as usize;
        let words = self.scanner.words_with_two_readings();
        let Some(length) = words.shortest().map(|shortest| shortest * count) else { return Box::default() };
        let tokens = (0..self.vocabulary.width() as u32).map(TokenId);
        let holds = |&token: &TokenId| {
            let bytes = self.vocabulary.bytes(token).unwrap_or_default();
            bytes.len() >= length && words.count(bytes) >= count
        };
        tokens.filter(holds).collect()
    }
}

//! Tokens that may make more readings of a text than are carried.
//!
//! A word that may be read in two ways doubles the readings. Masks know nothing of their number, so tokens that hold several
//! such words are tried one by one wherever a mask allows them. In most vocabularies there are none: few tokens hold a space.

use std::sync::OnceLock;

use super::Index;
use crate::util::id::TokenId;

/// The tokens that may make more than 64 readings of so many.
#[derive(Debug, Default)]
pub(super) struct Crowded {
    of_one: OnceLock<Box<[TokenId]>>,
    of_eight: OnceLock<Box<[TokenId]>>,
}

impl Index {
    /// The tokens that may make more than 64 readings of one. Found when first asked for, as those of [`Index::crowded_of_eight`]:
    /// time in proportion to the bytes of tokens long enough, and none where no word has two readings.
    pub(crate) fn crowded_of_one(&self) -> &[TokenId] {
        // One more word may have begun before the token.
        self.crowded.of_one.get_or_init(|| self.tokens_with_words(6))
    }

    /// The tokens that may make more than 64 readings of eight or fewer.
    pub(crate) fn crowded_of_eight(&self) -> &[TokenId] {
        self.crowded.of_eight.get_or_init(|| self.tokens_with_words(3))
    }

    /// The tokens in which so many words with two readings may end.
    fn tokens_with_words(&self, count: usize) -> Box<[TokenId]> {
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

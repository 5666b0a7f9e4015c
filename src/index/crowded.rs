//! Tokens that may make more readings of a text than are carried.
//!
//! A word that may be read in two ways doubles the readings. Masks know nothing of their number, so tokens that hold several
//! such words are tried one by one wherever a mask allows them. In most vocabularies there are none: few tokens hold a space.

use super::Index;
use crate::lexer::Dfa;
use crate::util::id::TokenId;

/// So many words within a token, and one more that ends in it, make more than eight times as many readings.
const WORDS: usize = 3;

impl Index {
    /// The tokens that may make more than eight readings of one. Found when first asked for: time in proportion to the
    /// vocabulary's bytes, and none where no word has two readings.
    pub(crate) fn crowded(&self) -> &[TokenId] {
        self.crowded.get_or_init(|| {
            let words = self.scanner.words_with_two_readings();
            let shortest = words.iter().map(|dfa| dfa.distance(dfa.start()) as usize).min();
            let Some(length) = shortest.map(|shortest| shortest * WORDS) else { return Box::default() };
            let tokens = (0..self.vocabulary.width() as u32).map(TokenId);
            let holds = |&token: &TokenId| {
                let bytes = self.vocabulary.bytes(token).unwrap_or_default();
                bytes.len() >= length && holds_words(bytes, &words)
            };
            tokens.filter(holds).collect()
        })
    }
}

/// Whether the text has [`WORDS`] words that do not overlap. Taking the one that ends first each time finds the most.
fn holds_words(text: &[u8], words: &[&Dfa]) -> bool {
    let mut found = 0;
    // Words begun, and their states.
    let mut begun: Vec<(usize, u32)> = Vec::new();
    for &byte in text {
        begun.extend(words.iter().enumerate().map(|(word, dfa)| (word, dfa.start())));
        begun.iter_mut().for_each(|(word, state)| *state = words[*word].next(*state, byte));
        begun.retain(|&(_, state)| state != Dfa::DEAD);
        begun.sort_unstable();
        begun.dedup();
        if begun.iter().any(|&(word, state)| words[word].is_accept(state)) {
            found += 1;
            begun.clear();
        }
    }
    found >= WORDS
}

//! Display of a token of a text.

use std::fmt;

use lrmask::{TokenId, Vocabulary};
use serde::Serialize;

use crate::output::Quoted;

/// A token of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Spelled {
    /// Number of the token in the text, from 1.
    pub(crate) number: usize,
    pub(crate) id: u32,
    pub(crate) text: String,
    /// Number of tokens in the text.
    pub(crate) of: usize,
    /// Start of the token in the text, in bytes.
    pub(crate) offset: usize,
}

impl Spelled {
    /// Returns the token with the byte at `offset`; the last one if only the end is wrong.
    pub(crate) fn of(vocabulary: &Vocabulary, tokens: &[TokenId], offset: usize) -> Option<Self> {
        let length = |token: &TokenId| vocabulary.bytes(*token).map_or(0, <[u8]>::len);
        let mut end = 0;
        let place = tokens.iter().position(|token| {
            end += length(token);
            end > offset
        });
        Some(Self::nth(vocabulary, tokens, place.or(tokens.len().checked_sub(1))?))
    }

    /// Returns the token at index `place` of a text.
    pub(crate) fn nth(vocabulary: &Vocabulary, tokens: &[TokenId], place: usize) -> Self {
        let length = |token: &TokenId| vocabulary.bytes(*token).map_or(0, <[u8]>::len);
        let token = tokens[place];
        Self {
            number: place + 1,
            id: token.get(),
            text: shown(vocabulary, token),
            of: tokens.len(),
            offset: tokens[..place].iter().map(length).sum(),
        }
    }
}

/// Returns a token in readable form: its text in quotes, or its name.
pub(crate) fn shown(vocabulary: &Vocabulary, token: TokenId) -> String {
    match vocabulary.bytes(token) {
        Some(bytes) => Quoted(bytes).to_string(),
        None => vocabulary.special(token).unwrap_or("(stop)").to_owned(),
    }
}

impl fmt::Display for Spelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, id, text, of, .. } = self;
        write!(f, "token {number} of {of}, {text} (id {id})")
    }
}

//! The input of each step, as far as it is short: so that the lexeme in progress can be traced back
//! to its first byte.

use super::Moment;
use crate::util::id::TokenId;

/// A step of a sequence.
#[derive(Clone)]
pub(super) struct Step {
    /// The state before it.
    pub(super) before: Moment,
    pub(super) taken: Taken,
}

/// The input of a step, in eight bytes: there is one for each token of a text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Taken {
    Token(TokenId),
    /// Up to [`Taken::FEW`] bytes and their number.
    Bytes([u8; Taken::FEW], u8),
    /// More bytes, which are not kept.
    Text,
}

impl Taken {
    /// Number of bytes that are kept.
    const FEW: usize = 6;

    /// Returns the input of a step that takes these bytes.
    pub(super) fn bytes(bytes: &[u8]) -> Self {
        let mut few = [0; Self::FEW];
        match few.get_mut(..bytes.len()) {
            Some(own) => {
                own.copy_from_slice(bytes);
                Self::Bytes(few, bytes.len() as u8)
            }
            None => Self::Text,
        }
    }
}

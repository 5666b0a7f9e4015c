//! Sets of tokens, and the graph of sets that are put together from others.
//!
//! The lowest room of the index: walks and masks both speak of sets of tokens by number, and
//! neither has to know of the other for that.

mod graph;
mod set;

pub(crate) use graph::{StoredTokensId, TokenSetGraph, TokensId};
pub(crate) use set::{TokenSet, tokens_of};

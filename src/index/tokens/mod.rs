//! Sets of tokens, and the graph of sets composed from others.
//!
//! The lowest module of the index: walks and masks both refer to sets of tokens by number, and do
//! not depend on each other for that.

mod graph;
mod set;

pub(crate) use graph::{StoredTokensId, TokenSetGraph, TokensId};
pub(crate) use set::{TokenSet, tokens_of};

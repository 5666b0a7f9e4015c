//! Token classes: what the tokens below some nodes of the vocabulary's trie do to a scan state.
//!
//! A walk runs the trie through one scan state and sorts what it meets. A token that ends within
//! the lexeme falls into a class by what the lexeme can still become. Where the lexeme may end
//! before the token does, the walk stops: what comes next depends on the parse stack, so the rest
//! of the trie there is handed on as a [`Boundary`]. So a walk depends on no stack, is done once,
//! and serves every stack; a mask is a union over a few dozen classes, never over tokens.
//!
//! The driver ([`driver`]) sets out from some nodes; the depth-first walk below them ([`descent`])
//! tallies what it meets ([`tally`]) and keeps account of ends that a longer match may refute
//! ([`pending`]). Five shortcuts save it most of the trie, each in a file of its own, each to be
//! turned off by [`Shortcuts`]:
//!
//! * [`base`]: what is shared with a base walk.
//! * [`loops`]: what is skipped because a scan state leads back to itself.
//! * [`counted`]: what is told by its length because a scan state counts characters.
//! * [`rests`]: what another grammar has found inside the same string.
//! * [`branch`] and [`by_byte`]: what is kept for each first byte.

mod base;
mod branch;
mod by_byte;
mod classes;
mod context;
mod counted;
mod descent;
mod driver;
mod leading;
mod loops;
mod nodes;
mod numbers;
mod pending;
mod rests;
mod tables;
mod tally;
mod walked;

pub(crate) use classes::{Base, Boundary, End, Origin, Walk};
pub(crate) use context::{Shortcuts, Walker};
pub(crate) use nodes::NodesId;
pub(crate) use walked::Walked;

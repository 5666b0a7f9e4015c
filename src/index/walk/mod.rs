//! Token classes: the effects that the tokens below some nodes of the vocabulary's trie have on a
//! scan state.
//!
//! A walk runs the trie through one scan state and classifies the tokens. A token that ends within
//! the lexeme belongs to a class by the labels that the lexeme can still become. If the lexeme may
//! end before the token does, the walk stops: the next lexeme depends on the parse stack, so the
//! rest of the trie there is returned as a [`Boundary`]. So a walk is independent of the stack, is
//! done once, and serves every stack; a mask is a union over a few dozen classes, never over
//! tokens.
//!
//! The driver ([`driver`]) starts from some nodes; the depth-first walk below them ([`descent`])
//! collects its results ([`class_builder`]) and tracks ends that a longer match may refute
//! ([`open_ends`]). Three shortcuts let it skip most of the trie, each in its own file, and each
//! can be turned off by [`Shortcuts`]:
//!
//! * [`base`]: the part shared with a base walk.
//! * [`loops`]: skips nodes where a scan state leads back to itself or counts characters.
//! * [`branch`] and [`by_byte`]: results cached for each first byte.

mod base;
mod branch;
mod by_byte;
mod class_builder;
mod classes;
mod context;
mod descent;
mod driver;
mod line_blanks;
mod loops;
mod nodes;
mod open_ends;
mod tables;

pub(crate) use classes::{Base, Boundary, End, Origin, Walk};
pub(crate) use context::{Shortcuts, Walker};
pub(crate) use nodes::NodesId;
pub(crate) use tables::WalkTables;

//! Grammar notations, read into a syntax tree with spans.

pub(crate) mod ast;

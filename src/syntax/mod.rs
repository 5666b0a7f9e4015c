//! Grammar notations, read into a syntax tree with spans.
//!
//! * [`ast`]: the tree, as written.
//! * [`lark`]: the reader of Lark's notation.
//! * [`print`]: the tree as text again.
//! * [`error`]: why a file could not be read.

pub(crate) mod ast;
pub(crate) mod error;
pub(crate) mod lark;
mod print;

pub(crate) use error::{SourceText, SyntaxError, SyntaxErrorKind};
pub(crate) use lark::parse_lark;

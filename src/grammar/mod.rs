//! The grammar: the IR that every later layer reads.
//!
//! A [`Grammar`] is a plain LALR(1) candidate: productions over terminals and nonterminals with all
//! conveniences of the notation (repetition, groups, templates, imports) already lowered, and for each
//! terminal a [`Pattern`] over text. It does not know which notation it came from.

mod error;
pub(crate) mod ir;
pub(crate) mod pattern;

pub use error::GrammarError;
pub use ir::Grammar;

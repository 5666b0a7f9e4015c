//! Grammar notations, read into a syntax tree with spans.
//!
//! * [`ast`]: the tree, as written.
//! * [`lark`]: the reader of Lark's notation.
//! * [`gbnf`]: the reader of GBNF and its relatives, with a tree of its own.
//! * [`yacc`]: the reader of Yacc's, with terminals in Lark's.
//! * [`mod@print`]: the tree as text again.
//! * [`error`]: why a file could not be read.
//! * [`escapes`]: backslashes, as all notations have them.
//! * [`parameter`]: the parameters of llguidance's parametric rules.
//! * [`words`]: what generated parsers take from lexers.

pub(crate) mod ast;
pub(crate) mod error;
mod escapes;
pub(crate) mod gbnf;
pub(crate) mod lark;
pub(crate) mod parameter;
mod print;
mod words;
pub(crate) mod yacc;

pub(crate) use error::SourceText;
pub(crate) use gbnf::parse_gbnf;
pub(crate) use lark::parse_lark;
pub(crate) use yacc::{parse_yacc, parse_yacc_rules};

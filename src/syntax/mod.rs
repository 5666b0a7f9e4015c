//! Grammar notations, read into a syntax tree with spans.
//!
//! * [`ast`]: the tree, as written.
//! * [`lark`]: the reader of Lark's notation.
//! * [`gbnf`]: the reader of GBNF and its relatives, with a tree of its own.
//! * [`yacc`]: the reader of Yacc files, with terminals in Lark's notation.
//! * [`mod@print`]: the tree as text again.
//! * [`error`]: errors of the readers.
//! * [`escapes`]: backslashes, common to all notations.
//! * [`parameter`]: the parameters of llguidance's parametric rules.
//! * [`words`]: the adapter from lexers to generated parsers.

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

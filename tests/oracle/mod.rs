//! The definition of the language, executed as slowly and plainly as it reads; the judge of the engine.
//!
//! Nothing here shares an algorithm with the engine: terminals are matched by the `regex` crate on whole
//! slices, histories of terminals are judged by an Earley recogniser, and viability is a search for a
//! completion. A [`Spec`] is what the engine calls a grammar, written out without any sugar.
//!
//! The definition. A text is cut from left to right, starting with the empty history `h` of terminals. At
//! each lexeme start the candidates are all terminals (`basic`) or those that can follow `h` in some sentence
//! of terminals, the ignored ones, and the words reserved against one of either (`contextual`). The lexeme is
//! the longest prefix of the rest of the text that a candidate matches in full; of the candidates that match
//! it the one of smallest rank wins. (Where lines count, [`layout`] says what else.) The winner's readings extend `h`; at the end of the text some reading
//! must be a sentence.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used, clippy::print_stderr)]

pub mod case;
pub mod check;
pub mod draft;
pub mod earley;
pub mod language;
pub mod layout;
pub mod quoted;
pub mod spec;
pub mod viability;
pub mod vocabularies;

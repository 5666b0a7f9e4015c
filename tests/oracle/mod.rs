//! The definition of the language, executed slowly and directly; the judge of the engine.
//!
//! Nothing here shares an algorithm with the engine: terminals are matched by the `regex` crate on
//! whole slices, parse stacks are plain lists of the cores of an LALR(1) automaton built the long
//! way, and viability is a search for a completion, which is judged by the definition again. An
//! Earley recogniser judges the stacks. A [`spec::Spec`] is the engine's grammar without any sugar.
//!
//! The definition. A text is split from left to right, starting with the empty parse stack. At each
//! lexeme start the candidates are all terminals (`basic`) or those that the stack can actually
//! shift, the ignored ones, and the words reserved against one of either (`contextual`). The lexeme
//! is the longest prefix of the rest of the text that a candidate matches in full; of the
//! candidates that match it the one of smallest rank wins. (If lines are significant, see
//! [`layout`] as well.) Each terminal that the winner can be, and each way for the parser to shift
//! that terminal, is a separate reading, and lexes separately from there on; at the end of the text
//! some reading must be a sentence.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used, clippy::print_stderr)]

pub mod automaton;
pub mod case;
pub mod check;
pub mod draft;
pub mod earley;
pub mod every;
pub mod language;
pub mod layout;
pub mod lines;
pub mod open;
pub mod pattern;
pub mod quoted;
pub mod search;
pub mod sketch;
pub mod spec;
pub mod stacks;
pub mod viability;
pub mod vocabularies;

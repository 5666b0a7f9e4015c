//! Compilation of the pattern of a terminal to a minimal DFA over bytes.
//!
//! The passes, in the order of [`Compiler::compile`]:
//!
//! 1. [`lower`]: a [`Pattern`](crate::grammar::pattern::Pattern) becomes a `regex_syntax` Hir;
//!    regexes go through [`python`], a parser of the syntax and the semantics of Python's `re`.
//!    Those of other dialects are syntax trees ([`lower_regex`]).
//! 2. [`determinize`]: Thompson's construction, then the subset construction, both bounded.
//!    [`determinize_lookaround`] does the same for a regex with look-arounds; [`trailing`] holds
//!    its conditions on the text after a lexeme.
//! 3. [`minimize`]: states are trimmed and minimised; states and byte classes ([`columns`]) are
//!    numbered canonically.
//!
//! Intersections, complements and explicit automata ([`from_automaton`]) are combined as automata
//! ([`algebra`], [`splice`]); passes 1 and 2 make those of the parts.
//!
//! Patterns that are a sequence of byte classes are built directly ([`chain`]). Bounds on the
//! number of characters are not expanded into states ([`count`]).

mod algebra;
mod approximation;
mod chain;
mod columns;
mod compile;
mod count;
mod counted;
mod determinize;
mod determinize_lookaround;
mod dfa;
mod error;
mod from_automaton;
mod joined;
mod line_ends;
mod look_around;
mod lower;
mod lower_lookaround;
mod lower_regex;
mod minimize;
mod partition;
mod python;
mod splice;
mod table;
#[cfg(test)]
mod tests;
mod text_counts;
mod trailing;
mod without_empty;

pub(crate) use algebra::{difference, intersection, product};
pub(crate) use compile::Compiler;
pub(crate) use count::MOST_STATES;
pub(crate) use dfa::{Condition, Dfa};
pub(crate) use error::PatternError;
pub(crate) use line_ends::line_ends;
pub(crate) use text_counts::text_counts;

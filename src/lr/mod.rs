//! From a grammar to its LALR(1) table: DeRemer and Pennello, "Efficient Computation of LALR(1)
//! Look-Ahead Sets" (TOPLAS 4:4, 1982). The `README.md` of this directory contains a worked
//! example.
//!
//! The passes, in order; each reads only the results of those before it:
//! * [`rules`]: the grammar's productions and the added `$accept -> start`, flattened so that an
//!   item is a number;
//! * [`lr0`]: the LR(0) automaton;
//! * [`lookahead`]: the look-ahead terminals of each reduction of each state ([`terminal_sets`]);
//! * [`hidden`]: rewrites rules whose left recursion is hidden by nullable symbols;
//! * [`conflict`]: precedence resolves conflicts where it can, and `%conflicts` decides the rest;
//! * [`draft`]: the automaton, its look-aheads and the resolution, while the table is built from
//!   them;
//! * [`subsumed`]: removes shifts made redundant by a reduction;
//! * [`yields`], [`example`], [`report`]: the shortest text that leads to a conflict, and both of
//!   its parses;
//! * [`table`]: the result; [`mod@print`] formats it for people, [`row_sets`] stores its rows.
//!
//! Built on the table:
//! * [`stack`]: the parse stack, made of [`node`]s, a graph if there are several readings
//!   ([`forks`], [`unions`]);
//! * [`virtual_top`]: virtual stack tops reached by simulated reductions;
//! * [`tail`]: right recursion in constant space;
//! * [`closures`], [`unit_reductions`]: reductions that read no deeper than the state below the
//!   top, computed once;
//! * [`shiftable`]: the terminals that whole stacks shift;
//! * [`requirements`], [`members`]: lists with required members;
//! * [`states`], [`contexts`]: states distinguished by their contexts;
//! * [`derivations`]: the texts that can be read from a state;
//! * [`completable`], [`completion`]: the proof that every stack can be completed, and the decision
//!   for a single stack, whose reads a [`read_prefix`]
//!   records;
//! * [`minimal_completion`], [`nesting`]: the cheapest completion of a stack, and the nesting depth
//!   it needs;
//! * [`mod@parse`]: trees, for those who listen to a text;
//! * [`earley`]: the derivation of a text, for authors who ask which rule derives which part.

mod closures;
pub(crate) mod completable;
pub(crate) mod completion;
pub(crate) mod conflict;
mod contexts;
mod cycles;
pub(crate) mod derivations;
mod draft;
pub(crate) mod earley;
mod example;
pub(crate) mod forks;
mod hidden;
mod lookahead;
mod lr0;
mod members;
pub(crate) mod minimal_completion;
mod names;
pub(crate) mod nesting;
mod node;
pub(crate) mod parse;
mod print;
pub(crate) mod read_prefix;
mod report;
mod requirements;
mod row_sets;
mod rules;
mod shiftable;
pub(crate) mod stack;
pub(crate) mod states;
mod subsumed;
pub(crate) mod table;
mod tail;
mod terminal_sets;
#[cfg(test)]
mod tests;
mod unions;
mod unit_reductions;
mod virtual_top;
mod yields;

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
//! On the product stand the [`stack`] (its [`node`]s a graph where there are several readings:
//! [`forks`], [`unions`]; what reductions come to: [`virtual_top`]; right recursion in constant space:
//! [`tail`]; reductions that read no deeper than the state below the top, found once: [`closures`],
//! [`unit_reductions`]; what whole stacks shift: [`shiftable`]; lists that must
//! have certain members: [`requirements`], [`members`]), what
//! contexts tell of states ([`states`], [`contexts`]), what can be read from a state on
//! ([`derivations`]), with that the proof that every stack can be completed ([`completable`]) and
//! the decision for one of them ([`completion`]; a [`read_prefix`] keeps what such a decision read), the
//! cheapest way to complete it ([`minimal_completion`]), and how deep it must nest ([`nesting`]).

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

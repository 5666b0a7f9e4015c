//! From a grammar to its LALR(1) table: DeRemer and Pennello, "Efficient Computation of LALR(1)
//! Look-Ahead Sets" (TOPLAS 4:4, 1982). `README.md` beside this file works an example through.
//!
//! The passes, in order, each reading only the products of those before it:
//! * [`rules`]: the grammar's productions and the added `$accept -> start`, flattened so that an
//!   item is a number;
//! * [`lr0`]: the LR(0) automaton;
//! * [`lookahead`]: for each reduction of each state the terminals that it is right for
//!   ([`terminal_sets`]);
//! * [`hidden`]: rules that hide left recursion behind what may be empty, written out;
//! * [`conflict`]: precedence settles what it can, and `%conflicts` says what becomes of the rest;
//! * [`draft`]: the automaton with its look-aheads and what was settled, as long as the table is
//!   made of them;
//! * [`subsumed`]: shifts that a reduction makes superfluous are taken away;
//! * [`yields`], [`example`], [`report`]: the shortest text that runs into such a conflict, and
//!   both of its parses;
//! * [`table`]: the product, which [`mod@print`] shows to people; its rows are [`row_sets`].
//!
//! On the product stand the [`stack`] (its [`node`]s a graph where there are several readings:
//! [`forks`], [`unions`]; what reductions come to: [`places`]; right recursion in constant space:
//! [`tail`]; reductions that read no deeper than the state below the top, found once: [`closures`],
//! [`unit_reductions`]; what whole stacks shift: [`shiftable`]; lists that must
//! have certain members: [`requirements`], [`members`]), what
//! contexts tell of states ([`states`], [`contexts`]), what can be read from a state on
//! ([`derivations`]), with that the proof that every stack can be completed ([`completable`]) and
//! the decision for one of them ([`completion`]; a [`trail`] keeps what such a decision read), the
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
mod places;
mod print;
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
pub(crate) mod trail;
mod unions;
mod unit_reductions;
mod yields;

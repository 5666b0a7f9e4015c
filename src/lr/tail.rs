//! Tail calls: right recursion in constant space.
//!
//! A parse state with the kernel item `A -> α . B` whose goto of `B` only completes `A` is a tail
//! call: when `B` is complete, `α B` is popped and the state below continues with `A`. It may have
//! other kernel items, as long as each of them is `A -> α . β`: however it ends, the state below
//! continues with `A`. If the state below is a tail call that waits for `A` in turn, and so on down
//! to the same parse state, the whole round is idle: the stack without it behaves the same, because
//! all rounds end in the same reductions (the look-aheads of the productions on such a cycle
//! include each other, DeRemer and Pennello's `includes`). Leo (1991) handles right recursion in
//! Earley parsers in the same way; here it keeps `x, x, x, ...` of any length on a stack of
//! constant depth, although the grammar is right-recursive, and so bounds the time of a step.

use super::lr0::Automaton;
use super::rules::{COMPLETE, Item, Rules};

/// The nonterminal that a parse state waits for, and the one it completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The nonterminal that is waited for.
    pub(super) expects: u32,
    /// Number of states popped with it: the length of `α`; at least 1.
    pub(super) pops: u32,
    /// The nonterminal that is completed.
    pub(super) completes: u32,
}

/// Computes, for each parse state, its tail call, if it is one.
pub(super) fn tails(rules: &Rules, automaton: &Automaton) -> Vec<Option<Tail>> {
    (0..automaton.state_count())
        .map(|state| {
            let kernel = automaton.kernels.get(state);
            let begun = |item: Item| {
                (rules.lhs(rules.production(item)), item - rules.first(rules.production(item)))
            };
            let (completes, pops) = begun(*kernel.first()?);
            if pops == 0 || kernel.iter().any(|&item| begun(item) != (completes, pops)) {
                return None;
            }
            kernel.iter().find_map(|&item| {
                let code = rules.next(item);
                if code == COMPLETE || rules.next(item + 1) != COMPLETE {
                    return None;
                }
                let expects = rules.nonterminal(code)? as u32;
                let target = automaton.step(state, code)?;
                let alone = automaton.kernels.get(target as usize).len() == 1;
                alone.then_some(Tail { expects, pops, completes: completes as u32 })
            })
        })
        .collect()
}

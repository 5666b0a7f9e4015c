//! Tail calls: right recursion in constant space.
//!
//! A parse state with the kernel item `A -> α . B` that does nothing with `B` but complete `A` is a
//! tail call: when `B` is done, `α B` comes off the stack and what lies below goes on with `A`. It
//! may have other kernel items, as long as each of them is `A -> α . β`: however it ends, what lies
//! below goes on with `A`. Where what lies below is a tail call that waits for `A` in turn, and so
//! on down to the same parse state, the whole round is idle: the stack without it behaves alike,
//! because all rounds end in the same reductions (the look-aheads of the productions on such a
//! cycle include each other, DeRemer and Pennello's `includes`). Leo (1991) treats right recursion
//! in Earley parsers so; here it keeps `x, x, x, ...` of any length on a stack of constant depth,
//! though its grammar be right recursive, and with it the time of a step.

use super::lr0::Automaton;
use super::rules::{COMPLETE, Item, Rules};

/// What a parse state waits for, and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The nonterminal that is waited for.
    pub(super) expects: u32,
    /// States that come off together with it: the length of `α`; at least 1.
    pub(super) pops: u32,
    /// What is completed.
    pub(super) completes: u32,
}

/// By parse state: whether it is a tail call.
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

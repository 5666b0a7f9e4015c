//! Tail calls: right recursion in constant space.
//!
//! A parse state with the kernel item `A -> α . B` is a tail call: when `B` is done, `α B` comes off the stack and what
//! lies below goes on with `A`. Where what lies below is a tail call that waits for `A` in turn, and so on down to
//! the same parse state, the whole round is idle: the stack without it behaves alike, because all rounds end in
//! the same reductions (the look-aheads of the productions on such a cycle include each other, DeRemer and
//! Pennello's `includes`). Leo (1991) treats right recursion in Earley parsers so; here it keeps `x, x, x, ...` of
//! any length on a stack of constant depth, though its grammar be right recursive, and with it the time of a step.
//!
//! Within a round nothing but the completion of `A` may become of `B`, lest the round be left half way: the state
//! behind `B` has no other kernel item. Two cases allow more. A state may have other kernel items `A -> α . β`:
//! however it ends, what lies below goes on with `A`. And behind the `B` at the bottom of the round, which is the
//! one at its top too, there may be other items, as in `e -> e "=" . e` where `e -> e . "=" e` comes next: if `B` is the
//! only way for the state to end, the round is over when that state is reached a second time, with the same
//! stack below as if there had been no round.

use super::lr0::Automaton;
use super::rules::{COMPLETE, Item, Rules};
use super::stack::Stack;
use super::table::ParseTable;

/// What a parse state waits for, and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The nonterminal that is waited for.
    expects: u32,
    /// States that come off together with it: the length of `α`; at least 1.
    pops: u32,
    /// What is completed.
    completes: u32,
    /// Whether nothing else can become of the state behind the nonterminal.
    alone: bool,
}

/// By parse state: whether it is a tail call.
pub(super) fn tails(rules: &Rules, automaton: &Automaton) -> Vec<Option<Tail>> {
    (0..automaton.state_count())
        .map(|state| {
            let kernel = automaton.kernels.get(state);
            let begun =
                |item: Item| (rules.lhs(rules.production(item)), item - rules.first(rules.production(item)));
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
                let tail = Tail { expects, pops, completes: completes as u32, alone };
                (alone || kernel.len() == 1).then_some(tail)
            })
        })
        .collect()
}

impl Stack {
    /// The stack without an idle round on top. Costs the frames of one round at most.
    pub(super) fn without_idle_round(self, table: &ParseTable) -> Stack {
        let Some(mut tail) = table.tail(self.top()) else { return self };
        let mut at = &self;
        loop {
            for _ in 0..tail.pops {
                let Some(below) = at.below() else { return self };
                at = below;
            }
            match table.tail(at.top()) {
                Some(below) if below.expects == tail.completes => tail = below,
                _ => return self,
            }
            if at.top() == self.top() {
                return at.clone();
            }
            if !tail.alone {
                return self;
            }
        }
    }
}

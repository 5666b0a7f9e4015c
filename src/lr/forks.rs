//! Stacks with the same state on top as one node, and each such node only once.
//!
//! Read from the top down, a graph of stacks is an acyclic deterministic automaton; the union of
//! two is their product. Each node above a fork is looked up before it is created. So nodes that
//! represent the same stacks are one node in memory, the graph is the minimal automaton, and
//! repeating a union costs nothing. Otherwise a graph of an ambiguous grammar would grow by a power
//! of the text's length.
//!
//! Nodes without a fork below are not looked up: nearly always there is only one way to reach each.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::node::{Address, Stack, Stacks};
use super::table::ParseTable;

impl Stack {
    /// Returns all stacks that either of the two represents; both have the same state on top.
    /// Common parts stay shared, and if one contains the other, that one itself is returned. Costs
    /// the part that both have but do not share and that was not united before; the pairs of nodes
    /// there, and the nodes below them, are added to `steps`.
    pub(crate) fn union(&self, other: &Stack, table: &ParseTable, steps: &mut usize) -> Stack {
        debug_assert!(self.same_top(other, table));
        if self.is(other) {
            return self.clone();
        }
        *steps += 1;
        if let Some(union) = table.unions.find(self, other) {
            return union;
        }
        let mut known: HashMap<(Address, Address), Stack, FxBuildHasher> = HashMap::default();
        let mut pending: Vec<Union<'_>> = Vec::new();
        let mut union = Union::new(self, other);
        loop {
            if let Some((one, other)) = union.next_pair(table) {
                *steps += 1;
                let made = known.get(&(one.address(), other.address())).cloned();
                match made.or_else(|| table.unions.find(one, other)) {
                    Some(stack) => union.below.push(stack),
                    None => pending.push(std::mem::replace(&mut union, Union::new(one, other))),
                }
                continue;
            }
            *steps += union.below.len() / NODES_OF_A_STEP;
            let stack = union.finish(table);
            table.unions.keep(union.one, union.other, &stack);
            let Some(around) = pending.pop() else { return stack };
            known.insert((union.one.address(), union.other.address()), stack.clone());
            union = around;
            union.below.push(stack);
        }
    }
}

impl ParseTable {
    /// Returns the bytes of the cached unions.
    pub(crate) fn bytes_of_unions(&self) -> usize {
        self.unions.bytes()
    }
}

/// Number of nodes below a union that take the time of one step.
const NODES_OF_A_STEP: usize = 2;

/// Up to this number of stacks are left for the caller to unite.
const FEW: usize = 4;

/// Unites stacks with the same state on top if there are many.
#[cold]
pub(super) fn joined(stacks: Stacks, table: &ParseTable, steps: &mut usize) -> Stacks {
    if stacks.len() <= FEW {
        return stacks;
    }
    let mut groups: SmallVec<[Stacks; 2]> = SmallVec::new();
    for stack in stacks {
        match groups.iter_mut().find(|group| group[0].same_top(&stack, table)) {
            Some(group) => group.push(stack),
            None => groups.push(Stacks::from_buf([stack])),
        }
    }
    groups.into_iter().map(|group| union_of(group, table, steps)).collect()
}

/// Returns the union of one or more stacks with the same state on top, in the order in which a walk
/// from the top down has met them.
///
/// The last is the deepest and so the oldest. Unions begin there: unions of the oldest are kept
/// alive by the current stacks, so the next step, which unites the same stacks first, finds those
/// unions in [`unions`](super::unions). Nothing keeps the unions of only the newest stacks alive.
/// In the other order every step makes all of its unions anew, and 400 symbols of a grammar with
/// quadratically many readings take 16 s instead of 0.3 s; a letter of a palindrome with a thousand
/// possible middles takes 550 us instead of 3.
pub(crate) fn union_of(stacks: Stacks, table: &ParseTable, steps: &mut usize) -> Stack {
    let union = |older: Stack, newer: Stack| older.union(&newer, table, steps);
    stacks.into_iter().rev().reduce(union).unwrap_or_else(|| Stack::new(table))
}

/// Adds a stack to others, uniting it with the one that has the same state on top.
#[inline]
pub(crate) fn join(stacks: &mut Stacks, stack: Stack, table: &ParseTable, steps: &mut usize) {
    match stacks.iter_mut().find(|known| known.same_top(&stack, table)) {
        Some(known) => *known = known.union(&stack, table, steps),
        None => stacks.push(stack),
    }
}

/// A union under construction.
struct Union<'s> {
    one: &'s Stack,
    other: &'s Stack,
    /// Number of nodes below each that have been processed.
    at: (usize, usize),
    below: Vec<Stack>,
}

impl<'s> Union<'s> {
    fn new(one: &'s Stack, other: &'s Stack) -> Self {
        Self { one, other, at: (0, 0), below: Vec::new() }
    }

    /// Advances to the next two nodes that have the same state and must be united.
    fn next_pair(&mut self, table: &ParseTable) -> Option<(&'s Stack, &'s Stack)> {
        loop {
            let one = self.one.below().get(self.at.0).map(|stack| (stack.key(table), stack));
            let other = self.other.below().get(self.at.1).map(|stack| (stack.key(table), stack));
            let key = [one, other].into_iter().flatten().map(|(key, _)| key).min()?;
            let [one, other] = [one, other]
                .map(|side| side.filter(|(other, _)| *other == key).map(|(_, stack)| stack));
            self.at.0 += usize::from(one.is_some());
            self.at.1 += usize::from(other.is_some());
            match (one, other) {
                (Some(one), Some(other)) if !one.is(other) => return Some((one, other)),
                (one, other) => self.below.extend(one.or(other).cloned()),
            }
        }
    }

    fn finish(&mut self, table: &ParseTable) -> Stack {
        let below = std::mem::take(&mut self.below);
        let holds_all = |side: &&&Stack| {
            side.below().len() == below.len()
                && side.below().iter().zip(&below).all(|(one, other)| one.is(other))
        };
        let whole = [&self.one, &self.other].into_iter().find(holds_all).map(|&side| side.clone());
        whole.unwrap_or_else(|| self.one.over_all(below, table))
    }
}

//! The cheapest way to complete a stack, in terminals.
//!
//! Every kernel item of the state on top is possible for this stack (the LR(0) property), so any of
//! them may be finished, with the cheapest text of the symbols after its dot. Finishing it pops its
//! symbols and leads to a state with fewer symbols below, and so on until the text may end. The
//! cheapest of these ways is found by Dijkstra's algorithm over pairs of depth and state; the
//! cheapest texts of symbols are [`Yields`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::rules::{COMPLETE, Code, Item, Rules};
use super::stack::{Address, Stack, Unread};
use super::table::ParseTable;
use super::yields::{UNKNOWN, Yields};
use crate::util::id::{CoreId, NonterminalId, TerminalId};

/// The cheapest texts of a grammar's symbols.
#[derive(Debug)]
pub(crate) struct MinimalCompletion {
    yields: Yields,
}

/// A stack during completion: a part of the real stack, with one more state on top, or none.
#[derive(Clone, Copy, Debug)]
struct PartialStack<'s> {
    below: &'s Stack,
    top: Option<CoreId>,
    /// The previous stack, and the item whose rest led here.
    from: Option<(usize, Item)>,
}

/// The rest of a list that may end, and its missing members.
struct Missing(Option<(Code, Vec<Code>)>);

impl Missing {
    /// Returns the symbols that end the list, instead of those after the dot of `item`.
    fn before(&self, rules: &Rules, item: Item) -> Option<&[Code]> {
        let (rest, missing) = self.0.as_ref()?;
        (rules.next(item) == *rest).then_some(missing)
    }
}

impl MinimalCompletion {
    /// Computes the cheapest texts for these costs of terminals; `None` for one without a lexeme.
    pub(crate) fn new(table: &ParseTable, terminal_costs: &[Option<u64>]) -> Self {
        let cost = |code: Code| {
            terminal_costs.get(code as usize).map_or(0, |cost| cost.unwrap_or(UNKNOWN))
        };
        Self { yields: Yields::weighted(&table.rules, &table.requirements, cost) }
    }

    /// Returns the terminals that complete the text of `stack` to a sentence, at the least cost.
    /// `None` if there are none, or the search takes more than `steps`. Costs the depth of the
    /// stack and the length of the result.
    pub(crate) fn plan(
        &self,
        table: &ParseTable,
        stack: &Stack,
        steps: &mut usize,
    ) -> Option<Vec<TerminalId>> {
        let mut stacks = Vec::new();
        let (cost, at, last) = self.way(table, stack, &mut stacks, steps)?;
        // A grammar of a few lines may have no sentence that fits into memory.
        *steps = steps.checked_sub(usize::try_from(cost).ok()?)?;
        Some(self.terminals(table, &stacks, at, last))
    }

    /// Returns the cost of the plan, without building it.
    pub(crate) fn cost(&self, table: &ParseTable, stack: &Stack, steps: &mut usize) -> Option<u64> {
        Some(self.way(table, stack, &mut Vec::new(), steps)?.0)
    }

    /// Returns the cheapest way to the end: its cost, the last of its stacks, and the item finished
    /// there, if any.
    fn way<'s>(
        &self,
        table: &ParseTable,
        stack: &'s Stack,
        stacks: &mut Vec<PartialStack<'s>>,
        steps: &mut usize,
    ) -> Option<(u64, usize, Option<Item>)> {
        stacks.push(PartialStack { below: stack, top: None, from: None });
        let mut best: HashMap<(Address, CoreId), u64, FxBuildHasher> = HashMap::default();
        let mut heap = BinaryHeap::from([Reverse((0u64, 0usize))]);
        while let Some(Reverse((cost, at))) = heap.pop() {
            *steps = steps.checked_sub(1)?;
            let PartialStack { below, top, .. } = stacks[at];
            let state = top.unwrap_or_else(|| below.core());
            let missing = self.missing_members(table, &stacks[at]);
            for &item in table.automaton.kernels.get(state.index()) {
                let rest = match missing.before(&table.rules, item) {
                    Some(missing) => self.yields.lengths(&table.rules, missing),
                    None => self.yields.rest(item),
                };
                if rest == UNKNOWN {
                    continue;
                }
                let production = table.rules.production(item);
                if production == table.rules.accept() {
                    // Before the first terminal this is the only item, with the whole text still to
                    // come.
                    let last = (table.rules.next(item) != COMPLETE).then_some(item);
                    return Some((cost + rest, at, last));
                }
                for (below, next) in reduce(table, below, top, item) {
                    let cost = cost + rest;
                    let known = best.entry((below.address(), next)).or_insert(u64::MAX);
                    if cost < *known {
                        *known = cost;
                        heap.push(Reverse((cost, stacks.len())));
                        stacks.push(PartialStack {
                            below,
                            top: Some(next),
                            from: Some((at, item)),
                        });
                    }
                }
            }
        }
        None
    }

    /// Returns the missing members of a list that may end on a stack: of the sets with which it may
    /// end, the one with the cheapest missing members, each after a separator.
    fn missing_members(&self, table: &ParseTable, partial: &PartialStack<'_>) -> Missing {
        let (core, below) = match partial.top {
            Some(top) => (top, Some(partial.below)),
            None => (partial.below.core(), partial.below.below().first()),
        };
        let requirements = &table.requirements;
        let Some(end) = requirements.ending(core) else { return Missing(None) };
        let Some(met) = table.members_met(end, core, below, &mut Unread) else {
            return Missing(Some((end.rest, Vec::new())));
        };
        let first = requirements.list_of(end).members.start;
        let missing_of = |&set: &u32| {
            let missing = requirements.missing(set, |one| met.contains((one - first) as usize));
            let cheapest = |forms: &&[Code]| self.yields.cheapest(&table.rules, forms);
            let separator = requirements.separator(set);
            let members = missing.iter().map(cheapest);
            members.flat_map(|one| separator.into_iter().chain([one])).collect()
        };
        let missing = end.sets.iter().map(missing_of);
        let cheapest =
            missing.min_by_key(|codes: &Vec<Code>| self.yields.lengths(&table.rules, codes));
        Missing(cheapest.map(|codes| (end.rest, codes)))
    }

    /// Returns the terminals of all items finished before `at`, and of `last`.
    fn terminals(
        &self,
        table: &ParseTable,
        stacks: &[PartialStack<'_>],
        at: usize,
        last: Option<Item>,
    ) -> Vec<TerminalId> {
        let mut finished: Vec<(usize, Item)> = last.map(|item| (at, item)).into_iter().collect();
        let mut back = stacks[at].from;
        while let Some((number, item)) = back {
            finished.push((number, item));
            back = stacks[number].from;
        }
        let rules = &table.rules;
        let mut codes: Vec<Code> = Vec::new();
        for (number, item) in finished.into_iter().rev() {
            let missing = self.missing_members(table, &stacks[number]);
            let rest = missing.before(rules, item).unwrap_or(rules.rest(item));
            self.yields.expand_up_to(UNKNOWN - 1, rules, rest, &mut codes);
        }
        codes.into_iter().map(TerminalId).collect()
    }
}

/// Pops the symbols that `item` has read and takes the goto of its left side: one result, or more
/// where stacks fork.
fn reduce<'s>(
    table: &ParseTable,
    below: &'s Stack,
    top: Option<CoreId>,
    item: Item,
) -> impl Iterator<Item = (&'s Stack, CoreId)> {
    let production = table.rules.production(item);
    let read = (item - table.rules.first(production)) as usize;
    let lhs = NonterminalId::new(table.rules.lhs(production));
    let uncovered = below.descend(read.saturating_sub(usize::from(top.is_some())), &mut Unread);
    let uncovered = uncovered.into_iter().flatten();
    uncovered.filter_map(move |below| Some((below, table.goto(below.core(), lhs)?)))
}

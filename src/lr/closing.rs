//! The cheapest way to finish a stack, in terminals.
//!
//! Every kernel item of the state on top is possible after what is on the stack (the LR(0) property), so any of
//! them may be finished: by the cheapest text of the symbols behind its dot. That takes the item's left side
//! off the stack and leads to a state with fewer symbols below, and so on until the text may end. The cheapest
//! of these ways is found by Dijkstra's algorithm over pairs of depth and state; the cheapest texts of
//! nonterminals by Knuth's generalisation of it (1977).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::rules::{COMPLETE, Code, Item, Rules};
use super::stack::Stack;
use super::table::ParseTable;
use crate::util::id::{NonterminalId, ParseStateId, TerminalId};

/// What the symbols of a grammar cost at least.
#[derive(Debug)]
pub(crate) struct Closing {
    /// By nonterminal: the first item of its cheapest production.
    cheapest: Vec<Option<Item>>,
    /// By terminal, then nonterminal: the cost; `None` where nothing derives a text.
    terminal_costs: Vec<Option<usize>>,
    nonterminal_costs: Vec<Option<usize>>,
}

/// A stack on the way to its end: some of the states that were there, and one more on top, or none.
#[derive(Clone, Copy, Debug)]
struct Place<'s> {
    below: &'s Stack,
    top: Option<ParseStateId>,
    /// The place and the item whose rest led here.
    from: Option<(usize, Item)>,
}

impl Closing {
    /// The costs of all symbols from those of the terminals, `None` for one that has no lexeme.
    pub(crate) fn new(table: &ParseTable, terminal_costs: Vec<Option<usize>>) -> Self {
        let (cheapest, nonterminal_costs) = cheapest_productions(&table.rules, &terminal_costs);
        Self { cheapest, terminal_costs, nonterminal_costs }
    }

    /// The terminals that make a sentence of what `stack` has read, at the least cost, and that cost. `None`
    /// when there are none. Costs the depth of the stack and the length of the result.
    pub(crate) fn plan(&self, table: &ParseTable, stack: &Stack) -> Option<(Vec<TerminalId>, usize)> {
        let mut places = vec![Place { below: stack, top: None, from: None }];
        let mut best: HashMap<(u32, ParseStateId), usize, FxBuildHasher> = HashMap::default();
        let mut heap = BinaryHeap::from([Reverse((0usize, 0usize))]);
        while let Some(Reverse((cost, at))) = heap.pop() {
            let Place { below, top, .. } = places[at];
            let state = top.unwrap_or_else(|| below.top());
            for &item in table.automaton.kernels.get(state.index()) {
                let Some(rest) = self.cost_of(&table.rules, item) else { continue };
                let production = table.rules.production(item);
                if production == table.rules.accept() {
                    // Before the first terminal the only item is this one, with all of the text to come.
                    let last = (table.rules.next(item) != COMPLETE).then_some(item);
                    return Some((self.terminals(&table.rules, &places, at, last), cost + rest));
                }
                let Some((below, next)) = reduce(table, below, top, item) else { continue };
                let cost = cost + rest;
                let known = best.entry((below.depth(), next)).or_insert(usize::MAX);
                if cost < *known {
                    *known = cost;
                    heap.push(Reverse((cost, places.len())));
                    places.push(Place { below, top: Some(next), from: Some((at, item)) });
                }
            }
        }
        None
    }

    /// The cost of what stands behind the dot.
    fn cost_of(&self, rules: &Rules, item: Item) -> Option<usize> {
        (item..).map(|item| rules.next(item)).take_while(|&code| code != COMPLETE).try_fold(
            0usize,
            |sum, code| {
                let cost = match rules.nonterminal(code) {
                    Some(nonterminal) => self.nonterminal_costs[nonterminal],
                    None => self.terminal_costs[code as usize],
                };
                Some(sum.saturating_add(cost?))
            },
        )
    }

    /// The terminals of all items finished on the way to `at`, and of `last`.
    fn terminals(
        &self,
        rules: &Rules,
        places: &[Place<'_>],
        at: usize,
        last: Option<Item>,
    ) -> Vec<TerminalId> {
        let mut items: Vec<Item> = last.into_iter().collect();
        let mut back = places[at].from;
        while let Some((place, item)) = back {
            items.push(item);
            back = places[place].from;
        }
        let mut terminals = Vec::new();
        let mut pending: Vec<Code> = Vec::new();
        for item in items.into_iter().rev() {
            push_rest(rules, item, &mut pending);
            while let Some(code) = pending.pop() {
                match rules.nonterminal(code) {
                    None => terminals.push(TerminalId(code)),
                    Some(nonterminal) => {
                        if let Some(first) = self.cheapest[nonterminal] {
                            push_rest(rules, first, &mut pending);
                        }
                    }
                }
            }
        }
        terminals
    }
}

/// Puts the symbols behind the dot on `pending`, the last one first.
fn push_rest(rules: &Rules, item: Item, pending: &mut Vec<Code>) {
    let start = pending.len();
    pending.extend((item..).map(|item| rules.next(item)).take_while(|&code| code != COMPLETE));
    pending[start..].reverse();
}

/// Takes off what `item` has read and goes to its left side.
fn reduce<'s>(
    table: &ParseTable,
    mut below: &'s Stack,
    top: Option<ParseStateId>,
    item: Item,
) -> Option<(&'s Stack, ParseStateId)> {
    let production = table.rules.production(item);
    let read = (item - table.rules.first(production)) as usize;
    for _ in 0..read.saturating_sub(usize::from(top.is_some())) {
        below = below.below()?;
    }
    let lhs = NonterminalId::new(table.rules.lhs(production));
    Some((below, table.goto(below.top(), lhs)?))
}

/// By nonterminal the first item of its cheapest production, and what that costs.
fn cheapest_productions(
    rules: &Rules,
    terminal_costs: &[Option<usize>],
) -> (Vec<Option<Item>>, Vec<Option<usize>>) {
    let count = rules.nonterminal_count() + 1;
    let mut best: Vec<Option<Item>> = vec![None; count];
    let mut known: Vec<Option<usize>> = vec![None; count];
    let mut uses: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut missing = vec![0usize; rules.production_count()];
    let mut sums = vec![Some(0usize); rules.production_count()];
    let mut heap = BinaryHeap::new();
    for production in 0..rules.production_count() as u32 {
        let (sum, missing) = (&mut sums[production as usize], &mut missing[production as usize]);
        for code in (rules.first(production)..).map(|item| rules.next(item)).take_while(|&c| c != COMPLETE) {
            match rules.nonterminal(code) {
                None => *sum = sum.zip(terminal_costs[code as usize]).map(|(a, b)| a.saturating_add(b)),
                Some(nonterminal) => {
                    *missing += 1;
                    uses[nonterminal].push(production);
                }
            }
        }
        if let (0, Some(sum)) = (*missing, *sum) {
            heap.push(Reverse((sum, production)));
        }
    }
    while let Some(Reverse((cost, production))) = heap.pop() {
        let lhs = rules.lhs(production);
        if known[lhs].is_some() {
            continue;
        }
        known[lhs] = Some(cost);
        best[lhs] = Some(rules.first(production));
        for &user in &uses[lhs] {
            let (sum, missing) = (&mut sums[user as usize], &mut missing[user as usize]);
            *missing -= 1;
            *sum = sum.map(|sum| sum.saturating_add(cost));
            if let (0, Some(sum)) = (*missing, *sum) {
                heap.push(Reverse((sum, user)));
            }
        }
    }
    (best, known)
}

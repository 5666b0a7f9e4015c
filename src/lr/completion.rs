//! Decides whether a stack can be completed, given the place on top of it: item by item, from the
//! top down.
//!
//! The text on top of a stack is part of some item of the state there (the LR(0) property). So the
//! text can be completed exactly if one of these items can be finished and the resulting stack can
//! be completed in turn. The texts that can be read on top of a state are cached
//! ([`super::derivations`]), so what remains is a search over the rest of the stack, the node on
//! top of it, and the condition there: each combination is visited once, also across the paths of a
//! graph of stacks, and those covered by others are skipped. This is the saturation of Bouajjani,
//! Esparza and Maler (1997) for `post*`, for a single stack and only as deep as necessary.

use std::cmp::Reverse;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::derivations::{
    Control, Derivations, LexicalStateId, Node, Outcomes, Succession, open_brackets,
};
use super::rules::Item;
use super::stack::{Address, Depths, Stack};
use super::table::ParseTable;
use crate::util::id::NonterminalId;

/// A stack to be completed: a real stack, with at most one more node on top.
#[derive(Clone, Copy)]
struct PartialStack<'s> {
    below: &'s Stack,
    top: Option<Node>,
    control: Control,
    /// Number of open brackets.
    brackets: u32,
}

/// The order in which ways to complete a text are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// All items of a state before those of states below: an answer may be found before much of the
    /// stack is read.
    FromTheTop,
    /// Each item as far down as it leads before the next, those with the shortest rests first: the
    /// shortest completions are found before longer alternatives.
    ShortestFirst,
}

/// A task of the search.
enum Task<'s> {
    Look(PartialStack<'s>),
    /// The remaining items of the top to try, the last one first.
    Try(PartialStack<'s>, SmallVec<[Item; 8]>),
}

/// The places from which all ways to complete a text have been or are being tried, by [`Spot`].
/// Every text that may follow a covered place may also follow the place that covers it, so only the
/// latter is kept: an antichain (De Wulf, Doyen, Henzinger and Raskin 2006). With the obligations
/// that many matches leave pending there are thousands of places, but few maximal ones.
#[derive(Default)]
struct Visited {
    places: HashMap<Spot, Vec<LexicalStateId>, FxBuildHasher>,
}

/// The stack, the node on top, the barred set (at place 0), and the number of open brackets.
type Spot = (Address, Option<Node>, Control, u32);

impl Visited {
    /// Returns whether `partial` has not been visited; also marks it as visited.
    fn is_new(&mut self, partial: &PartialStack<'_>, succession: &impl Succession) -> bool {
        let (place, barred) = (partial.control.place, partial.control.bars_only());
        let places = self
            .places
            .entry((partial.below.address(), partial.top, barred, partial.brackets))
            .or_default();
        if places.iter().any(|&known| succession.covers(known, place)) {
            return false;
        }
        places.retain(|&known| !succession.covers(place, known));
        places.push(place);
        true
    }
}

impl Derivations {
    /// Returns whether `stack` can be completed at `place` with this many open brackets. `None` if
    /// that takes more than `budget` steps; the steps taken are added to `spent`.
    pub(crate) fn can_complete(
        &mut self,
        table: &ParseTable,
        succession: &mut impl Succession,
        (stack, top, order): (&Stack, (LexicalStateId, u32), Order),
        depths: &mut impl Depths,
        budget: usize,
        spent: &mut usize,
    ) -> Option<bool> {
        let mut left = budget;
        let can = self.complete(table, succession, (stack, top, order), depths, &mut left);
        *spent += budget - left;
        can
    }

    fn complete(
        &mut self,
        table: &ParseTable,
        succession: &mut impl Succession,
        (stack, (place, brackets), order): (&Stack, (LexicalStateId, u32), Order),
        depths: &mut impl Depths,
        budget: &mut usize,
    ) -> Option<bool> {
        let mut is_certain = true;
        let first = PartialStack { below: stack, top: None, control: Control::at(place), brackets };
        let mut pending = vec![Task::Look(first)];
        let mut met = Visited::default();
        self.note(stack, depths);
        while let Some(task) = pending.pop() {
            let (partial, items) = match task {
                Task::Look(partial) => {
                    let is_new = met.is_new(&partial, succession);
                    *budget = budget.saturating_sub(succession.take_spent().saturating_add(1));
                    if !is_new {
                        continue;
                    }
                    (partial, self.items(table, &partial, order))
                }
                Task::Try(partial, mut items) => {
                    let Some(item) = items.pop() else { continue };
                    if !items.is_empty() {
                        pending.push(Task::Try(partial, items));
                    }
                    (partial, SmallVec::from_iter([item]))
                }
            };
            if *budget == 0 {
                return None;
            }
            if order == Order::ShortestFirst && items.len() > 1 {
                pending.push(Task::Try(partial, items));
                continue;
            }
            let node = partial.top.unwrap_or_else(|| self.node(table, partial.below));
            for item in items {
                let opened = open_brackets(&table.rules, item, succession);
                let outside = partial.brackets.saturating_sub(opened);
                let begun = succession.outside(partial.control.place, outside);
                let asked = (node, item, begun);
                // The results of an item are followed further down, so one item may not take the
                // whole budget.
                let share = budget.div_ceil(2);
                let mut left = share;
                let found = self.rest(table, succession, asked, partial.control, &mut left);
                *budget -= share - left;
                is_certain &= found.are_all;
                match found.outcomes {
                    Outcomes::Settled => return Some(true),
                    Outcomes::Controls(controls) => {
                        for control in controls {
                            let after = PartialStack { control, brackets: outside, ..partial };
                            if self.finish(table, succession, after, item, depths, &mut pending)? {
                                return Some(true);
                            }
                        }
                    }
                }
            }
        }
        is_certain.then_some(false)
    }

    /// Returns the items of the top node, in the reverse of the order in which they are tried.
    fn items(
        &self,
        table: &ParseTable,
        partial: &PartialStack<'_>,
        order: Order,
    ) -> SmallVec<[Item; 8]> {
        let node = partial.top.unwrap_or_else(|| self.node(table, partial.below));
        let kernel = table.automaton.kernels.get(self.core(table, node).index());
        let mut items: SmallVec<[Item; 8]> = SmallVec::from_slice(kernel);
        if order == Order::ShortestFirst {
            items.sort_by_key(|&item| Reverse(self.length_behind(item)));
        }
        items
    }

    /// Pops the symbols that `item` has read, and schedules the resulting stacks. Returns whether
    /// the text is complete.
    fn finish<'s>(
        &self,
        table: &ParseTable,
        succession: &mut impl Succession,
        partial: PartialStack<'s>,
        item: Item,
        depths: &mut impl Depths,
        pending: &mut Vec<Task<'s>>,
    ) -> Option<bool> {
        let production = table.rules.production(item);
        if production == table.rules.accept() {
            return Some(
                !self.bars(partial.control, table.end())
                    && succession.may_end(partial.control.place),
            );
        }
        let read = (item - table.rules.first(production)) as usize;
        let lhs = NonterminalId::new(table.rules.lhs(production));
        let uncovered = partial
            .below
            .descend(read.saturating_sub(usize::from(partial.top.is_some())), depths)?;
        for below in uncovered {
            self.note(below, depths);
            let top = self.goto(table, self.node(table, below), lhs);
            pending.extend(
                top.map(|top| Task::Look(PartialStack { below, top: Some(top), ..partial })),
            );
        }
        Some(false)
    }

    /// Returns the node on top of a stack.
    fn node(&self, table: &ParseTable, stack: &Stack) -> Node {
        Node(if self.in_context() { stack.state(table).0 } else { stack.core().0 })
    }

    /// Reports that the node on top of a stack is read.
    fn note(&self, stack: &Stack, depths: &mut impl Depths) {
        match self.in_context() {
            true => depths.read_state(stack.depth()),
            false => depths.read(stack.depth()),
        }
    }
}

//! Whether a stack can be completed, from what holds on top of it: item by item, from the top down.
//!
//! Whatever is on top of a stack is part of some item of the state there (the LR(0) property). So
//! the text can be completed just when one of these items can be finished, and what then lies on
//! the stack can be completed in turn. What can be read on top of a state is known once it was
//! worked out ([`super::derivations`]), so what is left is a search over what lies below, what lies
//! on top, and what holds: each is met once, ways through a graph of stacks among them, and what
//! another covers not at all. This is the saturation of Bouajjani, Esparza and Maler (1997) for
//! `post*`, done for one stack and only as deep as it must.

use std::cmp::Reverse;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::derivations::{Control, Derivations, Node, Outcomes, Place, Succession, open_brackets};
use super::rules::Item;
use super::stack::{Address, Depths, Stack};
use super::table::ParseTable;
use crate::util::id::NonterminalId;

/// What is to be completed: a stack, on which nothing or one node more lies.
#[derive(Clone, Copy)]
struct Rest<'s> {
    below: &'s Stack,
    top: Option<Node>,
    control: Control,
    /// How many brackets are open there.
    brackets: u32,
}

/// In what order ways to complete a text are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// All items of a state before those of states below: what settles the matter may be found
    /// before much of the stack is read.
    FromTheTop,
    /// Each item as far down as it leads before the next, those with the shortest rests first: what
    /// must be read to complete the text at once is found before what could be read besides.
    ShortestFirst,
}

/// A task of the search.
enum Task<'s> {
    Look(Rest<'s>),
    /// These items of what lies on top have yet to be tried, the last first.
    Try(Rest<'s>, SmallVec<[Item; 8]>),
}

/// From where all ways to complete a text have been tried, or are being tried: by the [`Spot`], the
/// places. What follows a place that another covers follows the other too, so of such the other
/// alone is kept: an antichain (De Wulf, Doyen, Henzinger and Raskin 2006). With what many matches
/// leave pending there are thousands of places, and few that count.
#[derive(Default)]
struct Met {
    places: HashMap<Spot, Vec<Place>, FxBuildHasher>,
}

/// The stack, what lies on top, what is barred (at no place), and how many brackets are open.
type Spot = (Address, Option<Node>, Control, u32);

impl Met {
    /// Whether `rest` has yet to be looked at.
    fn is_new(&mut self, rest: &Rest<'_>, succession: &impl Succession) -> bool {
        let (place, barred) = (rest.control.place, rest.control.bars_only());
        let places =
            self.places.entry((rest.below.address(), rest.top, barred, rest.brackets)).or_default();
        if places.iter().any(|&known| succession.covers(known, place)) {
            return false;
        }
        places.retain(|&known| !succession.covers(place, known));
        places.push(place);
        true
    }
}

impl Derivations {
    /// Whether `stack` can be completed where `place` holds on top of it, and so many brackets are
    /// open. `None` where that takes more than `budget` steps; those taken are added to `spent`.
    pub(crate) fn can_complete(
        &mut self,
        table: &ParseTable,
        succession: &mut impl Succession,
        (stack, top, order): (&Stack, (Place, u32), Order),
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
        (stack, (place, brackets), order): (&Stack, (Place, u32), Order),
        depths: &mut impl Depths,
        budget: &mut usize,
    ) -> Option<bool> {
        let mut is_certain = true;
        let first = Rest { below: stack, top: None, control: Control::at(place), brackets };
        let mut pending = vec![Task::Look(first)];
        let mut met = Met::default();
        self.note(stack, depths);
        while let Some(task) = pending.pop() {
            let (rest, items) = match task {
                Task::Look(rest) => {
                    let is_new = met.is_new(&rest, succession);
                    *budget = budget.saturating_sub(succession.take_spent().saturating_add(1));
                    if !is_new {
                        continue;
                    }
                    (rest, self.items(table, &rest, order))
                }
                Task::Try(rest, mut items) => {
                    let Some(item) = items.pop() else { continue };
                    if !items.is_empty() {
                        pending.push(Task::Try(rest, items));
                    }
                    (rest, SmallVec::from_iter([item]))
                }
            };
            if *budget == 0 {
                return None;
            }
            if order == Order::ShortestFirst && items.len() > 1 {
                pending.push(Task::Try(rest, items));
                continue;
            }
            let node = rest.top.unwrap_or_else(|| self.node(table, rest.below));
            for item in items {
                let opened = open_brackets(&table.rules, item, succession);
                let outside = rest.brackets.saturating_sub(opened);
                let begun = succession.outside(rest.control.place, outside);
                let asked = (node, item, begun);
                // What is found of an item goes on below, so it may not take all that is left.
                let share = budget.div_ceil(2);
                let mut left = share;
                let found = self.rest(table, succession, asked, rest.control, &mut left);
                *budget -= share - left;
                is_certain &= found.are_all;
                match found.outcomes {
                    Outcomes::Settled => return Some(true),
                    Outcomes::Controls(controls) => {
                        for control in controls {
                            let after = Rest { control, brackets: outside, ..rest };
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

    /// The items of what lies on top. Where those with the shortest rests are to come first, they
    /// stand last: they are taken from the end.
    fn items(&self, table: &ParseTable, rest: &Rest<'_>, order: Order) -> SmallVec<[Item; 8]> {
        let node = rest.top.unwrap_or_else(|| self.node(table, rest.below));
        let kernel = table.automaton.kernels.get(self.core(table, node).index());
        let mut items: SmallVec<[Item; 8]> = SmallVec::from_slice(kernel);
        if order == Order::ShortestFirst {
            items.sort_by_key(|&item| Reverse(self.length_behind(item)));
        }
        items
    }

    /// Takes off what `item` has read, and adds what lies there then. Whether that is all of the
    /// text.
    fn finish<'s>(
        &self,
        table: &ParseTable,
        succession: &mut impl Succession,
        rest: Rest<'s>,
        item: Item,
        depths: &mut impl Depths,
        pending: &mut Vec<Task<'s>>,
    ) -> Option<bool> {
        let production = table.rules.production(item);
        if production == table.rules.accept() {
            return Some(
                !self.bars(rest.control, table.end()) && succession.may_end(rest.control.place),
            );
        }
        let read = (item - table.rules.first(production)) as usize;
        let lhs = NonterminalId::new(table.rules.lhs(production));
        let uncovered =
            rest.below.descend(read.saturating_sub(usize::from(rest.top.is_some())), depths)?;
        for below in uncovered {
            self.note(below, depths);
            let top = self.goto(table, self.node(table, below), lhs);
            pending.extend(top.map(|top| Task::Look(Rest { below, top: Some(top), ..rest })));
        }
        Some(false)
    }

    /// The node on top of a stack.
    fn node(&self, table: &ParseTable, stack: &Stack) -> Node {
        Node(if self.in_context() { stack.state(table).0 } else { stack.core().0 })
    }

    /// The node on top of a stack is read.
    fn note(&self, stack: &Stack, depths: &mut impl Depths) {
        match self.in_context() {
            true => depths.read_state(stack.depth()),
            false => depths.read(stack.depth()),
        }
    }
}

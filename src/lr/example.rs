//! Shortest texts that lead to a conflict, and the continuation of each of their readings; after
//! Isradisaikul and Myers, "Finding Counterexamples from Parsing Conflicts" (PLDI 2015), section 4,
//! but searched backwards from the conflict.
//!
//! Invariant: the terminal of the conflict may really follow on the path found. The search carries,
//! for each reduction, the item whose end must still meet the terminal: a step out of a production
//! checks whether the symbols after the dot there can begin with it (met), or are nullable (check
//! further out). A conflict between reductions checks both on one path; if there is no such path,
//! only the merging of LALR(1) makes them meet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::lr0::Automaton;
use super::rules::{COMPLETE, Code, Item, Rules};
use super::yields::{Leading, Yields};
use crate::util::lists::Lists;
use crate::util::meter::{LimitReached, Meter};

/// A vertex is looked up and inserted into a heap, for each of some edges.
const STEPS_OF_A_VERTEX: usize = 100;
const BYTES_OF_A_VERTEX: usize = 120;
/// An item is searched for in the kernel of a state, or its left side among the edges; if it is
/// found, a vertex may be added.
const STEPS_OF_AN_ITEM: usize = 10;

/// Instead of an item: the terminal has been met.
const MET: Item = Item::MAX;

/// A state, and the items whose ends must meet the terminal.
type Vertex = (u32, [Item; 2]);

/// A position on a path: its index, the item, and whether the terminal must still be met.
type Position = (usize, Item, bool);

/// Least cost of a position, and the step that reached it.
type Reached = (u64, Option<(Position, Enclosing)>);

/// A path from the start state: its states, the start first.
pub(super) type Path = Vec<u32>;

/// The result of a search for a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SearchResult {
    /// The path with the shortest text.
    Path(Path),
    /// There is no path.
    Nothing,
    /// The search was given up; there may be a path.
    GaveUp,
}

/// A production around the conflict, as the item at its dot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Enclosing {
    /// The item, with its dot before the nonterminal of the next production inwards; for the
    /// innermost one, the item of the conflict.
    pub(super) item: Item,
    /// The index of the path's symbol at which the production begins.
    pub(super) begins: usize,
    /// Whether the symbols after the nonterminal provide the terminal of the conflict (rather than
    /// deriving the empty text, when the terminal comes from further out, or any text, when it came
    /// from further in).
    pub(super) brings: bool,
    /// Whether the symbols after it must derive the empty text.
    pub(super) empty: bool,
}

/// Data shared by all searches in one automaton.
#[derive(Debug)]
pub(super) struct Search<'a> {
    rules: &'a Rules,
    automaton: &'a Automaton,
    pub(super) yields: Yields,
    predecessors: Lists<u32>,
    /// By state: the weight of the shortest path to it, and the previous state on that path.
    nearest: Vec<(u64, u32)>,
    meter: Meter,
}

impl<'a> Search<'a> {
    /// Prepares. Nearly linear in the automaton.
    ///
    /// # Errors
    /// If building has no steps left for the preparation. Searches may take one in `share` of the
    /// steps that are left after it.
    pub(super) fn new(
        rules: &'a Rules,
        automaton: &'a Automaton,
        (meter, share): (&Meter, usize),
    ) -> Result<Self, LimitReached> {
        let edges = automaton.edges.entries().len();
        meter.step(STEPS_OF_AN_ITEM * (rules.item_count() + automaton.state_count()) + edges)?;
        let meter = meter.share(share);
        let yields = Yields::new(rules);
        let mut nearest = vec![(u64::MAX, 0); automaton.state_count()];
        nearest[0].0 = 0;
        let mut heap = BinaryHeap::from([Reverse((0, 0))]);
        while let Some(Reverse((cost, state))) = heap.pop() {
            if nearest[state as usize].0 < cost {
                continue;
            }
            for edge in automaton.edges.get(state as usize) {
                let total = cost + weight(rules, &yields, edge.symbol);
                if total < nearest[edge.target as usize].0 {
                    nearest[edge.target as usize] = (total, state);
                    heap.push(Reverse((total, edge.target)));
                }
            }
        }
        let predecessors = automaton.predecessors(|_, _| true);
        Ok(Self { rules, automaton, yields, predecessors, nearest, meter })
    }

    /// The shortest texts that begin with `terminal`; `None` where no search has steps left.
    pub(super) fn leading(&self, terminal: Code) -> Option<Leading> {
        self.meter.step(STEPS_OF_AN_ITEM * self.rules.item_count()).ok()?;
        Some(Leading::new(self.rules, &self.yields, terminal))
    }

    /// Takes steps for a search. Returns whether there were as many left.
    pub(super) fn may_spend(&self, steps: usize) -> bool {
        self.meter.step(steps).is_ok()
    }

    /// Finds the path with the shortest text to `state` on which the terminal of `leading` may
    /// follow each of `items`.
    pub(super) fn path(
        &self,
        state: usize,
        items: &[Item],
        leading: &Leading,
        terminal: Code,
    ) -> SearchResult {
        let start: Vertex =
            (state as u32, std::array::from_fn(|i| items.get(i).copied().unwrap_or(MET)));
        let mut best: HashMap<Vertex, (u64, Vertex), FxBuildHasher> = HashMap::default();
        let mut heap = BinaryHeap::new();
        best.insert(start, (0, start));
        heap.push(Reverse((0, false, start)));
        let mut moves: Vec<(u64, Vertex)> = Vec::new();
        let mut held = self.meter.holding();
        while let Some(Reverse((cost, finished, vertex))) = heap.pop() {
            if finished {
                return SearchResult::Path(self.unwind(&best, start, vertex));
            }
            if best[&vertex].0 < cost {
                continue;
            }
            let (state, items) = vertex;
            let spent = self.meter.step(STEPS_OF_A_VERTEX + self.steps_outwards(items));
            if spent.and_then(|()| held.set(BYTES_OF_A_VERTEX * best.len())).is_err() {
                return SearchResult::GaveUp;
            }
            if items == [MET; 2] {
                heap.push(Reverse((
                    cost.saturating_add(self.nearest[state as usize].0),
                    true,
                    vertex,
                )));
                continue;
            }
            moves.clear();
            match self.beginning(items) {
                Some(which) => self.outwards(state, items[which], terminal, leading, |item| {
                    let mut items = items;
                    items[which] = item;
                    moves.push((cost, (state, items)));
                }),
                None => {
                    let back = items.map(|item| if item == MET { MET } else { item - 1 });
                    let cost = cost
                        + weight(
                            self.rules,
                            &self.yields,
                            self.automaton.accessing[state as usize],
                        );
                    let below = self.predecessors.get(state as usize);
                    moves.extend(below.iter().map(|&below| (cost, (below, back))));
                }
            }
            for &(cost, next) in &moves {
                let known = best.entry(next).or_insert((u64::MAX, vertex));
                if cost < known.0 {
                    *known = (cost, vertex);
                    heap.push(Reverse((cost, false, next)));
                }
            }
        }
        SearchResult::Nothing
    }

    /// Returns the index of an item with its dot at the start, if there is one.
    fn beginning(&self, items: [Item; 2]) -> Option<usize> {
        let begins =
            |item: Item| item != MET && item == self.rules.first(self.rules.production(item));
        items.iter().position(|&item| begins(item))
    }

    /// Returns the steps of moving out of the production that one of the items begins.
    fn steps_outwards(&self, items: [Item; 2]) -> usize {
        self.beginning(items)
            .map_or(0, |which| self.steps_enclosing(self.rules.production(items[which])))
    }

    /// Returns the steps of finding the items that enclose a production.
    fn steps_enclosing(&self, production: u32) -> usize {
        let lhs = self.rules.nonterminal_code(self.rules.lhs(production));
        STEPS_OF_AN_ITEM * self.yields.occurrences(lhs).len()
    }

    /// Moves from the production that `item` begins to those that enclose it in `state`.
    fn outwards(
        &self,
        state: u32,
        item: Item,
        terminal: Code,
        leading: &Leading,
        mut found: impl FnMut(Item),
    ) {
        let production = self.rules.production(item);
        if production == self.rules.accept() {
            if terminal == self.rules.end() {
                found(MET);
            }
            return;
        }
        for outer in self.enclosing(state, production) {
            if leading.behind(self.rules, &self.yields, outer + 1).is_some() {
                found(MET);
            }
            if self.yields.rest(outer + 1) == 0 {
                found(outer);
            }
        }
    }

    /// Returns the items of `state` with the dot before the left side of `production`.
    fn enclosing(&self, state: u32, production: u32) -> impl Iterator<Item = Item> + '_ {
        let lhs = self.rules.nonterminal_code(self.rules.lhs(production));
        self.items_before(state, lhs)
    }

    /// Returns the items of `state` with the dot before `symbol`.
    pub(super) fn items_before(&self, state: u32, symbol: Code) -> impl Iterator<Item = Item> + '_ {
        let all = self.yields.occurrences(symbol).iter().copied();
        all.filter(move |&item| self.automaton.has_item(self.rules, state as usize, item))
    }

    fn unwind(
        &self,
        best: &HashMap<Vertex, (u64, Vertex), FxBuildHasher>,
        start: Vertex,
        goal: Vertex,
    ) -> Path {
        let mut path = vec![goal.0];
        while path[path.len() - 1] != 0 {
            path.push(self.nearest[path[path.len() - 1] as usize].1);
        }
        path.reverse();
        let mut vertex = goal;
        while vertex != start {
            let inner = best[&vertex].1;
            // A vertex with no production to leave was left by a step back along an edge.
            if self.beginning(inner.1).is_none() {
                path.push(inner.0);
            }
            vertex = inner;
        }
        path
    }

    /// Returns the symbols of a path.
    pub(super) fn symbols(&self, path: &[u32]) -> Vec<Code> {
        path[1..].iter().map(|&state| self.automaton.accessing[state as usize]).collect()
    }

    /// Returns the item, in the last state of the path, that shifts `terminal`, and the productions
    /// around it; those with the shortest remaining text.
    pub(super) fn shift_reading(
        &self,
        path: &[u32],
        terminal: Code,
        leading: &Leading,
    ) -> Option<Vec<Enclosing>> {
        let last = *path.last()?;
        let sources: Vec<(u64, Item)> = self
            .items_before(last, terminal)
            .map(|item| (self.yields.rest(item + 1), item))
            .collect();
        self.reading(path, &sources, false, terminal, leading)
    }

    /// Returns the productions around a reduction at the end of the path that meets `terminal`;
    /// those with the shortest remaining text.
    pub(super) fn reduce_reading(
        &self,
        path: &[u32],
        production: u32,
        terminal: Code,
        leading: &Leading,
    ) -> Option<Vec<Enclosing>> {
        self.reading(path, &[(0, self.rules.last(production))], true, terminal, leading)
    }

    /// Returns the productions from the innermost to `$accept`.
    fn reading(
        &self,
        path: &[u32],
        sources: &[(u64, Item)],
        needs: bool,
        terminal: Code,
        leading: &Leading,
    ) -> Option<Vec<Enclosing>> {
        let end = path.len() - 1;
        let mut best: HashMap<Position, Reached, FxBuildHasher> = HashMap::default();
        let mut heap = BinaryHeap::new();
        for &(cost, item) in sources {
            best.insert((end, item, needs), (cost, None));
            heap.push(Reverse((cost, (end, item, needs))));
        }
        let mut held = self.meter.holding();
        let dot = |item: Item| (item - self.rules.first(self.rules.production(item))) as usize;
        while let Some(Reverse((cost, place))) = heap.pop() {
            let (at, item, needs) = place;
            let production = self.rules.production(item);
            self.meter.step(STEPS_OF_A_VERTEX + self.steps_enclosing(production)).ok()?;
            held.set(BYTES_OF_A_VERTEX * best.len()).ok()?;
            if best[&place].0 < cost {
                continue;
            }
            let begins = at.checked_sub(dot(item))?;
            if production == self.rules.accept() {
                if needs && terminal != self.rules.end() {
                    continue;
                }
                let mut chain = vec![Enclosing { item, begins, brings: false, empty: needs }];
                let mut place = place;
                while let Some((inner, link)) = best[&place].1 {
                    // The link describes the step that led here: the outer item as seen from the
                    // inner one.
                    if let Some(outer) = chain.last_mut() {
                        (outer.brings, outer.empty) = (link.brings, link.empty);
                    }
                    let inner_begins = inner.0 - dot(inner.1);
                    chain.push(Enclosing {
                        item: inner.1,
                        begins: inner_begins,
                        brings: false,
                        empty: false,
                    });
                    place = inner;
                }
                chain.reverse();
                return Some(chain);
            }
            for outer in self.enclosing(path[begins], production) {
                let mut offer = |cost: u64, brings: bool, still: bool| {
                    let next = (begins, outer, still);
                    let known = best.entry(next).or_insert((u64::MAX, None));
                    if cost < known.0 {
                        let link = Enclosing { item: outer, begins, brings, empty: still };
                        *known = (cost, Some((place, link)));
                        heap.push(Reverse((cost, next)));
                    }
                };
                if !needs {
                    offer(cost + self.yields.rest(outer + 1), false, false);
                    continue;
                }
                if let Some((length, _)) = leading.behind(self.rules, &self.yields, outer + 1) {
                    offer(cost + length, true, false);
                }
                if self.yields.rest(outer + 1) == 0 {
                    offer(cost, false, true);
                }
            }
        }
        None
    }
}

/// Returns the weight of a symbol: the number of its terminals counts first, then the number of
/// symbols.
fn weight(rules: &Rules, yields: &Yields, symbol: Code) -> u64 {
    if symbol == COMPLETE { 0 } else { (yields.length(rules, symbol) << 10) + 1 }
}

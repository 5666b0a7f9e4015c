//! The LR(0) automaton. Invariant: states are numbered in the order of a breadth-first walk that
//! takes symbols by code, so equal grammars have equal automata; kernels and edges are sorted.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::rules::{COMPLETE, Code, Item, Rules};
use crate::util::lists::Lists;
use crate::util::meter::{LimitReached, Meter};

/// States, edges, and the productions that each state may reduce.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    /// By state: its kernel items, ascending. State 0 holds `$accept -> . start` alone.
    pub(super) kernels: Lists<Item>,
    /// By state: its edges by ascending code, so terminals first.
    pub(super) edges: Lists<Edge>,
    /// By state: the number of its edges labelled with terminals.
    pub(super) terminal_edges: Vec<u32>,
    /// By state: the productions that are complete in it, ascending.
    pub(super) complete: Lists<u32>,
    /// By state: the label of all edges into it; [`COMPLETE`] for the start state.
    pub(super) accessing: Vec<Code>,
}

/// An edge of the automaton.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) symbol: Code,
    pub(super) target: u32,
}

impl Automaton {
    /// Builds the automaton. Time is linear in the closures of all states.
    pub(super) fn build(rules: &Rules, meter: &Meter) -> Result<Self, LimitReached> {
        let mut builder = Builder {
            automaton: Self {
                kernels: Lists::new(),
                edges: Lists::new(),
                terminal_edges: Vec::new(),
                complete: Lists::new(),
                accessing: Vec::new(),
            },
            known: HashTable::new(),
            of_items: vec![UNKNOWN; rules.item_count()],
        };
        builder.state(&[rules.first(rules.accept())], COMPLETE);
        // By symbol; usually few items each.
        let mut moved: Vec<SmallVec<[Item; 4]>> = Vec::new();
        moved.resize_with(rules.code_count(), SmallVec::new);
        let mut symbols: Vec<Code> = Vec::new();
        let mut closed_in = vec![u32::MAX; rules.nonterminal_count() + 1];
        let (mut closure, mut complete): (Vec<Item>, Vec<u32>) = Default::default();
        let mut state = 0;
        let mut held = meter.holding();
        while state < builder.automaton.kernels.len() {
            if state % 64 == 0 {
                held.set(builder.automaton.bytes())?;
            }
            if builder.has_one_way(rules, state) {
                meter.step(STEPS_OF_AN_ITEM)?;
                state += 1;
                continue;
            }
            closure.clear();
            closure.extend_from_slice(builder.automaton.kernels.get(state));
            let mut at = 0;
            while let Some(&item) = closure.get(at) {
                at += 1;
                let symbol = rules.next(item);
                if symbol == COMPLETE {
                    complete.push(rules.production(item));
                    continue;
                }
                let bucket = &mut moved[symbol as usize];
                if bucket.is_empty() {
                    symbols.push(symbol);
                }
                bucket.push(item + 1);
                if let Some(nonterminal) = rules.nonterminal(symbol)
                    && closed_in[nonterminal] != state as u32
                {
                    closed_in[nonterminal] = state as u32;
                    closure
                        .extend(rules.productions_of(nonterminal).iter().map(|&p| rules.first(p)));
                }
            }
            meter.step(STEPS_OF_AN_ITEM * closure.len())?;

            complete.sort_unstable();
            complete.drain(..).for_each(|production| builder.automaton.complete.push(production));
            builder.automaton.complete.close();
            symbols.sort_unstable();
            let by_terminals =
                symbols.partition_point(|&symbol| rules.nonterminal(symbol).is_none());
            builder.automaton.terminal_edges.push(by_terminals as u32);
            for symbol in symbols.drain(..) {
                let kernel = &mut moved[symbol as usize];
                kernel.sort_unstable();
                let target = builder.state(kernel, symbol);
                kernel.clear();
                builder.automaton.edges.push(Edge { symbol, target });
            }
            builder.automaton.edges.close();
            state += 1;
        }
        Ok(builder.automaton)
    }

    /// Returns the approximate heap size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let lists = self.kernels.entries().len()
            + 2 * self.edges.entries().len()
            + self.complete.entries().len();
        2 * size_of::<u32>() * (lists + 8 * self.state_count())
    }

    /// Returns the number of states.
    pub(super) fn state_count(&self) -> usize {
        self.kernels.len()
    }

    /// Returns the number of the reduction of `production`, which is complete in `state`.
    pub(super) fn reduction(&self, state: usize, production: u32) -> u32 {
        let at = self.complete.get(state).binary_search(&production);
        let at = at.expect("an item without a next symbol is complete");
        (self.complete.range(state).start + at) as u32
    }

    /// Returns the edges of a state labelled with terminals.
    #[inline]
    pub(super) fn by_terminals(&self, state: usize) -> &[Edge] {
        &self.edges.get(state)[..self.terminal_edges[state] as usize]
    }

    /// Returns the edges of a state labelled with nonterminals.
    #[inline]
    pub(super) fn by_nonterminals(&self, state: usize) -> &[Edge] {
        &self.edges.get(state)[self.terminal_edges[state] as usize..]
    }

    /// Returns the target of the edge of `state` by `symbol`. Logarithmic.
    #[inline]
    pub(super) fn step(&self, state: usize, symbol: Code) -> Option<u32> {
        let edges = self.edges.get(state);
        edges.binary_search_by_key(&symbol, |edge| edge.symbol).ok().map(|at| edges[at].target)
    }

    /// Returns whether the closure of `state` has `item`. Logarithmic.
    pub(super) fn has_item(&self, rules: &Rules, state: usize, item: Item) -> bool {
        let production = rules.production(item);
        if self.kernels.get(state).binary_search(&item).is_ok() {
            return true;
        }
        // An item with the dot at the start is in the closure if the state has an edge for its
        // nonterminal: both mean that the closure has a dot before that nonterminal.
        item == rules.first(production)
            && self.step(state, rules.nonterminal_code(rules.lhs(production))).is_some()
    }

    /// Reverses the edges: by state, the states with an edge into it, ascending. `exists` tells
    /// whether a state still has its edge for a symbol.
    pub(super) fn predecessors(&self, exists: impl Fn(u32, Code) -> bool) -> Lists<u32> {
        let mut pairs = Vec::with_capacity(self.edges.entries().len());
        for state in 0..self.state_count() as u32 {
            let edges =
                self.edges.get(state as usize).iter().filter(|edge| exists(state, edge.symbol));
            pairs.extend(edges.map(|edge| (edge.target, state)));
        }
        Lists::from_pairs(self.state_count(), &pairs)
    }
}

/// An item is put into the list of its symbol, sorted there, and read twice.
const STEPS_OF_AN_ITEM: usize = 3;

/// No state yet.
const UNKNOWN: u32 = u32::MAX;

struct Builder {
    automaton: Automaton,
    /// States with several kernel items.
    known: HashTable<u32>,
    /// By item: the state whose kernel is this item alone.
    of_items: Vec<u32>,
}

impl Builder {
    /// Handles a state with a single item that is complete or has a terminal after its dot; returns
    /// whether the state is one.
    fn has_one_way(&mut self, rules: &Rules, state: usize) -> bool {
        let &[item] = self.automaton.kernels.get(state) else { return false };
        let symbol = rules.next(item);
        if rules.nonterminal(symbol).is_some() {
            return false;
        }
        let is_complete = symbol == COMPLETE;
        if is_complete {
            self.automaton.complete.push(rules.production(item));
        } else {
            let target = self.state(&[item + 1], symbol);
            self.automaton.edges.push(Edge { symbol, target });
        }
        self.automaton.complete.close();
        self.automaton.edges.close();
        self.automaton.terminal_edges.push(u32::from(!is_complete));
        true
    }

    /// Returns the state with this kernel, adding it if it is new.
    fn state(&mut self, kernel: &[Item], accessing: Code) -> u32 {
        let kernels = &mut self.automaton.kernels;
        if let &[item] = kernel {
            let state = &mut self.of_items[item as usize];
            if *state == UNKNOWN {
                kernels.push(item);
                *state = kernels.close() as u32;
                self.automaton.accessing.push(accessing);
            }
            return *state;
        }
        let hash = FxBuildHasher.hash_one(kernel);
        if let Some(&state) = self.known.find(hash, |&state| kernels.get(state as usize) == kernel)
        {
            return state;
        }
        for &item in kernel {
            kernels.push(item);
        }
        let state = kernels.close() as u32;
        self.automaton.accessing.push(accessing);
        self.known.insert_unique(hash, state, |&other| {
            FxBuildHasher.hash_one(kernels.get(other as usize))
        });
        state
    }
}

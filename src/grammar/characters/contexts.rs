//! Terminals that can occur in one context: the rows of the LR(1) automaton (Knuth, *On the
//! Translation of Languages from Left to Right*, Information and Control 8, 1965).
//!
//! A state of the canonical automaton represents the parse stacks that have the same future in the
//! next terminal; its row is the terminals that such a stack can really shift, after the reductions
//! that they cause. So two terminals compete exactly if one row holds both. Canonical automata can
//! be large; beyond a bound, states with the same core are merged, as in LALR(1), which makes rows
//! larger and never smaller.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::grammar::ir::Symbol;
use crate::grammar::lower::expand::Productions;
use crate::util::bitset::BitSet;
use crate::util::meter::{Holding, Meter};

/// Upper bounds on states of the canonical automaton, and on items of all its states.
const MAX_STATES: usize = 3_000;
const MAX_ITEMS: usize = 60_000;

/// A position between two terminals.
#[derive(Debug)]
pub(super) struct Context {
    /// Terminals that can occur here; the number after the last terminal is the end of the text.
    pub(super) row: BitSet,
    /// The subset of them before which a rule may end first.
    pub(super) reduces: BitSet,
    /// Successor state for each terminal after a dot.
    pub(super) next: Vec<(usize, usize)>,
}

/// A production and the position of the dot in it.
type Item = (u32, u32);
/// Items with their look-aheads.
type Kernel = BTreeMap<Item, BitSet>;

/// Returns all contexts of the grammar that starts with nonterminal 0, or `None` if `budget` is
/// spent first.
pub(super) fn contexts(
    productions: &Productions,
    terminals: usize,
    budget: &mut Budget,
) -> Option<Vec<Context>> {
    let rules = Rules::new(productions, terminals, budget)?;
    let found = canonical(&rules, budget).or_else(|| merged(&rules, budget));
    budget.release();
    found
}

/// Limit on the cost of contexts: a number of steps, which depends on the size of the question, and
/// a share of what is left of the meter. Beyond either, terminals are chosen without contexts.
pub(super) struct Budget {
    steps: usize,
    meter: Meter,
    held: Holding,
}

/// Steps of the meter for one of contexts: an item is looked up in a tree, with a set of terminals.
const STEPS_OF_A_STEP: usize = 20;
/// Size of an item's entries in two maps, without its two sets of terminals.
const BYTES_OF_AN_ITEM: usize = 120;
/// Divisor of what is left of the meter: this share may be spent.
const SHARE: usize = 3;

impl Budget {
    pub(super) fn new(steps: usize, meter: &Meter) -> Self {
        Self { steps, meter: meter.share(SHARE), held: meter.holding() }
    }

    /// Deducts `steps`, or returns `None` if fewer are left.
    fn spend(&mut self, steps: usize) -> Option<()> {
        self.steps = self.steps.checked_sub(steps)?;
        self.meter.step(STEPS_OF_A_STEP * steps).ok()
    }

    /// Records the number of kernel items that are held now.
    fn hold(&mut self, items: usize, terminals: usize) -> Option<()> {
        let bytes = BYTES_OF_AN_ITEM + 2 * terminals.div_ceil(8);
        self.held.set(items.saturating_mul(bytes)).ok()
    }

    /// Records that nothing is held any more.
    fn release(&mut self) {
        // Holding less is within any limit.
        let _ = self.held.set(0);
    }
}

struct Rules<'a> {
    productions: &'a Productions,
    terminals: usize,
    by_lhs: Vec<Vec<u32>>,
    nullable: Vec<bool>,
    first: Vec<BitSet>,
}

impl<'a> Rules<'a> {
    fn new(productions: &'a Productions, terminals: usize, budget: &mut Budget) -> Option<Self> {
        let count = productions.nonterminals.len();
        let mut by_lhs = vec![Vec::new(); count];
        for (number, production) in (0..).zip(&productions.productions) {
            by_lhs[production.lhs.index()].push(number);
        }
        let first = vec![BitSet::new(terminals + 1); count];
        let mut rules =
            Self { productions, terminals, by_lhs, nullable: vec![false; count], first };
        while rules.grow() {
            budget.spend(productions.productions.len())?;
        }
        Some(rules)
    }

    /// Runs one round of the fixed point of the nullable nonterminals and the FIRST sets.
    fn grow(&mut self) -> bool {
        let mut grown = false;
        for production in &self.productions.productions {
            let lhs = production.lhs.index();
            let mut first = std::mem::replace(&mut self.first[lhs], BitSet::new(0));
            let mut is_nullable = true;
            for symbol in &production.rhs {
                match symbol {
                    Symbol::Terminal(terminal) => {
                        grown |= first.insert(terminal.index());
                        is_nullable = false;
                    }
                    Symbol::Nonterminal(next) if next.index() == lhs => {
                        is_nullable = self.nullable[lhs];
                    }
                    Symbol::Nonterminal(next) => {
                        grown |= first.union_with(&self.first[next.index()]);
                        is_nullable = self.nullable[next.index()];
                    }
                }
                if !is_nullable {
                    break;
                }
            }
            self.first[lhs] = first;
            grown |= is_nullable && !std::mem::replace(&mut self.nullable[lhs], true);
        }
        grown
    }

    fn rhs(&self, production: u32) -> &[Symbol] {
        &self.productions.productions[production as usize].rhs
    }

    fn next(&self, (production, dot): Item) -> Option<Symbol> {
        self.rhs(production).get(dot as usize).copied()
    }

    /// Returns the terminals that can follow the symbol after the dot.
    fn behind(&self, (production, dot): Item, lookahead: &BitSet) -> BitSet {
        let mut all = BitSet::new(self.terminals + 1);
        for symbol in &self.rhs(production)[dot as usize + 1..] {
            match symbol {
                Symbol::Terminal(terminal) => {
                    all.insert(terminal.index());
                    return all;
                }
                Symbol::Nonterminal(next) => {
                    all.union_with(&self.first[next.index()]);
                    if !self.nullable[next.index()] {
                        return all;
                    }
                }
            }
        }
        all.union_with(lookahead);
        all
    }

    fn start(&self) -> Kernel {
        let mut end = BitSet::new(self.terminals + 1);
        end.insert(self.terminals);
        self.by_lhs[0].iter().map(|&production| ((production, 0), end.clone())).collect()
    }

    /// Returns all items of the state with this kernel.
    fn closure(&self, kernel: &Kernel, budget: &mut Budget) -> Option<Kernel> {
        let mut all = kernel.clone();
        let mut pending: Vec<Item> = kernel.keys().copied().collect();
        while let Some(item) = pending.pop() {
            let Some(Symbol::Nonterminal(next)) = self.next(item) else { continue };
            let behind = self.behind(item, &all[&item]);
            budget.spend((1 + self.by_lhs[next.index()].len()) * (1 + self.terminals / 512))?;
            for &production in &self.by_lhs[next.index()] {
                let item = (production, 0);
                let known = all.contains_key(&item);
                let lookahead = all.entry(item).or_insert_with(|| BitSet::new(self.terminals + 1));
                if lookahead.union_with(&behind) || !known {
                    pending.push(item);
                }
            }
        }
        Some(all)
    }

    /// Returns the terminals that can be shifted in a state, at once or after reductions.
    fn context(&self, items: &Kernel, next: Vec<(usize, usize)>) -> Context {
        let mut row = BitSet::new(self.terminals + 1);
        let mut reduces = BitSet::new(self.terminals + 1);
        for (&item, lookahead) in items {
            match self.next(item) {
                Some(Symbol::Terminal(terminal)) => {
                    row.insert(terminal.index());
                }
                Some(Symbol::Nonterminal(_)) => {}
                None => {
                    reduces.union_with(lookahead);
                }
            }
        }
        row.union_with(&reduces);
        Context { row, reduces, next }
    }

    /// Returns the kernels of the successors of a state.
    fn successors(&self, items: &Kernel) -> Vec<(Symbol, Kernel)> {
        let mut all: BTreeMap<Symbol, Kernel> = BTreeMap::new();
        for (&(production, dot), lookahead) in items {
            if let Some(symbol) = self.next((production, dot)) {
                all.entry(symbol).or_default().insert((production, dot + 1), lookahead.clone());
            }
        }
        all.into_iter().collect()
    }
}

fn canonical(rules: &Rules<'_>, budget: &mut Budget) -> Option<Vec<Context>> {
    let key = |kernel: &Kernel| -> Vec<(Item, Vec<u64>)> {
        kernel.iter().map(|(&item, lookahead)| (item, lookahead.words().to_vec())).collect()
    };
    let start = rules.start();
    let mut ids: HashMap<_, usize> = HashMap::new();
    ids.insert(key(&start), 0);
    let mut kernels = vec![start];
    let mut contexts = Vec::new();
    let (mut items, mut held) = (0, 0);
    while let Some(kernel) = kernels.get(contexts.len()) {
        let closure = rules.closure(kernel, budget)?;
        items += closure.len();
        if kernels.len() > MAX_STATES || items > MAX_ITEMS {
            return None;
        }
        let mut next = Vec::new();
        for (symbol, kernel) in rules.successors(&closure) {
            let id = *ids.entry(key(&kernel)).or_insert(kernels.len());
            if id == kernels.len() {
                held += kernel.len();
                kernels.push(kernel);
            }
            if let Symbol::Terminal(terminal) = symbol {
                next.push((terminal.index(), id));
            }
        }
        budget.hold(held, rules.terminals)?;
        contexts.push(rules.context(&closure, next));
    }
    Some(contexts)
}

/// Builds the automaton in which states with the same core are merged, with the union of their
/// look-aheads.
fn merged(rules: &Rules<'_>, budget: &mut Budget) -> Option<Vec<Context>> {
    let core = |kernel: &Kernel| -> Vec<Item> { kernel.keys().copied().collect() };
    let start = rules.start();
    let mut ids: HashMap<_, usize> = HashMap::new();
    ids.insert(core(&start), 0);
    let mut kernels = vec![start];
    let mut contexts: Vec<Option<Context>> = Vec::new();
    contexts.push(None);
    let mut pending = vec![0];
    let mut is_pending = vec![true];
    let mut held = 0;
    while let Some(state) = pending.pop() {
        is_pending[state] = false;
        let closure = rules.closure(&kernels[state], budget)?;
        let mut next = Vec::new();
        for (symbol, kernel) in rules.successors(&closure) {
            let id = *ids.entry(core(&kernel)).or_insert(kernels.len());
            if id == kernels.len() {
                held += kernel.len();
                kernels.push(kernel);
                contexts.push(None);
                is_pending.push(true);
                pending.push(id);
            } else {
                let mut grown = false;
                for (known, more) in kernels[id].values_mut().zip(kernel.values()) {
                    grown |= known.union_with(more);
                }
                if grown && !std::mem::replace(&mut is_pending[id], true) {
                    pending.push(id);
                }
            }
            if let Symbol::Terminal(terminal) = symbol {
                next.push((terminal.index(), id));
            }
        }
        budget.hold(held, rules.terminals)?;
        contexts[state] = Some(rules.context(&closure, next));
    }
    contexts.into_iter().collect()
}

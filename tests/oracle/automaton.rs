//! The LALR(1) automaton in its textbook form: the canonical collection of LR(1) items, with states
//! merged if their cores are equal, and then each cell computed separately.
//!
//! Knuth 1965 for the collection, DeRemer 1969 for the merging. [`settle`] removes actions from a
//! cell by precedence.

use super::open;
use super::spec::{Associativity, Conflicts, Production, Spec, Symbol};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An action of the parser before a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Shift(usize),
    /// The number of the production.
    Reduce(usize),
    Accept,
}

/// Productions with a dot, and the look-aheads of each as a bit set.
type Items = BTreeMap<(usize, usize), u64>;

/// The automaton of a [`Spec`]. Core 0 is the start.
#[derive(Debug)]
pub struct Automaton {
    /// The last one is `accept -> start`.
    productions: Vec<Production>,
    /// By core and terminal; the end of the text comes after the terminals.
    cells: Vec<Vec<Vec<Action>>>,
    /// By core and nonterminal.
    gotos: Vec<HashMap<usize, usize>>,
    /// Whether a conflict remains.
    has_conflicts: bool,
}

impl Automaton {
    /// Builds the automaton of the productive productions. Hidden left recursion is removed from
    /// them if conflicts remain that must be followed.
    pub fn new(spec: &Spec) -> Self {
        let productions = spec.productive();
        let plain = Self::of(spec, productions.clone());
        if !plain.has_conflicts {
            return plain;
        }
        match open::without_hidden_left_recursion(&productions) {
            Some(productions) => Self::of(spec, productions),
            None => plain,
        }
    }

    fn of(spec: &Spec, mut productions: Vec<Production>) -> Self {
        let accept = Production {
            lhs: usize::MAX,
            rhs: vec![Symbol::Nonterminal(spec.start)],
            precedence: None,
            priority: 0,
        };
        productions.push(accept);
        let collection = Collection::new(&productions, spec.terminals.len());
        let (states, edges) = collection.merged();
        let mut automaton =
            Self { productions, cells: Vec::new(), gotos: Vec::new(), has_conflicts: false };
        for (items, edges) in states.iter().zip(&edges) {
            let cells: Vec<_> = (0..=spec.terminals.len())
                .map(|terminal| automaton.cell(spec, items, edges, terminal))
                .collect();
            automaton.has_conflicts |= cells.iter().any(|cell| cell.len() > 1);
            automaton.cells.push(cells);
            let goto = |(symbol, &core): (&Symbol, &usize)| match symbol {
                Symbol::Nonterminal(nonterminal) => Some((*nonterminal, core)),
                Symbol::Terminal(_) => None,
            };
            automaton.gotos.push(edges.iter().filter_map(goto).collect());
        }
        automaton
    }

    /// Returns one cell of the table, after settling its conflicts.
    fn cell(
        &self,
        spec: &Spec,
        items: &Items,
        edges: &HashMap<Symbol, usize>,
        terminal: usize,
    ) -> Vec<Action> {
        let accept = self.productions.len() - 1;
        let shift = edges.get(&Symbol::Terminal(terminal)).map(|&core| Action::Shift(core));
        let reductions = items.iter().filter_map(|(&(production, dot), look_aheads)| {
            let is_done = dot == self.productions[production].rhs.len();
            let done =
                if production == accept { Action::Accept } else { Action::Reduce(production) };
            (is_done && look_aheads & 1 << terminal != 0).then_some(done)
        });
        settle(spec, &self.productions, terminal, shift, reductions.collect())
    }

    /// Returns the actions with `core` on top before `terminal`.
    pub fn actions(&self, core: usize, terminal: usize) -> &[Action] {
        &self.cells[core][terminal]
    }

    /// Returns the nonterminal of a production, and the number of symbols that it pops.
    pub fn production(&self, production: usize) -> (usize, usize) {
        (self.productions[production].lhs, self.productions[production].rhs.len())
    }

    /// Returns the core that `core` goes to by a nonterminal.
    pub fn goto(&self, core: usize, nonterminal: usize) -> usize {
        self.gotos[core][&nonterminal]
    }

    /// Returns the number of cores.
    pub fn core_count(&self) -> usize {
        self.cells.len()
    }

    /// Whether some cell has several actions.
    pub fn has_conflicts(&self) -> bool {
        self.has_conflicts
    }

    /// Returns the end of the text, as a terminal.
    pub fn end(&self) -> usize {
        self.cells[0].len() - 1
    }
}

/// Returns the actions of a cell that remain after precedence, and then after `conflicts shift`.
///
/// Each reduction is compared with the shift if both have a level: the lower one is removed;
/// between equals `left` removes the shift, `right` the reduction, and `nonassoc` both. Reductions
/// are not compared with each other.
fn settle(
    spec: &Spec,
    productions: &[Production],
    terminal: usize,
    shift: Option<Action>,
    reductions: Vec<Action>,
) -> Vec<Action> {
    let own = spec.terminals.get(terminal).and_then(|terminal| terminal.precedence);
    let mut shift_stays = shift.is_some();
    let mut kept = Vec::new();
    for reduction in reductions {
        let level = match reduction {
            Action::Reduce(production) => productions[production].precedence,
            _ => None,
        };
        let (Some(level), Some(own), Some(_)) = (level, own, shift) else {
            kept.push(reduction);
            continue;
        };
        let (shift_goes, reduction_goes) = match level.level.cmp(&own.level) {
            Ordering::Greater => (true, false),
            Ordering::Less => (false, true),
            Ordering::Equal => match own.associativity {
                Associativity::Left => (true, false),
                Associativity::Right => (false, true),
                Associativity::Nonassoc => (true, true),
            },
        };
        shift_stays &= !shift_goes;
        if !reduction_goes {
            kept.push(reduction);
        }
    }
    let shift = shift.filter(|_| shift_stays);
    if spec.conflicts == Conflicts::Shift {
        let rank = |action: &Action| match *action {
            Action::Reduce(production) => (true, -productions[production].priority, production),
            _ => (false, 0, 0),
        };
        return shift.or_else(|| kept.into_iter().min_by_key(rank)).into_iter().collect();
    }
    shift.into_iter().chain(kept).collect()
}

/// The canonical collection: states by their closed items, and the edges between them.
struct Collection<'p> {
    productions: &'p [Production],
    first: HashMap<usize, u64>,
    nullable: BTreeSet<usize>,
    states: Vec<Items>,
    edges: Vec<HashMap<Symbol, usize>>,
}

impl<'p> Collection<'p> {
    fn new(productions: &'p [Production], end: usize) -> Self {
        let nullable = open::nullable(productions);
        let mut collection = Self {
            productions,
            first: HashMap::new(),
            nullable,
            states: Vec::new(),
            edges: Vec::new(),
        };
        collection.find_first();
        let start = collection.close(Items::from([((productions.len() - 1, 0), 1 << end)]));
        let mut numbers = HashMap::from([(start.clone(), 0)]);
        collection.states.push(start);
        while let Some(items) = collection.states.get(collection.edges.len()).cloned() {
            let mut kernels: BTreeMap<Symbol, Items> = BTreeMap::new();
            for (&(production, dot), &look_aheads) in &items {
                if let Some(&symbol) = productions[production].rhs.get(dot) {
                    kernels.entry(symbol).or_default().insert((production, dot + 1), look_aheads);
                }
            }
            let mut edges = HashMap::new();
            for (symbol, kernel) in kernels {
                let closed = collection.close(kernel);
                let next = *numbers.entry(closed).or_insert_with_key(|closed| {
                    collection.states.push(closed.clone());
                    collection.states.len() - 1
                });
                edges.insert(symbol, next);
            }
            collection.edges.push(edges);
        }
        collection
    }

    /// Repeats the definition of FIRST until nothing changes.
    fn find_first(&mut self) {
        loop {
            let mut changed = false;
            for production in self.productions {
                let found = self.first_of(&production.rhs, 0);
                let known = self.first.entry(production.lhs).or_default();
                changed |= found & !*known != 0;
                *known |= found;
            }
            if !changed {
                return;
            }
        }
    }

    /// Returns the terminals that `symbols` can begin with, if `behind` follows.
    fn first_of(&self, symbols: &[Symbol], behind: u64) -> u64 {
        let mut first = 0;
        for symbol in symbols {
            match symbol {
                Symbol::Terminal(terminal) => return first | 1 << terminal,
                Symbol::Nonterminal(nonterminal) => {
                    first |= self.first.get(nonterminal).copied().unwrap_or_default();
                    if !self.nullable.contains(nonterminal) {
                        return first;
                    }
                }
            }
        }
        first | behind
    }

    /// Adds the predicted items, with their look-aheads, until nothing changes.
    fn close(&self, mut items: Items) -> Items {
        let mut todo: Vec<(usize, usize)> = items.keys().copied().collect();
        while let Some((production, dot)) = todo.pop() {
            let rhs = &self.productions[production].rhs;
            let Some(Symbol::Nonterminal(next)) = rhs.get(dot) else { continue };
            let look_aheads = self.first_of(&rhs[dot + 1..], items[&(production, dot)]);
            for (number, _) in self.productions.iter().enumerate().filter(|(_, p)| p.lhs == *next) {
                let known = items.entry((number, 0)).or_default();
                if look_aheads & !*known != 0 {
                    *known |= look_aheads;
                    todo.push((number, 0));
                }
            }
        }
        items
    }

    /// Merges states with equal cores, uniting their look-aheads.
    fn merged(&self) -> (Vec<Items>, Vec<HashMap<Symbol, usize>>) {
        let mut numbers: HashMap<Vec<(usize, usize)>, usize> = HashMap::new();
        let mut merged: Vec<Items> = Vec::new();
        let mut number_of = Vec::new();
        for items in &self.states {
            let next = numbers.len();
            let number = *numbers.entry(items.keys().copied().collect()).or_insert(next);
            if number == next {
                merged.push(Items::new());
            }
            for (&item, look_aheads) in items {
                *merged[number].entry(item).or_default() |= look_aheads;
            }
            number_of.push(number);
        }
        let mut edges = vec![HashMap::new(); merged.len()];
        for (state, from) in self.edges.iter().enumerate() {
            edges[number_of[state]]
                .extend(from.iter().map(|(&symbol, &next)| (symbol, number_of[next])));
        }
        (merged, edges)
    }
}

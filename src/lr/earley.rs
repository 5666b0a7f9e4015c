//! Finds one derivation of a sequence of terminals, or of a prefix: which rule derives which part
//! of a text.
//!
//! The tables determine which terminals may follow; they keep no tree, since parallel stacks that
//! meet are merged. If an author asks which part a rule derived, the terminals are parsed once
//! more, by Earley's algorithm (1970): it handles any grammar, and each item remembers how it was
//! first reached, which gives one derivation for each item. Nullable nonterminals are skipped when
//! they are predicted (Aycock and Horspool 2002).

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::grammar::Grammar;
use crate::grammar::ir::Symbol;
use crate::util::bitset::BitSet;
use crate::util::id::{NonterminalId, TerminalId};

/// Upper bound on the items of all sets together; larger parses are given up.
const MAX_ITEMS: usize = 4_000_000;

/// The productions of a grammar, for derivations.
#[derive(Debug)]
pub(crate) struct Derivations {
    productions: Vec<(NonterminalId, Box<[Symbol]>)>,
    /// By nonterminal: its productions.
    of: Vec<Vec<u32>>,
    /// By nonterminal: the production by which it derives the empty sequence, using nonterminals
    /// that were found nullable before it.
    empty: Vec<Option<u32>>,
    start: NonterminalId,
}

/// A nonterminal, and the terminals that it derives: from the first to before the second.
pub(crate) type Constituent = (NonterminalId, usize, usize);

/// The parts of a derivation.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    /// The complete parts, each after those within it, from left to right.
    pub(crate) parts: Vec<Constituent>,
    /// For a prefix: the incomplete nonterminals of each possible continuation, innermost first;
    /// each with the terminal at which it begins.
    pub(crate) open: Vec<Vec<(NonterminalId, usize)>>,
}

/// The input after a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// None: the sequence is complete.
    End,
    /// One of these terminals.
    Among(BitSet),
    /// Any terminal.
    Any,
}

/// How an item was first reached.
#[derive(Clone, Copy, Debug)]
enum Child {
    /// It is at its beginning.
    None,
    /// By a terminal.
    Terminal,
    /// By a completed item of the same set.
    Item(u32),
    /// By a nonterminal that derives the empty sequence here.
    Empty(NonterminalId),
}

#[derive(Clone, Copy, Debug)]
struct Item {
    production: u32,
    dot: u32,
    origin: u32,
    /// The set and number of the item before the last symbol.
    before: (u32, u32),
    child: Child,
}

/// The items between two terminals.
#[derive(Debug, Default)]
struct Set {
    items: Vec<Item>,
    known: HashMap<(u32, u32, u32), (), FxBuildHasher>,
    /// By nonterminal: the items that wait for it; the first of them predicted it.
    waiting: HashMap<NonterminalId, SmallVec<[u32; 2]>, FxBuildHasher>,
}

impl Set {
    fn add(&mut self, item: Item) {
        if self.known.insert((item.production, item.dot, item.origin), ()).is_none() {
            self.items.push(item);
        }
    }
}

impl Derivations {
    /// Prepares the productions of `grammar`.
    pub(crate) fn new(grammar: &Grammar) -> Self {
        let productions: Vec<_> = (grammar.productions.iter())
            .map(|production| (production.lhs, production.rhs.clone().into_boxed_slice()))
            .collect();
        let of = grammar.nonterminals.iter().map(|nonterminal| {
            nonterminal.productions.iter().map(|production| production.0).collect()
        });
        let mut derivations = Self {
            of: of.collect(),
            empty: vec![None; grammar.nonterminals.len()],
            productions,
            start: grammar.start,
        };
        derivations.find_empty();
        derivations
    }

    fn find_empty(&mut self) {
        loop {
            let mut found = false;
            for (number, (lhs, rhs)) in (0..).zip(&self.productions) {
                let derives_nothing = |symbol: &Symbol| match symbol {
                    Symbol::Terminal(_) => false,
                    Symbol::Nonterminal(inner) => self.empty[inner.index()].is_some(),
                };
                if self.empty[lhs.index()].is_none() && rhs.iter().all(derives_nothing) {
                    self.empty[lhs.index()] = Some(number);
                    found = true;
                }
            }
            if !found {
                return;
            }
        }
    }

    /// Finds the first derivation of a sequence, where each position lists alternative terminals.
    /// `None` if there is no derivation, or finding one exceeds the limit. The cost is linear in
    /// the sequence times the grammar, with right recursion quadratic in the sequence.
    pub(crate) fn derive(
        &self,
        terminals: &[SmallVec<[TerminalId; 2]>],
        ahead: &Ahead,
    ) -> Option<Derived> {
        let mut sets = vec![Set::default()];
        for &production in &self.of[self.start.index()] {
            sets[0].add(Item { production, dot: 0, origin: 0, before: (0, 0), child: Child::None });
        }
        let mut count = 0;
        for at in 0..=terminals.len() {
            self.close(&mut sets, at);
            count += sets[at].items.len();
            if count > MAX_ITEMS {
                return None;
            }
            if let Some(terminal) = terminals.get(at) {
                let mut next = Set::default();
                for (number, item) in (0..).zip(&sets[at].items) {
                    if let Some(Symbol::Terminal(wanted)) = self.next(item)
                        && terminal.contains(&wanted)
                    {
                        let before = (at as u32, number);
                        next.add(Item {
                            dot: item.dot + 1,
                            before,
                            child: Child::Terminal,
                            ..*item
                        });
                    }
                }
                sets.push(next);
            }
        }
        let last = sets.len() - 1;
        if *ahead == Ahead::End {
            return self.derive_whole(&sets);
        }
        let may_go_on = |item: &Item| match self.next(item) {
            Some(Symbol::Terminal(terminal)) => match ahead {
                Ahead::Among(terminals) => terminals.contains(terminal.index()),
                Ahead::End | Ahead::Any => true,
            },
            _ => false,
        };
        let ways: Vec<u32> = (0..)
            .zip(&sets[last].items)
            .filter(|(_, item)| may_go_on(item))
            .map(|(number, _)| number)
            .collect();
        if ways.is_empty() {
            // Only the end can follow.
            return self.derive_whole(&sets);
        }
        let paths: Vec<Vec<(u32, u32)>> =
            ways.iter().map(|&way| self.path(&sets, (last as u32, way))).collect();
        let mut derived = Derived::default();
        if let Some(first) = paths.first() {
            for &(set, number) in first.iter().rev() {
                self.collect(&sets, children(&sets, (set, number)), &mut derived.parts);
            }
        }
        let lhs = |&(set, number): &(u32, u32)| {
            let item = &sets[set as usize].items[number as usize];
            (self.productions[item.production as usize].0, item.origin as usize)
        };
        derived.open = paths.iter().map(|path| path.iter().map(lhs).collect()).collect();
        Some(derived)
    }

    fn derive_whole(&self, sets: &[Set]) -> Option<Derived> {
        let last = sets.len() - 1;
        let is_whole = |item: &Item| self.completes(item) == Some(self.start) && item.origin == 0;
        let whole = sets[last].items.iter().position(is_whole)? as u32;
        let mut derived = Derived::default();
        self.collect(sets, vec![Task::Item(last as u32, whole)], &mut derived.parts);
        Some(derived)
    }

    fn next(&self, item: &Item) -> Option<Symbol> {
        self.productions[item.production as usize].1.get(item.dot as usize).copied()
    }

    /// Returns the nonterminal of a complete item.
    fn completes(&self, item: &Item) -> Option<NonterminalId> {
        self.next(item).is_none().then(|| self.productions[item.production as usize].0)
    }

    /// Predicts and completes in a set until no new items are added.
    fn close(&self, sets: &mut [Set], at: usize) {
        let mut number = 0;
        while let Some(&item) = sets[at].items.get(number) {
            let here = (at as u32, number as u32);
            match self.next(&item) {
                Some(Symbol::Terminal(_)) => {}
                Some(Symbol::Nonterminal(wanted)) => {
                    let waiting = sets[at].waiting.entry(wanted).or_default();
                    let is_first = waiting.is_empty();
                    waiting.push(number as u32);
                    if is_first {
                        for &production in &self.of[wanted.index()] {
                            let origin = at as u32;
                            sets[at].add(Item {
                                production,
                                dot: 0,
                                origin,
                                before: (0, 0),
                                child: Child::None,
                            });
                        }
                    }
                    if self.empty[wanted.index()].is_some() {
                        let child = Child::Empty(wanted);
                        sets[at].add(Item { dot: item.dot + 1, before: here, child, ..item });
                    }
                }
                None => {
                    let lhs = self.productions[item.production as usize].0;
                    let origin = item.origin as usize;
                    // Empty derivations were already skipped at prediction.
                    if origin != at {
                        let waiting = sets[origin].waiting.get(&lhs).cloned().unwrap_or_default();
                        for waiting in waiting {
                            let over = sets[origin].items[waiting as usize];
                            let before = (item.origin, waiting);
                            let child = Child::Item(number as u32);
                            sets[at].add(Item { dot: over.dot + 1, before, child, ..over });
                        }
                    }
                }
            }
            number += 1;
        }
    }

    /// Returns the incomplete items around an item, starting with itself.
    fn path(&self, sets: &[Set], from: (u32, u32)) -> Vec<(u32, u32)> {
        let mut path = vec![from];
        let mut at = from;
        loop {
            let item = sets[at.0 as usize].items[at.1 as usize];
            let lhs = self.productions[item.production as usize].0;
            let asks =
                sets[item.origin as usize].waiting.get(&lhs).and_then(|waiting| waiting.first());
            // The first waiting item predicted it, and precedes all items that it predicted, so the
            // path ends.
            let Some(&parent) = asks.filter(|_| lhs != self.start || item.origin > 0) else {
                return path;
            };
            at = (item.origin, parent);
            path.push(at);
        }
    }

    /// Adds the parts of these tasks, each after those within it.
    fn collect(&self, sets: &[Set], tasks: Vec<Task>, parts: &mut Vec<Constituent>) {
        let mut tasks = tasks;
        while let Some(task) = tasks.pop() {
            match task {
                Task::Constituent(part) => parts.push(part),
                Task::Item(set, number) => {
                    let item = sets[set as usize].items[number as usize];
                    let lhs = self.productions[item.production as usize].0;
                    tasks.push(Task::Constituent((lhs, item.origin as usize, set as usize)));
                    tasks.extend(children(sets, (set, number)));
                }
                Task::Empty(nonterminal, at) => {
                    tasks.push(Task::Constituent((nonterminal, at, at)));
                    let production = self.empty[nonterminal.index()];
                    let symbols = production
                        .map_or(&[][..], |production| &self.productions[production as usize].1);
                    tasks.extend(symbols.iter().rev().filter_map(|symbol| match symbol {
                        Symbol::Nonterminal(inner) => Some(Task::Empty(*inner, at)),
                        Symbol::Terminal(_) => None,
                    }));
                }
            }
        }
    }
}

/// Work to be added to the parts.
enum Task {
    Constituent(Constituent),
    /// All parts of a completed item.
    Item(u32, u32),
    /// A nonterminal that derives the empty sequence, at this position.
    Empty(NonterminalId, usize),
}

/// Returns the children of an item, last first.
fn children(sets: &[Set], of: (u32, u32)) -> Vec<Task> {
    let mut children = Vec::new();
    let mut at = of;
    loop {
        let item = sets[at.0 as usize].items[at.1 as usize];
        match item.child {
            Child::None => return children,
            Child::Terminal => {}
            Child::Item(number) => children.push(Task::Item(at.0, number)),
            Child::Empty(nonterminal) => children.push(Task::Empty(nonterminal, at.0 as usize)),
        }
        at = item.before;
    }
}

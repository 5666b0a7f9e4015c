//! The productions as flat arrays of items. Invariant: advancing the dot of `item` over its next
//! symbol gives `item + 1`, so a production of n symbols owns n + 1 consecutive items, and the dot
//! moves by adding or subtracting 1.

use crate::grammar::Grammar;
use crate::grammar::ir::Symbol;
use crate::util::lists::Lists;

/// A production with a dot: index into the concatenated symbols of all productions.
pub(super) type Item = u32;

/// A symbol as one number: the terminals, then `$`, then the nonterminals, then `$accept`.
pub(super) type Code = u32;

/// The next symbol of an item whose dot is at the end.
pub(super) const COMPLETE: Code = Code::MAX;

/// Returns the code of a symbol, in a grammar with this many terminals.
pub(super) fn code(terminals: usize, symbol: Symbol) -> Code {
    match symbol {
        Symbol::Terminal(terminal) => terminal.0,
        Symbol::Nonterminal(nonterminal) => (terminals + 1 + nonterminal.index()) as Code,
    }
}

/// The grammar's productions and, last, `$accept -> start`.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    terminals: usize,
    nonterminals: usize,
    /// By production: the nonterminal.
    lhs: Vec<u32>,
    /// By production: its item with the dot at the start; one more entry ends the last.
    first: Vec<Item>,
    /// By item: the symbol after the dot, or [`COMPLETE`].
    next: Vec<Code>,
    /// By item: the production.
    production: Vec<u32>,
    /// By nonterminal: its productions.
    by_lhs: Lists<u32>,
    /// By nonterminal: whether it derives the empty text.
    nullable: Vec<bool>,
    /// By production: the production of the grammar it was made from; none for that of `$accept`.
    origin: Vec<u32>,
    /// The nonterminals added after those of the grammar derive the non-empty texts of another
    /// nonterminal: that other one, for each.
    filled: Vec<u32>,
}

/// A production before it is flattened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) lhs: usize,
    pub(super) rhs: Vec<Code>,
    /// Number of the production of the grammar it was made from.
    pub(super) origin: u32,
}

impl Rules {
    /// Flattens `grammar`. Linear.
    pub(super) fn new(grammar: &Grammar) -> Self {
        let terminals = grammar.terminals.len();
        let mut rules =
            Self::empty(terminals, grammar.nonterminals.len(), Vec::new(), &grammar.productions);
        for (origin, production) in (0..).zip(&grammar.productions) {
            let symbols = production.rhs.iter().map(|&symbol| code(terminals, symbol));
            rules.add(production.lhs.index(), symbols, origin);
        }
        rules.finish(code(terminals, Symbol::Nonterminal(grammar.start)))
    }

    /// Returns the rules with these productions instead of their own. `filled` describes the
    /// nonterminals added after those of the grammar.
    pub(super) fn rewritten(&self, filled: Vec<u32>, productions: &[Plain]) -> Self {
        let own = self.nonterminals - self.filled.len();
        let mut rules = Self::empty(self.terminals, own, filled, productions);
        for Plain { lhs, rhs, origin } in productions {
            rules.add(*lhs, rhs.iter().copied(), *origin);
        }
        rules.finish(self.rhs(self.accept())[0])
    }

    /// Returns rules without productions, with room for these and that of `$accept`.
    fn empty<P>(terminals: usize, own: usize, filled: Vec<u32>, productions: &[P]) -> Self {
        let count = productions.len() + 1;
        Self {
            terminals,
            nonterminals: own + filled.len(),
            lhs: Vec::with_capacity(count),
            first: Vec::with_capacity(count + 1),
            next: Vec::new(),
            production: Vec::new(),
            by_lhs: Lists::new(),
            nullable: Vec::new(),
            origin: Vec::with_capacity(count),
            filled,
        }
    }

    /// Adds `$accept -> start`, and computes the properties that depend on all productions.
    fn finish(mut self, start: Code) -> Self {
        self.add(self.nonterminals, std::iter::once(start), u32::MAX);
        self.first.push(self.next.len() as Item);
        let pairs: Vec<(u32, u32)> = self.lhs.iter().zip(0..).map(|(&lhs, p)| (lhs, p)).collect();
        self.by_lhs = Lists::from_pairs(self.nonterminals + 1, &pairs);
        self.nullable = self.find_nullable();
        self
    }

    fn add(&mut self, lhs: usize, rhs: impl Iterator<Item = Code>, origin: u32) {
        let production = self.lhs.len() as u32;
        self.lhs.push(lhs as u32);
        self.first.push(self.next.len() as Item);
        self.origin.push(origin);
        for code in rhs {
            self.next.push(code);
            self.production.push(production);
        }
        self.next.push(COMPLETE);
        self.production.push(production);
    }

    /// Finds the nullable nonterminals. Each production waits for its first symbol not known to be
    /// nullable.
    fn find_nullable(&self) -> Vec<bool> {
        let mut nullable = vec![false; self.nonterminals + 1];
        let mut work: Vec<Item> = self.first[..self.production_count()].to_vec();
        if work.iter().all(|&item| self.next(item) != COMPLETE) {
            return nullable;
        }
        let mut waiting: Vec<Vec<Item>> = vec![Vec::new(); self.nonterminals + 1];
        while let Some(mut item) = work.pop() {
            loop {
                let code = self.next(item);
                if code == COMPLETE {
                    let lhs = self.lhs(self.production(item));
                    if !std::mem::replace(&mut nullable[lhs], true) {
                        work.append(&mut waiting[lhs]);
                    }
                    break;
                }
                let Some(nonterminal) = self.nonterminal(code) else { break };
                if !nullable[nonterminal] {
                    waiting[nonterminal].push(item);
                    break;
                }
                item += 1;
            }
        }
        nullable
    }

    /// Returns the number of terminals of the grammar, which is also the code of `$`.
    pub(super) fn terminal_count(&self) -> usize {
        self.terminals
    }

    /// Returns the number of nonterminals without `$accept`, which is also the number of `$accept`.
    pub(super) fn nonterminal_count(&self) -> usize {
        self.nonterminals
    }

    /// Returns the number of productions, including `$accept -> start`.
    pub(super) fn production_count(&self) -> usize {
        self.lhs.len()
    }

    /// Returns one more than the greatest code.
    pub(super) fn code_count(&self) -> usize {
        self.terminals + self.nonterminals + 2
    }

    /// Returns the production of the grammar that this one was made from; for that of `$accept`, a
    /// number past all of them.
    #[inline]
    pub(super) fn origin(&self, production: u32) -> usize {
        self.origin[production as usize] as usize
    }

    /// Returns, for each nonterminal added after those of the grammar, the one whose non-empty
    /// texts it derives.
    pub(super) fn filled(&self) -> &[u32] {
        &self.filled
    }

    /// Returns the number of items.
    pub(super) fn item_count(&self) -> usize {
        self.next.len()
    }

    /// Returns the number of `$accept -> start`.
    pub(super) fn accept(&self) -> u32 {
        self.lhs.len() as u32 - 1
    }

    /// Returns the code of `$`.
    pub(super) fn end(&self) -> Code {
        self.terminals as Code
    }

    /// Returns the code of a nonterminal.
    #[inline]
    pub(super) fn nonterminal_code(&self, nonterminal: usize) -> Code {
        (self.terminals + 1 + nonterminal) as Code
    }

    /// Returns the nonterminal of a code; `None` for terminals, `$` and [`COMPLETE`].
    #[inline]
    pub(super) fn nonterminal(&self, code: Code) -> Option<usize> {
        (code as usize > self.terminals && code != COMPLETE)
            .then(|| code as usize - self.terminals - 1)
    }

    /// Returns the symbol after the dot.
    #[inline]
    pub(super) fn next(&self, item: Item) -> Code {
        self.next[item as usize]
    }

    /// Returns the symbols after the dot.
    #[inline]
    pub(super) fn rest(&self, item: Item) -> &[Code] {
        let end = self.first[self.production[item as usize] as usize + 1] - 1;
        &self.next[item as usize..end as usize]
    }

    /// Returns the production of an item.
    #[inline]
    pub(super) fn production(&self, item: Item) -> u32 {
        self.production[item as usize]
    }

    /// Returns the item with the dot at the start.
    #[inline]
    pub(super) fn first(&self, production: u32) -> Item {
        self.first[production as usize]
    }

    /// Returns the item with the dot at the end.
    pub(super) fn last(&self, production: u32) -> Item {
        self.first[production as usize + 1] - 1
    }

    /// Returns the symbols of a production.
    #[inline]
    pub(super) fn rhs(&self, production: u32) -> &[Code] {
        self.rest(self.first(production))
    }

    /// Returns the nonterminal of a production.
    #[inline]
    pub(super) fn lhs(&self, production: u32) -> usize {
        self.lhs[production as usize] as usize
    }

    /// Returns the productions of a nonterminal.
    #[inline]
    pub(super) fn productions_of(&self, nonterminal: usize) -> &[u32] {
        self.by_lhs.get(nonterminal)
    }

    /// Returns whether some nonterminal derives the empty text.
    pub(super) fn has_nullable(&self) -> bool {
        self.nullable.contains(&true)
    }

    /// Returns whether the symbol derives the empty text.
    #[inline]
    pub(super) fn is_nullable(&self, code: Code) -> bool {
        self.nonterminal(code).is_some_and(|nonterminal| self.nullable[nonterminal])
    }
}

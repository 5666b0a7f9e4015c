//! The productions as flat arrays of items. Invariant: the item behind `item`'s next symbol is
//! `item + 1`, so a production of n symbols owns n + 1 consecutive items, and moving the dot is
//! adding or taking 1.

use crate::grammar::Grammar;
use crate::grammar::ir::Symbol;
use crate::util::lists::Lists;

/// A production with a dot: index into the symbols of all productions laid end to end.
pub(super) type Item = u32;

/// A symbol as one number: the terminals, then `$`, then the nonterminals, then `$accept`.
pub(super) type Code = u32;

/// The code where the dot has no symbol behind it.
pub(super) const COMPLETE: Code = Code::MAX;

/// The code of a symbol where there are so many terminals.
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
    /// By production: its item with the dot in front; one more entry closes the last.
    first: Vec<Item>,
    /// By item: the symbol behind the dot, or [`COMPLETE`].
    next: Vec<Code>,
    /// By item: the production.
    production: Vec<u32>,
    /// By nonterminal: its productions.
    by_lhs: Lists<u32>,
    /// By nonterminal: whether it derives the empty text.
    nullable: Vec<bool>,
    /// By production: that of the grammar that it comes from; the one of `$accept` comes from none.
    origin: Vec<u32>,
    /// Of the nonterminals behind those of the grammar, each of which derives what another does but
    /// for the empty text: the other.
    filled: Vec<u32>,
}

/// A production before it is flattened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) lhs: usize,
    pub(super) rhs: Vec<Code>,
    /// The number of the production of the grammar that it comes from.
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

    /// The rules with these productions in the place of their own. Of the nonterminals behind those
    /// of the grammar, `filled` says what they are.
    pub(super) fn rewritten(&self, filled: Vec<u32>, productions: &[Plain]) -> Self {
        let own = self.nonterminals - self.filled.len();
        let mut rules = Self::empty(self.terminals, own, filled, productions);
        for Plain { lhs, rhs, origin } in productions {
            rules.add(*lhs, rhs.iter().copied(), *origin);
        }
        rules.finish(self.rhs(self.accept())[0])
    }

    /// No production yet, with room for these and the one of `$accept`.
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

    /// Adds `$accept -> start`, and what is known of all productions.
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

    /// Each production waits for its first symbol that is not known to be nullable.
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

    /// How many terminals the grammar has: also the code of `$`.
    pub(super) fn terminal_count(&self) -> usize {
        self.terminals
    }

    /// How many nonterminals there are, `$accept` not counted: also the number of `$accept`.
    pub(super) fn nonterminal_count(&self) -> usize {
        self.nonterminals
    }

    /// How many productions there are, `$accept -> start` counted.
    pub(super) fn production_count(&self) -> usize {
        self.lhs.len()
    }

    /// One more than the greatest code.
    pub(super) fn code_count(&self) -> usize {
        self.terminals + self.nonterminals + 2
    }

    /// The production of the grammar that this one comes from; past all of them for that of
    /// `$accept`.
    #[inline]
    pub(super) fn origin(&self, production: u32) -> usize {
        self.origin[production as usize] as usize
    }

    /// Of the nonterminals behind those of the grammar: what each derives but for the empty text.
    pub(super) fn filled(&self) -> &[u32] {
        &self.filled
    }

    /// How many items there are.
    pub(super) fn item_count(&self) -> usize {
        self.next.len()
    }

    /// The number of `$accept -> start`.
    pub(super) fn accept(&self) -> u32 {
        self.lhs.len() as u32 - 1
    }

    /// The code of `$`.
    pub(super) fn end(&self) -> Code {
        self.terminals as Code
    }

    /// The code of a nonterminal.
    #[inline]
    pub(super) fn nonterminal_code(&self, nonterminal: usize) -> Code {
        (self.terminals + 1 + nonterminal) as Code
    }

    /// The nonterminal that a code stands for; [`COMPLETE`] stands for none.
    #[inline]
    pub(super) fn nonterminal(&self, code: Code) -> Option<usize> {
        (code as usize > self.terminals && code != COMPLETE)
            .then(|| code as usize - self.terminals - 1)
    }

    /// The symbol behind the dot.
    #[inline]
    pub(super) fn next(&self, item: Item) -> Code {
        self.next[item as usize]
    }

    /// The symbols behind the dot.
    #[inline]
    pub(super) fn rest(&self, item: Item) -> &[Code] {
        let end = self.first[self.production[item as usize] as usize + 1] - 1;
        &self.next[item as usize..end as usize]
    }

    /// The production that an item is of.
    #[inline]
    pub(super) fn production(&self, item: Item) -> u32 {
        self.production[item as usize]
    }

    /// The item with the dot in front.
    #[inline]
    pub(super) fn first(&self, production: u32) -> Item {
        self.first[production as usize]
    }

    /// The item with the dot at the end.
    pub(super) fn last(&self, production: u32) -> Item {
        self.first[production as usize + 1] - 1
    }

    /// The symbols of a production.
    #[inline]
    pub(super) fn rhs(&self, production: u32) -> &[Code] {
        self.rest(self.first(production))
    }

    /// The nonterminal of a production.
    #[inline]
    pub(super) fn lhs(&self, production: u32) -> usize {
        self.lhs[production as usize] as usize
    }

    /// The productions of a nonterminal.
    #[inline]
    pub(super) fn productions_of(&self, nonterminal: usize) -> &[u32] {
        self.by_lhs.get(nonterminal)
    }

    /// Whether some nonterminal derives the empty text.
    pub(super) fn has_nullable(&self) -> bool {
        self.nullable.contains(&true)
    }

    /// Whether the symbol derives the empty text.
    #[inline]
    pub(super) fn is_nullable(&self, code: Code) -> bool {
        self.nonterminal(code).is_some_and(|nonterminal| self.nullable[nonterminal])
    }
}

//! Expands hidden left recursion.
//!
//! In `a: b a c` with an empty `b`, the parser may have any number of empty `b`s on its stack
//! before the first terminal: there are infinitely many stacks. The readings in such a grammar are
//! therefore defined by other rules, which derive the same texts. A production with a left
//! recursion after symbols that may be empty is replaced by productions that begin with one of
//! these symbols, not empty, or with the recursion itself: `a: b⁺ a c | a c`, where `b⁺` derives
//! the texts of `b` except the empty one.

use super::spec::{Production, Symbol};
use std::collections::{BTreeSet, HashMap};

/// Returns the nonterminals that derive the empty text.
pub fn nullable(productions: &[Production]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for production in productions {
            let may_be_empty = |symbol: &Symbol| matches!(symbol, Symbol::Nonterminal(nonterminal) if found.contains(nonterminal));
            if production.rhs.iter().all(may_be_empty) {
                found.insert(production.lhs);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Returns the productions without hidden left recursion, if they have some. New nonterminals get
/// numbers after all others.
pub fn without_hidden_left_recursion(productions: &[Production]) -> Option<Vec<Production>> {
    let nullable = nullable(productions);
    let reaches = left_corners(productions, &nullable);
    let hidden: Vec<Option<usize>> =
        productions.iter().map(|production| last_hidden(production, &nullable, &reaches)).collect();
    if hidden.iter().all(Option::is_none) {
        return None;
    }
    let mut writing = Writing::new(productions);
    for (production, hidden) in productions.iter().zip(hidden) {
        let (front, rest) = production.rhs.split_at(hidden.unwrap_or(0));
        writing.write(production.lhs, production, front, rest);
        writing.add(production.lhs, production, rest.to_vec());
    }
    while let Some((nonterminal, filled)) = writing.todo.pop() {
        for production in productions.iter().filter(|production| production.lhs == nonterminal) {
            let (front, rest) = production.rhs.split_at(empty_front(production, &nullable));
            writing.write(filled, production, front, rest);
            if !rest.is_empty() {
                writing.add(filled, production, rest.to_vec());
            }
        }
    }
    Some(writing.written)
}

/// Returns the number of leading symbols of a production that may all be empty.
fn empty_front(production: &Production, nullable: &BTreeSet<usize>) -> usize {
    let may_be_empty =
        |symbol: &&Symbol| matches!(symbol, Symbol::Nonterminal(n) if nullable.contains(n));
    production.rhs.iter().take_while(may_be_empty).count()
}

/// Returns the nonterminals that a production may begin with, after empty ones, with their
/// positions.
fn corners<'p>(
    production: &'p Production,
    nullable: &BTreeSet<usize>,
) -> impl Iterator<Item = (usize, usize)> + use<'p> {
    let front = production.rhs.iter().take(empty_front(production, nullable) + 1);
    front.enumerate().filter_map(|(place, symbol)| match symbol {
        Symbol::Nonterminal(nonterminal) => Some((place, *nonterminal)),
        Symbol::Terminal(_) => None,
    })
}

/// Returns all pairs of a nonterminal and a left corner of its derivations.
fn left_corners(
    productions: &[Production],
    nullable: &BTreeSet<usize>,
) -> BTreeSet<(usize, usize)> {
    let direct =
        |production| corners(production, nullable).map(|(_, corner)| (production.lhs, corner));
    let mut pairs: BTreeSet<(usize, usize)> = productions.iter().flat_map(direct).collect();
    loop {
        let further = pairs.iter().flat_map(|&(from, middle)| {
            pairs.range((middle, 0)..=(middle, usize::MAX)).map(move |&(_, to)| (from, to))
        });
        let further: BTreeSet<_> = further.collect();
        let before = pairs.len();
        pairs.extend(further);
        if pairs.len() == before {
            return pairs;
        }
    }
}

/// Returns the position of the last symbol with which a production is left-recursive after empty
/// symbols.
fn last_hidden(
    production: &Production,
    nullable: &BTreeSet<usize>,
    reaches: &BTreeSet<(usize, usize)>,
) -> Option<usize> {
    let recurs = |corner| corner == production.lhs || reaches.contains(&(corner, production.lhs));
    corners(production, nullable)
        .filter(|&(place, corner)| place > 0 && recurs(corner))
        .map(|(place, _)| place)
        .last()
}

/// The new productions.
struct Writing {
    /// The nonterminals that derive more than the empty text.
    fillable: BTreeSet<usize>,
    /// The new nonterminal for each nonterminal that is needed without its empty text.
    filled: HashMap<usize, usize>,
    /// Nonterminals whose productions are not written yet.
    todo: Vec<(usize, usize)>,
    next: usize,
    written: Vec<Production>,
}

impl Writing {
    fn new(productions: &[Production]) -> Self {
        let symbols = productions.iter().flat_map(|production| &production.rhs);
        let nonterminals = symbols.filter_map(|symbol| match symbol {
            Symbol::Nonterminal(nonterminal) => Some(*nonterminal),
            Symbol::Terminal(_) => None,
        });
        let next =
            nonterminals.chain(productions.iter().map(|p| p.lhs)).max().map_or(0, |last| last + 1);
        let fillable = fillable(productions);
        Self { fillable, filled: HashMap::new(), todo: Vec::new(), next, written: Vec::new() }
    }

    /// Writes `production` as productions of `lhs`, one for each symbol of `front`, which comes
    /// first and is not empty, before `rest`.
    fn write(&mut self, lhs: usize, production: &Production, front: &[Symbol], rest: &[Symbol]) {
        for (place, symbol) in front.iter().enumerate() {
            let Symbol::Nonterminal(nonterminal) = *symbol else { continue };
            if self.fillable.contains(&nonterminal) {
                let filled = Symbol::Nonterminal(self.fill(nonterminal));
                self.add(lhs, production, [&[filled], &front[place + 1..], rest].concat());
            }
        }
    }

    fn fill(&mut self, nonterminal: usize) -> usize {
        *self.filled.entry(nonterminal).or_insert_with(|| {
            self.next += 1;
            self.todo.push((nonterminal, self.next - 1));
            self.next - 1
        })
    }

    /// Adds a production. A nonterminal that derives itself alone derives nothing new by that, so
    /// such a production is left out.
    fn add(&mut self, lhs: usize, production: &Production, rhs: Vec<Symbol>) {
        if rhs != [Symbol::Nonterminal(lhs)] {
            self.written.push(Production { lhs, rhs, ..*production });
        }
    }
}

/// Returns the nonterminals that derive more than the empty text; each production can derive a
/// text.
fn fillable(productions: &[Production]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for production in productions {
            let fills = |symbol: &Symbol| match symbol {
                Symbol::Terminal(_) => true,
                Symbol::Nonterminal(nonterminal) => found.contains(nonterminal),
            };
            if production.rhs.iter().any(fills) {
                found.insert(production.lhs);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

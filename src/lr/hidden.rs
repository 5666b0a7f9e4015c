//! Removes hidden left recursion from the rules.
//!
//! `a: b a c` with a nullable `b` has hidden left recursion: before the first terminal the parser
//! may have reduced any number of empty `b`s, and each number gives a different stack
//! (Nozohoor-Farshi 1991 represents them by graphs with cycles; Scott and Johnstone 2006 discuss
//! the solutions). So such productions are expanded by their first symbol that is not empty:
//!
//! ```text
//! a → b a c | x        becomes        a  → b⁺ a c | a c | x
//! b → | d b                           b⁺ → d b
//! ```
//!
//! where `b⁺` derives the non-empty texts of `b`. The language is the same, the recursion is
//! explicit, and before any terminal there are finitely many stacks again. Only rules with hidden
//! left recursion are changed: a grammar without conflicts has none.

use hashbrown::HashMap;

use super::rules::{Code, Plain, Rules};
use crate::util::components::strong_components;
use crate::util::lists::Lists;
use crate::util::meter::{Holding, LimitReached, Meter};

/// Steps that it takes to look at a symbol, and to write one.
const STEPS_OF_A_SYMBOL: usize = 8;

/// Steps for a production in addition to its symbols: for its look-up and its entry.
const STEPS_OF_A_PRODUCTION: usize = 20;

/// The rules without hidden left recursion; `None` where there is none. Costs the symbols that are
/// written: of a production, its length for each of its symbols that may be empty.
///
/// # Errors
/// When they are too many.
pub(super) fn without_hidden_left_recursion(
    rules: &Rules,
    meter: &Meter,
) -> Result<Option<Rules>, LimitReached> {
    meter.step(STEPS_OF_A_SYMBOL * rules.item_count())?;
    let corners = Corners::new(rules);
    let hidden: Vec<Option<usize>> = (0..rules.production_count() as u32)
        .map(|production| corners.last_hidden(rules, production))
        .collect();
    if hidden.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut rewriting = Rewriting::new(rules, meter);
    for (production, hidden) in (0..).zip(hidden) {
        rewriting.rewrite(production, hidden)?;
    }
    rewriting.finish().map(Some)
}

/// Nonterminals in a strong component of the relation "may be the leftmost symbol", after nullable
/// symbols or none.
struct Corners {
    /// By nonterminal: the number of its strong component.
    component: Vec<usize>,
}

impl Corners {
    fn new(rules: &Rules) -> Self {
        let count = rules.nonterminal_count() + 1;
        let mut edges = Vec::new();
        for production in 0..rules.production_count() as u32 {
            let lhs = rules.lhs(production) as u32;
            edges.extend(left_corners(rules, production).map(|(_, corner)| (lhs, corner)));
        }
        let components = strong_components(&Lists::from_pairs(count, &edges));
        let mut component = vec![0; count];
        for number in 0..components.len() {
            components.get(number).iter().for_each(|&member| component[member] = number);
        }
        Self { component }
    }

    /// Returns the index of the last symbol of `production` that is left-recursive after at least
    /// one nullable symbol.
    fn last_hidden(&self, rules: &Rules, production: u32) -> Option<usize> {
        let own = self.component[rules.lhs(production)];
        let recursive =
            left_corners(rules, production).filter(|&(_, corner)| self.component[corner] == own);
        recursive.map(|(place, _)| place).filter(|&place| place > 0).last()
    }
}

/// Returns the nonterminals of a production that may be leftmost, with their indices.
fn left_corners(rules: &Rules, production: u32) -> impl Iterator<Item = (usize, usize)> {
    let symbols = rules.rhs(production);
    let solid = symbols.iter().position(|&code| !rules.is_nullable(code)).unwrap_or(symbols.len());
    let corners = symbols.iter().enumerate().take(solid + 1);
    corners.filter_map(|(place, &code)| Some((place, rules.nonterminal(code)?)))
}

/// The rules under construction.
struct Rewriting<'a> {
    rules: &'a Rules,
    /// By nonterminal: whether it derives any non-empty text.
    fillable: Vec<bool>,
    /// The nonterminals whose non-empty variants are used, in the order in which they were first
    /// needed.
    filled: Vec<u32>,
    numbers: HashMap<usize, usize>,
    productions: Vec<Plain>,
    meter: &'a Meter,
    held: Holding,
    bytes: usize,
}

impl<'a> Rewriting<'a> {
    fn new(rules: &'a Rules, meter: &'a Meter) -> Self {
        let count = rules.nonterminal_count() + 1;
        let mut fillable = vec![false; count];
        let (mut uses, mut pending) = (Vec::new(), Vec::new());
        for production in 0..rules.production_count() as u32 {
            for &code in rules.rhs(production) {
                match rules.nonterminal(code) {
                    Some(used) => uses.push((used as u32, rules.lhs(production))),
                    None => pending.push(rules.lhs(production)),
                }
            }
        }
        let uses = Lists::from_pairs(count, &uses);
        while let Some(nonterminal) = pending.pop() {
            if !std::mem::replace(&mut fillable[nonterminal], true) {
                pending.extend(uses.get(nonterminal));
            }
        }
        let (filled, productions) = (Vec::new(), Vec::new());
        let (numbers, held) = (HashMap::new(), meter.holding());
        Self { rules, fillable, filled, numbers, productions, meter, held, bytes: 0 }
    }

    /// Takes a production over: as it is, or written out by what stands first in it, up to the
    /// place that is recursive.
    fn rewrite(&mut self, production: u32, hidden: Option<usize>) -> Result<(), LimitReached> {
        let (rules, lhs) = (self.rules, self.rules.lhs(production));
        if production == rules.accept() {
            return Ok(());
        }
        let symbols = rules.rhs(production);
        let place = hidden.unwrap_or(0);
        self.write_out(lhs, production, &symbols[..place], &symbols[place..])?;
        self.add(lhs, production, symbols[place..].to_vec())
    }

    /// For each of `leading`, all of which may be empty, the production that begins with it when it
    /// is not.
    fn write_out(
        &mut self,
        lhs: usize,
        production: u32,
        leading: &[Code],
        rest: &[Code],
    ) -> Result<(), LimitReached> {
        for (place, &code) in leading.iter().enumerate() {
            let Some(first) = self.rules.nonterminal(code).filter(|&first| self.fillable[first])
            else {
                continue;
            };
            let first = self.rules.nonterminal_code(self.filled(first));
            self.add(lhs, production, [&[first], &leading[place + 1..], rest].concat())?;
        }
        Ok(())
    }

    /// Returns the nonterminal for the non-empty texts of this one.
    fn filled(&mut self, nonterminal: usize) -> usize {
        let next = self.rules.nonterminal_count() + self.filled.len();
        let number = *self.numbers.entry(nonterminal).or_insert(next);
        if number == next {
            self.filled.push(nonterminal as u32);
        }
        number
    }

    fn add(&mut self, lhs: usize, production: u32, rhs: Vec<Code>) -> Result<(), LimitReached> {
        self.meter.step(STEPS_OF_A_PRODUCTION + STEPS_OF_A_SYMBOL * rhs.len())?;
        self.bytes += size_of::<Plain>() + size_of_val(&*rhs);
        self.held.set(self.bytes)?;
        let origin = self.rules.origin(production) as u32;
        // A production of a nonterminal to itself alone adds nothing.
        if rhs != [self.rules.nonterminal_code(lhs)] {
            self.productions.push(Plain { lhs, rhs, origin });
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Rules, LimitReached> {
        let mut at = 0;
        while let Some(&nonterminal) = self.filled.get(at) {
            let lhs = self.rules.nonterminal_count() + at;
            at += 1;
            for &production in self.rules.productions_of(nonterminal as usize) {
                let symbols = self.rules.rhs(production);
                let solid = symbols.iter().position(|&code| !self.rules.is_nullable(code));
                let (leading, rest) = symbols.split_at(solid.unwrap_or(symbols.len()));
                self.write_out(lhs, production, leading, rest)?;
                if !rest.is_empty() {
                    self.add(lhs, production, rest.to_vec())?;
                }
            }
        }
        Ok(self.rules.rewritten(self.filled, &self.productions))
    }
}

//! Strings of a bounded length with further conditions: a pattern, a format, or excluded words.
//!
//! The product of the conditions and an automaton that counts to 500 has up to 500 times the
//! states. So the lexer receives the contents without counting, with a mark on each state after a
//! character, and the bounds separately ([`Pattern::Counted`]). Bounds that all contents satisfy
//! anyway are left out. If counting takes too much, fewer characters are allowed than the schema
//! does, with a warning.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::grammar::pattern::Pattern;
use crate::lexer::{Dfa, MOST_STATES};
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, FormulaId, Formulas, Shape, Type};
use crate::schema::machine::Machine;
use crate::schema::text::escapes::Escapes;
use crate::schema::text::measure::Lengths;
use crate::schema::text::strings::Address;
use crate::schema::text::{lengths, spell};

use FormulaId as F;

/// Upper bound on the pairs of a state between characters and a count. The scanner keeps about a
/// kilobyte for each pair that it has met.
const MOST_MET: u64 = 400_000;
/// Strings with at most this many pairs are better written out.
const FEW_MET: usize = 20_000;

/// Lengths up to this many characters are counted by automata along with the other conditions.
const FEW_CHARACTERS: u64 = 64;

/// Strings with bounds on their length.
struct Bounded {
    contents: Rc<Dfa>,
    lengths: Lengths,
    min: u64,
    max: Option<u64>,
}

impl Bounded {
    /// Returns the pattern of these strings in the lexer, or `None` if it would have to count too
    /// far.
    fn spelled(&self, escapes: &Escapes) -> Option<Pattern> {
        let Self { contents, lengths, min, max } = self;
        let automaton = spell::spell(contents, escapes);
        if (*min, *max) == (0, None) {
            return Some(Pattern::Automaton(automaton));
        }
        let bound = |count: u64| u32::try_from(count).ok();
        let bounds = (bound(*min)?, max.map_or(Some(None), |max| bound(max).map(Some))?);
        if max.unwrap_or(*min) > self.farthest(automaton.states.len()) {
            return None;
        }
        let mut marked = vec![false; automaton.states.len()];
        marked[1..=lengths.is_between.len()].copy_from_slice(&lengths.is_between);
        Some(lengths::bounded(automaton, marked.into(), bounds, true))
    }

    /// Returns how far an automaton of this many states may count.
    fn farthest(&self, states: usize) -> u64 {
        let between = self.lengths.is_between.iter().filter(|&&is_between| is_between).count();
        let most = |all: u64, of: usize| all / of.max(1) as u64;
        most(MOST_STATES as u64, states).min(most(MOST_MET, between)).saturating_sub(3)
    }

    /// Limits the length of these strings to the greatest that can be counted. Returns `None` if it
    /// is not certain that any string remains, or if writing all of them out takes few states.
    fn cut(&self, escapes: &Escapes) -> Option<Self> {
        let max = self.max?;
        if self.lengths.places(&self.contents, max, FEW_MET).is_some() {
            return None;
        }
        let farthest = self.farthest(spell::spell(&self.contents, escapes).states.len());
        let (contents, lengths) = (self.contents.clone(), self.lengths.clone());
        let cut = Self { contents, lengths, min: self.min, max: Some(farthest.min(max)) };
        cut.has_shortest().then_some(cut)
    }

    /// Whether such strings obviously exist, because the shortest ones qualify.
    fn has_shortest(&self) -> bool {
        let shortest = self.lengths.shortest;
        self.min <= shortest && self.max.is_none_or(|max| shortest <= max)
    }
}

impl Machine<'_> {
    /// Returns the lexer's pattern of the strings that satisfy a formula projected on strings, if
    /// there are any. Returns `None` if the formula does not bound their length, or if the bound is
    /// better combined with the other conditions.
    pub(in crate::schema) fn bounded(
        &mut self,
        formula: F,
    ) -> Result<Option<Option<Pattern>>, SchemaError> {
        if let Some(known) = self.texts.bounded.get(&formula) {
            return Ok(known.clone());
        }
        let escapes = match self.reader.formulas.held(formula).apart {
            true => self.texts.escapes().in_one_way(),
            false => self.texts.escapes().clone(),
        };
        let found = match self.find_bounded(formula)? {
            None => None,
            Some(bounded) => match bounded.spelled(&escapes) {
                None => match bounded.cut(&escapes) {
                    Some(cut) => {
                        self.warn_of_cut(&bounded, &cut);
                        cut.spelled(&escapes).map(Some)
                    }
                    None => None,
                },
                Some(pattern) if bounded.has_shortest() => Some(Some(pattern)),
                Some(pattern) => {
                    let compiled = self.texts.compile(&pattern);
                    let is_empty = compiled.map_err(|error| self.too_large(&error))?.is_empty();
                    Some((!is_empty).then_some(pattern))
                }
            },
        };
        self.texts.bounded.insert(formula, found.clone());
        Ok(found)
    }

    fn warn_of_cut(&mut self, bounded: &Bounded, cut: &Bounded) {
        let [Some(most), Some(held)] = [bounded.max, cut.max] else { return };
        let message = format!(
            "strings with a pattern and at most {most} characters are limited to {held} characters"
        );
        self.warn_of_lengths(message);
    }

    pub(super) fn warn_of_lengths(&mut self, message: String) {
        let help = "use a smaller `maxLength`, or smaller counts in the pattern";
        self.warn_of_narrowing(message, help);
    }

    /// Returns the bounds that a formula sets on lengths, and its other conditions.
    pub(in crate::schema) fn bounds(&self, formula: F) -> (u64, Option<u64>, Vec<F>) {
        let formulas = &self.reader.formulas;
        let parts = match formulas.shape(formula) {
            Shape::And(list) => formulas.parts(list),
            _ => std::slice::from_ref(&formula),
        };
        let (mut min, mut max) = (0, None);
        let mut others = Vec::new();
        for &part in parts {
            match formulas.shape(part) {
                Shape::Atom(Atom::MinLength(count)) => min = count.max(min),
                Shape::Atom(Atom::MaxLength(count)) => {
                    max = Some(max.map_or(count, |max| count.min(max)));
                }
                Shape::Not(inner) => match formulas.shape(inner) {
                    Shape::Atom(Atom::MaxLength(count)) => min = min.max(count.saturating_add(1)),
                    Shape::Atom(Atom::MinLength(count @ 1..)) => {
                        max = Some(max.map_or(count - 1, |max| max.min(count - 1)));
                    }
                    _ => others.push(part),
                },
                _ => others.push(part),
            }
        }
        (min, max, others)
    }

    /// Splits `formula`, which was projected on strings, into disjoint formulas that together are
    /// equivalent to it. Each has bounds on the length, and the conditions of `formula` for strings
    /// of these lengths. If alternatives differ in large lengths, no automaton has to count these
    /// along with the rest.
    pub(in crate::schema) fn by_length(&mut self, formula: F) -> Result<Vec<F>, SchemaError> {
        if let Some(known) = self.texts.by_length.get(&formula) {
            return Ok(known.clone());
        }
        let (min, max, others) = self.bounds(formula);
        let mut firsts: Vec<u64> = Vec::new();
        for atom in self.reader.formulas.atoms(&others) {
            match atom {
                Atom::MinLength(count) if count > FEW_CHARACTERS => firsts.push(count),
                Atom::MaxLength(count) if count > FEW_CHARACTERS => firsts.push(count + 1),
                _ => {}
            }
        }
        if firsts.is_empty() || firsts.contains(&u64::MAX) {
            return Ok(vec![formula]);
        }
        self.spend(firsts.len())?;
        firsts.push(min);
        firsts.retain(|&first| first >= min && max.is_none_or(|max| first <= max));
        firsts.sort_unstable();
        firsts.dedup();
        let asked = self.reader.formulas.and(others);
        let mut ranges: Vec<(u64, Option<u64>, F)> = Vec::new();
        for (at, &first) in firsts.iter().enumerate() {
            let last = firsts.get(at + 1).map(|next| next - 1).or(max);
            let mut replace = |formulas: &mut Formulas, atom| match atom {
                Atom::MinLength(count) if count > FEW_CHARACTERS => {
                    Formulas::constant(first >= count)
                }
                Atom::MaxLength(count) if count > FEW_CHARACTERS => {
                    Formulas::constant(first <= count)
                }
                _ => formulas.atom(atom),
            };
            let own = self.reader.formulas.map(asked, &mut FxHashMap::default(), &mut replace);
            match ranges.last_mut() {
                Some((_, before, known)) if *known == own => *before = last,
                _ => ranges.push((first, last, own)),
            }
        }
        let formulas = &mut self.reader.formulas;
        let mut apart = Vec::with_capacity(ranges.len());
        for (first, last, own) in ranges.into_iter().filter(|&(.., own)| own != F::FALSE) {
            let least = (first > 0).then(|| formulas.atom(Atom::MinLength(first)));
            let most = last.map(|last| formulas.atom(Atom::MaxLength(last)));
            apart.push(formulas.and([own].into_iter().chain(least).chain(most)));
        }
        if apart.len() > 1 {
            apart = self.held_lengths(apart)?;
        }
        self.texts.by_length.insert(formula, apart.clone());
        Ok(apart)
    }

    /// Selects, among formulas about strings of different lengths, those that some string
    /// satisfies. Formulas that take too much to count are left out, with a warning.
    fn held_lengths(&mut self, apart: Vec<F>) -> Result<Vec<F>, SchemaError> {
        let mut held = Vec::with_capacity(apart.len());
        let mut too_large = None;
        for part in apart {
            match self.has_string(part) {
                Ok(true) => held.push(part),
                Ok(false) => {}
                Err(error) if error.kind() == SchemaErrorKind::TooLarge => {
                    let (min, max, _) = self.bounds(part);
                    let lengths = match max {
                        Some(max) => format!("{min} to {max}"),
                        None => format!("{min} or more"),
                    };
                    let message = format!(
                        "strings of {lengths} characters are left out: their constraints take too \
                         large an automaton"
                    );
                    self.warn_of_lengths(message);
                    too_large = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        match too_large {
            Some(error) if held.is_empty() => Err(error),
            _ => Ok(held),
        }
    }

    /// Like `by_length` for strings; for other types, returns the formula itself.
    pub(in crate::schema) fn by_length_of(
        &mut self,
        of: Type,
        formula: F,
    ) -> Result<Vec<F>, SchemaError> {
        if of == Type::String { self.by_length(formula) } else { Ok(vec![formula]) }
    }

    fn find_bounded(&mut self, formula: F) -> Result<Option<Bounded>, SchemaError> {
        let (min, max, others) = self.bounds(formula);
        let is_bounded = (min, max) != (0, None);
        if !is_bounded {
            return Ok(None);
        }
        let asked = self.reader.formulas.and(others);
        let contents = match self.address(formula) {
            None => self.strings(asked),
            // The bound on the whole also bounds all parts.
            address @ Some(Address::Short) => self.strings_with(asked, address),
            Some(_) => return Ok(None),
        };
        let Ok(contents) = contents else { return Ok(None) };
        if !self.texts.escapes().are_whole() {
            return Ok(None);
        }
        let Some(lengths) = Lengths::of(&contents) else { return Ok(None) };
        // Bounds that all contents satisfy need not be counted.
        let min = if min <= lengths.shortest { 0 } else { min };
        let max = max.filter(|&max| lengths.longest.is_none_or(|longest| longest > max));
        Ok(Some(Bounded { contents, lengths, min, max }))
    }
}

//! Cache of automata of texts.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::grammar::pattern::{Automaton, Pattern, RegexFlags};
use crate::lexer::{Compiler, Dfa, PatternError, product};
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Formulas, Shape};
use crate::schema::options::SchemaOptions;
use crate::schema::text::ecma::Less;
use crate::schema::text::escapes::Escapes;
use crate::schema::text::lengths::Bounds;
use crate::schema::text::{automaton, lengths, spell};
use crate::util::meter::Meter;

use FormulaId as F;

/// Maximum number of disjoint sets that are separated from others at once.
const MOST_APART: usize = 6;

/// Builds automata, and caches them.
pub(in crate::schema) struct Texts<'a> {
    pub(super) meter: &'a Meter,
    pub(super) compiler: Compiler<'a>,
    escapes: Escapes,
    /// All contents of strings.
    universe: Option<Rc<Dfa>>,
    /// All strings in their JSON spelling, without needless escapes.
    canonical: Option<Automaton>,
    /// By pattern and its approximation.
    pub(super) patterns: FxHashMap<(u32, Option<Less>), Result<Rc<Dfa>, SchemaError>>,
    /// By format and whether parts of addresses are bounded by the length of the whole.
    pub(super) formats: FxHashMap<(u32, bool), Rc<Dfa>>,
    pub(super) strings: FxHashMap<F, Rc<Dfa>>,
    /// Lexer patterns of [bounded](super::bounded) strings by formula, if there are any.
    pub(super) bounded: FxHashMap<F, Option<Option<Pattern>>>,
    /// Disjoint formulas for ranges of lengths that together are equivalent to each formula.
    pub(super) by_length: FxHashMap<F, Vec<F>>,
    /// Approximations by formula, if all strings would take too large an automaton.
    pub(super) narrowed: FxHashMap<F, Rc<Dfa>>,
    /// Texts of numbers by formula, if there are any.
    pub(super) numbers: FxHashMap<F, Option<Automaton>>,
    /// Parts of the [numbers](super::numbers) that do not depend on the schema.
    pub(super) numerals: FxHashMap<&'static str, Rc<Dfa>>,
}

/// Returns the JSON spelling of the string, in quotes.
pub(in crate::schema) fn spelling(text: &str) -> String {
    Escapes::new(&SchemaOptions::default()).literal(text).unwrap_or_default()
}

/// Returns a regex of the lexer.
pub(super) fn regex(pattern: impl Into<String>) -> Pattern {
    let flags = RegexFlags { dot_all: true, ..RegexFlags::default() };
    Pattern::Regex { pattern: pattern.into(), flags, place: None }
}

impl<'a> Texts<'a> {
    pub(in crate::schema) fn new(meter: &'a Meter, options: &SchemaOptions) -> Self {
        Self {
            meter,
            compiler: Compiler::new(meter),
            escapes: Escapes::new(options),
            universe: None,
            canonical: None,
            patterns: FxHashMap::default(),
            formats: FxHashMap::default(),
            strings: FxHashMap::default(),
            bounded: FxHashMap::default(),
            by_length: FxHashMap::default(),
            narrowed: FxHashMap::default(),
            numbers: FxHashMap::default(),
            numerals: FxHashMap::default(),
        }
    }

    pub(in crate::schema) fn compile(
        &mut self,
        pattern: &Pattern,
    ) -> Result<Rc<Dfa>, PatternError> {
        self.compiler.compile(pattern).map(Rc::new)
    }

    /// Returns all contents of strings.
    pub(in crate::schema) fn universe(&mut self) -> Result<Rc<Dfa>, PatternError> {
        if let Some(known) = &self.universe {
            return Ok(known.clone());
        }
        let universe = self.compile(&Pattern::Automaton(lengths::counted(0, None)))?;
        self.universe = Some(universe.clone());
        Ok(universe)
    }

    pub(super) fn escapes(&self) -> &Escapes {
        &self.escapes
    }

    /// Whether these are all UTF-8 texts.
    pub(super) fn is_everything(&self, contents: &Rc<Dfa>) -> bool {
        self.universe.as_ref().is_some_and(|all| Rc::ptr_eq(all, contents))
    }

    /// Returns the JSON spelling of the string, or `None` if it needs an escape that is not
    /// allowed.
    pub(super) fn spelled_word(&self, text: &str) -> Option<String> {
        self.escapes.literal(text)
    }

    /// Whether a string may contain this text.
    pub(super) fn is_written(&self, text: &str) -> bool {
        self.escapes.are_whole() || self.spelled_word(text).is_some()
    }

    /// Returns all contents of printable ASCII.
    pub(super) fn printable(&mut self) -> Result<Rc<Dfa>, PatternError> {
        self.compile(&regex("[ -~]*"))
    }

    /// Returns the texts for which `holds` is true, given for each of `parts` whether it matches.
    pub(in crate::schema) fn product(
        &self,
        parts: &[Rc<Dfa>],
        holds: impl Fn(&[bool]) -> bool,
    ) -> Result<Rc<Dfa>, PatternError> {
        product(parts, holds, self.meter).map(Rc::new)
    }

    /// Returns the intersection of both, and the difference.
    pub(in crate::schema) fn part(
        &self,
        all: &Rc<Dfa>,
        of: &Rc<Dfa>,
    ) -> Result<(Rc<Dfa>, Rc<Dfa>), PatternError> {
        let inside = self.both(all, of)?;
        let outside = match inside.is_empty() {
            true => all.clone(),
            false => self.product(&[all.clone(), of.clone()], |each| each[0] && !each[1])?,
        };
        Ok((inside, outside))
    }

    /// Returns how many of the first of these sets are pairwise disjoint.
    pub(in crate::schema) fn apart(&self, sets: &[Rc<Dfa>]) -> Result<usize, PatternError> {
        for (count, one) in sets.iter().enumerate().take(MOST_APART) {
            for other in &sets[..count] {
                if !self.both(one, other)?.is_empty() {
                    return Ok(count);
                }
            }
        }
        Ok(sets.len().min(MOST_APART))
    }

    /// Divides all contents but `names` into the parts in each of `sets`, which are disjoint, and
    /// the part in none of them.
    pub(in crate::schema) fn parts_of_others(
        &mut self,
        names: &[&str],
        sets: &[Rc<Dfa>],
    ) -> Result<(Vec<Rc<Dfa>>, Rc<Dfa>), PatternError> {
        let universe = self.universe()?;
        let mut insides = Vec::with_capacity(sets.len());
        for set in sets {
            let within: Vec<&str> =
                names.iter().copied().filter(|name| set.matches(name.as_bytes())).collect();
            insides.push(match &within[..] {
                [] => set.clone(),
                _ => {
                    let within = self.compile(&Pattern::Automaton(automaton::words(&within)))?;
                    self.product(&[within, set.clone()], |each| !each[0] && each[1])?
                }
            });
        }
        let words = self.compile(&Pattern::Automaton(automaton::words(names)))?;
        let parts = [&[universe, words], sets].concat();
        let outside =
            self.product(&parts, |each| each[0] && !each[1..].iter().any(|&within| within))?;
        Ok((insides, outside))
    }

    /// Returns the intersection of both.
    pub(in crate::schema) fn both(
        &self,
        one: &Rc<Dfa>,
        other: &Rc<Dfa>,
    ) -> Result<Rc<Dfa>, PatternError> {
        self.product(&[one.clone(), other.clone()], |each| each[0] && each[1])
    }

    /// Returns all contents but `words`.
    pub(in crate::schema) fn all_but(&mut self, words: &[&str]) -> Result<Rc<Dfa>, PatternError> {
        let universe = self.universe()?;
        if words.is_empty() {
            return Ok(universe);
        }
        let words = self.compile(&Pattern::Automaton(automaton::words(words)))?;
        self.product(&[universe, words], |each| each[0] && !each[1])
    }

    /// Returns the lexer's pattern of a string. It matches nothing if the string needs an escape
    /// that is not allowed.
    pub(in crate::schema) fn literal(&self, text: &str) -> Pattern {
        match self.spelled_word(text) {
            Some(text) => Pattern::Literal { text, ignore_case: false },
            None => Pattern::Automaton(Automaton::default()),
        }
    }

    /// Returns the lexer's pattern of characters of a string, with a bounded number of them and
    /// optional quotes before and after.
    pub(in crate::schema) fn counted(&self, bounds: Bounds, quotes: [bool; 2]) -> Pattern {
        lengths::spelled(bounds, quotes, self.escapes.are_general(), &self.escapes)
    }

    /// Returns the lexer's pattern of the strings with these contents, in quotes. If all contents
    /// are allowed, every character may be escaped in any way that the options permit.
    pub(in crate::schema) fn spelled(
        &mut self,
        contents: &Rc<Dfa>,
    ) -> Result<Pattern, PatternError> {
        Ok(match *contents == self.universe()? {
            true => {
                let is_free = self.escapes.are_free();
                lengths::spelled((0, None), [true, true], is_free, &self.escapes)
            }
            false => Pattern::Automaton(spell::spell(contents, &self.escapes)),
        })
    }

    /// Like `spelled`, with a single spelling of each string.
    pub(in crate::schema) fn spelled_in_one_way(&self, contents: &Dfa) -> Pattern {
        Pattern::Automaton(spell::spell(contents, &self.escapes.in_one_way()))
    }

    /// Returns the lexer's pattern of all strings but `words`, without needless escapes if there
    /// are any words.
    pub(in crate::schema) fn spelled_but<'w>(
        &mut self,
        words: impl ExactSizeIterator<Item = &'w str>,
    ) -> Result<Pattern, PatternError> {
        let universe = self.universe()?;
        if words.len() == 0 {
            return self.spelled(&universe);
        }
        let canonical = match &self.canonical {
            Some(known) => known.clone(),
            None => self.canonical.insert(spell::spell(&universe, &self.escapes)).clone(),
        };
        let words = words.filter_map(|word| self.escapes.literal(word));
        Ok(Pattern::Automaton(automaton::without(&canonical, words)))
    }

    /// Returns the automaton of `formula`, a combination of atoms whose automata are `leaves`,
    /// intersected with `all` if that is given.
    pub(super) fn combine(
        &self,
        formulas: &Formulas,
        formula: F,
        all: Option<Rc<Dfa>>,
        leaves: Vec<(Atom, Rc<Dfa>)>,
    ) -> Result<Rc<Dfa>, PatternError> {
        if let (Shape::Atom(_), [(_, only)]) = (formulas.shape(formula), &leaves[..]) {
            return match all {
                Some(all) if all != *only => {
                    self.product(&[all, only.clone()], |each| each[0] && each[1])
                }
                _ => Ok(only.clone()),
            };
        }
        let first = usize::from(all.is_some());
        let (atoms, leaves): (Vec<Atom>, Vec<Rc<Dfa>>) = leaves.into_iter().unzip();
        let numbers: FxHashMap<Atom, usize> = atoms.into_iter().zip(first..).collect();
        let parts: Vec<Rc<Dfa>> = all.into_iter().chain(leaves).collect();
        self.product(&parts, |each| {
            each[..first].iter().all(|&within| within)
                && holds(formulas, formula, &|atom| numbers.get(&atom).is_some_and(|&at| each[at]))
        })
    }
}

/// Evaluates the formula, given which atoms are true.
pub(super) fn holds(formulas: &Formulas, formula: F, atom: &impl Fn(Atom) -> bool) -> bool {
    let part = |&part: &F| holds(formulas, part, atom);
    match formulas.shape(formula) {
        Shape::True => true,
        Shape::False => false,
        Shape::Atom(own) => atom(own),
        Shape::Not(inner) => !holds(formulas, inner, atom),
        Shape::And(list) => formulas.parts(list).iter().all(part),
        Shape::Or(list) => formulas.parts(list).iter().any(part),
        Shape::One(list) => formulas.parts(list).iter().filter(|inner| part(inner)).count() == 1,
    }
}

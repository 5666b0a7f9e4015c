//! Scalars as automata: the strings and the numbers that a formula allows, and how JSON spells
//! them.
//!
//! Strings are automata over the UTF-8 bytes of their contents, so that patterns, lengths, formats,
//! names and members of `enum` combine by products; [`spell`] turns contents into lexemes. Numbers
//! are automata over their texts ([`numbers`]).

pub(super) mod automaton;
pub(super) mod ecma;
mod fingerprints;
pub(super) mod formats;
mod lengths;
mod numbers;
mod spell;
mod strings;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::grammar::pattern::{Pattern, RegexFlags};
use crate::lexer::{Compiler, Dfa, PatternError, product};
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, FormulaId, Formulas, Shape};
use crate::schema::machine::Machine;
use crate::util::meter::Meter;

use FormulaId as F;

/// Characters of a string that stand for themselves, and escapes: of one letter, of one code unit,
/// and of a pair of surrogates. Half a pair is no character, and most readers refuse it.
const PLAIN: &str = r#"[^"\\\x00-\x1f]"#;
const SHORT: &str = r#"\\["\\/bfnrt]"#;
const CODE: &str = r"\\u(?:[0-9a-cA-Ce-fE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})";
const PAIR: &str = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}";

/// Makes automata, and keeps them.
pub(super) struct Texts<'a> {
    meter: &'a Meter,
    compiler: Compiler<'a>,
    /// All contents of strings.
    universe: Option<Rc<Dfa>>,
    /// By whether they may be narrowed.
    patterns: FxHashMap<(u32, bool), Rc<Dfa>>,
    formats: FxHashMap<u32, Rc<Dfa>>,
    strings: FxHashMap<F, Rc<Dfa>>,
    /// Some of the strings, where all would take too large an automaton.
    narrowed: FxHashMap<F, Rc<Dfa>>,
    numbers: FxHashMap<F, Rc<Dfa>>,
    /// Parts of [`numbers`] that depend on no schema.
    numerals: FxHashMap<&'static str, Rc<Dfa>>,
}

/// The string as JSON spells it, in quotes.
pub(super) fn spelling(text: &str) -> String {
    spell::literal(text)
}

/// A regex of the lexer.
fn regex(pattern: impl Into<String>) -> Pattern {
    let flags = RegexFlags { dot_all: true, ..RegexFlags::default() };
    Pattern::Regex { pattern: pattern.into(), flags, place: None }
}

impl<'a> Texts<'a> {
    pub(super) fn new(meter: &'a Meter) -> Self {
        Self {
            meter,
            compiler: Compiler::new(meter),
            universe: None,
            patterns: FxHashMap::default(),
            formats: FxHashMap::default(),
            strings: FxHashMap::default(),
            narrowed: FxHashMap::default(),
            numbers: FxHashMap::default(),
            numerals: FxHashMap::default(),
        }
    }

    fn compile(&mut self, pattern: &Pattern) -> Result<Rc<Dfa>, PatternError> {
        self.compiler.compile(pattern).map(Rc::new)
    }

    /// All contents of strings: all texts but those with one of the two marks.
    pub(super) fn universe(&mut self) -> Result<Rc<Dfa>, PatternError> {
        if let Some(known) = &self.universe {
            return Ok(known.clone());
        }
        let universe = self.compile(&regex("[\\x00-\\U0010fffd]*"))?;
        self.universe = Some(universe.clone());
        Ok(universe)
    }

    /// All contents of printable ASCII.
    fn printable(&mut self) -> Result<Rc<Dfa>, PatternError> {
        self.compile(&regex("[ -~]*"))
    }

    /// The texts of which `holds` is true, given for each of `parts` whether it matches.
    fn product(&self, parts: &[Rc<Dfa>], holds: impl Fn(&[bool]) -> bool) -> Result<Rc<Dfa>, PatternError> {
        product(parts, holds, self.meter).map(Rc::new)
    }

    /// What is in both, and what is in the first only.
    pub(super) fn part(&self, all: &Rc<Dfa>, of: &Rc<Dfa>) -> Result<(Rc<Dfa>, Rc<Dfa>), PatternError> {
        let parts = [all.clone(), of.clone()];
        let inside = self.product(&parts, |each| each[0] && each[1])?;
        let outside = self.product(&parts, |each| each[0] && !each[1])?;
        Ok((inside, outside))
    }

    /// All contents but `words`.
    pub(super) fn all_but(&mut self, words: &[&str]) -> Result<Rc<Dfa>, PatternError> {
        let universe = self.universe()?;
        if words.is_empty() {
            return Ok(universe);
        }
        let words = self.compile(&Pattern::Automaton(automaton::words(words)))?;
        self.product(&[universe, words], |each| each[0] && !each[1])
    }

    /// What the lexer calls the strings with these contents, in quotes. Every character is allowed
    /// to be written in any way when everything is allowed.
    pub(super) fn spelled(&mut self, contents: &Rc<Dfa>) -> Result<Pattern, PatternError> {
        Ok(match *contents == self.universe()? {
            true => regex(format!("\"(?:{PLAIN}|{SHORT}|{CODE}|{PAIR})*\"")),
            false => Pattern::Automaton(spell::spell(contents)),
        })
    }

    /// The automaton of `formula`, a combination of atoms whose automata are `leaves`, within
    /// `all`.
    fn combine(
        &self,
        formulas: &Formulas,
        formula: F,
        all: Rc<Dfa>,
        leaves: Vec<(Atom, Rc<Dfa>)>,
    ) -> Result<Rc<Dfa>, PatternError> {
        if let (Shape::Atom(_), [(_, only)]) = (formulas.shape(formula), &leaves[..]) {
            if *only == all {
                return Ok(all);
            }
            return self.product(&[all, only.clone()], |each| each[0] && each[1]);
        }
        let (atoms, leaves): (Vec<Atom>, Vec<Rc<Dfa>>) = leaves.into_iter().unzip();
        let numbers: FxHashMap<Atom, usize> = atoms.into_iter().zip(1..).collect();
        let parts: Vec<Rc<Dfa>> = std::iter::once(all).chain(leaves).collect();
        self.product(&parts, |each| {
            each[0] && holds(formulas, formula, &|atom| numbers.get(&atom).is_some_and(|&at| each[at]))
        })
    }
}

/// Whether the formula is true, given which atoms are.
fn holds(formulas: &Formulas, formula: F, atom: &impl Fn(Atom) -> bool) -> bool {
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

impl Machine<'_> {
    /// An error of an automaton that grew too large.
    pub(super) fn too_large(&self, error: &PatternError) -> SchemaError {
        if let Some(limit) = error.limit() {
            return limit.clone().into();
        }
        let message = error.clone().into_diagnostic("", None).message;
        SchemaError::new(
            SchemaErrorKind::TooLarge,
            format!("texts of the schema take too large an automaton: {message}"),
        )
        .help("write fewer or shorter patterns about one value, or smaller counts in them")
    }
}

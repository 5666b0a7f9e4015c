//! The contents of the strings that a formula allows.

use std::rc::Rc;

use crate::grammar::pattern::{Automaton, Pattern};
use crate::lexer::{Condition, Dfa, PatternError};
use crate::schema::STATES_OF_A_TEXT;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, FormulaId, Shape};
use crate::schema::machine::Machine;
use crate::schema::text::ecma::{self, MARKS, Meaning};
use crate::schema::text::{Texts, automaton, fingerprints, formats, lengths, ready_formats};
use crate::util::diagnostic::Diagnostic;

use FormulaId as F;

/// Lengths above this are not counted by automata.
const MOST_CHARACTERS: u64 = 20_000;
/// From this length on it is foreseen whether automata grow too large.
const LONG: u64 = 64;

/// How the parts of addresses are bounded: counting both the domain and the whole takes too many
/// states.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    /// Part by part.
    Bounded,
    /// By the length of the whole, which is asked for.
    Short,
    /// By the length of the whole, which is cut until that does.
    Cut,
    /// Part by part, so that the length that is asked for is never exceeded.
    Long,
}

impl Texts<'_> {
    /// The union of what the branches of a pattern mean.
    fn meanings(&mut self, meanings: Vec<Meaning>) -> Result<Rc<Dfa>, PatternError> {
        // Of the branches with an open end and of those without.
        let mut plain = [Vec::new(), Vec::new()];
        let mut parts = Vec::new();
        for meaning in meanings {
            match meaning {
                Meaning::Plain { pattern, is_open } => plain[usize::from(is_open)].push(pattern),
                Meaning::Marked { pattern, marks } => {
                    self.met_marks = true;
                    let marked = self.compile(&pattern)?;
                    let inside = Pattern::Automaton(without_marks(&marked, marks));
                    parts.push(self.compile(&inside)?);
                }
            }
        }
        let [closed, open] = plain;
        if !closed.is_empty() {
            parts.push(self.compile(&Pattern::Alternation(closed))?);
        }
        if !open.is_empty() {
            let begins = Pattern::Shortest(Box::new(Pattern::Alternation(open)));
            let begins = self.compile(&begins)?;
            let universe = self.universe()?;
            parts.push(self.compile(&Pattern::Automaton(with_open_end(&begins, &universe)))?);
        }
        match &parts[..] {
            [only] => Ok(only.clone()),
            parts => self.product(parts, |each| each.contains(&true)),
        }
    }
}

/// The texts that begin with one of `begins`. Where one was found, what else might be found is not
/// followed any more.
fn with_open_end(begins: &Dfa, universe: &Dfa) -> Automaton {
    if begins.is_empty() {
        return Automaton::default();
    }
    let mut states = automaton::states_of(begins);
    let first = states.len() as u32;
    let mut rest = automaton::states_of(universe);
    rest.iter_mut().flat_map(|state| &mut state.moves).for_each(|(_, _, next)| *next += first);
    for state in &mut states {
        if state.accepts {
            state.moves.clone_from(&rest[0].moves);
        }
    }
    states.append(&mut rest);
    Automaton::new(states)
}

/// The texts between so many of the first mark and the second.
fn without_marks(marked: &Dfa, marks: usize) -> Automaton {
    let read = |state: u32, mark: char| {
        let mut bytes = [0; 4];
        mark.encode_utf8(&mut bytes).bytes().fold(state, |state, byte| marked.next(state, byte))
    };
    let start = (0..marks).fold(marked.start(), |state, _| read(state, MARKS[0]));
    let mut states = automaton::states_of(marked);
    for (number, state) in (0..).zip(&mut states) {
        // No set of a pattern holds a mark, so the second one can only be the last character.
        state.accepts = ends_text(marked, read(number, MARKS[1]));
    }
    let Some(first) = states.get(start as usize).cloned() else { return Automaton::default() };
    // The start is entered once more, in front.
    states.insert(0, first);
    for (_, _, next) in states.iter_mut().flat_map(|state| &mut state.moves) {
        *next += 1;
    }
    Automaton::new(states)
}

/// Whether a text may end in `state`: what it asks of the text behind it holds where there is none.
fn ends_text(dfa: &Dfa, state: u32) -> bool {
    let holds = |number: usize| {
        dfa.conditions().get(number).is_none_or(|Condition { holds, .. }| {
            holds.is_accept(holds.next(holds.start(), Dfa::END))
        })
    };
    dfa.is_accept(state) && dfa.condition(state).is_none_or(holds)
}

impl Machine<'_> {
    /// An error about the text of this number, where it stands in the schema.
    fn text_error(
        &self,
        text: u32,
        kind: SchemaErrorKind,
        message: impl Into<String>,
    ) -> SchemaError {
        match self.reader.places.get(&text) {
            Some(&node) => self.reader.schemas.error(kind, node, message),
            None => SchemaError::new(kind, message),
        }
    }

    /// The strings in which the pattern is found.
    pub(in crate::schema) fn pattern(&mut self, pattern: u32) -> Result<Rc<Dfa>, SchemaError> {
        self.searched(pattern, false)
    }

    /// Whether the pattern is found in every string.
    pub(in crate::schema) fn is_in_every_text(
        &mut self,
        pattern: u32,
    ) -> Result<bool, SchemaError> {
        let found = self.some_pattern(pattern)?;
        let universe = self.texts.universe().map_err(|error| self.too_large(&error))?;
        Ok(found == universe)
    }

    /// Some of the strings in which the pattern is found: all where it refers back to no group and
    /// counts no further than automata do. A warning says so.
    fn some_pattern(&mut self, pattern: u32) -> Result<Rc<Dfa>, SchemaError> {
        let text = self.reader.atoms.texts.get(pattern);
        if !ecma::is_narrowed(text) {
            return self.pattern(pattern);
        }
        let message = format!(
            "the pattern \"{}\" refers to a group, where nothing matches, or counts too far, and \
             is \
             held to less",
            text.escape_debug()
        );
        let mut warning = Diagnostic::warning("narrowed-schema", message);
        if let Some(&node) = self.reader.places.get(&pattern) {
            warning = warning.at(self.reader.schemas.json.place(node));
        }
        self.reader.warn(warning.help("write the alternatives out that the group stands for"));
        self.searched(pattern, true)
    }

    /// The strings in which the pattern is found; where it may be narrowed, in which it is without
    /// its back-references.
    fn searched(&mut self, pattern: u32, may_narrow: bool) -> Result<Rc<Dfa>, SchemaError> {
        if let Some(known) = self.texts.patterns.get(&(pattern, may_narrow)) {
            return Ok(known.clone());
        }
        let text = self.reader.atoms.texts.get(pattern).clone();
        self.spend(text.len())?;
        let (meanings, _) = ecma::read(&text, may_narrow).map_err(|refusal| {
            let shown = text.escape_debug();
            let message = format!("the pattern \"{shown}\" is not held: {}", refusal.0);
            self.text_error(pattern, SchemaErrorKind::UnsupportedPattern, message)
                .help("write a regular expression of ECMA-262 without back-references")
        })?;
        let compiled = self.texts.meanings(meanings);
        let dfa = compiled.map_err(|error| {
            let why = error.into_diagnostic("", None).message;
            let message = format!("the pattern \"{}\" is not held: {why}", text.escape_debug());
            self.text_error(pattern, SchemaErrorKind::UnsupportedPattern, message)
        })?;
        self.texts.patterns.insert((pattern, may_narrow), dfa.clone());
        Ok(dfa)
    }

    /// The strings of a format; those `is_short` whose length is bounded so that no part of an
    /// address can be too long.
    fn format(&mut self, format: u32, is_short: bool) -> Result<Rc<Dfa>, SchemaError> {
        if let Some(known) = self.texts.formats.get(&(format, is_short)) {
            return Ok(known.clone());
        }
        let name = self.reader.atoms.texts.get(format);
        let dfa = ready_formats::automaton(name, is_short, self.texts.meter);
        let dfa = dfa.map(Rc::new).map_err(|error| self.too_large(&error))?;
        self.texts.formats.insert((format, is_short), dfa.clone());
        Ok(dfa)
    }

    /// How the parts of addresses are bounded, where the formula asks for any.
    pub(super) fn address(&mut self, formula: F) -> Option<Address> {
        let formulas = &mut self.reader.formulas;
        let texts = &self.reader.atoms.texts;
        let is_address =
            |atom: &Atom| matches!(*atom, Atom::Format(of) if formats::is_address(texts.get(of)));
        let addresses: Vec<Atom> =
            formulas.atoms(&[formula]).into_iter().filter(is_address).collect();
        if addresses.is_empty() {
            return None;
        }
        // What is denied must not be too narrow.
        for atom in addresses {
            let asked = formulas.atom(atom);
            if formulas.denies(formula, asked) {
                return Some(Address::Short);
            }
        }
        let Shape::And(list) = formulas.shape(formula) else { return Some(Address::Bounded) };
        let bounds = formulas.parts(list).iter().filter_map(|&part| match formulas.shape(part) {
            Shape::Atom(Atom::MaxLength(max)) => Some(max),
            _ => None,
        });
        Some(match bounds.min() {
            None => Address::Bounded,
            Some(..=formats::SHORT_ADDRESS) => Address::Short,
            Some(..=formats::LONGEST_ADDRESS) => Address::Cut,
            Some(_) => Address::Long,
        })
    }

    /// The contents of strings that satisfy a formula which was projected on strings: all of them,
    /// or those of printable ASCII where all take too large an automaton. A warning says so.
    pub(in crate::schema) fn some_strings(&mut self, formula: F) -> Result<Rc<Dfa>, SchemaError> {
        if let Some(known) = self.texts.narrowed.get(&formula) {
            return Ok(known.clone());
        }
        if !self.texts.strings.contains_key(&formula)
            && let Some(some) = self.some_of_too_many(formula)?
        {
            return Ok(self.narrowed(formula, some));
        }
        let all = self.strings(formula);
        if !matches!(&all, Err(error) if error.kind() == SchemaErrorKind::TooLarge) {
            return all;
        }
        let printable = self.texts.printable().map_err(|error| self.too_large(&error))?;
        let address = self.address(formula);
        match self.strings_among(printable, formula, address) {
            Ok(some) => Ok(self.narrowed(formula, some)),
            Err(_) => all,
        }
    }

    /// The strings of printable ASCII where it is to be expected that all take too large an
    /// automaton: in each state of those there may be one of the patterns', which have as many
    /// times the states that they have over ASCII. To fail takes ten times as long as to foresee
    /// it.
    fn some_of_too_many(&mut self, formula: F) -> Result<Option<Rc<Dfa>>, SchemaError> {
        let atoms = self.reader.formulas.atoms(&[formula]);
        let is_long = |atom: &Atom| matches!(*atom, Atom::MinLength(count) | Atom::MaxLength(count) if count >= LONG);
        let patterns = atoms.iter().filter_map(|atom| match *atom {
            Atom::Pattern(pattern) => Some(pattern),
            _ => None,
        });
        let patterns: Vec<u32> = patterns.collect();
        if patterns.is_empty() || !atoms.iter().any(is_long) {
            return Ok(None);
        }
        let printable = self.texts.printable().map_err(|error| self.too_large(&error))?;
        let (mut whole, mut ascii) = (0, 0);
        for pattern in patterns {
            let all = self.some_pattern(pattern)?;
            let some =
                self.texts.product(&[printable.clone(), all.clone()], |each| each[0] && each[1]);
            whole += all.state_count();
            ascii += some.map_err(|error| self.too_large(&error))?.state_count();
        }
        let address = self.address(formula);
        let Ok(some) = self.strings_among(printable, formula, address) else { return Ok(None) };
        let expected = some.state_count().saturating_mul(whole) / ascii.max(1);
        Ok((expected > STATES_OF_A_TEXT).then_some(some))
    }

    /// Keeps some of the strings that a formula allows.
    fn narrowed(&mut self, formula: F, some: Rc<Dfa>) -> Rc<Dfa> {
        let message = "strings with a pattern and a large length are held to printable ASCII: all \
            of \
            them take too large an automaton";
        let help = "write a smaller `maxLength`, or a pattern that counts less";
        self.reader.warn(Diagnostic::warning("narrowed-schema", message).help(help));
        self.texts.narrowed.insert(formula, some.clone());
        some
    }

    /// The contents of the strings that satisfy a formula which was projected on strings.
    pub(in crate::schema) fn strings(&mut self, formula: F) -> Result<Rc<Dfa>, SchemaError> {
        if let Some(known) = self.texts.strings.get(&formula) {
            return Ok(known.clone());
        }
        let address = self.address(formula);
        let strings = self.strings_with(formula, address)?;
        self.texts.strings.insert(formula, strings.clone());
        Ok(strings)
    }

    /// The same where parts of addresses are bounded so.
    pub(super) fn strings_with(
        &mut self,
        formula: F,
        address: Option<Address>,
    ) -> Result<Rc<Dfa>, SchemaError> {
        let all = self.texts.universe().map_err(|error| self.too_large(&error))?;
        self.strings_among(all, formula, address)
    }

    fn strings_among(
        &mut self,
        all: Rc<Dfa>,
        formula: F,
        address: Option<Address>,
    ) -> Result<Rc<Dfa>, SchemaError> {
        let strings = match formula {
            F::TRUE => all,
            F::FALSE => self.compiled(Automaton::default())?,
            _ => {
                let is_everything = self.texts.is_everything(&all);
                let mut leaves = Vec::new();
                for atom in self.reader.formulas.atoms(&[formula]) {
                    self.spend(16)?;
                    leaves.push((atom, self.leaf(atom, address)?));
                }
                if let (Shape::Atom(atom), [(_, only)]) =
                    (self.reader.formulas.shape(formula), &leaves[..])
                    && is_everything
                    && !matches!(atom, Atom::Fingerprint(..))
                {
                    // Fingerprints alone tell texts apart that are no UTF-8.
                    return Ok(only.clone());
                }
                // What has texts of UTF-8 only needs none of them told apart from others.
                let formulas = &self.reader.formulas;
                let is_within = match formulas.shape(formula) {
                    Shape::And(list) => formulas.parts(list).iter().any(|&part| {
                        let shape = formulas.shape(part);
                        matches!(shape, Shape::Atom(atom) if !matches!(atom, Atom::Fingerprint(..)))
                    }),
                    _ => false,
                };
                let all = (!is_everything || !is_within).then_some(all);
                let combined = self.texts.combine(formulas, formula, all, leaves);
                combined.map_err(|error| self.too_large(&error))?
            }
        };
        self.spend(strings.state_count() / 4)?;
        Ok(strings)
    }

    pub(super) fn compiled(&mut self, automaton: Automaton) -> Result<Rc<Dfa>, SchemaError> {
        self.texts.compile(&Pattern::Automaton(automaton)).map_err(|error| self.too_large(&error))
    }

    pub(super) fn leaf(
        &mut self,
        atom: Atom,
        address: Option<Address>,
    ) -> Result<Rc<Dfa>, SchemaError> {
        let automaton = match atom {
            Atom::Pattern(pattern) => return self.some_pattern(pattern),
            Atom::Format(format) => {
                let is_short = matches!(address, Some(Address::Short | Address::Cut));
                return self.format(format, is_short);
            }
            Atom::MaxLength(count) if address == Some(Address::Cut) => {
                lengths::counted(0, Some(count.min(formats::SHORT_ADDRESS)))
            }
            Atom::MaxLength(count)
                if address == Some(Address::Long) && count > formats::LONGEST_ADDRESS =>
            {
                lengths::counted(0, None)
            }
            Atom::Strings(set) => {
                let atoms = &self.reader.atoms;
                let words = atoms.sets.get(set).iter().map(|&text| atoms.texts.get(text).as_str());
                automaton::words(&words.collect::<Vec<_>>())
            }
            Atom::MinLength(count) | Atom::MaxLength(count) if count > MOST_CHARACTERS => {
                let message = format!("strings of {count} characters are too long to be counted");
                return Err(SchemaError::new(SchemaErrorKind::TooLarge, message)
                    .help(format!("write a bound of {MOST_CHARACTERS} at most, or none")));
            }
            Atom::MinLength(count) => lengths::counted(count, None),
            Atom::MaxLength(count) => lengths::counted(0, Some(count)),
            Atom::Fingerprint(rule, set) => fingerprints::strings(rule.modulus, set),
            _ => Automaton::default(),
        };
        self.compiled(automaton)
    }
}

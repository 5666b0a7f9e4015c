//! Contents of the strings that a formula allows.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::grammar::pattern::{Automaton, Pattern};
use crate::lexer::Dfa;
use crate::schema::STATES_OF_A_TEXT;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, FormulaId, Formulas, Shape};
use crate::schema::machine::Machine;
use crate::schema::text::{automaton, fingerprints, formats, lengths, ready_formats};

use FormulaId as F;

/// Maximum length that automata count.
const MOST_CHARACTERS: u64 = 20_000;
/// Maximum lengths of strings if longer ones take too large an automaton, in the order in which
/// they are tried.
const FEW_CHARACTERS: [u64; 4] = [10_000, 1_000, 250, 60];
/// Length from which the size of automata is estimated in advance.
const LONG: u64 = 64;

/// How the parts of addresses are bounded: counting both the domain and the whole takes too many
/// states.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    /// Part by part.
    Bounded,
    /// By the length of the whole, as the schema bounds it.
    Short,
    /// By the length of the whole, which is lowered until it bounds the parts.
    Cut,
    /// Part by part, so that the whole never exceeds the schema's bound.
    Long,
}

impl Machine<'_> {
    /// Returns the strings of a format. If `is_short`, the length is bounded so that no part of an
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

    /// Returns how the parts of addresses are bounded, if the formula has any.
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
        // A denied format must not be approximated by a smaller language.
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

    /// Returns the contents of strings that satisfy a formula which was projected on strings. If
    /// all of them take too large an automaton, returns those of printable ASCII or those of few
    /// characters, with a warning.
    pub(in crate::schema) fn some_strings(&mut self, formula: F) -> Result<Rc<Dfa>, SchemaError> {
        if let Some(known) = self.texts.narrowed.get(&formula) {
            return Ok(known.clone());
        }
        if !self.texts.strings.contains_key(&formula)
            && let Some(some) = self.some_of_too_many(formula)?
            && !some.is_empty()
        {
            return Ok(self.narrowed(formula, some));
        }
        let all = self.strings(formula);
        if !matches!(&all, Err(error) if error.kind() == SchemaErrorKind::TooLarge) {
            return all;
        }
        let address = self.address(formula);
        let printable = self.texts.printable().map_err(|error| self.too_large(&error))?;
        if let Ok(some) = self.strings_among(printable, formula, address)
            && !some.is_empty()
        {
            return Ok(self.narrowed(formula, some));
        }
        for most in FEW_CHARACTERS {
            let asked = self.of_short(formula, most);
            let short = self.compiled(lengths::counted(0, Some(most)))?;
            if let Ok(some) = self.strings_among(short, asked, address)
                && !some.is_empty()
            {
                let message = format!(
                    "strings with a large length and other constraints are limited to {most} \
                     characters: all of them take too large an automaton"
                );
                return Ok(self.keep_narrowed(formula, some, message));
            }
        }
        all
    }

    /// Restricts a formula to strings of at most `most` characters.
    fn of_short(&mut self, formula: F, most: u64) -> F {
        let mut replace = |formulas: &mut Formulas, atom| match atom {
            Atom::MaxLength(count) if count >= most => F::TRUE,
            Atom::MinLength(count) if count > most => F::FALSE,
            _ => formulas.atom(atom),
        };
        self.reader.formulas.map(formula, &mut FxHashMap::default(), &mut replace)
    }

    /// Returns the strings of printable ASCII if the automaton of all strings is expected to be too
    /// large. The estimate is the number of states over ASCII, times the ratio of the patterns'
    /// states over all characters to those over ASCII. Building until failure takes ten times as
    /// long as this estimate.
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
            let Ok(all) = self.some_pattern(pattern) else { return Ok(None) };
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

    /// Records the strings of printable ASCII as the approximation of a formula's strings.
    fn narrowed(&mut self, formula: F, some: Rc<Dfa>) -> Rc<Dfa> {
        let message = "strings with a pattern and a large length are limited to printable ASCII: \
                       all of them take too large an automaton";
        self.keep_narrowed(formula, some, message.to_owned())
    }

    /// Records an approximation of the strings that a formula allows.
    fn keep_narrowed(&mut self, formula: F, some: Rc<Dfa>, message: String) -> Rc<Dfa> {
        self.warn_of_lengths(message);
        self.texts.narrowed.insert(formula, some.clone());
        some
    }

    /// Returns the contents of the strings that satisfy a formula which was projected on strings.
    pub(in crate::schema) fn strings(&mut self, formula: F) -> Result<Rc<Dfa>, SchemaError> {
        if let Some(known) = self.texts.strings.get(&formula) {
            return Ok(known.clone());
        }
        let address = self.address(formula);
        let strings = self.strings_with(formula, address)?;
        self.texts.strings.insert(formula, strings.clone());
        Ok(strings)
    }

    /// Like `strings`, with parts of addresses bounded as given.
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
                    leaves.push((atom, self.some_leaf(formula, atom, address)?));
                }
                if let (Shape::Atom(atom), [(_, only)]) =
                    (self.reader.formulas.shape(formula), &leaves[..])
                    && is_everything
                    && !matches!(atom, Atom::Fingerprint(..))
                {
                    // Only fingerprints distinguish texts that are not UTF-8.
                    return Ok(only.clone());
                }
                // If a conjunct has only UTF-8 texts, no intersection with all of them is needed.
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

    /// Returns the strings of an atom of a formula, or an approximation if all of them take too
    /// large an automaton and the formula does not deny the atom.
    fn some_leaf(
        &mut self,
        formula: F,
        atom: Atom,
        address: Option<Address>,
    ) -> Result<Rc<Dfa>, SchemaError> {
        let all = self.leaf(atom, address);
        let Atom::Pattern(pattern) = atom else { return all };
        if !matches!(&all, Err(error) if error.kind() == SchemaErrorKind::UnsupportedPattern) {
            return all;
        }
        let asked = self.reader.formulas.atom(atom);
        if self.reader.formulas.denies(formula, asked) {
            return all;
        }
        self.part_of_pattern(pattern).map_or(all, Ok)
    }

    pub(super) fn leaf(
        &mut self,
        atom: Atom,
        address: Option<Address>,
    ) -> Result<Rc<Dfa>, SchemaError> {
        let automaton = match atom {
            Atom::Pattern(pattern) => return self.some_pattern(pattern),
            Atom::Apart => return self.texts.universe().map_err(|error| self.too_large(&error)),
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
                    .help(format!("use a bound of at most {MOST_CHARACTERS}, or none")));
            }
            Atom::MinLength(count) => lengths::counted(count, None),
            Atom::MaxLength(count) => lengths::counted(0, Some(count)),
            Atom::Fingerprint(rule, set) => fingerprints::strings(rule.modulus, set),
            _ => Automaton::default(),
        };
        self.compiled(automaton)
    }
}

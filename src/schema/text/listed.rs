//! Strings of which a schema lists all that may stand: those of an `enum` or a `const`.
//!
//! What else is asked of them is asked of each, and their lexemes are made of the list: no
//! automaton of contents has to be combined with others for that.

use std::borrow::Cow;

use crate::grammar::pattern::Pattern;
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Shape};
use crate::schema::machine::Machine;
use crate::schema::text::{Texts, automaton, texts};

use FormulaId as F;

/// What messages show of a list takes so many bytes at most.
const MOST_SHOWN: usize = 60;

impl Texts<'_> {
    /// What the lexer calls these strings, and what messages call them: the words themselves where
    /// they are few.
    pub(in crate::schema) fn spelled_words<'w>(
        &self,
        words: impl Iterator<Item = &'w str>,
    ) -> (Cow<'static, str>, Pattern) {
        let spelled: Vec<String> = words.filter_map(|word| self.spelled_word(word)).collect();
        let words: Vec<&str> = spelled.iter().map(String::as_str).collect();
        let name = match &words[..] {
            _ if words.iter().map(|word| word.len()).sum::<usize>() > MOST_SHOWN => "STRING".into(),
            [only] => format!("{only:?}").into(),
            _ => format!("({})", words.join(" | ")).into(),
        };
        let automaton = automaton::words(&words);
        // More states than an automaton may have are for the lexer to divide.
        if automaton.states.len() > self.meter.states() {
            let literal = |text| Pattern::Literal { text, ignore_case: false };
            return (name, Pattern::Alternation(spelled.into_iter().map(literal).collect()));
        }
        (name, Pattern::Automaton(automaton))
    }
}

impl Machine<'_> {
    /// The strings, by number, that satisfy a formula which was projected on strings; `None` where
    /// it does not list them.
    pub(in crate::schema) fn listed(
        &mut self,
        formula: F,
    ) -> Result<Option<Vec<u32>>, SchemaError> {
        let formulas = &self.reader.formulas;
        let parts = match formulas.shape(formula) {
            Shape::And(list) => formulas.parts(list),
            _ => std::slice::from_ref(&formula),
        };
        let lists = parts.iter().filter_map(|&part| match formulas.shape(part) {
            Shape::Atom(Atom::Strings(set)) => Some(set),
            _ => None,
        });
        let Some(shortest) = lists.min_by_key(|&set| self.reader.atoms.sets.get(set).len()) else {
            return Ok(None);
        };
        let is_only = parts.len() == 1;
        let mut listed = self.reader.atoms.sets.get(shortest).to_vec();
        self.spend(listed.len() / 16)?;
        // Those that cannot be written are none.
        let (texts, atoms) = (&self.texts, &self.reader.atoms);
        listed.retain(|&text| texts.is_written(atoms.texts.get(text)));
        if !is_only {
            self.ask_each(formula, &mut listed)?;
        }
        Ok(Some(listed))
    }

    /// Leaves of some strings those that satisfy a formula.
    fn ask_each(&mut self, formula: F, listed: &mut Vec<u32>) -> Result<(), SchemaError> {
        let address = self.address(formula);
        let mut leaves = Vec::new();
        for atom in self.reader.formulas.atoms(&[formula]) {
            let automaton = match atom {
                Atom::Strings(_) | Atom::MinLength(_) | Atom::MaxLength(_) => None,
                _ => Some(self.leaf(atom, address)?),
            };
            leaves.push((atom, automaton));
        }
        self.spend(listed.len() * leaves.len() / 16)?;
        let (formulas, atoms) = (&self.reader.formulas, &self.reader.atoms);
        listed.retain(|&text| {
            let word = atoms.texts.get(text);
            let length = word.chars().count() as u64;
            texts::holds(formulas, formula, &|atom| match atom {
                Atom::Strings(set) => atoms.sets.get(set).binary_search(&text).is_ok(),
                Atom::MinLength(count) => length >= count,
                Atom::MaxLength(count) => length <= count,
                _ => leaves.iter().any(|(known, automaton)| {
                    *known == atom
                        && automaton.as_ref().is_some_and(|dfa| dfa.matches(word.as_bytes()))
                }),
            })
        });
        Ok(())
    }
}

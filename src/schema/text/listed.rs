//! Strings that a schema lists completely, in an `enum` or a `const`.
//!
//! Other conditions are tested on each of them, and the lexemes are built from the list, so no
//! automata of contents have to be combined.

use std::borrow::Cow;

use crate::grammar::pattern::Pattern;
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Shape};
use crate::schema::machine::Machine;
use crate::schema::text::{Texts, automaton, texts};

use FormulaId as F;

/// Maximum number of bytes of a list shown in messages.
const MOST_SHOWN: usize = 60;

impl Texts<'_> {
    /// Returns the name of these strings in messages, and their pattern in the lexer. The name is
    /// the words themselves if they are few.
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
        // If the automaton has more states than allowed, the lexer has to divide it.
        if automaton.states.len() > self.meter.states() {
            let literal = |text| Pattern::Literal { text, ignore_case: false };
            return (name, Pattern::Alternation(spelled.into_iter().map(literal).collect()));
        }
        (name, Pattern::Automaton(automaton))
    }
}

impl Machine<'_> {
    /// Merges the lists of a disjunction into one, in a formula that was projected on strings or on
    /// numbers. Traversing one list costs its length, while an automaton for each would take the
    /// product of all. For `oneOf`, the merged list has the values that appear in only one list.
    pub(in crate::schema) fn with_one_list(&mut self, formula: F) -> F {
        let formulas = &self.reader.formulas;
        let (list, is_one) = match formulas.shape(formula) {
            Shape::Or(list) => (list, false),
            Shape::One(list) => (list, true),
            Shape::And(list) => {
                let parts = formulas.parts(list).to_vec();
                let united: Vec<F> = parts.iter().map(|&part| self.with_one_list(part)).collect();
                return match united == parts {
                    true => formula,
                    false => self.reader.formulas.and(united),
                };
            }
            _ => return formula,
        };
        let (mut sets, mut others) = ([Vec::new(), Vec::new()], Vec::new());
        for &part in formulas.parts(list) {
            match formulas.shape(part) {
                Shape::Atom(Atom::Strings(set)) => sets[0].push(set),
                Shape::Atom(Atom::Numbers(set)) => sets[1].push(set),
                _ => others.push(part),
            }
        }
        let is_mixed = is_one && (!others.is_empty() || sets.iter().all(|sets| !sets.is_empty()));
        if is_mixed || sets.iter().all(|sets| sets.len() < 2) {
            return formula;
        }
        for (sets, atom) in sets.into_iter().zip([Atom::Strings as fn(u32) -> Atom, Atom::Numbers])
        {
            if sets.is_empty() {
                continue;
            }
            let atoms = &mut self.reader.atoms;
            let mut values: Vec<u32> =
                sets.iter().flat_map(|&set| atoms.sets.get(set)).copied().collect();
            if is_one {
                values.sort_unstable();
                let single = values.chunk_by(|one, other| one == other);
                values = single.filter(|group| group.len() == 1).flatten().copied().collect();
            }
            self.reader.formulas.work += values.len() / 16;
            if !values.is_empty() {
                let set = self.reader.atoms.set(values);
                others.push(self.reader.formulas.atom(atom(set)));
            }
        }
        self.reader.formulas.or(others)
    }

    /// Returns the strings, by number, that satisfy a formula which was projected on strings, or
    /// `None` if it does not list them.
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
        // Strings that cannot be spelled are excluded.
        let (texts, atoms) = (&self.texts, &self.reader.atoms);
        listed.retain(|&text| texts.is_written(atoms.texts.get(text)));
        if !is_only {
            self.ask_each(formula, &mut listed)?;
        }
        Ok(Some(listed))
    }

    /// Retains only the strings that satisfy a formula.
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

//! Bounds on strings, arrays and numbers for which the schema has none: for models, which may write
//! without end where they are allowed to.
//!
//! They are added when productions are built, where nothing is denied any more, so a bound only
//! takes values away. One that would take away all of them is left out.

use crate::grammar::pattern::{Automaton, Pattern};
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Type};
use crate::schema::machine::Machine;
use crate::schema::text::{automaton, regex};

use FormulaId as F;

impl Machine<'_> {
    /// Adds the bound on strings or arrays to a formula that was projected on them.
    pub(in crate::schema) fn bounded_by_default(
        &mut self,
        of: Type,
        formula: F,
    ) -> Result<F, SchemaError> {
        let options = self.reader.options;
        let bound = match of {
            Type::String => options.default_max_length.map(|most| Atom::MaxLength(most.into())),
            Type::Array => options.default_max_items.map(|most| Atom::MaxItems(most.into())),
            _ => None,
        };
        let Some(bound) = bound.filter(|_| formula != F::FALSE) else { return Ok(formula) };
        let atoms = self.reader.formulas.atoms(&[formula]);
        let is_free = match of {
            Type::String => !atoms.iter().any(|atom| {
                matches!(atom, Atom::MaxLength(_) | Atom::Strings(_) | Atom::Fingerprint(..))
            }),
            // Other conditions would be counted together with the items.
            _ => atoms.iter().all(|atom| matches!(atom, Atom::Items(_) | Atom::MinItems(_))),
        };
        if !is_free {
            return Ok(formula);
        }
        let bound = self.reader.formulas.atom(bound);
        let bounded = self.reader.formulas.and([formula, bound]);
        let has_any = bounded != F::FALSE
            && match of {
                Type::String => self.has_text(bounded, of)?,
                _ => self.has_array(bounded)?,
            };
        Ok(if has_any { bounded } else { formula })
    }

    /// Returns the texts of the numbers that satisfy a formula, of no more digits than the bound.
    pub(in crate::schema) fn numbers_of_few_digits(
        &mut self,
        formula: F,
    ) -> Result<Option<Automaton>, SchemaError> {
        let numbers = self.numbers(formula)?;
        let (Some(most), Some(all)) = (self.reader.options.default_max_digits, &numbers) else {
            return Ok(numbers);
        };
        let atoms = self.reader.formulas.atoms(&[formula]);
        if atoms.iter().any(|atom| matches!(atom, Atom::Numbers(_) | Atom::Fingerprint(..))) {
            return Ok(numbers);
        }
        let few = regex(format!("[^0-9]*(?:[0-9][^0-9]*){{0,{most}}}"));
        let few = Pattern::Intersection(vec![Pattern::Automaton(all.clone()), few]);
        let few = self.texts.compile(&few).map_err(|error| self.too_large(&error))?;
        Ok(if few.is_empty() { numbers } else { Some(automaton::of(&few)) })
    }
}

//! Arrays of unique items that are followed.
//!
//! Productions cannot express that the items of an array differ. So if a schema asks little else of
//! an array, its terminals are marked as opening it, ending it, separating items, or being an item
//! ([`ir::Distinct`](crate::grammar::ir::Distinct)), and the matcher records the items of the
//! array. A scalar item is one lexeme, and each value has only one spelling there. Arrays and
//! objects are compared by value. They must be [renewable](super::extensible): otherwise a text
//! might reach a point at which every possible completion of an item is already in the array.
//!
//! Only one kind of array may have this constraint. If a text may be one of several kinds of arrays
//! with different constraints, its kind would depend on the items.

use rustc_hash::FxHashMap;

use crate::grammar::ir::{Distinct, Symbol};
use crate::grammar::pattern::Pattern;
use crate::lexer::text_counts;
use crate::schema::build::{Brackets, Builder, Start, word};
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, FormulaId, Formulas, Shape, Type};
use crate::schema::keywords::Distinct as Unique;
use crate::schema::machine::Machine;
use crate::schema::states::TupleId;

use FormulaId as F;

/// Name of such an item in messages.
const ITEM: &str = "(a value that no other item has)";

/// Constraints on an array in addition to unique items.
struct Asked {
    /// Formula of each item.
    item: F,
    /// Minimum number of items.
    least: u64,
}

impl Machine<'_> {
    /// Replaces unique items in a projected formula: followed if possible, otherwise narrowed.
    pub(super) fn followed_or_narrower(&mut self, projected: F) -> Result<F, SchemaError> {
        if !self.reader.formulas.held(projected).distinct {
            return Ok(projected);
        }
        let are_followed = match self.asked(projected).filter(|_| self.reader.follows_items) {
            Some(Asked { item, .. }) => self.count_items(item)?.is_some(),
            None => false,
        };
        if !are_followed {
            return self.narrower_where(projected, |_| true);
        }
        let mut replace = |formulas: &mut Formulas, atom| match atom {
            Atom::Distinct(number) => formulas.atom(Atom::Followed(number)),
            _ => formulas.atom(atom),
        };
        Ok(self.reader.formulas.map(projected, &mut FxHashMap::default(), &mut replace))
    }

    /// Replaces some unique items that are not followed by their narrower formulas.
    pub(super) fn narrower_where(
        &mut self,
        projected: F,
        is_meant: impl Fn(&Unique) -> bool,
    ) -> Result<F, SchemaError> {
        if !self.reader.formulas.held(projected).distinct {
            return Ok(projected);
        }
        let mut instead = FxHashMap::default();
        for atom in self.reader.formulas.atoms(&[projected]) {
            if let Atom::Distinct(number) = atom
                && is_meant(&self.reader.distinct[number as usize])
            {
                instead.insert(atom, self.reader.narrower(number)?);
            }
        }
        let mut replace = |formulas: &mut Formulas, atom| {
            instead.get(&atom).copied().unwrap_or_else(|| formulas.atom(atom))
        };
        Ok(self.reader.formulas.map(projected, &mut FxHashMap::default(), &mut replace))
    }

    /// Returns the constraints on an array in addition to unique items, if they are simple.
    fn asked(&mut self, projected: F) -> Option<Asked> {
        let formulas = &mut self.reader.formulas;
        let parts = match formulas.shape(projected) {
            Shape::And(list) => formulas.parts(list).to_vec(),
            _ => vec![projected],
        };
        let (mut items, mut least) = (Vec::new(), 0);
        for part in parts {
            match formulas.shape(part) {
                Shape::Atom(Atom::Distinct(_) | Atom::Followed(_) | Atom::MaxItems(_)) => {}
                Shape::Atom(Atom::MinItems(count)) => least = count.max(least),
                Shape::Atom(Atom::Items(number)) => {
                    let of = self.reader.atoms.items.get(number);
                    if !of.prefix.is_empty() {
                        return None;
                    }
                    items.push(of.rest);
                }
                _ => return None,
            }
        }
        Some(Asked { item: formulas.and(items), least })
    }

    /// Returns how many items satisfy a formula, if the items may be followed.
    fn count_items(&mut self, item: F) -> Result<Option<u64>, SchemaError> {
        let item = self.whole(item)?;
        let mut are_scalars = true;
        for of in [Type::Array, Type::Object] {
            let projected = self.of_type(item, of)?;
            if projected == F::FALSE {
                continue;
            }
            // The matcher reads the text as JSON.
            let options = self.reader.options;
            if !options.have_json_separators() || self.renewal(projected, of)?.is_none() {
                return Ok(None);
            }
            are_scalars = false;
        }
        let count = self.count_apart(item)?;
        // Once all scalars have appeared, the matcher allows no further items.
        Ok(match are_scalars {
            true => Some(count),
            false => matches!(count, 0 | u64::MAX).then_some(u64::MAX),
        })
    }

    /// Returns the number of texts of the scalars that satisfy a formula; 0 if their automaton
    /// would be too large.
    pub(super) fn count_apart(&mut self, formula: F) -> Result<u64, SchemaError> {
        let pattern = match self.texts_apart(formula) {
            Err(error) if error.kind() == SchemaErrorKind::TooLarge => return Ok(0),
            pattern => pattern?,
        };
        let Some(pattern) = pattern else { return Ok(0) };
        let texts = self.texts.compile(&pattern).map_err(|error| self.too_large(&error))?;
        Ok(text_counts(&texts).first().copied().unwrap_or(0))
    }

    /// Narrows all arrays if a text may be an array of several kinds, so that none is followed.
    pub(super) fn follow_one_at_most(&mut self, projected: &mut [F]) -> Result<(), SchemaError> {
        let kinds = projected.iter().filter(|&&formula| formula != F::FALSE).count();
        if kinds < 2 {
            return Ok(());
        }
        for formula in projected {
            let mut instead = FxHashMap::default();
            for atom in self.reader.formulas.atoms(&[*formula]) {
                if let Atom::Followed(number) = atom {
                    instead.insert(atom, self.reader.narrower(number)?);
                }
            }
            let mut replace = |formulas: &mut Formulas, atom| {
                instead.get(&atom).copied().unwrap_or_else(|| formulas.atom(atom))
            };
            let formulas = &mut self.reader.formulas;
            *formula = formulas.map(*formula, &mut FxHashMap::default(), &mut replace);
        }
        Ok(())
    }

    /// Returns the texts of the scalars that satisfy a formula, one spelling for each.
    fn texts_apart(&mut self, formula: F) -> Result<Option<Pattern>, SchemaError> {
        let apart = self.reader.formulas.atom(Atom::Apart);
        let formula = self.reader.formulas.and([formula, apart]);
        let mut texts = Vec::new();
        for of in [Type::Null, Type::Boolean, Type::Number, Type::String] {
            let projected = self.project(formula, of)?;
            match of {
                _ if projected == F::FALSE => {}
                Type::Null => texts.extend((projected == F::TRUE).then(|| word("null"))),
                Type::Boolean => {
                    for (value, text) in [(false, "false"), (true, "true")] {
                        if self.holds_of_boolean(projected, value) {
                            texts.push(word(text));
                        }
                    }
                }
                Type::Number => texts.extend(self.numbers(projected)?.map(Pattern::Automaton)),
                _ => match self.listed(projected)? {
                    Some(listed) => {
                        let atoms = &self.reader.atoms;
                        let words = listed.iter().map(|&text| atoms.texts.get(text).as_str());
                        texts.push(self.texts.spelled_words(words).1);
                    }
                    None => texts.extend(self.strings_apart(projected, texts.is_empty())?),
                },
            }
        }
        Ok(match texts.len() {
            0 | 1 => texts.pop(),
            _ => Some(Pattern::Alternation(texts)),
        })
    }

    /// Returns the texts of strings, if there are any. Strings of bounded length are used only if
    /// there are no other texts (`is_all`): their automaton is not combined with others.
    fn strings_apart(&mut self, formula: F, is_all: bool) -> Result<Option<Pattern>, SchemaError> {
        if is_all && let Some(bounded) = self.bounded(formula)? {
            return Ok(bounded);
        }
        let strings = self.some_strings(formula)?;
        Ok((!strings.is_empty()).then(|| self.texts.spelled_in_one_way(&strings)))
    }
}

impl Builder<'_, '_> {
    /// Returns the lexemes around the items of the arrays that begin with `start`; `None` if there
    /// are fewer items than an array must have.
    pub(super) fn brackets(&mut self, start: TupleId) -> Result<Option<Brackets>, SchemaError> {
        let punctuation = &self.punctuation;
        let (open, comma, close) =
            (punctuation.open_array, punctuation.comma, punctuation.close_array);
        let formulas = &self.machine.reader.formulas;
        let mut residuals = self.machine.tuple(start).iter().copied();
        let array = residuals.find(|&formula| formulas.held(formula).followed);
        let Some(Asked { item, least }) = array.and_then(|array| self.machine.asked(array)) else {
            return Ok(Some(Brackets { open, comma, close }));
        };
        if self.machine.count_items(item)?.is_none_or(|count| count < least) {
            return Ok(None);
        }
        let open = self.fragment.role(open, Distinct::Open);
        let comma = self.fragment.role(comma, Distinct::Next);
        let close = self.fragment.role(close, Distinct::Close);
        Ok(Some(Brackets { open, comma, close }))
    }

    /// Returns the symbol of the items of a followed array that satisfy a formula.
    pub(super) fn item(&mut self, formula: F) -> Result<Symbol, SchemaError> {
        if let Some(&known) = self.items.get(&formula) {
            return Ok(known);
        }
        let mut kinds = Vec::new();
        if let Some(pattern) = self.machine.texts_apart(formula)? {
            kinds.push(self.fragment.terminal_as(Some(Distinct::Item), ITEM, pattern));
        }
        for of in [Type::Array, Type::Object] {
            let projected = self.machine.project(formula, of)?;
            if projected == F::FALSE {
                continue;
            }
            let start = Start { asked: self.machine.tuple_id(&[projected]), is_item: true };
            kinds.push(Symbol::Nonterminal(match of {
                Type::Array => self.array_symbols(start),
                _ => self.object_symbols(start),
            }));
        }
        let symbol = match kinds[..] {
            [only] => only,
            _ => {
                let item = self.fragment.nonterminals("item", 1);
                for kind in kinds {
                    self.production(item, [kind])?;
                }
                Symbol::Nonterminal(item)
            }
        };
        self.items.insert(formula, symbol);
        Ok(symbol)
    }
}

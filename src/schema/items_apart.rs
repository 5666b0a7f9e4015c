//! Arrays of unique items whose texts are followed.
//!
//! Where a schema asks little else of an array than that its items are unique, and they are
//! scalars, no two items may have the same text: each value has one spelling there. No productions
//! say that, so the terminals of such an array do
//! ([`ir::Distinct`](crate::grammar::ir::Distinct)), and whoever follows a text keeps the items
//! that stand in it. Items that are objects differ in one of their required members that are
//! scalars: that is narrower.
//!
//! It must be one array of which this is asked. Where a text may be one of several, of which others
//! ask for something else, which of them it is would hang on the items.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::grammar::ir::{Distinct, Part, Symbol};
use crate::grammar::pattern::Pattern;
use crate::lexer::text_counts;
use crate::schema::build::{Brackets, Builder, word};
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, FormulaId, Formulas, Shape, Type};
use crate::schema::machine::Machine;
use crate::schema::states::TupleId;
use crate::util::diagnostic::Diagnostic;

use FormulaId as F;

/// Members whose values may have fewer texts do not stand for an object.
const MANY_TEXTS: u64 = 1_000;
/// So many members stand for one together.
const MOST_KEYS: usize = 4;

/// What messages call such an item.
const ITEM: &str = "(a value that no other item has)";

/// What is asked of an array beside that its items are unique.
struct Asked {
    /// Of each item.
    item: F,
    /// How many there must be.
    least: u64,
}

impl Machine<'_> {
    /// What a projected formula asks, with unique items followed where that can be, else narrower.
    pub(super) fn followed_or_narrower(&mut self, projected: F) -> Result<F, SchemaError> {
        if !self.reader.formulas.held(projected).distinct {
            return Ok(projected);
        }
        let keys = match self.asked(projected).filter(|_| self.reader.follows_items) {
            None => None,
            Some(Asked { item, .. }) => {
                let item = self.whole(item)?;
                match are_scalars(&self.reader.formulas, item) {
                    true => Some(None),
                    false => self.telling_keys(item)?.map(Some),
                }
            }
        };
        let mut instead = FxHashMap::default();
        for atom in self.reader.formulas.atoms(&[projected]) {
            let Atom::Distinct(number) = atom else { continue };
            let own = match keys {
                Some(keys) => self.reader.formulas.atom(Atom::Followed { number, keys }),
                None => self.reader.narrower(number)?,
            };
            instead.insert(number, own);
        }
        let mut replace = |formulas: &mut Formulas, atom| match atom {
            Atom::Distinct(number) => instead.get(&number).copied().unwrap_or(F::FALSE),
            _ => formulas.atom(atom),
        };
        Ok(self.reader.formulas.map(projected, &mut FxHashMap::default(), &mut replace))
    }

    /// What is asked of an array beside that its items are unique, where it is little.
    fn asked(&mut self, projected: F) -> Option<Asked> {
        let formulas = &mut self.reader.formulas;
        let parts = match formulas.shape(projected) {
            Shape::And(list) => formulas.parts(list).to_vec(),
            _ => vec![projected],
        };
        let (mut items, mut least) = (Vec::new(), 0);
        for part in parts {
            match formulas.shape(part) {
                Shape::Atom(Atom::Distinct(_) | Atom::Followed { .. } | Atom::MaxItems(_)) => {}
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

    /// Of objects that satisfy the formula: the keys of required members whose values are scalars,
    /// of which there are many together. Two, or more to which there is no end.
    fn telling_keys(&mut self, item: F) -> Result<Option<u32>, SchemaError> {
        let formulas = &self.reader.formulas;
        let Shape::And(list) = formulas.shape(item) else { return Ok(None) };
        let mut required = Vec::new();
        let mut is_object = false;
        for &part in formulas.parts(list) {
            match formulas.shape(part) {
                Shape::Atom(Atom::Required(name)) => required.push(name),
                Shape::Atom(Atom::Type(Type::Object)) => is_object = true,
                Shape::Atom(
                    Atom::Properties(_)
                    | Atom::PropertyNames(_)
                    | Atom::MinProperties(_)
                    | Atom::MaxProperties(_),
                ) => {}
                _ => return Ok(None),
            }
        }
        if !is_object {
            return Ok(None);
        }
        let mut counted = Vec::new();
        for key in required {
            let Some(value) = self.member_of(item, key) else { continue };
            let whole = self.whole(value)?;
            if are_scalars(&self.reader.formulas, whole) {
                counted.push((self.count_apart(value)?, key));
            }
        }
        // One text tells nothing apart.
        counted.retain(|&(count, _)| count > 1);
        // Those with most texts first, in the order of the schema.
        counted.sort_by_key(|&(count, _)| Reverse(count));
        let without_end = counted.iter().filter(|&&(count, _)| count == u64::MAX).count();
        counted.truncate(without_end.clamp(2, MOST_KEYS));
        let texts = counted.iter().map(|&(count, _)| count).fold(1, u64::saturating_mul);
        let keys = counted.into_iter().map(|(_, key)| key).collect();
        Ok((texts >= MANY_TEXTS).then(|| self.reader.atoms.set(keys)))
    }

    /// What a conjunction asks of the member of a key; `None` where that hangs on patterns.
    fn member_of(&mut self, item: F, key: u32) -> Option<F> {
        let mut parts = Vec::new();
        for atom in self.reader.formulas.atoms(&[item]) {
            if let Atom::Properties(number) = atom {
                let properties = self.reader.atoms.properties.get(number);
                if !properties.patterns.is_empty() {
                    return None;
                }
                parts.push(properties.named(key).unwrap_or(properties.additional));
            }
        }
        Some(self.reader.formulas.and(parts))
    }

    /// How many texts scalars that satisfy a formula have; 0 where these take too large an
    /// automaton.
    fn count_apart(&mut self, formula: F) -> Result<u64, SchemaError> {
        let pattern = match self.texts_apart(formula) {
            Err(error) if error.kind() == SchemaErrorKind::TooLarge => return Ok(0),
            pattern => pattern?,
        };
        let texts = self.texts.compile(&pattern).map_err(|error| self.too_large(&error))?;
        Ok(text_counts(&texts).first().copied().unwrap_or(0))
    }

    /// Where a text may be an array of several kinds, none is followed.
    pub(super) fn follow_one_at_most(&mut self, projected: &mut [F]) -> Result<(), SchemaError> {
        let kinds = projected.iter().filter(|&&formula| formula != F::FALSE).count();
        if kinds < 2 {
            return Ok(());
        }
        for formula in projected {
            let mut instead = FxHashMap::default();
            for atom in self.reader.formulas.atoms(&[*formula]) {
                if let Atom::Followed { number, .. } = atom {
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

    /// The texts of the scalars that satisfy a formula, one for each.
    fn texts_apart(&mut self, formula: F) -> Result<Pattern, SchemaError> {
        let apart = self.reader.formulas.atom(Atom::Apart(Part::WHOLE));
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
            1 => texts.swap_remove(0),
            _ => Pattern::Alternation(texts),
        })
    }

    /// The same of strings, if there are any; what is counted is no part of anything else.
    fn strings_apart(&mut self, formula: F, is_all: bool) -> Result<Option<Pattern>, SchemaError> {
        if is_all && let Some(bounded) = self.bounded(formula)? {
            return Ok(bounded);
        }
        let strings = self.some_strings(formula)?;
        Ok((!strings.is_empty()).then(|| self.texts.spelled_in_one_way(&strings)))
    }

    /// Says that objects are told apart by some members.
    fn warn_of_telling_keys(&mut self, number: u32, keys: u32) {
        let (keys, texts) = (self.reader.atoms.sets.get(keys), &self.reader.atoms.texts);
        let keys: Vec<String> = keys.iter().map(|&key| format!("{:?}", texts.get(key))).collect();
        let message = match &keys[..] {
            [key] => format!("`uniqueItems` over objects: no two may have the same {key}"),
            _ => format!("`uniqueItems` over objects: they differ in one of {}", keys.join(", ")),
        };
        let warning = Diagnostic::warning("narrowed-schema", message);
        self.reader.warn(warning.at(self.reader.place_of_distinct(number)));
    }
}

/// Whether a formula without schemas certainly asks for scalars.
fn are_scalars(formulas: &Formulas, formula: F) -> bool {
    let part = |&part: &F| are_scalars(formulas, part);
    match formulas.shape(formula) {
        Shape::False => true,
        Shape::True | Shape::Not(_) => false,
        Shape::And(list) => formulas.parts(list).iter().any(part),
        Shape::Or(list) | Shape::One(list) => formulas.parts(list).iter().all(part),
        Shape::Atom(atom) => match atom {
            Atom::Type(of) => !matches!(of, Type::Array | Type::Object),
            Atom::Boolean(_) | Atom::Integer { .. } | Atom::Numbers(_) | Atom::Strings(_) => true,
            _ => false,
        },
    }
}

impl Builder<'_, '_> {
    /// The lexemes around the items of the arrays that begin with `start`; `None` where there are
    /// fewer items than an array must have.
    pub(super) fn brackets(&mut self, start: TupleId) -> Result<Option<Brackets>, SchemaError> {
        let punctuation = &self.punctuation;
        let (open, comma, close) =
            (punctuation.open_array, punctuation.comma, punctuation.close_array);
        let formulas = &self.machine.reader.formulas;
        let mut residuals = self.machine.tuple(start).iter().copied();
        let array = residuals.find(|&formula| formulas.held(formula).followed);
        let Some((array, Asked { item, least })) =
            array.and_then(|array| Some((array, self.machine.asked(array)?)))
        else {
            return Ok(Some(Brackets { open, comma, close }));
        };
        let mut texts = 0;
        for atom in self.machine.reader.formulas.atoms(&[array]) {
            match atom {
                Atom::Followed { keys: None, .. } => texts = self.machine.count_apart(item)?,
                Atom::Followed { number, keys: Some(keys) } => {
                    self.machine.warn_of_telling_keys(number, keys);
                    let whole = self.machine.whole(item)?;
                    texts = 1;
                    for key in self.machine.reader.atoms.sets.get(keys).clone() {
                        let value = self.machine.member_of(whole, key).unwrap_or(F::FALSE);
                        texts = texts.saturating_mul(self.machine.count_apart(value)?);
                    }
                }
                _ => {}
            }
        }
        if texts < least {
            return Ok(None);
        }
        let open = self.fragment.role(open, Distinct::Open);
        let comma = self.fragment.role(comma, Distinct::Next);
        let close = self.fragment.role(close, Distinct::Close);
        Ok(Some(Brackets { open, comma, close }))
    }

    /// The terminal of the scalars that satisfy a formula, which are a part of an item.
    pub(super) fn apart(&mut self, formula: F) -> Result<Symbol, SchemaError> {
        let atoms = self.machine.reader.formulas.atoms(&[formula]);
        let part = atoms.into_iter().find_map(|atom| match atom {
            Atom::Apart(part) => Some(part),
            _ => None,
        });
        let pattern = self.machine.texts_apart(formula)?;
        Ok(self.fragment.terminal_as(part.map(Distinct::Part), ITEM, pattern))
    }

    /// The colon before a value.
    pub(super) fn colon(&mut self, value: Symbol) -> Symbol {
        match self.fragment.distinct(value) {
            Some(Distinct::Part(_)) => self.fragment.role(self.punctuation.colon, Distinct::Lead),
            _ => self.punctuation.colon,
        }
    }
}

//! Arrays for which only the number of items and one schema for all items are constrained.
//!
//! Elsewhere items are counted one by one, each in a state of its own. Here the parser's stack
//! counts them in binary ([`super::runs`]), so any bound takes few productions.

use crate::grammar::ir::Symbol;
use crate::schema::build::{Brackets, Builder, Counted};
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Shape};
use crate::schema::machine::Machine;
use crate::util::id::NonterminalId;

use FormulaId as F;

/// Counts up to this many items are counted one by one.
const FEW: u64 = 64;

impl Machine<'_> {
    /// Returns the constraints of a residual on the remaining items, if it asks nothing else of the
    /// array and the count is too large to count one by one.
    pub(super) fn counted_items(&self, residual: F) -> Option<Counted> {
        let formulas = &self.reader.formulas;
        let parts = match formulas.shape(residual) {
            Shape::And(list) => formulas.parts(list),
            _ => std::slice::from_ref(&residual),
        };
        let mut asked = Counted { item: F::TRUE, min: 0, max: None };
        let mut has_items = false;
        for &part in parts {
            let (atom, is_denied) = match formulas.shape(part) {
                Shape::Atom(atom) => (atom, false),
                Shape::Not(of) => match formulas.shape(of) {
                    Shape::Atom(atom) => (atom, true),
                    _ => return None,
                },
                _ => return None,
            };
            match (atom, is_denied) {
                (Atom::MinItems(count), false) => asked.min = asked.min.max(count),
                (Atom::MaxItems(count), true) => asked.min = asked.min.max(count.checked_add(1)?),
                (Atom::MaxItems(count), false) => {
                    asked.max = Some(asked.max.map_or(count, |max| max.min(count)));
                }
                (Atom::MinItems(count), true) => {
                    let count = count.checked_sub(1)?;
                    asked.max = Some(asked.max.map_or(count, |max| max.min(count)));
                }
                (Atom::Items(number), false) if !has_items => {
                    let items = self.reader.atoms.items.get(number);
                    if !items.prefix.is_empty() {
                        return None;
                    }
                    (asked.item, has_items) = (items.rest, true);
                }
                _ => return None,
            }
        }
        let most = asked.max.unwrap_or(0).max(asked.min);
        (most > FEW && asked.max.is_none_or(|max| asked.min <= max)).then_some(asked)
    }

    /// Whether such an array exists.
    pub(super) fn has_counted(&mut self, asked: Counted) -> Result<bool, SchemaError> {
        Ok(asked.min == 0 || self.is_inhabited(asked.item)?)
    }
}

impl Builder<'_, '_> {
    /// Adds productions for the rest of an array after `front`, constrained by `asked`: the
    /// remaining items and the end. `is_first`: there is no item yet.
    pub(super) fn count_items(
        &mut self,
        composite: NonterminalId,
        front: NonterminalId,
        is_first: bool,
        mut asked: Counted,
        brackets: &Brackets,
    ) -> Result<(), SchemaError> {
        let front = Symbol::Nonterminal(front);
        let has_item = self.machine.is_inhabited(asked.item)?;
        if asked.min == 0 && (is_first || !has_item) {
            self.production(composite, [front, brackets.close])?;
        }
        if !has_item {
            return Ok(());
        }
        let item = self.value(asked.item)?;
        let mut begun = vec![front];
        if is_first {
            begun.push(item);
            asked.min = asked.min.saturating_sub(1);
            asked.max = asked.max.map(|max| max - 1);
        }
        let next = match self.next_items.get(&item) {
            Some(&known) => known,
            None => {
                let next = self.fragment.nonterminals("next_item", 1);
                self.production(next, [brackets.comma, item])?;
                self.next_items.insert(item, Symbol::Nonterminal(next));
                Symbol::Nonterminal(next)
            }
        };
        let unit = (next, brackets.close);
        self.exactly(unit, asked.min, &mut begun)?;
        match asked.max {
            Some(max) => {
                begun.push(self.at_most(unit, max - asked.min, brackets.close)?);
                self.production(composite, begun)
            }
            None => {
                let enough = self.fragment.nonterminals("items", 1);
                self.production(enough, begun)?;
                self.production(enough, [Symbol::Nonterminal(enough), next])?;
                self.production(composite, [Symbol::Nonterminal(enough), brackets.close])
            }
        }
    }
}

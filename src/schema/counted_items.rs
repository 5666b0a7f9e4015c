//! Arrays for which only the number of items and one schema for all items are constrained.
//!
//! Elsewhere items are counted one by one, each in a state of its own. Here the parser's stack
//! counts them in binary, like the characters of long strings: runs of 2^n items, each made of two
//! runs of half the length. Any bound then takes few productions.

use crate::grammar::ir::Symbol;
use crate::schema::build::{Brackets, Builder, Counted, ItemRuns};
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Shape};
use crate::schema::long_strings::digits;
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
        if !self.item_runs.contains_key(&item) {
            let next = self.fragment.nonterminals("next_item", 1);
            self.production(next, [brackets.comma, item])?;
            let runs =
                ItemRuns { full: vec![Symbol::Nonterminal(next)], fewer: vec![brackets.close] };
            self.item_runs.insert(item, runs);
        }
        for power in digits(asked.min).rev() {
            begun.push(self.item_run(item, power)?.0);
        }
        match asked.max {
            Some(max) => {
                let mut end = brackets.close;
                for power in digits(max - asked.min) {
                    let (full, fewer) = self.item_run(item, power)?;
                    let from_here = self.fragment.nonterminals("items_at_most", 1);
                    self.production(from_here, [fewer])?;
                    self.production(from_here, [full, end])?;
                    end = Symbol::Nonterminal(from_here);
                }
                begun.push(end);
                self.production(composite, begun)
            }
            None => {
                let enough = self.fragment.nonterminals("items", 1);
                let (more, _) = self.item_run(item, 0)?;
                self.production(enough, begun)?;
                self.production(enough, [Symbol::Nonterminal(enough), more])?;
                self.production(composite, [Symbol::Nonterminal(enough), brackets.close])
            }
        }
    }

    /// Returns the symbols of 2^`power` items, each after a comma, and of fewer with the end of the
    /// array.
    fn item_run(&mut self, item: Symbol, power: u32) -> Result<(Symbol, Symbol), SchemaError> {
        for half in self.item_runs[&item].full.len() - 1..power as usize {
            let ItemRuns { full, fewer } = &self.item_runs[&item];
            let (full, fewer) = (full[half], fewer[half]);
            let twice = self.fragment.nonterminals("item_run", 1);
            self.production(twice, [full, full])?;
            let below = self.fragment.nonterminals("fewer_items", 1);
            self.production(below, [fewer])?;
            self.production(below, [full, fewer])?;
            if let Some(runs) = self.item_runs.get_mut(&item) {
                runs.full.push(Symbol::Nonterminal(twice));
                runs.fewer.push(Symbol::Nonterminal(below));
            }
        }
        let ItemRuns { full, fewer } = &self.item_runs[&item];
        Ok((full[power as usize], fewer[power as usize]))
    }
}

//! Values of keywords, converted to the required type: strings, numbers, counts, lists, objects.

use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, Comparison, FormulaId};
use crate::schema::json::{NodeId, Text, Value};
use crate::schema::keywords::Reader;
use crate::util::decimal::Decimal;
use crate::util::diagnostic::Diagnostic;

use FormulaId as F;

/// Maximum number of items that are counted one by one.
const MOST_ITEMS: u64 = 10_000;
/// Maximum number of digits of a number on either side of its point.
const MOST_DIGITS: usize = 400;

impl<'a> Reader<'a> {
    pub(super) fn text(&self, value: NodeId) -> Result<String, SchemaError> {
        let text = self.schemas.json.string(value).map(str::to_owned);
        text.ok_or_else(|| self.schemas.invalid(value, "expected a string"))
    }

    pub(super) fn placed_text(&mut self, text: &str, value: NodeId) -> u32 {
        let id = self.atoms.text(text);
        self.places.entry(id).or_insert(value);
        id
    }

    pub(super) fn number(&self, value: NodeId) -> Result<Decimal, SchemaError> {
        let Value::Number(number) = self.schemas.json.value(value) else {
            return Err(self.schemas.invalid(value, "expected a number"));
        };
        let (whole, fraction) = number.width();
        if whole > MOST_DIGITS || fraction > MOST_DIGITS {
            let message = format!(
                "the number has more than {MOST_DIGITS} digits when written without an exponent"
            );
            return Err(self.schemas.error(SchemaErrorKind::TooLarge, value, message));
        }
        Ok(number.clone())
    }

    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        value: NodeId,
    ) -> Result<F, SchemaError> {
        let number = self.number(value)?;
        let number = self.atoms.numbers.intern(number);
        Ok(self.formulas.atom(Atom::Compare(comparison, number)))
    }

    pub(super) fn count(&self, value: NodeId) -> Result<u64, SchemaError> {
        let Value::Number(number) = self.schemas.json.value(value) else {
            return Err(self.schemas.invalid(value, "expected a number"));
        };
        if number.is_negative() || !number.is_integer() {
            return Err(self.schemas.invalid(value, "expected a non-negative integer"));
        }
        Ok(number.to_u64().unwrap_or(u64::MAX))
    }

    pub(super) fn at_least(
        &mut self,
        value: NodeId,
        atom: impl Fn(u64) -> Atom,
    ) -> Result<F, SchemaError> {
        Ok(match self.count(value)? {
            0 => F::TRUE,
            count => self.formulas.atom(atom(count)),
        })
    }

    pub(super) fn at_most(
        &mut self,
        value: NodeId,
        atom: impl Fn(u64) -> Atom,
    ) -> Result<F, SchemaError> {
        Ok(match self.count(value)? {
            u64::MAX => F::TRUE,
            count => self.formulas.atom(atom(count)),
        })
    }

    /// Reads `maxItems`. If other constraints apply to the array, each count of items takes states
    /// of its own. The bound is then limited to some thousands, because all of them would be too
    /// many.
    pub(super) fn most_items(&mut self, value: NodeId) -> Result<F, SchemaError> {
        let count = self.count(value)?;
        let is_exact = !self.bounds_items || self.is_denied;
        if count <= MOST_ITEMS || count == u64::MAX || is_exact {
            return self.at_most(value, Atom::MaxItems);
        }
        let message =
            format!("arrays are limited to {MOST_ITEMS} items, the most that can be counted");
        let warning = Diagnostic::warning("narrowed-schema", message);
        self.warn(warning.at(self.schemas.json.place(value)));
        Ok(self.formulas.atom(Atom::MaxItems(MOST_ITEMS)))
    }

    pub(super) fn elements(&self, value: NodeId) -> Result<Vec<NodeId>, SchemaError> {
        match self.schemas.json.value(value) {
            Value::Array(items) => Ok(items.clone()),
            _ => Err(self.schemas.invalid(value, "expected an array")),
        }
    }

    pub(super) fn members(&self, value: NodeId) -> Result<Vec<(Text<'a>, NodeId)>, SchemaError> {
        match self.schemas.json.value(value) {
            Value::Object(members) => Ok(members.clone()),
            _ => Err(self.schemas.invalid(value, "expected an object")),
        }
    }
}

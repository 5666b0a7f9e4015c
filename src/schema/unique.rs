//! `uniqueItems`, where the items can be listed.
//!
//! That items differ from one another is no context-free condition, unless there are few values
//! that they may have: then the values that are left are part of the state. The items are those of
//! an `enum`, a `const` or the type `boolean`.

use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, FormulaId, Formulas};
use crate::schema::json::{NodeId, Value};
use crate::schema::keywords::Reader;
use crate::schema::machine::child_atom;
use crate::schema::refs::Draft;
use crate::util::diagnostic::Diagnostic;

use FormulaId as F;

/// How many values are kept track of.
const MOST_VALUES: usize = 12;

/// How many references are followed to the values.
const MOST_REFERENCES: usize = 16;

impl Reader<'_> {
    pub(super) fn unique(&mut self, node: NodeId, value: NodeId) -> Result<F, SchemaError> {
        match self.schemas.json.value(value) {
            Value::Boolean(false) => return Ok(F::TRUE),
            Value::Boolean(true) => {}
            _ => {
                let message = "`uniqueItems` is a boolean";
                return Err(self.schemas.error(SchemaErrorKind::InvalidSchema, value, message));
            }
        }
        let most = self.schemas.json.get(node, "maxItems").map(|most| self.schemas.json.value(most));
        if let Some(Value::Number(most)) = most
            && most.to_u64().is_some_and(|most| most <= 1)
        {
            return Ok(F::TRUE);
        }
        // Items at the front have values of their own.
        let items = self.schemas.json.get(node, "items");
        let items = items.filter(|_| self.schemas.json.get(node, "prefixItems").is_none());
        let values = items.map_or(Ok(None), |items| self.values(items))?;
        let Some(values) = values.filter(|values| values.len() <= MOST_VALUES) else {
            // Where it is denied, the keyword is widened instead: what is denied then is more.
            if self.is_denied {
                return Ok(F::TRUE);
            }
            let message = "`uniqueItems` needs items that can be listed; arrays are held to one item at most";
            let warning = Diagnostic::warning("narrowed-schema", message).at(self.schemas.json.place(value));
            let help = "write `items` as an `enum` of a dozen values at most, or leave `uniqueItems` out";
            self.warn(warning.help(help));
            return Ok(self.formulas.atom(Atom::MaxItems(1)));
        };
        let values = self.atoms.uniques.id(values);
        Ok(self.formulas.atom(Atom::Unique(values)))
    }

    /// Adds a warning, once for each place.
    pub(super) fn warn(&mut self, warning: Diagnostic) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Formulas of the values that a schema allows at most; each is of one value.
    fn values(&mut self, schema: NodeId) -> Result<Option<Vec<F>>, SchemaError> {
        let mut schema = schema;
        for _ in 0..MOST_REFERENCES {
            let json = &self.schemas.json;
            if let Some(value) = json.get(schema, "$ref") {
                let text = json.string(value).unwrap_or_default().to_owned();
                schema = self.schemas.resolve(schema, value, &text)?;
                continue;
            }
            let draft = self.schemas.draft(schema);
            let mut values = Vec::new();
            match (json.get(schema, "enum"), json.get(schema, "const").filter(|_| draft >= Draft::Six)) {
                (Some(list), _) => {
                    let Value::Array(list) = json.value(list).clone() else { return Ok(None) };
                    for value in list {
                        values.push(self.constant(value)?);
                    }
                }
                (None, Some(value)) => values.push(self.constant(value)?),
                _ if json.get(schema, "type").and_then(|of| json.string(of)) == Some("boolean") => {
                    values.extend([false, true].map(|value| self.formulas.atom(Atom::Boolean(value))));
                }
                _ => return Ok(None),
            }
            values.sort_unstable();
            values.dedup();
            return Ok(Some(values));
        }
        Ok(None)
    }
}

/// What is asked of the next item where these values are left.
pub(super) fn step(
    formulas: &mut Formulas,
    values: &[F],
    mut without: impl FnMut(&mut Formulas, Vec<F>) -> F,
) -> F {
    let mut parts = Vec::with_capacity(values.len());
    for (at, &value) in values.iter().enumerate() {
        let rest = [&values[..at], &values[at + 1..]].concat();
        let child = child_atom(formulas, value);
        let behind = without(formulas, rest);
        parts.push(formulas.and([child, behind]));
    }
    formulas.or(parts)
}

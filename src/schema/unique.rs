//! `uniqueItems`.
//!
//! That items differ from one another is not a context-free condition, unless there are only a few
//! possible values: then the remaining values are part of the state. Such items are those of an
//! `enum`, a `const` or the type `boolean`. Other items are [followed] if the array has few other
//! conditions. Otherwise, the [fingerprints] of the items must differ, and only a few items are
//! allowed: sets of fingerprints are states, too.
//!
//! [followed]: super::unique_followed
//! [fingerprints]: super::fingerprint

use crate::schema::draft::Draft;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, Fingerprint, FormulaId, Formulas, Shape};
use crate::schema::json::{NodeId, Value};
use crate::schema::keywords::{Distinct, Reader};
use crate::util::diagnostic::Diagnostic;

use FormulaId as F;

/// Largest number of values that are tracked.
const MOST_VALUES: usize = 12;

/// Number of references followed to the values.
const MOST_REFERENCES: usize = 16;

/// Number of fingerprints. Each set of them is a context of the lexer with its own automaton.
const MODULUS: u8 = 8;
/// Pairs of a number of arrays in the schema and the number of items allowed in each of them,
/// unless more are required. Each item is compared with all before it.
const PLANS: [(usize, u8); 2] = [(6, 3), (32, 2)];
/// Number of objects allowed in an array, and of such arrays. An outcome doubles the states of an
/// object.
const MOST_OBJECTS: u8 = 2;
const ARRAYS_OF_OBJECTS: usize = 8;
/// Largest number of members named by an object that is told apart.
const MOST_MEMBERS: usize = 10;
/// Keywords that lead to large automata for strings.
const COSTLY: [&str; 2] = ["pattern", "format"];

impl Reader<'_> {
    pub(super) fn unique(&mut self, node: NodeId, value: NodeId) -> Result<F, SchemaError> {
        match self.schemas.json.value(value) {
            Value::Boolean(false) => return Ok(F::TRUE),
            Value::Boolean(true) => {}
            _ => {
                let message = "`uniqueItems` must be a boolean";
                return Err(self.schemas.error(SchemaErrorKind::InvalidSchema, value, message));
            }
        }
        let most =
            self.schemas.json.get(node, "maxItems").map(|most| self.schemas.json.value(most));
        if let Some(Value::Number(most)) = most
            && most.to_u64().is_some_and(|most| most <= 1)
        {
            return Ok(F::TRUE);
        }
        // With `prefixItems`, the leading items have other values.
        let items = self.schemas.json.get(node, "items");
        let items = items.filter(|_| self.schemas.json.get(node, "prefixItems").is_none());
        let values = items.map_or(Ok(None), |items| self.values(items))?;
        let mut listed = None;
        if let Some(values) = values.filter(|values| values.len() <= MOST_VALUES) {
            let is_string =
                |&value: &F| matches!(self.formulas.shape(value), Shape::Atom(Atom::Strings(_)));
            let are_strings = values.iter().all(is_string);
            let values = Atom::Unique(self.atoms.uniques.intern(values));
            let values = self.formulas.atom(values);
            // Strings have only one spelling in any case.
            if self.is_denied || !are_strings {
                return Ok(values);
            }
            listed = Some(values);
        }
        let number = self.distinct.len() as u32;
        let is_denied = self.is_denied;
        self.distinct.push(Distinct { node, value, narrower: listed, is_denied });
        Ok(self.formulas.atom(Atom::Distinct(number)))
    }

    /// Returns the replacement of a `uniqueItems` whose items are not followed: the remaining
    /// values, or a few items that certainly differ. The latter adds a warning.
    pub(super) fn narrower(&mut self, number: u32) -> Result<F, SchemaError> {
        let Distinct { node, value, narrower, is_denied } = self.distinct[number as usize];
        if let Some(known) = narrower {
            return Ok(known);
        }
        if is_denied {
            return Ok(self.held_of_all(value));
        }
        let fingerprint = match self.keeps_few_items {
            true => None,
            false => self.fingerprint(node)?,
        };
        let (atom, count) = match fingerprint {
            None => (Atom::MaxItems(1), "one item".to_owned()),
            Some((rule, left)) => {
                let atom = Atom::Fresh { rule, seen: 0, left };
                (atom, format!("{left} items with different fingerprints"))
            }
        };
        let message = format!(
            "`uniqueItems` allows at most {count} here: the array has other constraints, or its \
             items are arrays and objects that cannot be extended"
        );
        let warning =
            Diagnostic::warning("narrowed-schema", message).at(self.schemas.json.place(value));
        let help = "use `items` of scalars, or of objects with a member that may be any string, \
                    without alternatives to the array and without `contains`, or remove \
                    `uniqueItems`";
        self.warn(warning.help(help));
        let narrower = self.formulas.atom(atom);
        self.distinct[number as usize].narrower = Some(narrower);
        Ok(narrower)
    }

    /// Adds a warning, once for each location.
    pub(super) fn warn(&mut self, warning: Diagnostic) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Returns how the items of an array are told apart, and how many are allowed, or `None` if
    /// more than one would take too many states.
    fn fingerprint(&mut self, node: NodeId) -> Result<Option<(Fingerprint, u8)>, SchemaError> {
        let least =
            self.schemas.json.get(node, "minItems").map(|least| self.schemas.json.value(least));
        let least = match least {
            Some(Value::Number(least)) => least.to_u64().unwrap_or(u64::MAX),
            _ => 0,
        };
        self.told_apart += 1;
        let plan = PLANS.iter().find(|&&(arrays, _)| self.told_apart <= arrays);
        let Some(&(_, mut most)) = plan else { return Ok(None) };
        let mut key = None;
        if let Some(items) = self.schemas.json.get(node, "items")
            && let Some(items) = self.target(items)?
        {
            match self.schemas.json.get(items, "type").and_then(|of| self.schemas.json.string(of)) {
                Some("array") => return Ok(None),
                Some("object") if self.told_apart > ARRAYS_OF_OBJECTS => return Ok(None),
                Some("object") => match self.telling_key(items)? {
                    Some(own) => (key, most) = (Some(own), MOST_OBJECTS),
                    None => return Ok(None),
                },
                _ => {}
            }
        }
        let most = most.max(least.min(u64::from(MODULUS)) as u8);
        Ok(Some((Fingerprint { modulus: MODULUS, key }, most)))
    }

    /// Returns a member of small objects whose value tells them apart, preferably a required one.
    fn telling_key(&mut self, items: NodeId) -> Result<Option<u32>, SchemaError> {
        let json = &self.schemas.json;
        let Some(Value::Object(members)) = json.get(items, "properties").map(|of| json.value(of))
        else {
            return Ok(None);
        };
        if members.len() > MOST_MEMBERS {
            return Ok(None);
        }
        let required = json.get(items, "required").map(|required| json.value(required));
        let is_required = |key: &str| match required {
            Some(Value::Array(names)) => names.iter().any(|&name| json.string(name) == Some(key)),
            _ => false,
        };
        let mut members: Vec<_> = members.clone();
        members.sort_by_key(|(key, _)| !is_required(key));
        for (key, schema) in members {
            let Some(schema) = self.target(schema)? else { continue };
            let json = &self.schemas.json;
            let of = json.get(schema, "type").and_then(|of| json.string(of));
            let is_costly = COSTLY.iter().any(|key| json.get(schema, key).is_some());
            let is_listed =
                json.get(schema, "enum").is_some() || json.get(schema, "const").is_some();
            if matches!(of, Some("string" | "integer" | "number")) && !is_costly && !is_listed {
                return Ok(Some(self.atoms.text(&key)));
            }
        }
        Ok(None)
    }

    /// Returns the schema at the end of a chain of references, if it ends.
    fn target(&mut self, mut schema: NodeId) -> Result<Option<NodeId>, SchemaError> {
        for _ in 0..MOST_REFERENCES {
            let json = &self.schemas.json;
            let Some(value) = json.get(schema, "$ref") else { return Ok(Some(schema)) };
            let text = json.string(value).unwrap_or_default().to_owned();
            schema = self.schemas.resolve(schema, value, &text)?;
        }
        Ok(None)
    }

    /// Returns formulas of the only values that a schema allows, one for each value.
    fn values(&mut self, schema: NodeId) -> Result<Option<Vec<F>>, SchemaError> {
        let Some(schema) = self.target(schema)? else { return Ok(None) };
        let draft = self.schemas.draft(schema);
        let json = &self.schemas.json;
        let mut values = Vec::new();
        match (json.get(schema, "enum"), json.get(schema, "const").filter(|_| draft >= Draft::Six))
        {
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
        Ok(Some(values))
    }
}

/// Returns the condition on the next item when these values remain.
pub(super) fn step(
    formulas: &mut Formulas,
    values: &[F],
    mut without: impl FnMut(&mut Formulas, Vec<F>) -> F,
) -> F {
    let mut parts = Vec::with_capacity(values.len());
    for (at, &value) in values.iter().enumerate() {
        let rest = [&values[..at], &values[at + 1..]].concat();
        let child = formulas.child(value);
        let behind = without(formulas, rest);
        parts.push(formulas.and([child, behind]));
    }
    formulas.or(parts)
}

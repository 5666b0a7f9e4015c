//! Alternatives of a `oneOf` that are told apart by a constant, so that `oneOf` equals `anyOf`.
//!
//! In general, `oneOf` has to compare each pair of its alternatives. Most lists need no comparison:
//! they are constants, or objects that require one key with a different constant in each (a
//! *discriminator*). This is detected in the text of the schema, in linear time.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::schema::draft::Draft;
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Type};
use crate::schema::json::{NodeId, Value};
use crate::schema::keywords::Reader;
use crate::util::decimal::Decimal;
use crate::util::names::is_among;

use FormulaId as F;

/// Number of references followed to a schema.
const MOST_REFERENCES: usize = 16;

/// Keywords that constrain only objects, or nothing at all.
const OF_OBJECTS: &str = "\
    properties|required|additionalProperties|patternProperties|minProperties|maxProperties|title|\
    description|default|examples|$comment|$id|id|$defs|definitions";

/// A value that is neither an array nor an object.
#[derive(PartialEq, Eq, Hash)]
enum Scalar {
    Null,
    Boolean(bool),
    Number(Decimal),
    String(String),
}

impl Reader<'_> {
    /// Returns the condition that exactly one of the schemas in a list holds, if the list is of a
    /// simple form.
    pub(super) fn one_told_apart(&mut self, value: NodeId) -> Result<Option<F>, SchemaError> {
        let Value::Array(all) = self.schemas.json.value(value).clone() else { return Ok(None) };
        if all.len() < 2 {
            return Ok(None);
        }
        let mut targets = Vec::with_capacity(all.len());
        for schema in all {
            let Some(target) = self.said_at(schema)? else { return Ok(None) };
            targets.push(target);
        }
        let is_apart = self.are_apart(targets.iter().map(|&target| self.constants(target)));
        let mut opens = 0;
        if !is_apart {
            let first = self.required_keys(targets[0]);
            let tells = |key: &String| {
                self.are_apart(targets.iter().map(|&target| self.discriminator(target, key)))
            };
            if !first.iter().any(tells) {
                return Ok(None);
            }
            for &target in &targets {
                match self.is_of_objects(target) {
                    Some(is_typed) => opens += usize::from(!is_typed),
                    None => return Ok(None),
                }
            }
        }
        let parts = self.list(value)?;
        let any = self.formulas.or(parts);
        // A value that is not an object satisfies every alternative that constrains only objects.
        if opens < 2 {
            return Ok(Some(any));
        }
        let object = self.formulas.atom(Atom::Type(Type::Object));
        Ok(Some(self.formulas.and([object, any])))
    }

    /// Follows a chain of references to its schema. Returns `None` if other keywords apply next to
    /// one of them, or if the chain is too long.
    fn said_at(&mut self, mut schema: NodeId) -> Result<Option<NodeId>, SchemaError> {
        for _ in 0..MOST_REFERENCES {
            let Some(reference) = self.schemas.json.get(schema, "$ref") else {
                return Ok(Some(schema));
            };
            let Value::Object(members) = self.schemas.json.value(schema) else { return Ok(None) };
            if members.len() > 1 && self.schemas.draft(schema) > Draft::Seven {
                return Ok(None);
            }
            let text = self.text(reference)?;
            schema = self.schemas.resolve(schema, reference, &text)?;
        }
        Ok(None)
    }

    /// Whether lists of constants are pairwise disjoint; `false` if a list is missing.
    fn are_apart(&self, lists: impl Iterator<Item = Option<Vec<Scalar>>>) -> bool {
        let mut met: HashSet<Scalar, FxBuildHasher> = HashSet::default();
        for list in lists {
            let Some(list) = list else { return false };
            // A list may contain duplicates.
            let list: HashSet<Scalar, FxBuildHasher> = list.into_iter().collect();
            if !list.into_iter().all(|scalar| met.insert(scalar)) {
                return false;
            }
        }
        true
    }

    /// Returns the values that a schema lists, if they are scalars. Other keywords may exclude some
    /// of them.
    fn constants(&self, schema: NodeId) -> Option<Vec<Scalar>> {
        let json = &self.schemas.json;
        let has_const = self.schemas.draft(schema) >= Draft::Six;
        if let Some(value) = json.get(schema, "const").filter(|_| has_const) {
            return Some(vec![self.scalar(value)?]);
        }
        match json.value(json.get(schema, "enum")?) {
            Value::Array(values) => values.iter().map(|&value| self.scalar(value)).collect(),
            _ => None,
        }
    }

    fn scalar(&self, value: NodeId) -> Option<Scalar> {
        Some(match self.schemas.json.value(value) {
            Value::Null => Scalar::Null,
            Value::Boolean(value) => Scalar::Boolean(*value),
            // A number with an exponent may have very many digits.
            Value::Number(_) => Scalar::Number(self.number(value).ok()?),
            Value::String(text) => Scalar::String(text.to_string()),
            Value::Array(_) | Value::Object(_) => return None,
        })
    }

    /// Returns the keys that a schema requires of objects.
    fn required_keys(&self, schema: NodeId) -> Vec<String> {
        let json = &self.schemas.json;
        match json.get(schema, "required").map(|required| json.value(required)) {
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(|&name| json.string(name));
                names.map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the constants allowed under a key that objects must have.
    fn discriminator(&self, schema: NodeId, key: &str) -> Option<Vec<Scalar>> {
        let json = &self.schemas.json;
        let Value::Array(required) = json.value(json.get(schema, "required")?) else { return None };
        required.iter().find(|&&name| json.string(name) == Some(key))?;
        self.constants(json.get(json.get(schema, "properties")?, key)?)
    }

    /// Returns `true` if only objects satisfy a schema, `false` if it does not constrain other
    /// values.
    fn is_of_objects(&self, schema: NodeId) -> Option<bool> {
        let json = &self.schemas.json;
        let Value::Object(members) = json.value(schema) else { return None };
        match json.get(schema, "type") {
            Some(value) => (json.string(value) == Some("object")).then_some(true),
            None => members.iter().all(|(key, _)| is_among(OF_OBJECTS, key)).then_some(false),
        }
    }
}

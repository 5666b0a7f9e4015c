//! Keywords about the members of objects and the items of arrays.

use rustc_hash::FxHashMap;

use crate::schema::atoms::{Items, Properties};
use crate::schema::draft::Draft;
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Formulas, Type};
use crate::schema::json::{NodeId, Value};
use crate::schema::keywords::Reader;
use crate::schema::text::ecma;

use FormulaId as F;

impl Reader<'_> {
    pub(super) fn contains(
        &mut self,
        node: NodeId,
        draft: Draft,
        value: NodeId,
    ) -> Result<F, SchemaError> {
        let schema = self.child(value)?;
        let denied = self.denied(|reader| reader.child(value))?;
        let bound = |key| self.schemas.json.get(node, key).filter(|_| draft >= Draft::Eight);
        let min = bound("minContains").map_or(Ok(1), |value| self.count(value))?;
        let max = bound("maxContains").map(|value| self.count(value)).transpose()?;
        let bounds = match max {
            Some(_) if schema != denied => vec![(schema, min, None), (denied, 0, max)],
            _ => vec![(schema, min, max)],
        };
        let mut parts = Vec::new();
        for (schema, min, max) in bounds {
            if min > 0 || max.is_some() {
                parts.push(self.formulas.atom(Atom::Contains { schema, min, max }));
            }
        }
        Ok(self.formulas.and(parts))
    }

    pub(super) fn required(&mut self, value: NodeId) -> Result<F, SchemaError> {
        let mut parts = Vec::new();
        for name in self.elements(value)? {
            let name = self.text(name)?;
            let name = self.atoms.text(&name);
            parts.push(self.formulas.atom(Atom::Required(name)));
        }
        Ok(self.formulas.and(parts))
    }

    /// Reads `dependencies`, `dependentRequired` and `dependentSchemas`: constraints that a key
    /// implies.
    pub(super) fn dependencies(&mut self, value: NodeId) -> Result<F, SchemaError> {
        let mut parts = Vec::new();
        for (key, value) in self.members(value)? {
            // Interned first, because names without another order are ordered by first occurrence.
            let has_key = self.has_key(&key);
            let then = match self.schemas.json.value(value) {
                Value::Array(_) => self.required(value)?,
                Value::String(name) => {
                    let name = self.atoms.text(&name.clone());
                    self.formulas.atom(Atom::Required(name))
                }
                _ => self.schema(value)?,
            };
            let not = self.formulas.not(has_key);
            parts.push(self.formulas.or([not, then]));
        }
        Ok(self.formulas.and(parts))
    }

    /// States that the value is an object and has the key. [`Atom::Required`] alone also holds of
    /// values that are not objects.
    pub(super) fn has_key(&mut self, key: &str) -> F {
        let name = self.atoms.text(key);
        let has_key = self.formulas.atom(Atom::Required(name));
        let is_object = self.formulas.atom(Atom::Type(Type::Object));
        self.formulas.and([has_key, is_object])
    }

    /// Returns the schemas of an object of schemas, by name.
    pub(super) fn named(&mut self, node: NodeId, key: &str) -> Result<Vec<(u32, F)>, SchemaError> {
        let Some(value) = self.schemas.json.get(node, key) else { return Ok(Vec::new()) };
        let mut named = Vec::new();
        for (name, value) in self.members(value)? {
            if key == "patternProperties" {
                self.note_dialect(&name, value);
            }
            let name = self.placed_text(&name, value);
            named.push((name, self.child(value)?));
        }
        Ok(named)
    }

    pub(super) fn properties(&mut self, node: NodeId) -> Result<F, SchemaError> {
        let named = self.named(node, "properties")?;
        let patterns = self.named(node, "patternProperties")?;
        let patterns = self.united(patterns);
        let additional = self.schemas.json.get(node, "additionalProperties");
        let additional = additional.map_or(Ok(F::TRUE), |additional| self.child(additional))?;
        Ok(self.property_atom(named, patterns, additional))
    }

    /// Unites patterns of keys that have the same schema into one pattern: a key that matches
    /// several of them has the same constraints as a key that matches one.
    fn united(&mut self, patterns: Vec<(u32, F)>) -> Vec<(u32, F)> {
        let mut united: Vec<(Vec<u32>, F)> = Vec::new();
        let mut known: FxHashMap<F, usize> = FxHashMap::default();
        for (pattern, schema) in patterns {
            let is_plain = ecma::is_plain(self.atoms.texts.get(pattern));
            match known.get(&schema) {
                Some(&at) if is_plain => united[at].0.push(pattern),
                _ => {
                    if is_plain {
                        known.insert(schema, united.len());
                    }
                    united.push((vec![pattern], schema));
                }
            }
        }
        let mut all = Vec::with_capacity(united.len());
        for (patterns, schema) in united {
            let pattern = match patterns[..] {
                [only] => only,
                _ => {
                    let parts = patterns.iter().map(|&part| self.atoms.texts.get(part).as_str());
                    let parts: Vec<&str> = parts.collect();
                    let place = self.places.get(&patterns[0]).copied();
                    let united = self.atoms.text(&parts.join("|"));
                    if let Some(place) = place {
                        self.places.entry(united).or_insert(place);
                    }
                    united
                }
            };
            all.push((pattern, schema));
        }
        all
    }

    pub(super) fn property_atom(
        &mut self,
        named: Vec<(u32, F)>,
        patterns: Vec<(u32, F)>,
        additional: F,
    ) -> F {
        if named.is_empty() && patterns.is_empty() && additional == F::TRUE {
            return F::TRUE;
        }
        let properties = self.atoms.properties.intern(Properties::new(named, patterns, additional));
        self.formulas.atom(Atom::Properties(properties))
    }

    pub(super) fn items(&mut self, node: NodeId, draft: Draft) -> Result<F, SchemaError> {
        let get = |key| self.schemas.json.get(node, key);
        let items = get("items");
        let is_list =
            items.is_some_and(|items| matches!(self.schemas.json.value(items), Value::Array(_)));
        let (prefix, rest) = match is_list {
            true => (items, get("additionalItems")),
            false => (get("prefixItems").filter(|_| draft >= Draft::Nine), items),
        };
        let prefix = prefix.map_or(Ok(Vec::new()), |prefix| self.elements(prefix))?;
        let prefix: Result<Vec<F>, _> =
            prefix.into_iter().map(|schema| self.child(schema)).collect();
        let rest = rest.map_or(Ok(F::TRUE), |rest| self.child(rest))?;
        Ok(self.items_atom(prefix?, rest))
    }

    pub(super) fn items_atom(&mut self, mut prefix: Vec<F>, rest: F) -> F {
        while prefix.last() == Some(&rest) {
            prefix.pop();
        }
        if prefix.is_empty() && rest == F::TRUE {
            return F::TRUE;
        }
        let items = self.atoms.items.intern(Items { prefix, rest });
        self.formulas.atom(Atom::Items(items))
    }
}

/// States that `min` to `max` items satisfy `schema`; false if `max` fell below 0 (`Some(None)`).
pub(super) fn contains(
    formulas: &mut Formulas,
    schema: F,
    min: u64,
    max: Option<Option<u64>>,
) -> F {
    match (min, max) {
        (_, Some(None)) => F::FALSE,
        (0, None) => F::TRUE,
        (_, max) => formulas.atom(Atom::Contains { schema, min, max: max.flatten() }),
    }
}

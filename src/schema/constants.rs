//! `type`, `enum` and `const`: lists of values.

use crate::schema::atoms::{Items, Properties};
use crate::schema::draft::Draft;
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Type};
use crate::schema::json::{NodeId, Value};
use crate::schema::keywords::Reader;

use FormulaId as F;

impl Reader<'_> {
    pub(super) fn types(&mut self, value: NodeId, draft: Draft) -> Result<F, SchemaError> {
        let names = match self.schemas.json.value(value) {
            Value::Array(items) => items.clone(),
            _ => vec![value],
        };
        let mut parts = Vec::new();
        for name in names {
            let atom = match self.schemas.json.string(name) {
                Some("null") => Atom::Type(Type::Null),
                Some("boolean") => Atom::Type(Type::Boolean),
                Some("number") => Atom::Type(Type::Number),
                Some("integer") => Atom::Integer { takes_point: draft > Draft::Four },
                Some("string") => Atom::Type(Type::String),
                Some("array") => Atom::Type(Type::Array),
                Some("object") => Atom::Type(Type::Object),
                _ => {
                    return Err(self
                        .schemas
                        .invalid(name, "this is not a type")
                        .help("write null, boolean, number, integer, string, array or object"));
                }
            };
            parts.push(self.formulas.atom(atom));
        }
        Ok(self.formulas.or(parts))
    }

    pub(super) fn enumeration(&mut self, value: NodeId) -> Result<F, SchemaError> {
        let mut parts = Vec::new();
        let (mut strings, mut numbers) = (Vec::new(), Vec::new());
        for member in self.elements(value)? {
            match self.schemas.json.value(member) {
                Value::String(text) => strings.push(self.atoms.text(&text.clone())),
                Value::Number(_) => {
                    let number = self.number(member)?;
                    numbers.push(self.atoms.numbers.intern(number));
                }
                _ => parts.push(self.constant(member)?),
            }
        }
        if !strings.is_empty() {
            let set = self.atoms.set(strings);
            parts.push(self.formulas.atom(Atom::Strings(set)));
        }
        if !numbers.is_empty() {
            let set = self.atoms.set(numbers);
            parts.push(self.formulas.atom(Atom::Numbers(set)));
        }
        Ok(self.formulas.or(parts))
    }

    /// States that the value equals `value`.
    pub(super) fn constant(&mut self, value: NodeId) -> Result<F, SchemaError> {
        Ok(match self.schemas.json.value(value).clone() {
            Value::Null => self.formulas.atom(Atom::Type(Type::Null)),
            Value::Boolean(value) => self.formulas.atom(Atom::Boolean(value)),
            Value::Number(_) => {
                let number = self.number(value)?;
                let number = self.atoms.numbers.intern(number);
                let set = self.atoms.set(vec![number]);
                self.formulas.atom(Atom::Numbers(set))
            }
            Value::String(text) => {
                let text = self.atoms.text(&text);
                let set = self.atoms.set(vec![text]);
                self.formulas.atom(Atom::Strings(set))
            }
            Value::Array(items) => {
                let prefix: Result<Vec<F>, _> =
                    items.iter().map(|&item| self.constant(item)).collect();
                let is_array = self.formulas.atom(Atom::Type(Type::Array));
                let count = prefix.as_ref().map_or(0, Vec::len) as u64;
                let items = self.atoms.items.intern(Items { prefix: prefix?, rest: F::FALSE });
                let mut parts = vec![is_array, self.formulas.atom(Atom::Items(items))];
                if count > 0 {
                    parts.push(self.formulas.atom(Atom::MinItems(count)));
                }
                self.formulas.and(parts)
            }
            Value::Object(members) => {
                let is_object = self.formulas.atom(Atom::Type(Type::Object));
                let mut parts = vec![is_object];
                let mut named = Vec::new();
                for (key, value) in members {
                    let name = self.atoms.text(&key);
                    named.push((name, self.constant(value)?));
                    parts.push(self.formulas.atom(Atom::Required(name)));
                }
                let properties = Properties::new(named, Vec::new(), F::FALSE);
                let properties = self.atoms.properties.intern(properties);
                parts.push(self.formulas.atom(Atom::Properties(properties)));
                self.formulas.and(parts)
            }
        })
    }
}

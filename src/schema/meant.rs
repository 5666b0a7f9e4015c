//! Schemas without a meaning by the standard, read as their authors meant them.
//!
//! Before a schema is entered ([`Schemas`]), mistakes in it are corrected: numbers that are
//! strings, types of other languages, `required` as in draft 3, empty arrays that PHP writes for
//! empty objects. Each change causes a warning. A schema with a meaning by the standard keeps it,
//! however odd it is: no text may be accepted that the schema forbids.
//!
//! [`Schemas`]: super::refs::Schemas

use crate::schema::draft::Draft;
use crate::schema::json::{Json, NodeId, Text, Value};
use crate::schema::meta::{self, Kind};
use crate::util::decimal::Decimal;
use crate::util::diagnostic::Diagnostic;

/// Names of the types in other languages.
const TYPES: [(&str, &[&str]); 6] = [
    ("null", &["none", "nil"]),
    ("boolean", &["bool"]),
    ("integer", &["int", "long", "int32", "int64"]),
    ("number", &["float", "double", "decimal"]),
    ("string", &["str", "text"]),
    ("array", &["list"]),
];
/// Name of the type of any value.
const ANY: &str = "any";
const OBJECT: [&str; 2] = ["object", "dict"];

/// A schema being corrected.
struct Mending<'m, 'a> {
    json: &'m mut Json<'a>,
    node: NodeId,
    warnings: &'m mut Vec<Diagnostic>,
}

/// Corrects the schema `node` of a draft, and the values of its keywords unless they are schemas of
/// their own. Adds a warning for each change.
pub(super) fn mend(
    json: &mut Json<'_>,
    node: NodeId,
    (draft, is_supposed): (Draft, bool),
    warnings: &mut Vec<Diagnostic>,
) {
    let Value::Object(members) = json.value(node) else { return };
    let members = members.clone();
    let mut mending = Mending { json, node, warnings };
    for (key, value) in &members {
        mending.keyword(key, *value);
    }
    if draft == Draft::Three {
        mending.third();
    }
    if !is_supposed {
        mending.exclusive("minimum", "exclusiveMinimum", draft);
        mending.exclusive("maximum", "exclusiveMaximum", draft);
    }
}

/// Corrects a value in the position of a schema that is neither an object nor a boolean.
pub(super) fn mend_value(json: &mut Json<'_>, node: NodeId, warnings: &mut Vec<Diagnostic>) {
    let (value, how) = match json.value(node) {
        Value::Null => (Value::Boolean(true), "`null` is read as a schema that allows any value"),
        Value::Array(items) if items.is_empty() => {
            (Value::Object(Vec::new()), "`[]` is read as the empty schema")
        }
        Value::String(text) if text == "true" || text == "false" => {
            (Value::Boolean(text == "true"), "the string is read as a boolean")
        }
        Value::String(text) if meant_type(text).is_some() => {
            let name = json.add(node, Value::String(text.clone()));
            (Value::Object(vec![("type".into(), name)]), "the string is read as a type")
        }
        _ => return,
    };
    let warning = Diagnostic::warning("read-as-meant", how).at(json.place(node));
    warnings.push(warning);
    json.set(node, value);
}

/// Returns the type that a name means; `""` for any.
fn meant_type(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    if lower == ANY {
        return Some("");
    }
    if OBJECT.contains(&lower.as_str()) {
        return Some("object");
    }
    let is_meant = |of: &&(&str, &[&str])| of.0 == lower || of.1.contains(&lower.as_str());
    TYPES.iter().find(is_meant).map(|(of, _)| *of)
}

impl<'a> Mending<'_, 'a> {
    fn warn(&mut self, value: NodeId, how: &str) {
        let warning = Diagnostic::warning("read-as-meant", how);
        self.warnings.push(warning.at(self.json.place(value)));
    }

    /// Replaces `value`, with a warning.
    fn set(&mut self, value: NodeId, meant: Value<'a>, how: &str) {
        self.warn(value, how);
        self.json.set(value, meant);
    }

    fn members(&self) -> Vec<(Text<'a>, NodeId)> {
        match self.json.value(self.node) {
            Value::Object(members) => members.clone(),
            _ => Vec::new(),
        }
    }

    fn get(&self, key: &str) -> Option<NodeId> {
        self.json.get(self.node, key)
    }

    /// Removes a keyword.
    fn remove(&mut self, key: &str) {
        let mut members = self.members();
        members.retain(|(own, _)| own != key);
        self.json.set(self.node, Value::Object(members));
    }

    /// Sets a keyword, replacing an existing one.
    fn insert(&mut self, key: &str, value: NodeId) {
        let mut members = self.members();
        match members.iter_mut().find(|(own, _)| own == key) {
            Some((_, own)) => *own = value,
            None => members.push((key.to_owned().into(), value)),
        }
        self.json.set(self.node, Value::Object(members));
    }

    fn keyword(&mut self, key: &str, value: NodeId) {
        use Kind::{
            ByPattern, Count, Dependencies, List, Named, Names, NamesByName, Number, Positive,
            Schema, SchemaOrList, Values,
        };
        let own = self.json.value(value);
        match (key, meta::kind(key)) {
            ("type", _) => self.types(value),
            ("format" | "uniqueItems", _) | (_, Some(Number | Count | Positive)) => {
                self.scalar(key, value);
            }
            ("contentSchema" | "examples", _) => {}
            (_, Some(Schema | SchemaOrList)) if matches!(own, Value::Null) => {
                self.warn(value, "the keyword is `null` and has no effect");
                self.remove(key);
            }
            // A list is valid here, even if it is empty: then all items are additional.
            ("items", _) if matches!(own, Value::Array(_)) => {}
            (_, Some(Schema | SchemaOrList)) => mend_value(self.json, value, self.warnings),
            (_, Some(Named | ByPattern | Dependencies | NamesByName)) => self.map(key, value),
            (_, Some(List | Names | Values)) => self.list(key, value),
            _ => {}
        }
    }

    /// Corrects a keyword whose value is a number, a boolean or a name.
    fn scalar(&mut self, key: &str, value: NodeId) {
        let own = self.json.value(value).clone();
        match (key, own) {
            (_, Value::Null) => {
                self.warn(value, "the keyword is `null` and has no effect");
                self.remove(key);
            }
            ("format", Value::String(_)) | ("uniqueItems", Value::Boolean(_)) => {}
            ("format", _) => {
                self.warn(value, "the format is not a string and has no effect");
                self.remove(key);
            }
            ("uniqueItems", Value::String(text)) if text == "true" || text == "false" => {
                self.set(value, Value::Boolean(text == "true"), "the string is read as a boolean");
            }
            ("uniqueItems", _) => {}
            (_, Value::String(text)) => {
                if let Some(number) = Decimal::parse(&text) {
                    self.set(value, Value::Number(number), "the string is read as a number");
                }
            }
            ("multipleOf", Value::Number(number)) if number.is_negative() => {
                let how = "the divisor is read without its sign";
                self.set(value, Value::Number(number.magnitude()), how);
            }
            _ => {}
        }
    }

    fn types(&mut self, value: NodeId) {
        let names = match self.json.value(value) {
            Value::Array(names) => names.clone(),
            Value::Null => {
                return self.set(value, Value::String("null".into()), "`null` is read as a type");
            }
            _ => vec![value],
        };
        let mut takes_any = false;
        for &name in &names {
            match self.json.value(name) {
                Value::String(text)
                    if TYPES.iter().any(|(of, _)| of == text) || text == "object" => {}
                Value::String(text) => {
                    let meant = meant_type(text).filter(|meant| meant != text);
                    let Some(meant) = meant else { continue };
                    let how = format!(
                        "\"{}\" is not a type of JSON Schema and is read as the type that \
                                 it means elsewhere",
                        text.escape_debug()
                    );
                    takes_any |= meant.is_empty();
                    self.set(name, Value::String(meant.into()), &how);
                }
                Value::Null => {
                    self.set(name, Value::String("null".into()), "`null` is read as a type");
                }
                _ => {}
            }
        }
        if takes_any {
            return self.remove("type");
        }
        // Draft 3 allows schemas among the types.
        if names.iter().any(|&name| matches!(self.json.value(name), Value::Object(_))) {
            self.warn(value, "schemas among the types are read as `anyOf`");
            let schemas = names.iter().map(|&name| match self.json.value(name) {
                Value::String(_) => {
                    self.json.add(value, Value::Object(vec![("type".into(), name)]))
                }
                _ => name,
            });
            let schemas = schemas.collect();
            let any = self.json.add(value, Value::Array(schemas));
            self.remove("type");
            self.conjunction(vec![("anyOf", any)]);
        }
    }

    /// Adds keywords to the schema, keeping existing ones of the same names.
    fn conjunction(&mut self, keywords: Vec<(&str, NodeId)>) {
        for (key, value) in keywords {
            if self.get(key).is_none() {
                self.insert(key, value);
                continue;
            }
            let part =
                self.json.add(self.node, Value::Object(vec![(key.to_owned().into(), value)]));
            self.append("allOf", vec![part]);
        }
    }

    /// Adds values to the list of a keyword, which may be new.
    fn append(&mut self, key: &str, values: Vec<NodeId>) {
        let mut all = match self.get(key).map(|own| self.json.value(own)) {
            Some(Value::Array(own)) => own.clone(),
            _ => Vec::new(),
        };
        all.extend(values);
        let all = self.json.add(self.node, Value::Array(all));
        self.insert(key, all);
    }

    /// Corrects a keyword whose value is an object of schemas.
    fn map(&mut self, key: &str, value: NodeId) {
        match self.json.value(value) {
            Value::Null => {
                self.warn(value, "the keyword is `null` and has no effect");
                self.remove(key);
            }
            Value::Array(items) if items.is_empty() => {
                self.set(value, Value::Object(Vec::new()), "`[]` is read as `{}`");
            }
            Value::Object(members) if key != "dependentRequired" => {
                let members = members.clone();
                let mut required = Vec::new();
                for (name, schema) in members {
                    // In draft 3, a dependency may be a single key.
                    let is_name = key == "dependencies"
                        && matches!(self.json.value(schema), Value::String(_) | Value::Array(_));
                    if !is_name {
                        mend_value(self.json, schema, self.warnings);
                    }
                    let own = self.json.get(schema, "required");
                    let own = own.map(|own| (own, self.json.value(own).clone()));
                    if let Some((own, Value::Boolean(is_required))) = own
                        && key == "properties"
                        && is_required
                    {
                        required.push(self.json.add(own, Value::String(name)));
                    }
                }
                if !required.is_empty() {
                    self.append("required", required);
                }
            }
            _ => {}
        }
    }

    /// Corrects a keyword whose value is a list.
    fn list(&mut self, key: &str, value: NodeId) {
        match (key, self.json.value(value).clone()) {
            (_, Value::Array(items)) => {
                let is_empty = items.is_empty();
                if matches!(key, "allOf" | "anyOf" | "oneOf") {
                    items.into_iter().for_each(|item| mend_value(self.json, item, self.warnings));
                }
                if is_empty && matches!(key, "anyOf" | "oneOf") {
                    self.warn(value, "the list of schemas is empty, so no value satisfies it");
                    let none = self.json.add(value, Value::Boolean(false));
                    self.json.set(value, Value::Array(vec![none]));
                }
                if is_empty && key == "allOf" {
                    self.warn(value, "the list of schemas is empty and has no effect");
                    self.remove(key);
                }
            }
            ("required", Value::Boolean(_)) => {
                self.warn(value, "`required` is read as in draft 3: the member is required");
                self.remove(key);
            }
            ("enum", Value::Object(_)) => {}
            ("enum", scalar) => {
                let only = self.json.add(value, scalar);
                self.set(
                    value,
                    Value::Array(vec![only]),
                    "the value is read as a list with one \
                                                           item",
                );
            }
            (_, Value::Null) => {
                self.warn(value, "the keyword is `null` and has no effect");
                self.remove(key);
            }
            ("required", Value::String(_)) | ("allOf" | "anyOf" | "oneOf", Value::Object(_)) => {
                let own = self.json.value(value).clone();
                let only = self.json.add(value, own);
                self.set(
                    value,
                    Value::Array(vec![only]),
                    "the value is read as a list with one \
                                                           item",
                );
            }
            _ => {}
        }
    }

    /// Corrects exclusive bounds: next to a bound, as in draft 4, or on their own.
    fn exclusive(&mut self, bound: &str, exclusive: &str, draft: Draft) {
        let Some(value) = self.get(exclusive) else { return };
        match (self.json.value(value), draft <= Draft::Four) {
            (Value::Boolean(is_exclusive), false) => {
                let is_exclusive = *is_exclusive;
                self.warn(value, "an exclusive bound is read as in draft 4");
                self.remove(exclusive);
                if let (true, Some(own)) = (is_exclusive, self.get(bound)) {
                    self.remove(bound);
                    self.insert(exclusive, own);
                }
            }
            (Value::Number(_), true) => {
                self.warn(value, "an exclusive bound is read as in later drafts");
                let is_exclusive = self.json.add(value, Value::Boolean(true));
                let part = vec![
                    (bound.to_owned().into(), value),
                    (exclusive.to_owned().into(), is_exclusive),
                ];
                let part = self.json.add(value, Value::Object(part));
                let parts = self.json.add(value, Value::Array(vec![part]));
                self.remove(exclusive);
                self.conjunction(vec![("allOf", parts)]);
            }
            _ => {}
        }
    }

    /// Converts keywords of draft 3 that have other names in later drafts.
    fn third(&mut self) {
        if let Some(divisor) = self.get("divisibleBy") {
            self.remove("divisibleBy");
            self.insert("multipleOf", divisor);
        }
        if let Some(base) = self.get("extends") {
            self.remove("extends");
            let bases = match self.json.value(base) {
                Value::Array(_) => base,
                _ => self.json.add(base, Value::Array(vec![base])),
            };
            self.conjunction(vec![("allOf", bases)]);
        }
        if let Some(types) = self.get("disallow") {
            self.remove("disallow");
            let not = self.json.add(types, Value::Object(vec![("type".into(), types)]));
            self.conjunction(vec![("not", not)]);
        }
    }
}

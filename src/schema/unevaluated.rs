//! `unevaluatedProperties` and `unevaluatedItems`, where the schema alone says what was evaluated.
//!
//! What stands beside such a keyword, and what `allOf` and `$ref` beside it lead to, always
//! applies. What is behind `anyOf`, `oneOf`, `if`, `not` and `dependentSchemas` evaluates something
//! for some values and not for others; there the keyword is refused, unless those parts evaluate
//! nothing.

use crate::schema::draft::Draft;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::FormulaId;
use crate::schema::json::{NodeId, Value};
use crate::schema::keywords::Reader;

use FormulaId as F;

/// What schemas evaluate of an object or an array, whichever it is.
#[derive(Debug, Default)]
struct Evaluated {
    names: Vec<u32>,
    patterns: Vec<u32>,
    /// All members.
    members: bool,
    /// So many items at the front.
    front: usize,
    /// All items.
    items: bool,
}

/// Keywords whose schemas apply to some values only.
const CONDITIONAL: [&str; 6] = ["anyOf", "oneOf", "if", "then", "else", "dependentSchemas"];

/// Keywords that evaluate members or items.
const EVALUATING: [&str; 10] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "$dynamicRef",
];

impl Reader<'_> {
    pub(super) fn unevaluated_properties(
        &mut self,
        node: NodeId,
        value: NodeId,
    ) -> Result<F, SchemaError> {
        let rest = self.child(value)?;
        if rest == F::TRUE {
            return Ok(rest);
        }
        let mut evaluated = Evaluated::default();
        self.evaluated(node, value, &mut Vec::new(), &mut evaluated)?;
        if evaluated.members {
            return Ok(F::TRUE);
        }
        let named = |texts: Vec<u32>| texts.into_iter().map(|text| (text, F::TRUE)).collect();
        Ok(self.property_atom(named(evaluated.names), named(evaluated.patterns), rest))
    }

    pub(super) fn unevaluated_items(
        &mut self,
        node: NodeId,
        value: NodeId,
    ) -> Result<F, SchemaError> {
        let rest = self.child(value)?;
        if rest == F::TRUE {
            return Ok(rest);
        }
        let mut evaluated = Evaluated::default();
        self.evaluated(node, value, &mut Vec::new(), &mut evaluated)?;
        if evaluated.items {
            return Ok(F::TRUE);
        }
        Ok(self.items_atom(vec![F::TRUE; evaluated.front], rest))
    }

    /// Adds what the schema `node` always evaluates; `at` is the keyword that asks, and `way` the
    /// schemas on the way.
    fn evaluated(
        &mut self,
        node: NodeId,
        at: NodeId,
        way: &mut Vec<NodeId>,
        evaluated: &mut Evaluated,
    ) -> Result<(), SchemaError> {
        let Value::Object(members) = self.schemas.json.value(node).clone() else { return Ok(()) };
        if way.contains(&node) {
            return Ok(());
        }
        way.push(node);
        let draft = self.schemas.draft(node);
        for (key, value) in members {
            match key.as_str() {
                "properties" | "patternProperties" => {
                    let Value::Object(named) = self.schemas.json.value(value).clone() else {
                        continue;
                    };
                    for (name, _) in named {
                        let text = self.atoms.text(&name);
                        let texts = if key == "properties" {
                            &mut evaluated.names
                        } else {
                            &mut evaluated.patterns
                        };
                        if !texts.contains(&text) {
                            texts.push(text);
                        }
                    }
                }
                "additionalProperties" => evaluated.members = true,
                "unevaluatedProperties" if value != at => evaluated.members = true,
                "items" | "prefixItems" => match self.schemas.json.value(value) {
                    Value::Array(items) => evaluated.front = evaluated.front.max(items.len()),
                    _ => evaluated.items = true,
                },
                "additionalItems" if draft < Draft::Nine => {
                    let items = self.schemas.json.get(node, "items");
                    let is_list = items.is_some_and(|items| {
                        matches!(self.schemas.json.value(items), Value::Array(_))
                    });
                    evaluated.items |= is_list;
                }
                "unevaluatedItems" if value != at => evaluated.items = true,
                "$ref" => {
                    let text = self.schemas.json.string(value).unwrap_or_default().to_owned();
                    let target = self.schemas.resolve(node, value, &text)?;
                    self.evaluated(target, at, way, evaluated)?;
                }
                "allOf" => {
                    let Value::Array(parts) = self.schemas.json.value(value).clone() else {
                        continue;
                    };
                    for part in parts {
                        self.evaluated(part, at, way, evaluated)?;
                    }
                }
                "contains" if draft >= Draft::Nine => return Err(self.depends(at, &key)),
                "$dynamicRef" | "$recursiveRef" => return Err(self.depends(at, &key)),
                key if CONDITIONAL.contains(&key) && self.may_evaluate(value) => {
                    return Err(self.depends(at, key));
                }
                _ => {}
            }
        }
        way.pop();
        Ok(())
    }

    fn depends(&self, at: NodeId, key: &str) -> SchemaError {
        let message = format!("what `{key}` evaluates depends on the value");
        self.schemas.error(SchemaErrorKind::UnsupportedKeyword, at, message).help(
            "name the members where they are allowed, and write `additionalProperties` or `items` \
             there",
        )
    }

    /// Whether some schema in `value` has a keyword that may evaluate a member or an item.
    fn may_evaluate(&self, value: NodeId) -> bool {
        match self.schemas.json.value(value) {
            Value::Object(members) => members.iter().any(|(key, value)| {
                EVALUATING.contains(&key.as_str())
                    || key.ends_with("ef")
                    || self.may_evaluate(*value)
            }),
            Value::Array(items) => items.iter().any(|&item| self.may_evaluate(item)),
            _ => false,
        }
    }
}

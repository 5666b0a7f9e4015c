//! A validator of JSON Schema (2020-12) that follows the standard keyword by keyword, and shares no
//! code with the engine.

#![allow(unreachable_pub, reason = "a test's own module")]

use serde_json::{Map, Value};

/// Whether `text` is compact JSON of a value that satisfies `schema`; `None` if a key is repeated,
/// which the standard leaves open.
pub fn is_valid_text(schema: &Value, text: &str) -> Option<bool> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Some(false) };
    // Blanks and repeated keys are lost when a value is read and written again.
    (value.to_string().len() == text.len()).then(|| is_valid(schema, schema, &value))
}

fn is_valid(root: &Value, schema: &Value, value: &Value) -> bool {
    let Value::Object(keywords) = schema else { return schema == &Value::Bool(true) };
    keywords.iter().all(|(key, parameter)| holds(root, keywords, key, parameter, value))
}

fn holds(
    root: &Value,
    all: &Map<String, Value>,
    key: &str,
    parameter: &Value,
    value: &Value,
) -> bool {
    let valid = |schema: &Value, value: &Value| is_valid(root, schema, value);
    let list = || parameter.as_array().map_or(&[][..], Vec::as_slice);
    let bound = parameter.as_f64().unwrap_or(0.0);
    let count = bound as usize;
    match (key, value) {
        ("$ref", _) => {
            valid(root.pointer(&parameter.as_str().unwrap_or("")[1..]).expect("resolved"), value)
        }
        ("type", _) => match parameter {
            Value::Array(names) => names.iter().any(|name| is_of(name, value)),
            name => is_of(name, value),
        },
        ("enum", _) => list().iter().any(|member| equal(member, value)),
        ("const", _) => equal(parameter, value),
        ("allOf", _) => list().iter().all(|schema| valid(schema, value)),
        ("anyOf", _) => list().iter().any(|schema| valid(schema, value)),
        ("oneOf", _) => list().iter().filter(|schema| valid(schema, value)).count() == 1,
        ("not", _) => !valid(parameter, value),
        ("if", _) => {
            let branch = if valid(parameter, value) { "then" } else { "else" };
            all.get(branch).is_none_or(|schema| valid(schema, value))
        }
        ("minimum", Value::Number(number)) => number.as_f64() >= Some(bound),
        ("maximum", Value::Number(number)) => number.as_f64() <= Some(bound),
        ("exclusiveMinimum", Value::Number(number)) => number.as_f64() > Some(bound),
        ("exclusiveMaximum", Value::Number(number)) => number.as_f64() < Some(bound),
        ("multipleOf", Value::Number(number)) => {
            (number.as_f64().unwrap_or(0.1) / bound).fract() == 0.0
        }
        ("minLength", Value::String(text)) => text.chars().count() >= count,
        ("maxLength", Value::String(text)) => text.chars().count() <= count,
        ("pattern", Value::String(text)) => found(parameter, text),
        ("minItems", Value::Array(items)) => items.len() >= count,
        ("maxItems", Value::Array(items)) => items.len() <= count,
        ("uniqueItems", Value::Array(items)) => {
            parameter == &Value::Bool(false)
                || (0..items.len())
                    .all(|at| items[..at].iter().all(|other| !equal(other, &items[at])))
        }
        ("prefixItems", Value::Array(items)) => {
            items.iter().zip(list()).all(|(item, schema)| valid(schema, item))
        }
        ("items", Value::Array(items)) => {
            let front = all.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
            items.iter().skip(front).all(|item| valid(parameter, item))
        }
        ("contains", Value::Array(items)) => {
            let found = items.iter().filter(|item| valid(parameter, item)).count() as u64;
            let at_least = all.get("minContains").and_then(Value::as_u64).unwrap_or(1);
            let at_most = all.get("maxContains").and_then(Value::as_u64).unwrap_or(u64::MAX);
            (at_least..=at_most).contains(&found)
        }
        ("minProperties", Value::Object(members)) => members.len() >= count,
        ("maxProperties", Value::Object(members)) => members.len() <= count,
        ("required", Value::Object(members)) => {
            list().iter().all(|name| members.contains_key(name.as_str().unwrap_or("")))
        }
        ("properties", Value::Object(members)) => members
            .iter()
            .all(|(name, value)| parameter.get(name).is_none_or(|schema| valid(schema, value))),
        ("patternProperties", Value::Object(members)) => members.iter().all(|(name, value)| {
            let patterns = parameter.as_object().expect("an object");
            patterns.iter().all(|(pattern, schema)| {
                !found(&Value::String(pattern.clone()), name) || valid(schema, value)
            })
        }),
        ("additionalProperties", Value::Object(members)) => members.iter().all(|(name, value)| {
            let named = all.get("properties").is_some_and(|named| named.get(name).is_some());
            let patterns = all.get("patternProperties").and_then(Value::as_object);
            let matched = patterns.is_some_and(|all| {
                all.keys().any(|pattern| found(&Value::String(pattern.clone()), name))
            });
            named || matched || valid(parameter, value)
        }),
        ("propertyNames", Value::Object(members)) => {
            members.keys().all(|name| valid(parameter, &Value::String(name.clone())))
        }
        ("dependencies" | "dependentRequired" | "dependentSchemas", Value::Object(members)) => {
            parameter.as_object().expect("an object").iter().all(|(name, then)| {
                !members.contains_key(name)
                    || match then {
                        Value::Array(names) => names
                            .iter()
                            .all(|name| members.contains_key(name.as_str().unwrap_or(""))),
                        schema => valid(schema, value),
                    }
            })
        }
        _ => true,
    }
}

fn is_of(name: &Value, value: &Value) -> bool {
    match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        _ => value.is_object(),
    }
}

fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(members)) => {
            one.len() == members.len()
                && one
                    .iter()
                    .all(|(key, value)| members.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => one == other,
    }
}

fn found(pattern: &Value, text: &str) -> bool {
    regex::Regex::new(pattern.as_str().unwrap_or(""))
        .expect("a pattern of the cases")
        .is_match(text)
}

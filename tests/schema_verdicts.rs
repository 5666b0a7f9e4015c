//! Verdicts on random schemas, compared with an oracle: objects of many keys with nested
//! conditions; every keyword on values of every type, alone and below `not`, `oneOf` and `if`.
//!
//! `LRMASK_RANDOM` sets the number of schemas of each kind, `LRMASK_SEED` the seed.

#![allow(clippy::print_stdout, reason = "how many schemas are exact is for the documentation")]

use crate::schema_oracle as oracle;

use lrmask::{
    Constraint, JsonSchema, KeyOrder, SchemaErrorKind, SchemaOptions, Vocabulary, Whitespace,
};
use serde_json::{Map, Value, json};

/// Returns all single bytes, and the stop token.
fn bytes() -> Vocabulary {
    let tokens = (0..=255).map(|byte| vec![byte]).chain([Vec::new()]);
    let vocabulary =
        Vocabulary::from_tokens(tokens).and_then(|bytes| bytes.with_stop_tokens([256]));
    vocabulary.expect("a vocabulary")
}

/// Returns a number from the environment.
fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Counts of the test.
#[derive(Debug, Default)]
struct Tried {
    schemas: usize,
    /// Schemas that were approximated, according to a warning: only accepted texts of these are
    /// judged.
    narrower: usize,
    refused: usize,
    texts: usize,
    valid: usize,
}

/// Compares verdicts on texts by a schema with those of the oracle.
fn judge(schema: &Value, texts: &[String], vocabulary: &Vocabulary, tried: &mut Tried) {
    let mut options = SchemaOptions::default();
    (options.order, options.whitespace) = (KeyOrder::Any, Whitespace::None);
    tried.schemas += 1;
    let read = JsonSchema::parse(&schema.to_string(), &options);
    let (constraint, is_narrower) = match &read {
        Ok(read) => {
            let is_narrower = read.warnings().iter().any(|found| found.code == "narrowed-schema");
            let constraint = Constraint::new(&read.grammar(), vocabulary);
            (Some(constraint.expect("a schema's grammar is sound")), is_narrower)
        }
        Err(error) if error.kind() == SchemaErrorKind::Unsatisfiable => (None, false),
        Err(_) => {
            tried.refused += 1;
            return;
        }
    };
    tried.narrower += usize::from(is_narrower);
    for text in texts {
        let Some(is_valid) = oracle::is_valid_text(schema, text) else { continue };
        let is_accepted = constraint.as_ref().is_some_and(|constraint| {
            let mut matcher = constraint.matcher();
            matcher.advance_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
        });
        tried.texts += 1;
        tried.valid += usize::from(is_valid);
        assert!(is_valid || !is_accepted, "{schema} accepts {text}");
        assert!(is_accepted || !is_valid || is_narrower, "{schema} refuses {text}");
    }
}

/// With this many keys, objects are not tracked key by key.
const KEYS: usize = 14;

fn key(random: &mut fastrand::Rng) -> String {
    // The first keys are more frequent, so that conditions overlap.
    let most = if random.bool() { 4 } else { KEYS };
    format!("m{}", random.usize(..most))
}

/// Returns a condition on an object of many keys, which may contain others.
fn condition(random: &mut fastrand::Rng, depth: usize) -> Value {
    let list = |random: &mut fastrand::Rng, most: usize| {
        let count = random.usize(2..=most);
        (0..count).map(|_| condition(random, depth - 1)).collect::<Vec<Value>>()
    };
    let schema = match random.u8(if depth == 0 { 0..7 } else { 0..16 }) {
        0 | 1 => json!({"required": [key(random)]}),
        2 => json!({"required": [key(random), key(random)]}),
        3 => json!({"properties": {key(random): {"const": random.u8(1..3)}}}),
        4 => {
            let name = key(random);
            json!({"properties": {name.clone(): {"const": random.u8(1..3)}}, "required": [name]})
        }
        5 => json!({"dependentRequired": {key(random): [key(random)]}}),
        6 => json!({"maxProperties": random.u8(1..4)}),
        7 | 8 => json!({"oneOf": list(random, 4)}),
        9 => json!({"anyOf": list(random, 3)}),
        10 => json!({"allOf": list(random, 3)}),
        11 => json!({"not": condition(random, depth - 1)}),
        12 | 13 => json!({
            "if": condition(random, depth - 1),
            "then": condition(random, depth - 1),
        }),
        14 => json!({
            "if": condition(random, depth - 1),
            "else": condition(random, depth - 1),
        }),
        _ => json!({"dependentSchemas": {key(random): condition(random, depth - 1)}}),
    };
    match random.u8(..4) {
        0 => beside(schema, condition(random, 0)),
        _ => schema,
    }
}

/// Combines the keywords of both, in one schema if possible.
fn beside(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other))
            if other.keys().all(|key| !one.contains_key(key)) =>
        {
            one.extend(other);
            Value::Object(one)
        }
        (one, other) => json!({"allOf": [one, other]}),
    }
}

/// Returns objects of keys with values, no key twice.
fn objects(random: &mut fastrand::Rng) -> Vec<String> {
    let object = |_| {
        let mut keys: Vec<usize> = (0..KEYS).collect();
        random.shuffle(&mut keys);
        if random.bool() {
            keys.sort_by_key(|&key| key >= 4);
        }
        keys.truncate(random.usize(..6));
        random.shuffle(&mut keys);
        let member = |key: &usize| format!("\"m{key}\":{}", random.u8(1..3));
        format!("{{{}}}", keys.iter().map(member).collect::<Vec<String>>().join(","))
    };
    (0..20).map(object).collect()
}

/// Combined and nested conditions, in objects of more than ten keys.
#[test]
fn conditions_of_many_keys() {
    let mut random = fastrand::Rng::with_seed(from_environment("LRMASK_SEED", 11));
    let (vocabulary, mut tried) = (bytes(), Tried::default());
    for round in 0..from_environment("LRMASK_RANDOM", 400) {
        let mut schema = condition(&mut random, 2);
        // Adds keys that conditions refer to, so that there are more than can be tracked.
        let names: Vec<Value> =
            (0..KEYS).map(|key| json!({"required": [format!("m{key}")]})).collect();
        schema = match round % 4 {
            0 => beside(schema, json!({"oneOf": names})),
            1 => beside(schema, json!({"anyOf": names})),
            2 => {
                let pairs: Map<String, Value> = (0..KEYS / 2)
                    .map(|key| (format!("m{key}"), json!([format!("m{}", KEYS - 1 - key)])))
                    .collect();
                beside(schema, json!({"dependentRequired": pairs}))
            }
            _ => schema,
        };
        if random.bool() {
            schema = beside(schema, json!({"properties": {"m0": {"type": "integer"}, "id": {}}}));
        }
        judge(&schema, &objects(&mut random), &vocabulary, &mut tried);
    }
    println!("{tried:?}");
    assert!(tried.valid > tried.texts / 20 && 2 * tried.narrower < tried.schemas, "{tried:?}");
}

/// Returns every keyword, several times if it has several aspects.
fn keywords() -> Vec<Value> {
    vec![
        json!({"type": "null"}),
        json!({"type": "boolean"}),
        json!({"type": "integer"}),
        json!({"type": "number"}),
        json!({"type": "string"}),
        json!({"type": "array"}),
        json!({"type": "object"}),
        json!({"type": ["object", "integer", "string"]}),
        json!({"enum": [1, "a", [1], {"a": 1}, null, true]}),
        json!({"enum": []}),
        json!({"const": {"a": 1, "b": 2}}),
        json!({"const": [1, 2]}),
        json!({"const": 2}),
        json!({"const": false}),
        json!({"minimum": 1}),
        json!({"maximum": 1.5}),
        json!({"exclusiveMinimum": 1}),
        json!({"exclusiveMaximum": 2}),
        json!({"multipleOf": 2}),
        json!({"multipleOf": 0.5}),
        json!({"minLength": 1}),
        json!({"maxLength": 1}),
        json!({"pattern": "a"}),
        json!({"pattern": "^[ab]$"}),
        json!({"items": {"type": "integer"}}),
        json!({"items": false}),
        json!({"prefixItems": [{"const": 1}, {"type": "string"}]}),
        json!({"prefixItems": [true], "items": {"const": 1}}),
        json!({"minItems": 1}),
        json!({"minItems": 3}),
        json!({"maxItems": 0}),
        json!({"maxItems": 2}),
        json!({"contains": {"const": 1}}),
        json!({"contains": {"type": "integer"}, "minContains": 2}),
        json!({"contains": {"const": 1}, "minContains": 0}),
        json!({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}),
        json!({"items": {"enum": [1, 2, "a"]}, "uniqueItems": true}),
        json!({"uniqueItems": true}),
        json!({"properties": {"a": {"type": "integer"}, "b": {"const": 2}}}),
        json!({"properties": {"a": false}}),
        json!({"patternProperties": {"^[ab]": {"minimum": 2}}}),
        json!({"patternProperties": {"^[ab]": {"type": "integer"}, "[bc]": {"const": 1}}}),
        json!({"additionalProperties": {"type": "integer"}}),
        json!({"additionalProperties": false}),
        json!({"properties": {"a": true}, "additionalProperties": false}),
        json!({"required": ["a"]}),
        json!({"required": ["a", "b"]}),
        json!({"minProperties": 1}),
        json!({"minProperties": 2}),
        json!({"maxProperties": 0}),
        json!({"maxProperties": 1}),
        json!({"propertyNames": {"pattern": "^[ac]$"}}),
        json!({"propertyNames": {"maxLength": 0}}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"dependentRequired": {"a": []}}),
        json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
        json!({"dependentSchemas": {"a": {"type": "object"}}}),
        json!({"dependentSchemas": {"b": false}}),
        json!({"dependencies": {"a": ["b"], "c": {"maxProperties": 1}}}),
        json!({"dependencies": {"a": {"type": "array"}}}),
        json!({"if": {"required": ["a"]}, "then": {"maxProperties": 1}, "else": {"type": "object"}}),
        json!({"if": {"minimum": 2}, "then": {"type": "integer"}}),
        json!({"if": {"type": "array"}, "else": {"maxLength": 0}}),
        json!({"allOf": [{"required": ["a"]}, {"minItems": 1}]}),
        json!({"anyOf": [{"required": ["a"], "type": "object"}, {"type": "array"}]}),
        json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"minItems": 2}]}),
        json!({"not": {"required": ["b"]}}),
        json!({"$ref": "#/$defs/a"}),
        json!(true),
        json!(false),
    ]
}

/// Returns texts of values of every type.
fn values() -> Vec<String> {
    let scalars =
        ["null", "true", "false", "0", "1", "2", "-1", "1.5", "\"a\"", "\"c\"", "\"ab\"", "\"\""];
    let mut values: Vec<String> = scalars.map(str::to_owned).to_vec();
    values.extend(
        ["[]", "{}", "[1]", "[2]", "[\"a\"]", "[null]", "[{}]", "[1,1]"].map(str::to_owned),
    );
    values.extend(["[1,2]", "[1,\"a\"]", "[2,\"a\",1]", "[1,1,1]"].map(str::to_owned));
    for a in ["", "\"a\":1", "\"a\":2", "\"a\":\"x\""] {
        for b in ["", "\"b\":2", "\"b\":1"] {
            for c in ["", "\"c\":1"] {
                let mut members: Vec<&str> =
                    [a, b, c].into_iter().filter(|own| !own.is_empty()).collect();
                values.push(format!("{{{}}}", members.join(",")));
                members.reverse();
                values.push(format!("{{{}}}", members.join(",")));
            }
        }
    }
    values.sort();
    values.dedup();
    values
}

/// Returns the schema with a definition for references.
fn with_definition(mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        members.insert("$defs".to_owned(), json!({"a": {"type": "object", "required": ["a"]}}));
    }
    schema
}

/// Returns ways to combine a schema with another one.
fn places(one: &Value, other: &Value) -> Vec<Value> {
    vec![
        json!({"not": one}),
        json!({"not": {"not": one}}),
        json!({"oneOf": [one, other]}),
        json!({"oneOf": [one, other, {"type": "array"}]}),
        json!({"if": one, "then": other}),
        json!({"if": one, "else": other}),
        json!({"if": other, "then": one, "else": {"not": one}}),
        json!({"anyOf": [{"not": one}, other]}),
        json!({"not": {"anyOf": [one, other]}}),
        json!({"not": {"allOf": [one, other]}}),
        json!({"not": {"oneOf": [one, other]}}),
        json!({"not": {"if": one, "then": other}}),
        json!({"items": {"not": one}, "properties": {"a": {"oneOf": [one, other]}}}),
        json!({"dependentSchemas": {"a": {"not": one}}}),
        json!({"contains": {"not": one}}),
    ]
}

/// Each keyword alone and below `not`, `oneOf` and `if`, on values of every type.
#[test]
fn every_keyword_below_every_other_on_values_of_every_type() {
    let (vocabulary, values, mut tried) = (bytes(), values(), Tried::default());
    let mut random = fastrand::Rng::with_seed(from_environment("LRMASK_SEED", 11));
    let keywords = keywords();
    for one in &keywords {
        judge(&with_definition(json!({"allOf": [one]})), &values, &vocabulary, &mut tried);
        let other = &keywords[random.usize(..keywords.len())];
        for schema in places(one, other) {
            judge(&with_definition(schema), &values, &vocabulary, &mut tried);
        }
    }
    println!("{tried:?}");
    assert!(tried.valid > tried.texts / 10 && 4 * tried.narrower < tried.schemas, "{tried:?}");
}

/// The same for random combinations, two levels deep.
#[test]
fn keywords_below_others() {
    let mut random = fastrand::Rng::with_seed(from_environment("LRMASK_SEED", 12));
    let (vocabulary, values, mut tried) = (bytes(), values(), Tried::default());
    let keywords = keywords();
    for _ in 0..from_environment("LRMASK_RANDOM", 400) {
        let mut any = || keywords[random.usize(..keywords.len())].clone();
        let (one, other, third) = (any(), any(), any());
        let inner = places(&one, &other);
        let inner = &inner[random.usize(..inner.len())];
        let outer = places(inner, &third);
        let schema = outer[random.usize(..outer.len())].clone();
        judge(&with_definition(schema), &values, &vocabulary, &mut tried);
    }
    println!("{tried:?}");
    assert!(tried.valid > tried.texts / 10 && 4 * tried.narrower < tried.schemas, "{tried:?}");
}

/// What is asked of a string by its length, by a list or by a pattern.
fn string_condition(random: &mut fastrand::Rng, depth: usize) -> Value {
    let length = [0, 1, 3, 64, 65, 66, 90, 130][random.usize(..8)];
    let word = |random: &mut fastrand::Rng| {
        ["a".repeat(70), "ab".into(), "b".into()][random.usize(..3)].clone()
    };
    if depth == 0 || random.u8(..3) == 0 {
        return match random.u8(..7) {
            0 | 1 => json!({"maxLength": length}),
            2 | 3 => json!({"minLength": length}),
            4 => json!({"pattern": (["^a", "b$", "ab"][random.usize(..3)])}),
            5 => json!({"const": word(random)}),
            _ => json!({"enum": [word(random), word(random)]}),
        };
    }
    let mut inner = || string_condition(random, depth - 1);
    let (one, two, three) = (inner(), inner(), inner());
    match random.u8(..6) {
        0 | 1 => json!({"anyOf": [one, two, three]}),
        2 => json!({"oneOf": [one, two, three]}),
        3 => json!({"not": one}),
        4 => json!({"allOf": [one, two]}),
        _ => json!({"if": one, "then": two}),
    }
}

#[test]
fn lengths_lists_and_patterns_in_alternatives() {
    let mut random = fastrand::Rng::with_seed(from_environment("LRMASK_SEED", 15));
    let (vocabulary, mut tried) = (bytes(), Tried::default());
    let lengths = [0, 1, 2, 3, 4, 63, 64, 65, 66, 67, 69, 70, 71, 89, 90, 91, 129, 130, 131];
    let of = |text: String| format!("\"{text}\"");
    let mut texts = vec!["1".to_owned(), of("ab".into()), of("ba".into())];
    for length in lengths {
        texts.extend(["a", "b"].map(|letter| of(letter.repeat(length))));
        texts.push(of("a".repeat(length) + "b"));
        texts.push(of("b".to_owned() + &"a".repeat(length)));
    }
    for _ in 0..from_environment("LRMASK_RANDOM", 200) {
        let mut schema = string_condition(&mut random, 3);
        if random.bool() {
            schema = json!({"type": "string", "allOf": [schema]});
        }
        judge(&schema, &texts, &vocabulary, &mut tried);
    }
    println!("{tried:?}");
    assert!(tried.valid > tried.texts / 10 && 20 * tried.narrower < tried.schemas, "{tried:?}");
    assert!(20 * tried.refused < tried.schemas, "{tried:?}");
}

/// What is asked of the members under keys of a pattern.
fn member_condition(random: &mut fastrand::Rng) -> Value {
    let count = random.u8(..4);
    match random.u8(..9) {
        0 | 1 => json!({"type": "string", "maxLength": count}),
        2 => json!({"minLength": count}),
        3 => json!({"minimum": count}),
        4 => json!({"maximum": count}),
        5 => json!({"const": count}),
        6 => json!({"type": (["string", "integer", "null"][random.usize(..3)])}),
        7 => json!({"enum": [count, "a", null]}),
        _ => json!({"type": "object", "required": [format!("r{count}")]}),
    }
}

#[test]
fn patterns_of_keys_that_meet() {
    let mut random = fastrand::Rng::with_seed(from_environment("LRMASK_SEED", 16));
    let (vocabulary, mut tried) = (bytes(), Tried::default());
    let literals = ["ab", "bc", "c", "^a", "d$", "abc", "^b|c$"];
    for _ in 0..from_environment("LRMASK_RANDOM", 200) {
        let mut object = || {
            let mut literals = literals.to_vec();
            random.shuffle(&mut literals);
            literals.truncate(random.usize(2..6));
            let patterns: Map<String, Value> = literals
                .into_iter()
                .map(|literal| (literal.to_owned(), member_condition(&mut random)))
                .collect();
            let mut schema = json!({"type": "object", "patternProperties": patterns});
            if random.u8(..3) == 0 {
                schema["additionalProperties"] = member_condition(&mut random);
            }
            if random.u8(..4) == 0 {
                schema["properties"] = json!({"abc": member_condition(&mut random)});
            }
            if random.u8(..4) == 0 {
                schema["propertyNames"] = json!({"pattern": "a"});
            }
            schema
        };
        let (one, two) = (object(), object());
        let schema = match random.u8(..6) {
            0 => json!({"anyOf": [one, two]}),
            1 => json!({"allOf": [one, two]}),
            2 => json!({"not": one}),
            _ => one,
        };
        let member = |random: &mut fastrand::Rng| {
            let values =
                ["0", "1", "2", "3", "\"\"", "\"a\"", "\"abc\"", "null", r#"{"r1":1,"r2":0}"#];
            let keys = ["a", "b", "c", "d", "x"];
            let key: String =
                (0..random.usize(..5)).map(|_| keys[random.usize(..keys.len())]).collect();
            format!("\"{key}\":{}", values[random.usize(..values.len())])
        };
        let texts: Vec<String> = (0..40)
            .map(|_| {
                let members: Vec<String> =
                    (0..random.usize(..3)).map(|_| member(&mut random)).collect();
                format!("{{{}}}", members.join(","))
            })
            .collect();
        judge(&schema, &texts, &vocabulary, &mut tried);
    }
    println!("{tried:?}");
    assert!(tried.valid > tried.texts / 10 && 2 * tried.narrower < tried.schemas, "{tried:?}");
}

//! JSON Schema with keys in any order, where there are too many sets of keys to track: required
//! members, and alternatives selected by members. An oracle judges the texts.

#![allow(clippy::print_stdout, reason = "how many orders are held is for the documentation")]

use crate::schema_oracle as oracle;

use lrmask::{
    Constraint, JsonSchema, KeyOrder, Matcher, SchemaErrorKind, SchemaOptions, Vocabulary,
    Whitespace,
};
use serde_json::{Value, json};

/// Returns single bytes, tokens that span ends of members, and the stop token.
fn tokens(words: &[&str]) -> (Vec<Vec<u8>>, Vocabulary) {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    tokens.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    let end = tokens.len() as u32;
    tokens.push(Vec::new());
    let vocabulary = Vocabulary::from_tokens(tokens.clone())
        .and_then(|vocabulary| vocabulary.with_stop_tokens([end]));
    (tokens, vocabulary.expect("a vocabulary"))
}

/// Returns the constraint, and the codes of the schema's warnings.
fn constrain(
    schema: &Value,
    vocabulary: &Vocabulary,
) -> Result<(Constraint, Vec<&'static str>), SchemaErrorKind> {
    let mut options = SchemaOptions::default();
    (options.order, options.whitespace) = (KeyOrder::Any, Whitespace::None);
    let schema = JsonSchema::parse(&schema.to_string(), &options).map_err(|error| error.kind())?;
    let codes = schema.warnings().iter().map(|warning| warning.code).collect();
    let constraint = Constraint::new(&schema.grammar(), vocabulary);
    Ok((constraint.expect("a schema's grammar is sound"), codes))
}

/// Returns an object with this many required members, one of which is such an object or null, with
/// keys in random order; sometimes a member is missing or repeated. Also returns whether it is
/// valid.
fn required_members(random: &mut fastrand::Rng, count: usize, depth: usize) -> (String, bool) {
    let mut keys: Vec<usize> = (0..count).collect();
    random.shuffle(&mut keys);
    let mut is_valid = true;
    match random.u8(..6) {
        0 => {
            keys.truncate(count - 1);
            is_valid = false;
        }
        1 => {
            let twice = keys[random.usize(..count)];
            keys.insert(random.usize(..count), twice);
        }
        _ => {}
    }
    let mut members = Vec::new();
    for key in keys {
        let value = match key {
            0 if depth > 0 => {
                let (inner, is_inner_valid) = required_members(random, count, depth - 1);
                is_valid &= is_inner_valid;
                inner
            }
            0 => "null".to_owned(),
            _ => format!("\"{}\"", random.u8(..10)),
        };
        members.push(format!("\"key {key}\":{value}"));
    }
    (format!("{{{}}}", members.join(",")), is_valid)
}

/// Returns whether a text is accepted, split into tokens at random. At each step both constraints
/// must have the same mask, which allows each token exactly when its bytes are allowed, also after
/// a rollback. The returned matcher is where the text left the language; the tokens are those that
/// it took.
fn follow(
    [fresh, loaded]: [&Constraint; 2],
    tokens: &[Vec<u8>],
    text: &str,
    random: &mut fastrand::Rng,
    bits: &mut usize,
) -> (bool, Matcher, Vec<u32>) {
    let end = tokens.len() as u32 - 1;
    let (mut one, mut other) = (fresh.matcher(), loaded.matcher());
    let (mut mask, mut same) = (fresh.new_mask(), loaded.new_mask());
    let (mut rest, mut taken) = (text.as_bytes(), Vec::new());
    loop {
        one.fill_mask(&mut mask);
        other.fill_mask(&mut same);
        assert_eq!(mask, same, "{text}");
        if rest.is_empty() {
            return (mask.contains(end), one, taken);
        }
        let fits = |&token: &u32| rest.starts_with(&tokens[token as usize]) && token != end;
        let fitting: Vec<u32> = (0..end).filter(fits).collect();
        for &token in &fitting {
            let mut bytes = one.clone();
            let are_allowed = bytes.advance_bytes(&tokens[token as usize]).is_ok();
            assert_eq!(mask.contains(token), are_allowed, "{text}, before {rest:?}");
            bytes.rollback(usize::from(are_allowed));
            bytes.fill_mask(&mut same);
            assert_eq!(mask, same, "{text}");
            *bits += 1;
        }
        let token = fitting[random.usize(..fitting.len())];
        if one.advance(token).is_err() {
            return (false, one, taken);
        }
        other.advance(token).expect("the masks are the same");
        taken.push(token);
        rest = &rest[tokens[token as usize].len()..];
    }
}

/// Asserts that a random prefix of a text, which took these tokens, has a completion, and that it
/// gives a valid value.
fn end_somewhere(
    schema: &Value,
    constraint: &Constraint,
    tokens: &[Vec<u8>],
    (mut matcher, taken): (Matcher, &[u32]),
    random: &mut fastrand::Rng,
) {
    matcher.rollback(random.usize(..=matcher.steps()));
    let mut ended = constraint.matcher();
    let taken = taken[..matcher.steps()].iter();
    let mut whole: Vec<u8> = taken.flat_map(|&token| &tokens[token as usize]).copied().collect();
    whole.extend(matcher.shortest_completion().expect("what is allowed can be ended"));
    let is_taken = ended.advance_bytes(&whole).is_ok() && ended.is_accepting();
    let whole = String::from_utf8(whole).expect("texts are UTF-8");
    assert!(is_taken, "{schema}: {whole}");
    // The last member counts for a repeated key.
    let value: Value = serde_json::from_str(&whole).expect("it is JSON");
    assert_eq!(oracle::is_valid_text(schema, &value.to_string()), Some(true), "{schema}: {whole}");
}

/// Objects that require many keys: texts are judged by their definition, and every text that masks
/// allow can be completed: fresh, loaded, after a rollback, with tokens that span ends of members.
#[test]
fn many_required_keys_in_any_order() {
    const COUNT: usize = 30;
    let names: Vec<String> = (0..COUNT).map(|key| format!("key {key}")).collect();
    let mut properties: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
    properties.insert("key 0".to_owned(), json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]}));
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    });
    let words = ["\"}", "\"}}", "\"},", "\",\"key ", "\":\"", "\":null}", "\":{\"key 1", "null,\""];
    let (tokens, vocabulary) = tokens(&words);
    let (fresh, _) = constrain(&schema, &vocabulary).expect("a schema");
    let loaded = Constraint::load(fresh.save(), &vocabulary).expect("it was saved");
    let mut random = fastrand::Rng::with_seed(5);
    let (mut valid, mut bits) = (0, 0);
    for _ in 0..60 {
        let (text, is_valid) = required_members(&mut random, COUNT, 2);
        valid += usize::from(is_valid);
        let (is_taken, matcher, taken) =
            follow([&fresh, &loaded], &tokens, &text, &mut random, &mut bits);
        assert_eq!(is_taken, is_valid, "{text}");
        end_somewhere(&schema, &fresh, &tokens, (matcher, &taken), &mut random);
    }
    assert!(valid > 10 && bits > 10_000, "{valid} texts, {bits} bits");
}

/// Returns conditions on an object.
fn conditions() -> Vec<Value> {
    vec![
        json!({"required": ["a"]}),
        json!({"required": ["a", "b"]}),
        json!({"properties": {"a": {"const": 1}}}),
        json!({"properties": {"a": {"const": 2}}, "required": ["a"]}),
        json!({"properties": {"a": {"type": "integer"}, "b": {"const": 2}}}),
        json!({"properties": {"a": {"enum": [1, 2]}, "b": true}, "additionalProperties": false}),
        json!({"properties": {"b": {"type": "string"}}, "required": ["b"]}),
        json!({"properties": {"c": {"type": "object", "required": ["a"]}}}),
        json!({"patternProperties": {"^[ab]": {"enum": [1, "a"]}}}),
        json!({"additionalProperties": {"type": "integer"}}),
        json!({"propertyNames": {"pattern": "^[acp]"}}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"minProperties": 1}),
        json!({"minProperties": 2}),
        json!({"maxProperties": 2}),
        json!({"not": {"required": ["c"]}}),
        json!({"not": {"properties": {"a": {"const": 1}}}}),
        json!({"not": {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}}),
        json!({"not": {"anyOf": [
            {"properties": {"a": {"type": "integer"}}},
            {"properties": {"a": {"type": "number", "multipleOf": 1}}},
        ]}}),
        json!({"required": ["a"], "maxProperties": 2}),
        json!({"additionalProperties": {"const": 1}, "minProperties": 1, "maxProperties": 1}),
        json!({"not": {"anyOf": [
            {"properties": {"a": {"type": "integer"}}},
            {"properties": {"b": {"type": "string"}}},
        ]}}),
        json!({"not": {"anyOf": [
            {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
            {"properties": {"a": {"type": "string"}, "c": {"type": "string"}}},
        ]}}),
    ]
}

/// Returns the schema, for objects with so many other possible keys that no state can track them.
fn with_many_keys(schema: &Value) -> Value {
    let names = (1..=11).map(|number| format!("p{number}"));
    let mut properties: serde_json::Map<String, Value> =
        names.map(|name| (name, Value::Bool(true))).collect();
    properties.insert("p1".to_owned(), json!({"const": "x"}));
    json!({"type": "object", "anyOf": [schema, {"required": ["p1"], "properties": properties}]})
}

/// Returns an object, sometimes with a repeated key.
fn object(random: &mut fastrand::Rng, depth: usize) -> String {
    let keys = ["a", "a", "b", "b", "c", "d", "p1", "p2", "v"];
    let mut members = Vec::new();
    for _ in 0..random.usize(..5) {
        let key = keys[random.usize(..keys.len())];
        let value = match (key, random.u8(..7)) {
            ("v" | "c", 0..=4) if depth > 0 => object(random, depth - 1),
            ("p1", 0..=3) => "\"x\"".to_owned(),
            (_, 0..=2) => "1".to_owned(),
            (_, 3 | 4) => "2".to_owned(),
            _ => "\"a\"".to_owned(),
        };
        members.push(format!("\"{key}\":{value}"));
    }
    format!("{{{}}}", members.join(","))
}

/// Asserts that objects made by `object` are accepted exactly when the oracle accepts them. Returns
/// whether the constraint allows all keys in any order.
fn check(schema: &Value, random: &mut fastrand::Rng, bits: &mut usize) -> bool {
    let words =
        ["\"a\":1", ",\"b\":", "1,\"", "1}", "\"}", "}}", "{\"a\"", "\"p1\":\"x\"", "2,\"a\":1"];
    let (tokens, vocabulary) = tokens(&words);
    let (fresh, codes) = match constrain(schema, &vocabulary) {
        Ok(constraint) => constraint,
        Err(kind) => panic!("{schema}: {kind:?}"),
    };
    let loaded = Constraint::load(fresh.save(), &vocabulary).expect("it was saved");
    let is_whole = !codes.contains(&"narrowed-schema");
    for _ in 0..25 {
        let text = object(random, 2);
        let (is_taken, matcher, taken) = follow([&fresh, &loaded], &tokens, &text, random, bits);
        match oracle::is_valid_text(schema, &text) {
            Some(is_valid) if is_whole => assert_eq!(is_taken, is_valid, "{schema}: {text}"),
            // The last member counts for a repeated key.
            _ if is_taken => {
                let value: Value = serde_json::from_str(&text).expect("it is JSON");
                let is_valid = oracle::is_valid_text(schema, &value.to_string());
                assert_eq!(is_valid, Some(true), "{schema}: {text}");
            }
            _ => {}
        }
        end_somewhere(schema, &fresh, &tokens, (matcher, &taken), random);
    }
    is_whole
}

/// Objects that match one of several alternatives, with keys in any order, alone and below a key of
/// such an object. `LRMASK_SEED` selects other texts.
#[test]
fn alternatives_against_the_oracle() {
    let seed = std::env::var("LRMASK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    let (mut random, mut bits) = (fastrand::Rng::with_seed(seed), 0);
    let (mut count, mut whole) = (0, 0);
    let conditions = conditions();
    for (at, one) in conditions.iter().enumerate() {
        for other in &conditions[at..] {
            for combined in ["anyOf", "oneOf", "allOf"] {
                let both = json!({combined: [one, other]});
                let mut schemas = vec![with_many_keys(&both)];
                if combined == "anyOf" {
                    let below = |t: u32, schema: &Value| {
                        json!({
                            "properties": {"a": {"const": t}, "v": with_many_keys(schema)},
                            "required": ["a"],
                        })
                    };
                    schemas.push(with_many_keys(&json!({
                        "oneOf": [below(1, one), below(2, other)],
                    })));
                }
                for schema in schemas {
                    count += 1;
                    whole += usize::from(check(&schema, &mut random, &mut bits));
                }
            }
        }
    }
    println!("{whole} of {count} schemas have all keys in any order, {bits} bits");
    assert!(2 * whole > count && bits > 100_000, "{whole} of {count} schemas, {bits} bits");
}

/// Returns schemas for a value that depend on another key.
fn values() -> Vec<Value> {
    let object = |asked: Value| {
        let mut object = json!({"type": "object"});
        let asked = asked.as_object().expect("conditions stand in an object").clone();
        object.as_object_mut().expect("it is one").extend(asked);
        object
    };
    vec![
        json!({"type": "integer"}),
        json!({"enum": [1, "a"]}),
        json!({"type": "array", "items": {"type": "integer"}}),
        json!({"type": "array", "items": {"type": ["integer", "string"]}, "uniqueItems": true}),
        json!({"type": "array", "maxItems": 1}),
        object(json!({"required": ["a"]})),
        object(json!({"properties": {"a": {"type": "integer"}}})),
        object(json!({"properties": {"b": {"type": "integer"}}})),
        object(json!({"properties": {"c": {"type": "string"}}})),
        object(json!({"properties": {"a": {"type": "array"}, "c": {"type": "integer"}}})),
        object(json!({"propertyNames": {"enum": ["a", "b", "kind"]}})),
        object(json!({"not": {"properties": {"b": {"const": 1}}}})),
        json!({"$ref": "#"}),
    ]
}

/// Returns a value whose kind, one of this many, is given by a key next to it; sometimes nested.
fn told(random: &mut fastrand::Rng, kinds: usize, depth: usize) -> String {
    let scalars = ["1", "2", "\"a\"", "\"b\""];
    let scalar = |random: &mut fastrand::Rng| scalars[random.usize(..scalars.len())].to_owned();
    let value = match random.u8(..8) {
        0 => scalar(random),
        1 | 2 => {
            let items: Vec<String> = (0..random.usize(..4)).map(|_| scalar(random)).collect();
            format!("[{}]", items.join(","))
        }
        3 | 4 if depth > 0 => told(random, kinds, depth - 1),
        _ => {
            let mut members = Vec::new();
            for key in ["a", "b", "c"] {
                if random.bool() {
                    members.push(format!("\"{key}\":{}", scalar(random)));
                }
            }
            format!("{{{}}}", members.join(","))
        }
    };
    let mut members = vec![
        format!("\"kind\":{}", random.usize(..kinds)),
        format!("\"v\":{value}"),
        "\"p1\":\"x\"".to_owned(),
    ];
    random.shuffle(&mut members);
    members.truncate(if random.u8(..5) == 0 { 2 } else { 3 });
    format!("{{{}}}", members.join(","))
}

/// Values whose schema is given by a key after them: too many classes to distinguish. Each kind
/// reads them separately. `LRMASK_SEED` selects other texts.
#[test]
fn values_that_are_told_by_a_key_behind_them() {
    const KINDS: usize = 9;
    let seed = std::env::var("LRMASK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    let mut random = fastrand::Rng::with_seed(seed);
    let words = [
        "\"kind\":",
        "\"kind\":1",
        ",\"v\":{",
        "\"v\":[1,",
        "{\"a\"",
        "1}",
        "\"}",
        "}}",
        "1]",
        "],\"kind\"",
        "\"p1\":\"x\"",
        "\"}}",
        "1,\"",
        ",\"b\":1",
    ];
    let (tokens, vocabulary) = tokens(&words);
    let (mut bits, mut valid) = (0, 0);
    for (round, combined) in ["anyOf", "oneOf"].repeat(12).into_iter().enumerate() {
        let mut values = values();
        random.shuffle(&mut values);
        let kind = |(kind, value): (usize, &Value)| {
            let properties = json!({"kind": {"const": kind}, "v": value});
            json!({"properties": properties, "required": ["kind"]})
        };
        let kinds: Vec<Value> = values.iter().take(KINDS).enumerate().map(kind).collect();
        let names = (1..=11).map(|number| (format!("p{number}"), json!({"type": "string"})));
        let properties: serde_json::Map<String, Value> = names.collect();
        let mut schema = json!({"type": "object", "properties": properties, combined: kinds});
        // Objects alone, and as distinct items of an array.
        let is_item = round % 3 == 2;
        if is_item {
            schema = json!({"type": "array", "items": schema, "uniqueItems": true});
        }
        let (fresh, _) = constrain(&schema, &vocabulary).expect("a schema");
        // It is obvious that the lexemes are disjoint, whatever the conflicts.
        assert!(fresh.compiled().size().scan_states < 10, "{schema}");
        let loaded = Constraint::load(fresh.save(), &vocabulary).expect("it was saved");
        for _ in 0..25 {
            let mut text = told(&mut random, KINDS, 2);
            if is_item {
                let other = match random.bool() {
                    true => text.clone(),
                    false => told(&mut random, KINDS, 1),
                };
                text = format!("[{text},{other}]");
            }
            let is_valid = oracle::is_valid_text(&schema, &text).expect("no key stands twice");
            let (is_taken, matcher, taken) =
                follow([&fresh, &loaded], &tokens, &text, &mut random, &mut bits);
            assert_eq!(is_taken, is_valid, "{schema}: {text}");
            valid += usize::from(is_valid);
            end_somewhere(&schema, &fresh, &tokens, (matcher, &taken), &mut random);
        }
    }
    println!("{valid} texts are valid, {bits} bits");
    assert!(valid > 60 && bits > 5_000, "{valid} texts, {bits} bits");
}

//! JSON Schema: cases in files, an oracle independent of the engine, and the suites that may be
//! placed next to the project.

#![allow(
    clippy::print_stdout,
    reason = "how much of the suite is refused is for the documentation"
)]

use crate::corpus;
use crate::schema_oracle as oracle;

use std::collections::BTreeMap;
use std::path::Path;

use lrmask::{
    Constraint, Formats, JsonSchema, KeyOrder, Limits, Numerals, SchemaErrorKind, SchemaOptions,
    Source, StructuralTags, Unsatisfiable, Vocabulary, Whitespace,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns all single bytes, and the stop token.
fn bytes() -> Vocabulary {
    let tokens = (0..=255).map(|byte| vec![byte]).chain([Vec::new()]);
    let vocabulary =
        Vocabulary::from_tokens(tokens).and_then(|bytes| bytes.with_stop_tokens([256]));
    vocabulary.expect("a vocabulary")
}

fn constrain(
    schema: &str,
    options: &SchemaOptions,
    vocabulary: &Vocabulary,
) -> Result<Constraint, SchemaErrorKind> {
    let schema = JsonSchema::parse(schema, options).map_err(|error| error.kind())?;
    Ok(Constraint::new(&schema.grammar(), vocabulary).expect("a schema's grammar is sound"))
}

/// Limits that end the analysis of a large schema early.
fn few() -> Limits {
    Limits::default().schema_steps(50_000).schema_productions(3_000)
}

fn accepts(constraint: &Constraint, text: &str) -> bool {
    let mut matcher = constraint.matcher();
    text.bytes().all(|byte| matcher.advance(u32::from(byte)).is_ok())
        && matcher.advance(256u32).is_ok()
}

fn cases() -> Vec<(String, Value)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schema");
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(directory).expect("the cases are there") {
        let path = entry.expect("the directory can be read").path();
        let text = std::fs::read_to_string(&path).expect("a case is UTF-8");
        let Value::Array(found) = serde_json::from_str(&text).expect("cases are JSON") else {
            panic!("{} is no list of cases", path.display());
        };
        let name =
            path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        cases.extend(found.into_iter().map(|case| (name.clone(), case)));
    }
    assert!(cases.len() > 30, "the cases were not found");
    cases
}

/// Whole texts of a case: those that are accepted and those that are refused, or the kind of error
/// of a schema.
#[test]
fn cases_in_files() {
    let vocabulary = bytes();
    for (name, case) in cases() {
        let mut options = SchemaOptions::default();
        if case["order"] == "any" {
            options.order = KeyOrder::Any;
        }
        if case["numerals"] == "any" {
            options.numerals = Numerals::Any;
        }
        if case["whitespace"] == "none" {
            options.whitespace = Whitespace::None;
        }
        if case["unsatisfiable"] == "empty" {
            options.unsatisfiable = Unsatisfiable::Empty;
        }
        // Only a string in the file keeps the order of keys.
        let schema =
            case["text"].as_str().map_or_else(|| case["schema"].to_string(), str::to_owned);
        let constraint = match constrain(&schema, &options, &vocabulary) {
            Ok(constraint) => constraint,
            Err(kind) => {
                assert_eq!(json!(format!("{kind:?}")), case["error"], "{name}: {schema}");
                continue;
            }
        };
        assert!(case["error"].is_null(), "{name}: {schema} is no error");
        let texts = |key: &str| case[key].as_array().cloned().unwrap_or_default();
        for text in texts("accepted") {
            let text = text.as_str().expect("a text");
            assert!(accepts(&constraint, text), "{name}: {schema} refuses {text}");
        }
        for text in texts("refused") {
            let text = text.as_str().expect("a text");
            assert!(!accepts(&constraint, text), "{name}: {schema} accepts {text}");
        }
    }
}

/// Records have exactly their members; JSON of a bounded depth nests no deeper.
#[test]
fn common_shapes() {
    let (vocabulary, options) = (bytes(), SchemaOptions::default());
    let members = [("na\"me", r#"{"type": "string"}"#), ("age", r#"{"type": "integer"}"#)];
    let record = JsonSchema::record(members, &options).expect("the schemas are sound");
    let record = Constraint::new(&record.grammar(), &vocabulary).expect("the grammar is sound");
    assert!(accepts(&record, r#"{"na\"me": "x", "age": 1}"#));
    for text in [r#"{"na\"me": "x"}"#, r#"{"na\"me": "x", "age": 1, "b": 2}"#, r#"{"age": 1}"#, "1"]
    {
        assert!(!accepts(&record, text), "{text}");
    }
    let twice =
        JsonSchema::record([("a", "{}"), ("a", "{}")], &options).expect_err("a name stands twice");
    assert_eq!(twice.kind(), SchemaErrorKind::InvalidJson);
    for depth in 0..4 {
        let schema = JsonSchema::of_depth(depth, &options).expect("it is shallow");
        let constraint =
            Constraint::new(&schema.grammar(), &vocabulary).expect("the grammar is sound");
        for nested in 0..6 {
            let arrays = format!("{}{}", "[".repeat(nested), "]".repeat(nested));
            let objects = format!("{}1{}", "{\"a\": ".repeat(nested), "}".repeat(nested));
            let text = if nested == 0 { "null".to_owned() } else { arrays };
            assert_eq!(accepts(&constraint, &text), nested <= depth, "{depth}: {text}");
            assert_eq!(accepts(&constraint, &objects), nested <= depth, "{depth}: {objects}");
        }
    }
}

/// Structural tags: whole texts that are accepted and refused, and tags that are errors.
#[test]
fn structural_tags() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tags.json");
    let text = std::fs::read_to_string(path).expect("the cases are there");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("cases are JSON");
    let vocabulary = bytes();
    for case in cases {
        let tags = StructuralTags::parse(&case["tags"].to_string());
        let grammar = match tags.and_then(|tags| tags.grammar(&SchemaOptions::default())) {
            Ok(grammar) => grammar,
            Err(error) => {
                assert_eq!(json!(format!("{:?}", error.kind())), case["error"], "{case}");
                continue;
            }
        };
        assert!(case["error"].is_null(), "{case} is no error");
        let constraint = Constraint::new(&grammar, &vocabulary).expect("the grammar is sound");
        for (key, is_accepted) in [("accepted", true), ("refused", false)] {
            for text in case[key].as_array().into_iter().flatten() {
                let text = text.as_str().expect("a text");
                assert_eq!(accepts(&constraint, text), is_accepted, "{case}: {text}");
            }
        }
    }
}

/// A schema that no value satisfies is refused with exactly the keywords that contradict one
/// another.
#[test]
fn what_contradicts_is_named() {
    let cases = [
        (
            r#"{"type": "string", "minimum": 1, "enum": [1], "title": "x"}"#,
            "`type` and `enum` together",
        ),
        (
            r##"{"allOf": [{"$ref": "#/$defs/a"}, {"minimum": 3}], "type": "integer", "$defs": {"a": {"maximum": 2}}}"##,
            "`maximum`, `minimum` and `type` together",
        ),
        (
            r#"{"required": ["a"], "properties": {"a": false}, "type": "object"}"#,
            "`required`, `properties` and `type` together",
        ),
        (r#"{"enum": [], "type": "null"}"#, "no value satisfies `enum`"),
    ];
    for (schema, named) in cases {
        let error =
            JsonSchema::parse(schema, &SchemaOptions::default()).expect_err("it is unsatisfiable");
        assert_eq!(error.kind(), SchemaErrorKind::Unsatisfiable);
        assert!(error.to_string().contains(named), "{schema}: {error}");
    }
}

/// Returns the first line of each warning of a schema, with its help; or of its error.
fn said(schema: &str, options: &SchemaOptions) -> Vec<String> {
    let shown = |found: &lrmask::Diagnostic| {
        let help = found.help.as_ref().map(|help| format!(" | {help}")).unwrap_or_default();
        format!("{}: {}{help}", found.code, found.message)
    };
    match JsonSchema::parse(schema, options) {
        Ok(schema) => schema.warnings().iter().map(shown).collect(),
        Err(error) => vec![shown(&error.diagnostic())],
    }
}

/// Messages on schemas that are wrapped, misspelt, of another standard or contradictory.
#[test]
fn what_is_said_of_schemas() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schema-messages.json");
    let text = std::fs::read_to_string(path).expect("the cases are there");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("cases are JSON");
    let vocabulary = bytes();
    let mut faults = Vec::new();
    for case in cases {
        let mut options = SchemaOptions::default();
        options.nullable = case["nullable"] == true;
        options.definition = case["definition"].as_str().map(str::to_owned);
        options.formats =
            if case["formats"] == "strict" { Formats::Strict } else { Formats::Known };
        let schema =
            case["text"].as_str().map_or_else(|| case["schema"].to_string(), str::to_owned);
        let found = json!(said(&schema, &options));
        if found != case["said"] {
            faults.push(format!("{schema}\n  said {found}\n  not  {}", case["said"]));
        }
        let read = JsonSchema::parse(&schema, &options).ok();
        let constraint = read.map(|read| Constraint::new(&read.grammar(), &vocabulary));
        let constraint = constraint.map(|constraint| constraint.expect("the grammar is sound"));
        for (key, is_accepted) in [("accepted", true), ("refused", false)] {
            for text in case[key].as_array().into_iter().flatten() {
                let text = text.as_str().expect("a text");
                let found = constraint.as_ref().is_some_and(|constraint| accepts(constraint, text));
                if found != is_accepted {
                    faults.push(format!("{schema}: {text}"));
                }
            }
        }
        for (text, expected) in case["expected"].as_object().into_iter().flatten() {
            let mut matcher = constraint.as_ref().expect("it is read").matcher();
            matcher.advance_bytes(text.as_bytes()).expect("it is viable");
            let found: Vec<String> = matcher.expected().iter().map(ToString::to_string).collect();
            if json!(found) != *expected {
                faults.push(format!("{schema}: after {text} {found:?}, not {expected}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Every text of up to four tokens over small vocabularies is accepted exactly when the oracle
/// calls it valid, and each token that a mask allows leads to a valid text.
#[test]
fn small_schemas_against_the_oracle() {
    let tokens = [
        "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "1", "2", "12", "null", "{\"a\":", "true",
        "\"", "",
    ];
    let vocabulary = Vocabulary::from_tokens(tokens.map(|token| token.as_bytes().to_vec()));
    let end = (tokens.len() - 1) as u32;
    let vocabulary =
        vocabulary.and_then(|vocabulary| vocabulary.with_stop_tokens([end])).expect("a vocabulary");
    let mut options = SchemaOptions::default();
    options.whitespace = Whitespace::None;
    let mut checked = 0;
    let small = cases().into_iter().filter(|(name, _)| name.starts_with("small"));
    // No text is long enough for two keys, whose order would matter.
    let both = small
        .flat_map(|case| [KeyOrder::Any, KeyOrder::Declared].map(|order| (order, case.clone())));
    for (order, (name, case)) in both {
        options.order = order;
        let schema = &case["schema"];
        let constraint = constrain(&schema.to_string(), &options, &vocabulary);
        let constraint = constraint.unwrap_or_else(|kind| panic!("{name}: {schema}: {kind:?}"));
        let mut pending = vec![(String::new(), Vec::new())];
        while let Some((text, way)) = pending.pop() {
            let mut matcher = constraint.matcher();
            let allowed = way.iter().all(|&token: &u32| matcher.advance(token).is_ok());
            let is_sentence = allowed && matcher.clone().advance(end).is_ok();
            if let Some(is_valid) = oracle::is_valid_text(schema, &text) {
                assert_eq!(is_sentence, is_valid, "{name}: {schema}: {text}");
                checked += 1;
            }
            if allowed && way.len() >= 3 {
                let rest = matcher.shortest_completion().expect("what is allowed can be completed");
                let whole = format!("{text}{}", String::from_utf8_lossy(&rest));
                assert_ne!(
                    oracle::is_valid_text(schema, &whole),
                    Some(false),
                    "{name}: {schema}: {whole}"
                );
            }
            // Texts that do not begin any JSON are left out after the second token, because the
            // oracle calls none of them valid.
            if way.len() < 4 && (allowed || way.len() < 2) {
                for (token, own) in tokens[..tokens.len() - 1].iter().enumerate() {
                    pending.push((format!("{text}{own}"), [&way[..], &[token as u32]].concat()));
                }
            }
        }
    }
    assert!(checked > 10_000, "too few texts were tried: {checked}");
}

/// Returns texts of small values.
fn values() -> Vec<String> {
    let scalars = [
        "null", "true", "false", "0", "1", "2", "12", "-1", "1.5", "\"a\"", "\"b\"", "\"ab\"",
        "\"\"",
    ];
    let mut values: Vec<String> = scalars.map(str::to_owned).to_vec();
    let firsts = ["1", "2", "\"a\"", "null", "true"];
    values.push("[]".to_owned());
    values.push("{}".to_owned());
    for one in firsts {
        values.push(format!("[{one}]"));
        values.push(format!("{{\"a\":{one}}}"));
        values.push(format!("{{\"b\":{one}}}"));
        values.push(format!("{{\"c\":{one}}}"));
        for other in firsts {
            values.push(format!("[{one},{other}]"));
            values.push(format!("[{one},{other},1]"));
            values.push(format!("{{\"a\":{one},\"b\":{other}}}"));
            values.push(format!("{{\"b\":{one},\"a\":{other}}}"));
            values.push(format!("{{\"a\":{one},\"c\":{other}}}"));
            values.push(format!("{{\"c\":{one},\"a\":{other}}}"));
            let (a, b, c) =
                (format!("\"a\":{one}"), format!("\"b\":{other}"), "\"c\":1".to_owned());
            for [first, second, third] in
                [[&a, &b, &c], [&a, &c, &b], [&b, &a, &c], [&b, &c, &a], [&c, &a, &b], [&c, &b, &a]]
            {
                values.push(format!("{{{first},{second},{third}}}"));
            }
        }
    }
    values
}

/// Every valid text in a list of values is accepted. The test above may miss some of these.
#[test]
fn values_against_the_oracle() {
    let (vocabulary, values) = (bytes(), values());
    let mut options = SchemaOptions::default();
    (options.order, options.whitespace) = (KeyOrder::Any, Whitespace::None);
    for (name, case) in cases().into_iter().filter(|(name, _)| name.starts_with("small")) {
        let schema = &case["schema"];
        let constraint = constrain(&schema.to_string(), &options, &vocabulary);
        let constraint = constraint.unwrap_or_else(|kind| panic!("{name}: {schema}: {kind:?}"));
        for text in &values {
            let is_valid = oracle::is_valid_text(schema, text);
            assert_eq!(Some(accepts(&constraint, text)), is_valid, "{name}: {schema}: {text}");
        }
    }
}

/// A union of many objects that a key distinguishes: each branch is analyzed separately, not
/// together with all others.
#[test]
fn unions_of_many_branches() {
    const COUNT: usize = 150;
    let branch = |number: usize| {
        let own = [0, 1].map(|key| (format!("k{number}_{key}"), json!({"type": "integer"})));
        let kind = ("kind".to_owned(), json!({"const": format!("of {number}")}));
        let properties: serde_json::Map<String, Value> = own.into_iter().chain([kind]).collect();
        let required = json!(["kind", format!("k{number}_0")]);
        json!({"properties": properties, "required": required, "additionalProperties": false})
    };
    let branches: Vec<Value> = (0..COUNT).map(branch).collect();
    for keyword in ["oneOf", "anyOf"] {
        let schema = json!({"type": "object", keyword: branches}).to_string();
        let constraint = constrain(&schema, &SchemaOptions::default(), &bytes()).expect("a schema");
        for number in [0, 1, COUNT - 1] {
            let other = (number + 1) % COUNT;
            let kind = format!("\"kind\":\"of {number}\"");
            let (own, wrong) = (format!("\"k{number}_0\":1"), format!("\"k{other}_0\":1"));
            // The declared order is the sorted order here.
            assert!(accepts(&constraint, &format!("{{{own},{kind}}}")));
            assert!(accepts(&constraint, &format!("{{{own},\"k{number}_1\":2,{kind}}}")));
            assert!(!accepts(&constraint, &format!("{{{kind}}}")));
            assert!(!accepts(&constraint, &format!("{{{wrong},{kind}}}")));
            assert!(!accepts(&constraint, &format!("{{{own},{wrong},{kind}}}")));
        }
    }
}

/// Keywords alone and in pairs, in one schema if possible and otherwise in an `allOf`: verdicts on
/// small values equal those of the oracle, and a schema that no value satisfies is refused.
#[test]
fn pairs_of_keywords_against_the_oracle() {
    let keywords = [
        json!({"type": "object"}),
        json!({"type": ["integer", "array"]}),
        json!({"type": "string"}),
        json!({"enum": [1, "a", [1], {"a": 1}, null]}),
        json!({"const": {"a": 1, "b": 2}}),
        json!({"minimum": 1}),
        json!({"maximum": 1.5}),
        json!({"exclusiveMinimum": 1}),
        json!({"multipleOf": 2}),
        json!({"minLength": 1}),
        json!({"maxLength": 1}),
        json!({"pattern": "a"}),
        json!({"items": {"type": "integer"}}),
        json!({"prefixItems": [{"const": 1}]}),
        json!({"minItems": 1}),
        json!({"maxItems": 2}),
        json!({"contains": {"const": 1}}),
        json!({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}),
        json!({"items": {"enum": [1, 2, "a"]}, "uniqueItems": true}),
        json!({"properties": {"a": {"type": "integer"}, "b": {"const": 2}}}),
        json!({"patternProperties": {"^[ab]": {"minimum": 2}}}),
        json!({"additionalProperties": {"type": "integer"}}),
        json!({"required": ["a"]}),
        json!({"minProperties": 2}),
        json!({"maxProperties": 1}),
        json!({"propertyNames": {"pattern": "^[ac]$"}}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"dependentSchemas": {"b": {"required": ["c"]}}}),
        json!({"not": {"required": ["b"]}}),
        json!({"anyOf": [{"required": ["a"]}, {"type": "array"}]}),
        json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"minItems": 2}]}),
        json!({"if": {"required": ["a"]}, "then": {"maxProperties": 1}, "else": {"not": {"const": 1}}}),
        json!({"allOf": [{"type": ["object", "array", "number"]}]}),
    ];
    let (vocabulary, values) = (bytes(), values());
    let mut options = SchemaOptions::default();
    (options.order, options.whitespace) = (KeyOrder::Any, Whitespace::None);
    for (at, one) in keywords.iter().enumerate() {
        for other in &keywords[at..] {
            let mut schema = one.clone();
            let (Value::Object(all), Value::Object(more)) = (&mut schema, other.clone()) else {
                continue;
            };
            if more.keys().any(|key| all.contains_key(key)) {
                schema = json!({"allOf": [one, other]});
            } else {
                all.extend(more);
            }
            let constraint = match constrain(&schema.to_string(), &options, &vocabulary) {
                Ok(constraint) => Some(constraint),
                Err(SchemaErrorKind::Unsatisfiable) => None,
                Err(kind) => panic!("{schema}: {kind:?}"),
            };
            pair_in_declared_order(&schema, &values, &vocabulary);
            for text in &values {
                // The remaining narrowness of `uniqueItems` is documented.
                let is_valid = oracle::is_valid_text(&schema, text) == Some(true);
                let is_narrow = is_narrow(&schema);
                let is_accepted =
                    constraint.as_ref().is_some_and(|constraint| accepts(constraint, text));
                assert!(is_accepted == is_valid || is_narrow && is_valid, "{schema}: {text}");
            }
        }
    }
}

/// In the declared order nothing invalid is accepted, and each valid value is accepted in some
/// order of its keys.
fn pair_in_declared_order(schema: &Value, values: &[String], vocabulary: &Vocabulary) {
    let mut options = SchemaOptions::default();
    options.whitespace = Whitespace::None;
    let constraint = constrain(&schema.to_string(), &options, vocabulary).ok();
    let mut found: BTreeMap<String, (bool, bool)> = BTreeMap::new();
    for text in values {
        let is_accepted = constraint.as_ref().is_some_and(|constraint| accepts(constraint, text));
        let is_valid = oracle::is_valid_text(schema, text) == Some(true);
        assert!(is_valid || !is_accepted, "{schema} accepts {text}");
        // Keys of maps are sorted.
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let one = found.entry(value.to_string()).or_default();
        *one = (one.0 | is_valid, one.1 | is_accepted);
    }
    let is_narrow = is_narrow(schema);
    for (value, (is_valid, is_accepted)) in found {
        assert!(
            is_accepted || !is_valid || is_narrow,
            "{schema} refuses {value} in any order of its keys"
        );
    }
}

/// Whether the array has schemas for its first items and requires distinct items: such arrays are
/// approximated.
fn is_narrow(schema: &Value) -> bool {
    let is_tuple = schema["items"].is_array() || !schema["prefixItems"].is_null();
    schema["uniqueItems"] == true && is_tuple
}

/// Kinds of refusal that `docs/json-schema.md` lists.
const REFUSALS: [SchemaErrorKind; 5] = [
    SchemaErrorKind::UnsupportedKeyword,
    SchemaErrorKind::UnresolvedReference,
    SchemaErrorKind::UnsupportedPattern,
    SchemaErrorKind::TooLarge,
    SchemaErrorKind::ReferenceCycle,
];

/// Verdicts on the JSON-Schema-Test-Suite, for all schemas that are not refused. Two features are
/// narrower: `uniqueItems` of tuples, and numbers that floating point cannot distinguish.
#[test]
#[ignore = "reads samples"]
fn test_suite() {
    let files = corpus::needed(corpus::archive("json/JSON-Schema-Test-Suite.tar.gz"));
    let mut options = SchemaOptions::default();
    (options.order, options.numerals, options.whitespace) =
        (KeyOrder::Any, Numerals::Any, Whitespace::None);
    let mut documents = BTreeMap::new();
    for (path, content) in &files {
        if let Some((_, name)) = path.split_once("/remotes/") {
            let text = String::from_utf8_lossy(content).into_owned();
            documents.insert(format!("http://localhost:1234/{name}"), text);
        }
    }
    options.documents = documents;
    let vocabulary = bytes();
    let (mut groups, mut refused) = (0, 0);
    let mut faults = Vec::new();
    for (path, content) in &files {
        let Some((_, name)) = path.split_once("/tests/") else { continue };
        let is_format = name.contains("/optional/format/");
        if !name.ends_with(".json")
            || (name.contains("/optional/") && !is_format)
            || name.contains("draft3")
        {
            continue;
        }
        options.formats = if is_format { Formats::Known } else { Formats::Ignore };
        let Ok(Value::Array(content)) = serde_json::from_slice(content) else { continue };
        for group in content {
            groups += 1;
            let mut schema = group["schema"].clone();
            // A group without `$schema` belongs to the draft of its directory.
            let draft = name.split('/').next().unwrap_or_default();
            if let (Value::Object(members), Some(of)) = (&mut schema, draft.strip_prefix("draft"))
                && of.len() == 1
            {
                let of = json!(format!("http://json-schema.org/draft-0{of}/schema#"));
                members.entry("$schema").or_insert(of);
            }
            let tests = group["tests"].as_array().cloned().unwrap_or_default();
            let constraint = match constrain(&schema.to_string(), &options, &vocabulary) {
                Ok(constraint) => constraint,
                Err(SchemaErrorKind::Unsatisfiable) => {
                    let is_right = tests.iter().all(|test| test["valid"] == false);
                    if !is_right {
                        faults.push(format!("{name}: {schema} is unsatisfiable"));
                    }
                    continue;
                }
                Err(kind) => {
                    refused += 1;
                    if !REFUSALS.contains(&kind) {
                        faults.push(format!("{name}: {schema}: {kind:?}"));
                    }
                    continue;
                }
            };
            for test in tests {
                let text = test["data"].to_string();
                let verdict = accepts(&constraint, &text);
                let is_narrow = test["valid"] == true && is_narrow(&schema);
                if json!(verdict) != test["valid"] && !is_narrow {
                    faults.push(format!("{name}: {schema}: {text} must be {}", test["valid"]));
                }
            }
        }
    }
    println!("JSON-Schema-Test-Suite: {refused} of {groups} groups are refused");
    assert!(refused * 10 < groups);
    let faults: Vec<String> = faults
        .into_iter()
        .filter(|fault| !NARROW.iter().any(|part| fault.contains(part)))
        .collect();
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
}

/// Files of the suite in which some texts are judged more narrowly, as documented in
/// `docs/json-schema.md`.
const NARROW: [&str; 2] = ["hostname.json", "(?<n>a)\\\\k<n>"];

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({"type": "string"})),
        Just(json!({"type": ["integer", "null"]})),
        Just(json!({"enum": [1, "a", null, [1], {"a": 1}]})),
        Just(json!({"minimum": 1, "maximum": 12})),
        Just(json!({"pattern": "^a", "maxLength": 3})),
        Just(json!({"multipleOf": 0.5})),
        Just(json!({"required": ["a"]})),
        Just(json!({"minProperties": 1, "maxProperties": 2})),
        Just(json!({"minItems": 1, "maxItems": 2})),
        Just(json!({"$ref": "#"})),
        Just(json!({"format": "date"})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            list().prop_map(|parts| json!({"anyOf": parts})),
            list().prop_map(|parts| json!({"oneOf": parts})),
            list().prop_map(|parts| json!({"allOf": parts})),
            inner.clone().prop_map(|part| json!({"not": part})),
            inner.clone().prop_map(|part| json!({"items": part, "uniqueItems": true})),
            inner.clone().prop_map(|part| json!({"contains": part, "maxContains": 1})),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| json!({"properties": {"a": a}, "additionalProperties": b})),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| json!({"if": a, "then": b, "else": false})),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| json!({"patternProperties": {"^a": a, "b$": b}})),
            inner.clone().prop_map(|part| json!({"propertyNames": part})),
            inner.clone().prop_map(
                |part| json!({"dependentSchemas": {"a": part}, "unevaluatedProperties": false})
            ),
        ]
    })
}

proptest! {
    // Half as many cases as elsewhere; `PROPTEST_CASES` sets the number.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]

    /// Every schema is read or refused, and its grammar is sound.
    #[test]
    fn no_schema_makes_it_panic(schema in schemas()) {
        let builder = Constraint::builder().limits(&few());
        let _ = builder.read(&Source::json_schema(schema.to_string(), &SchemaOptions::default()), &bytes());
    }

    /// A text that is drawn from the masks of a random schema, and then completed, is valid.
    #[test]
    fn what_is_generated_is_valid(
        schema in schemas(),
        choices in prop::collection::vec(any::<u8>(), 0..40),
        is_any in any::<bool>(),
    ) {
        let mut options = SchemaOptions::default();
        options.order = if is_any { KeyOrder::Any } else { KeyOrder::Declared };
        (options.whitespace, options.formats) = (Whitespace::None, Formats::Ignore);
        // The oracle does not support this keyword.
        if schema.to_string().contains("unevaluatedProperties") {
            return Ok(());
        }
        let builder = Constraint::builder().limits(&few());
        let constraint = builder.read(&Source::json_schema(schema.to_string(), &options), &bytes());
        let Ok(constraint) = constraint else { return Ok(()) };
        let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
        let mut text = Vec::new();
        for choice in choices {
            matcher.fill_mask(&mut mask);
            let allowed: Vec<u32> = mask.tokens().map(lrmask::TokenId::get).filter(|&token| token < 256).collect();
            if allowed.is_empty() {
                break;
            }
            let token = allowed[usize::from(choice) % allowed.len()];
            prop_assert!(matcher.advance(token).is_ok(), "{schema}: the mask allows {token}");
            text.push(token as u8);
        }
        let rest = matcher.shortest_completion();
        prop_assert!(rest.is_some(), "{schema}: {} cannot be ended", String::from_utf8_lossy(&text));
        text.extend(rest.unwrap_or_default());
        let text = String::from_utf8(text).expect("texts are UTF-8");
        // The oracle cannot read numbers beyond a double's range.
        let is_read = serde_json::from_str::<Value>(&text).is_ok();
        prop_assert!(is_read || text.contains(['e', 'E']), "{schema}: {text} is no JSON");
        if !is_read {
            return Ok(());
        }
        // The oracle uses doubles, which cannot distinguish numbers of more than 15 digits.
        let digits = |part: &str| part.bytes().filter(u8::is_ascii_digit).count();
        if text.split(|c: char| !c.is_ascii_digit() && c != '.').any(|part| digits(part) > 15) {
            return Ok(());
        }
        prop_assert_ne!(oracle::is_valid_text(&schema, &text), Some(false), "{}: {}", schema, text);
    }

    /// Texts that are not schemas are refused.
    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}:,\"a$ref0-9e.\\\\u#/ ]{0,40}") {
        let _ = JsonSchema::parse(&text, &SchemaOptions::default());
    }
}

/// No invalid instance of MaskBench's samples is accepted. Every eighth schema is run;
/// `examples/maskbench.rs` runs all.
#[test]
#[ignore = "reads samples"]
fn samples_of_maskbench() {
    let files = corpus::needed(corpus::archive("json/maskbench.tar.gz"));
    let vocabulary = bytes();
    let (mut run, mut wrong) = (0, 0);
    for (path, content) in files.iter().step_by(8) {
        let Ok(document) = serde_json::from_slice::<Value>(content) else { continue };
        // Sorted keys are in the declared order of a schema whose keys are sorted too.
        let Ok(constraint) =
            constrain(&document["schema"].to_string(), &SchemaOptions::default(), &vocabulary)
        else {
            continue;
        };
        run += 1;
        for test in document["tests"].as_array().into_iter().flatten() {
            let verdict = accepts(&constraint, &test["data"].to_string());
            assert!(!verdict || test["valid"] == true, "{path} accepts {}", test["data"]);
            wrong += usize::from(json!(verdict) != test["valid"]);
        }
    }
    assert!(run > 60, "{run} schemas were run");
    assert!(wrong * 10 < run, "{wrong} valid instances are refused");
}

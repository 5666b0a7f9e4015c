//! Schemas that look harmless: their cost is linear, or a limit refuses them early.

use std::fmt::Write;

use lrmask::{
    CompiledGrammar, Constraint, Grammar, GrammarReader, JsonSchema, Limits, SchemaOptions,
    StructuralTags,
};

/// Returns the steps to read and compile a schema within these limits.
fn steps_within(schema: &str, limits: &Limits) -> u64 {
    compiled(schema, limits).cost().steps
}

fn compiled(schema: &str, limits: &Limits) -> CompiledGrammar {
    let reader = GrammarReader::new().limits(limits);
    let read = reader.json_schema(schema, &SchemaOptions::default());
    let grammar = read.unwrap_or_else(|error| panic!("{error:?}")).grammar();
    Constraint::builder()
        .limits(limits)
        .compile(&grammar)
        .unwrap_or_else(|error| panic!("{error:?}"))
}

/// Whether each of these texts satisfies a schema.
fn verdicts<const N: usize>(schema: &str, texts: [&str; N]) -> [bool; N] {
    let compiled = compiled(schema, &Limits::default());
    let bytes = (0..=255u8).map(|byte| vec![byte]).collect::<Vec<_>>();
    let vocabulary = lrmask::Vocabulary::from_tokens(bytes).expect("bytes");
    let constraint = compiled.constraint(&vocabulary).expect("bytes");
    texts.map(|text| {
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
    })
}

/// Returns resources as in FHIR: `resourceType` distinguishes them, and they share definitions.
fn resources(count: usize, keyword: &str, kind: &str) -> String {
    let mut all = String::new();
    let mut definitions = r##""Name": {"properties": {"family": {"type": "string"}, "given": {"type": "array", "items": {"type": "string"}}}}, "Period": {"properties": {"start": {"type": "string"}, "end": {"type": "string"}}}"##.to_owned();
    for at in 0..count {
        let comma = if at == 0 { "" } else { ", " };
        let _ = write!(all, r##"{comma}{{"$ref": "#/definitions/R{at}"}}"##);
        let _ = write!(
            definitions,
            r##", "R{at}": {{{kind}"properties": {{"resourceType": {{"const": "R{at}"}}, "id": {{"type": "string"}}, "name": {{"$ref": "#/definitions/Name"}}, "own{at}": {{"$ref": "#/definitions/Period"}}, "contained": {{"type": "array", "items": {{"$ref": "#/definitions/Name"}}}}}}, "additionalProperties": false, "required": ["resourceType"]}}"##
        );
    }
    format!(
        r#"{{"$schema": "http://json-schema.org/draft-06/schema#", "{keyword}": [{all}], "definitions": {{{definitions}}}}}"#
    )
}

#[test]
fn one_of_objects_that_a_constant_tells_apart_costs_what_any_of_them_does() {
    let limits = Limits::strict();
    for kind in ["", r#""type": "object", "#] {
        let [one, any] =
            ["oneOf", "anyOf"].map(|key| steps_within(&resources(141, key, kind), &limits));
        assert!(one < 2 * any + 1_000_000, "{one} {any}");
    }
}

#[test]
fn one_of_objects_that_a_constant_tells_apart_is_exactly_one() {
    let texts = [
        r#"{"resourceType": "R1", "id": "a"}"#,
        r#"{"resourceType": "R2", "own2": {}}"#,
        r#"{"resourceType": "R2", "own1": {}}"#,
        r#"{"resourceType": "R3"}"#,
        r#"{"id": "a"}"#,
        "{}",
        "1",
        "null",
        "[]",
    ];
    let open = [true, true, false, false, false, false, false, false, false];
    assert_eq!(verdicts(&resources(3, "oneOf", ""), texts), open);
    assert_eq!(verdicts(&resources(3, "oneOf", r#""type": "object", "#), texts), open);
    // Values of other types satisfy the one that has no `type`.
    let typed = r#"{"type": "object", "properties": {"k": {"const": 1}}, "required": ["k"]}"#;
    let untyped = r#"{"properties": {"k": {"enum": [2, 3]}}, "required": ["k"]}"#;
    let schema = format!(r#"{{"oneOf": [{typed}, {untyped}]}}"#);
    let texts = [r#"{"k": 1}"#, r#"{"k": 2}"#, r#"{"k": 4}"#, "5", "[]"];
    assert_eq!(verdicts(&schema, texts), [true, true, false, true, true]);
    // Equal numbers do not distinguish alternatives.
    let schema = r#"{"oneOf": [{"const": 1}, {"const": 1.0}, {"const": 2}]}"#;
    assert_eq!(verdicts(schema, ["1", "2", "3"]), [false, true, false]);
    let schema = r#"{"oneOf": [{"enum": [1, 2]}, {"enum": [2, 3]}, {"const": "2"}]}"#;
    assert_eq!(verdicts(schema, ["1", "2", "3", "\"2\""]), [true, false, true, true]);
    // Also below `not`.
    let schema = r#"{"type": ["integer", "null"], "not": {"oneOf": [{"const": 1}, {"const": 2}]}}"#;
    assert_eq!(verdicts(schema, ["1", "2", "3", "null"]), [false, false, true, true]);
}

#[test]
fn patterns_of_keys_that_ask_the_same_are_one() {
    let of = |count: usize| {
        let patterns: Vec<String> =
            (0..count).map(|at| format!(r#""w{at}x": {{"type": "integer"}}"#)).collect();
        format!(
            r#"{{"patternProperties": {{{}}}, "additionalProperties": {{"type": "null"}}}}"#,
            patterns.join(", ")
        )
    };
    let (few, many) = (4, 40);
    let [few, many] = [few, many].map(|count| steps_within(&of(count), &Limits::strict()));
    assert!(many < 40 * few, "{few} {many}");
    let texts = [
        r#"{"w1x": 1}"#,
        r#"{"aw1xb": 1}"#,
        r#"{"w1xw2x": 1}"#,
        r#"{"w1x": null}"#,
        r#"{"w1": null}"#,
        r#"{"w1": 1}"#,
    ];
    assert_eq!(verdicts(&of(4), texts), [true, true, true, false, true, false]);
    // Alternation and anchors stay within their patterns, and invalid patterns are refused.
    let schema = r#"{"patternProperties": {"^a|b$": {"type": "integer"}, "^c$": {"type": "integer"}}, "additionalProperties": false}"#;
    let texts = [r#"{"ax": 1}"#, r#"{"xb": 1}"#, r#"{"c": 1}"#, r#"{"cx": 1}"#, r#"{"xc": 1}"#];
    assert_eq!(verdicts(schema, texts), [true, true, true, false, false]);
    let schema = r#"{"patternProperties": {"(": {"type": "integer"}, "|b)": {"type": "integer"}}}"#;
    assert!(JsonSchema::parse(schema, &SchemaOptions::default()).is_err());
}

#[test]
fn very_many_words_are_several_automata() {
    let mut state = 7u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let uuids: Vec<String> = (0..7_000)
        .map(|_| {
            let [a, b, c, d, e] = [(); 5].map(|()| next());
            format!(
                "\"{:08x}-{:04x}-{:04x}-{:04x}-{:012x}\"",
                a,
                b & 0xffff,
                c & 0xffff,
                d & 0xffff,
                e * 31
            )
        })
        .collect();
    let schema = format!(r#"{{"enum": [{}]}}"#, uuids.join(", "));
    let other = uuids[6_999].replacen(&uuids[6_999][3..5], "zz", 1);
    let texts = [&*uuids[0], &uuids[3_500], &uuids[6_999], &other];
    assert_eq!(verdicts(&schema, texts), [true, true, true, false]);
    let words: Vec<String> =
        (0..50_000).map(|at| format!("\"{:x}{at}\"", next() & 0xfff_ffff)).collect();
    let schema = format!(r#"{{"enum": [{}]}}"#, words.join(", "));
    assert_eq!(verdicts(&schema, [&*words[17], &words[49_999], "\"\""]), [true, true, false]);
}

#[test]
fn counts_that_take_very_many_states_come_to_a_limit_at_once() {
    for schema in [
        r#"{"type": "array", "contains": {"type": "null"}, "minContains": 3000000}"#,
        r#"{"type": "array", "contains": {"type": "null"}, "maxContains": 3000000}"#,
    ] {
        let options = SchemaOptions::default();
        let reader = GrammarReader::new().limits(&Limits::strict());
        let error = reader.json_schema(schema, &options).unwrap_err();
        assert!(error.limit().is_some(), "{schema}: {error:?}");
    }
    // Items without other conditions are counted in binary.
    for schema in [
        r#"{"type": "array", "minItems": 1000000}"#,
        r#"{"type": ["array", "null"], "minItems": 10000000}"#,
        r#"{"type": "array", "not": {"minItems": 10000000}}"#,
    ] {
        let options = SchemaOptions::default();
        let read = GrammarReader::new().limits(&Limits::strict()).json_schema(schema, &options);
        assert!(read.is_ok(), "{schema}: {read:?}");
    }
}

#[test]
fn triggers_are_charged_before_their_automata_are_made() {
    let tags = |count: usize| {
        let begin = |tag: usize| -> String {
            let letter =
                |at: usize| if (tag * 2_654_435_761) >> (at % 31) & 1 == 1 { 'a' } else { 'b' };
            format!("{}{tag}", (0..40).map(letter).collect::<String>())
        };
        let mut tags = StructuralTags::new((0..count).map(begin));
        (0..count).for_each(|tag| tags.add_tag(&begin(tag), "true", ""));
        let grammar: Result<Grammar, _> = GrammarReader::new()
            .limits(&Limits::strict())
            .structural_tags(&tags, &SchemaOptions::default());
        grammar
    };
    assert!(tags(100).is_ok());
    for count in [500, 1_000, 2_500] {
        let error = tags(count).unwrap_err();
        assert!(error.limit().is_some(), "{count}: {error:?}");
    }
}

/// How a rule calls the schema of a number.
type Rule = dyn Fn(usize, &str) -> String;

/// A grammar with so many schemas beside rules.
fn beside_rules(count: usize, head: &str, rule: impl Fn(usize, &str) -> String) -> String {
    let schema = |at: usize| {
        format!(
            r#"%json {{"type": "object", "properties": {{"a{at}": {{"type": "string", "maxLength": {}}}, "kind": {{"enum": ["x{at}", "y"]}}}}, "required": ["a{at}"]}}"#,
            1000 + at
        )
    };
    let calls: Vec<String> = (0..count).map(|at| rule(at, &schema(at))).collect();
    format!("{head}call: {}\n", calls.join("\n    | "))
}

#[test]
fn schemas_beside_rules_cost_what_they_cost_alone() {
    let limits = Limits::strict();
    let plain = |at: usize, schema: &str| format!("\"t{at}\" {schema}");
    let tagged = |at: usize, schema: &str| format!("\"<t{at}>\" {schema} \"</t>\"");
    let heads: [(&str, &Rule); 4] = [
        ("start: call\n", &plain),
        ("%llguidance {}\nstart: call\n", &plain),
        ("start: call+\n%ignore \" \"\n", &tagged),
        ("start: (TEXT | call)*\nTEXT: /[^<]+/\n", &tagged),
    ];
    for (head, rule) in heads {
        let cost = |count: usize| {
            let grammar = GrammarReader::new()
                .limits(&limits)
                .lark(&beside_rules(count, head, rule))
                .unwrap_or_else(|error| panic!("{error:?}"));
            let compiled = Constraint::builder()
                .limits(&limits)
                .compile(&grammar)
                .unwrap_or_else(|error| panic!("{count} {head} {error:?}"));
            (compiled.cost().steps, compiled.size().scan_states)
        };
        let [few, many] = [4, 40].map(cost);
        assert!(many.0 < 20 * few.0, "{head} {few:?} {many:?}");
        assert!(many.1 < 200, "{head} {few:?} {many:?}");
    }
}

/// A list of so many alternatives.
fn alternatives(keyword: &str, count: usize, alternative: impl Fn(usize) -> String) -> String {
    let all: Vec<String> = (0..count).map(alternative).collect();
    format!(r#"{{"{keyword}": [{}]}}"#, all.join(", "))
}

#[test]
fn lists_of_constants_cost_their_length() {
    let limits = Limits::strict();
    let texts: [fn(usize) -> String; 4] = [
        |at| format!(r#"{{"const": "value {at}"}}"#),
        |at| format!(r#"{{"const": "value {at}", "title": "Value {at}"}}"#),
        |at| format!(r#"{{"enum": ["value {at}"], "type": "string"}}"#),
        |at| format!(r#"{{"enum": ["value {at}", "other {at}"]}}"#),
    ];
    for keyword in ["oneOf", "anyOf"] {
        for text in texts {
            let [few, many] = [500, 5_000]
                .map(|count| steps_within(&alternatives(keyword, count, text), &limits));
            assert!(many < 15 * few, "{keyword} {} {few} {many}", text(0));
        }
    }
    // Also where lists have values in common, and beside other conditions.
    let common = |at: usize| format!(r#"{{"enum": ["value {at}", "value {}"]}}"#, at + 1);
    let [few, many] =
        [200, 2_000].map(|count| steps_within(&alternatives("oneOf", count, common), &limits));
    assert!(many < 15 * few, "{few} {many}");
    let schema = alternatives("oneOf", 3, common);
    let texts = [r#""value 0""#, r#""value 1""#, r#""value 2""#, r#""value 3""#, r#""value 4""#];
    assert_eq!(verdicts(&schema, texts), [true, false, false, true, false]);
}

#[test]
fn a_list_of_objects_costs_its_length() {
    let limits = Limits::default();
    let object = |at: usize| format!(r#"{{"id": {at}, "name": "n{at}", "tags": ["a{at}"]}}"#);
    let list = |count: usize| {
        let all: Vec<String> = (0..count).map(object).collect();
        format!(r#"{{"enum": [{}]}}"#, all.join(", "))
    };
    let [few, many] = [200, 2_000].map(|count| steps_within(&list(count), &limits));
    assert!(many < 30 * few, "{few} {many}");
    let texts = [
        r#"{"id": 7, "name": "n7", "tags": ["a7"]}"#,
        r#"{"id": 7, "name": "n8", "tags": ["a7"]}"#,
        r#"{"id": 50, "name": "n50", "tags": ["a50"]}"#,
    ];
    assert_eq!(verdicts(&list(50), texts), [true, false, false]);
}

#[test]
fn open_alternatives_cost_what_they_write() {
    let limits = Limits::default();
    let open = |at: usize| {
        let keys: Vec<String> =
            (0..8).map(|key| format!(r#""k{at}_{key}": {{"type": "string"}}"#)).collect();
        format!(r#"{{"properties": {{{}}}, "required": ["k{at}_0"]}}"#, keys.join(", "))
    };
    let cost = |count: usize| {
        let compiled = compiled(&alternatives("anyOf", count, open), &limits);
        (compiled.cost().steps, compiled.size().productions)
    };
    let [few, many] = [40, 160].map(cost);
    assert!(many.0 < 16 * few.0 && many.1 < 5 * few.1, "{few:?} {many:?}");
}

#[test]
fn patterns_of_keys_cost_the_classes_that_are_asked_for() {
    let limits = Limits::strict();
    let of = |count: usize, asked: &dyn Fn(usize) -> String| {
        let patterns: Vec<String> =
            (0..count).map(|at| format!(r#""w{at}x": {}"#, asked(at))).collect();
        format!(r#"{{"type": "object", "patternProperties": {{{}}}}}"#, patterns.join(", "))
    };
    let asked: [&dyn Fn(usize) -> String; 4] = [
        &|at| format!(r#"{{"type": "string", "maxLength": {}}}"#, at + 1),
        &|at| format!(r#"{{"minimum": {at}}}"#),
        &|at| format!(r#"{{"const": {at}}}"#),
        &|at| format!(r#"{{"type": "{}"}}"#, ["string", "integer", "null", "array"][at % 4]),
    ];
    for asked in asked {
        let [few, many] = [4, 16].map(|count| steps_within(&of(count, asked), &limits));
        assert!(many < 100 * few, "{} {few} {many}", asked(0));
    }
    let texts = [
        r#"{"w3x": "abcd"}"#,
        r#"{"w3xw1x": "abcd"}"#,
        r#"{"w1xw3x": "ab"}"#,
        r#"{"aw9xw8xw3xw1x": "ab", "w": 1}"#,
        r#"{"aw9xw8xw3xw0x": "ab"}"#,
    ];
    assert_eq!(verdicts(&of(10, asked[0]), texts), [true, false, true, true, false]);
    // Where each combination asks for something else, keys that few patterns match are left.
    let own = |at: usize| format!(r#"{{"type": "object", "required": ["r{at}"]}}"#);
    let schema = of(10, &own);
    assert!(steps_within(&schema, &limits) > 0);
    let texts = [
        r#"{"w3x": {"r3": 1}}"#,
        r#"{"w3x": {"r4": 1}}"#,
        r#"{"w1xw2x": {"r1": 1, "r2": 1}}"#,
        r#"{"w1xw2x": {"r1": 1}}"#,
    ];
    assert_eq!(verdicts(&schema, texts), [true, false, true, false]);
}

#[test]
fn large_lengths_in_alternatives_are_counted_apart() {
    let bound = |text: &str, count: usize| format!("\"{}\"", text.repeat(count));
    for (schema, valid, invalid) in [
        (
            r#"{"anyOf": [{"type": "string", "maxLength": 32767}, {"const": "abc"}]}"#,
            vec![bound("c", 32_767), "\"abc\"".to_owned()],
            vec![bound("c", 32_768)],
        ),
        (
            r#"{"anyOf": [{"type": "string", "maxLength": 32767, "pattern": "^a"}, {"type": "string", "maxLength": 16000, "pattern": "^b"}]}"#,
            vec![bound("a", 32_767), bound("b", 16_000), bound("b", 3)],
            vec![bound("a", 32_768), bound("b", 16_001), bound("c", 3)],
        ),
        (
            r#"{"type": "string", "not": {"maxLength": 16000, "minLength": 2}}"#,
            vec![bound("a", 1), bound("a", 16_001)],
            vec![bound("a", 2), bound("a", 16_000)],
        ),
    ] {
        let read = JsonSchema::parse(schema, &SchemaOptions::default()).expect("sound");
        assert!(read.warnings().is_empty(), "{:?}", read.warnings());
        assert!(steps_within(schema, &Limits::strict()) < 10_000_000, "{schema}");
        for (texts, is_valid) in [(valid, true), (invalid, false)] {
            for text in texts {
                let length = text.len();
                assert_eq!(verdicts(schema, [&text]), [is_valid], "{schema} {length}");
            }
        }
    }
}

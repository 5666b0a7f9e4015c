//! Schemas that look harmless cost what they write, or are refused by a limit at once.

use std::fmt::Write;

use lrmask::{
    CompiledGrammar, Constraint, Grammar, GrammarReader, JsonSchema, Limits, SchemaOptions,
    StructuralTags,
};

/// What a schema costs in steps under these limits, compiled.
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

/// Resources as FHIR has them: each is told by its `resourceType`, and they share definitions.
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
    // One alone that asks nothing of other values is satisfied by these.
    let typed = r#"{"type": "object", "properties": {"k": {"const": 1}}, "required": ["k"]}"#;
    let untyped = r#"{"properties": {"k": {"enum": [2, 3]}}, "required": ["k"]}"#;
    let schema = format!(r#"{{"oneOf": [{typed}, {untyped}]}}"#);
    let texts = [r#"{"k": 1}"#, r#"{"k": 2}"#, r#"{"k": 4}"#, "5", "[]"];
    assert_eq!(verdicts(&schema, texts), [true, true, false, true, true]);
    // What is the same number tells nothing apart.
    let schema = r#"{"oneOf": [{"const": 1}, {"const": 1.0}, {"const": 2}]}"#;
    assert_eq!(verdicts(schema, ["1", "2", "3"]), [false, true, false]);
    let schema = r#"{"oneOf": [{"enum": [1, 2]}, {"enum": [2, 3]}, {"const": "2"}]}"#;
    assert_eq!(verdicts(schema, ["1", "2", "3", "\"2\""]), [true, false, true, true]);
    // Below `not` as well.
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
    // Alternatives and anchors keep to their patterns, and what is no pattern is refused.
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
    // Of which nothing else is asked are counted in binary.
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

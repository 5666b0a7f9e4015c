//! Schemas and tags that look harmless: many of one kind, and large counts.

use lrmask::{Constraint, GrammarReader, Limits, SchemaOptions, StructuralTags};

use crate::{Answer, Attack, findings};

#[path = "../../tests/tools/mod.rs"]
mod tools;

pub(crate) fn attacks() -> Vec<Attack> {
    let attack = |name, sizes, run| Attack { name, sizes, run };
    vec![
        attack("tools as tags", [10, 117, 400], |n, limits| of_tags(&tools::tags(n), limits)),
        attack("tools as formats", [10, 117, 400], |n, limits| match tools::formats(n) {
            Ok(tags) => of_tags(&tags, limits),
            Err(error) => Answer::of::<lrmask::CompiledGrammar>("", Err(vec![error.diagnostic()])),
        }),
        attack("tags with long strings", [2, 10, 100], |n, limits| {
            let mut tags = StructuralTags::new(["<f"]);
            for tag in 0..n {
                let string = format!("{{\"type\": \"string\", \"maxLength\": {}}}", 2000 + tag);
                tags.add_tag(&format!("<f{tag}>"), &format!("{{\"items\": {string}}}"), "</f>");
            }
            of_tags(&tags, limits)
        }),
        attack("tags with triggers of their own", [100, 500, 2_500], |n, limits| {
            let begin = |tag: usize| -> String {
                let mixed = (tag + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (0..40).map(|at| if mixed >> at & 1 == 1 { 'a' } else { 'b' }).collect()
            };
            let mut tags = StructuralTags::new((0..n).map(begin));
            (0..n).for_each(|tag| tags.add_tag(&begin(tag), "true", ""));
            of_tags(&tags, limits)
        }),
        attack("formats with triggers of their own", [100, 300, 1_000], |n, limits| {
            let rule =
                |tag| format!("[\"<t{tag}>\", {{\"type\": \"const_string\", \"value\": \"x\"}}]");
            let rules: Vec<String> = (0..n).map(rule).collect();
            let format = format!("{{\"type\": \"dispatch\", \"rules\": [{}]}}", rules.join(", "));
            match StructuralTags::parse(&format!("{{\"format\": {format}}}")) {
                Ok(tags) => of_tags(&tags, limits),
                Err(error) => {
                    Answer::of::<lrmask::CompiledGrammar>("", Err(vec![error.diagnostic()]))
                }
            }
        }),
        attack("tags of `TagDispatch`, GBNF", [100, 1_000, 3_000], |n, limits| {
            let tags: Vec<String> = (0..n).map(|tag| format!("(\"<t{tag}>\", r)")).collect();
            let text = format!("root ::= TagDispatch({})\nr ::= \"x\"\n", tags.join(", "));
            let result = match GrammarReader::new().limits(limits).gbnf(&text) {
                Ok(grammar) => Constraint::builder()
                    .limits(limits)
                    .compile(&grammar)
                    .map_err(|error| findings(&error)),
                Err(error) => Err(findings(&error)),
            };
            Answer::of(&text, result)
        }),
        attack("items that must stand there", [10_000, 1_000_000, 10_000_000], |n, limits| {
            of_schema(&format!("{{\"type\": \"array\", \"minItems\": {n}}}"), limits)
        }),
        attack("items that are contained", [1_000, 100_000, 10_000_000], |n, limits| {
            let text = format!("{{\"contains\": {{\"type\": \"null\"}}, \"minContains\": {n}}}");
            of_schema(&text, limits)
        }),
        attack("`oneOf` of objects that a key tells apart", [141, 500, 2_000], |n, limits| {
            let object = |i: usize| {
                format!(
                    "{{\"properties\": {{\"kind\": {{\"const\": \"k{i}\"}}, \"k{i}\": {{}}}}, \
                     \"required\": [\"kind\"], \"additionalProperties\": false}}"
                )
            };
            of_schema(&one_of(n, object), limits)
        }),
        attack("`oneOf` of constants", [1_000, 5_000, 50_000], |n, limits| {
            of_schema(&one_of(n, |i| format!("{{\"const\": \"c{i}\"}}")), limits)
        }),
        attack("`oneOf` of open objects", [40, 80, 120], |n, limits| {
            let object = |i: usize| {
                let keys: Vec<String> =
                    (0..8).map(|at| format!("\"k{}\": {{\"minimum\": {i}}}", i + at)).collect();
                format!("{{\"properties\": {{{}}}, \"required\": [\"k{i}\"]}}", keys.join(","))
            };
            of_schema(&one_of(n, object), limits)
        }),
        attack("patterns of keys that may begin anywhere", [6, 8, 100], |n, limits| {
            let patterns: Vec<String> =
                (0..n).map(|i| format!("\"w{i}x\": {{\"type\": \"integer\"}}")).collect();
            of_schema(&format!("{{\"patternProperties\": {{{}}}}}", patterns.join(",")), limits)
        }),
    ]
}

fn one_of(count: usize, alternative: impl Fn(usize) -> String) -> String {
    let all: Vec<String> = (0..count).map(alternative).collect();
    format!("{{\"oneOf\": [{}]}}", all.join(","))
}

fn of_tags(tags: &StructuralTags, limits: &Limits) -> Answer {
    let grammar =
        GrammarReader::new().limits(limits).structural_tags(tags, &SchemaOptions::default());
    let result = match grammar {
        Ok(grammar) => {
            Constraint::builder().limits(limits).compile(&grammar).map_err(|error| findings(&error))
        }
        Err(error) => Err(vec![error.diagnostic()]),
    };
    Answer::of("", result)
}

fn of_schema(text: &str, limits: &Limits) -> Answer {
    let result =
        match GrammarReader::new().limits(limits).json_schema(text, &SchemaOptions::default()) {
            Ok(schema) => Constraint::builder()
                .limits(limits)
                .compile(&schema.grammar())
                .map_err(|error| findings(&error)),
            Err(error) => Err(vec![error.diagnostic()]),
        };
    Answer::of(text, result)
}

//! Structural tags: their language, compared with its definition, and the cost of many tags.
//!
//! `LRMASK_RANDOM=N` tries N random sets of tags (default 300).

use std::collections::BTreeSet;

use fastrand::Rng;
use lrmask::{
    CompiledGrammar, Constraint, GrammarReader, Limits, SchemaOptions, StructuralTags, Vocabulary,
};

use crate::tools;

fn compiled(tags: &StructuralTags) -> CompiledGrammar {
    let limits = Limits::strict();
    let grammar = GrammarReader::new()
        .limits(&limits)
        .structural_tags(tags, &SchemaOptions::default())
        .expect("sound tags");
    Constraint::builder().limits(&limits).compile(&grammar).expect("within the limits")
}

#[test]
fn tools_cost_what_they_cost_alone_added_up() {
    let of = |count| {
        let compiled = compiled(&tools::tags(count));
        (compiled.cost().steps, compiled.size().scan_states)
    };
    let (few, many) = (of(20), of(117));
    assert!(many.0 < 117 / 20 * few.0 + 500_000, "{few:?} {many:?}");
    assert!(many.1 < 1_000, "{many:?}");
}

#[test]
fn tools_as_formats_cost_little_more() {
    let formats = tools::formats(40).expect("a format");
    let (as_formats, as_tags) = (compiled(&formats), compiled(&tools::tags(40)));
    let sizes =
        [as_formats.size(), as_tags.size()].map(|size| (size.parse_states, size.scan_states));
    assert!(sizes[0].0 < sizes[1].0 * 5 / 4 && sizes[0].1 < sizes[1].1 + 40, "{sizes:?}");
    let steps = [as_formats.cost().steps, as_tags.cost().steps];
    assert!(steps[0] < 3 * steps[1], "{steps:?}");
}

#[test]
fn long_strings_of_several_tags_are_counted_apart_from_scan_states() {
    let mut tags = StructuralTags::new(["<f"]);
    for tag in 0..10 {
        let string = format!(r#"{{"type": "string", "maxLength": {}}}"#, 2000 + tag);
        let schema = format!(r#"{{"properties": {{"a": {string}, "b": {string}}}}}"#);
        tags.add_tag(&format!("<f{tag}>"), &schema, "</f>");
    }
    assert!(compiled(&tags).size().scan_states < 200);
}

#[test]
fn a_special_token_may_be_a_trigger_and_an_end() {
    let bytes: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
    let vocabulary = Vocabulary::from_tokens(bytes)
        .and_then(|v| v.with_special_tokens([(256, "<tool>"), (257, "</tool>"), (258, "<other>")]))
        .expect("sound");
    let mut tags = StructuralTags::new(["<tool>"]);
    tags.add_tag("<tool>", r#"{"const": 1}"#, "</tool>");
    tags.add_tag("<tool>x", r#"{"const": 2}"#, "</tool><other>");
    let grammar = tags.grammar(&SchemaOptions::default()).expect("sound tags");
    let constraint = Constraint::new(&grammar, &vocabulary).expect("sound tags");
    let warned: Vec<&str> = constraint.warnings().iter().map(|found| found.code).collect();
    assert!(warned.is_empty(), "{warned:?}");
    let ids = |text: &str| text.bytes().map(u32::from).collect::<Vec<u32>>();
    let (tool, end) = (vec![256], vec![257]);
    let (text, text_end) = (ids("<tool>"), ids("</tool>"));
    for (sequence, is_member) in [
        (vec![], true),
        ([&tool[..], &ids("1"), &end].concat(), true),
        ([&ids("Hi <")[..], &tool, &ids("1"), &text_end, &ids("!")].concat(), true),
        ([&text[..], &ids("1"), &end, &tool, &ids("1"), &end].concat(), true),
        ([&tool[..], &ids("x2</tool><other>")].concat(), true),
        ([&tool[..], &ids("1")].concat(), false),
        ([&tool[..], &ids("2"), &end].concat(), false),
        ([&tool[..], &ids("x2"), &end].concat(), false),
        (end.clone(), false),
        (vec![258], false),
        (tool, false),
    ] {
        assert_eq!(is_sentence(&constraint, &sequence), is_member, "{sequence:?}");
    }
}

/// Whether the tokens are a sentence. Each mask must agree with `advance`.
pub(crate) fn is_sentence(constraint: &Constraint, tokens: &[u32]) -> bool {
    let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
    let taken = tokens.iter().all(|&id| {
        matcher.fill_mask(&mut mask);
        let is_taken = matcher.advance(id).is_ok();
        assert_eq!(mask.contains(id), is_taken, "{tokens:?}");
        is_taken
    });
    taken && matcher.is_accepting()
}

/// Random tags over two letters, whose values are the constants 0, 1, ... in quotes.
struct Drawn {
    triggers: Vec<String>,
    tags: Vec<(String, String)>,
}

fn draw(random: &mut Rng) -> Drawn {
    let mut word = |least: usize, most: usize| -> String {
        let length = random.usize(least..=most);
        (0..length).map(|_| if random.bool() { 'a' } else { 'b' }).collect()
    };
    let triggers: Vec<String> = (0..3).map(|_| word(1, 3)).collect();
    let rests: Vec<String> = (0..4).map(|_| word(0, 2)).collect();
    let ends: Vec<String> = (0..4).map(|_| word(0, 2)).collect();
    let mut begins = BTreeSet::new();
    let mut tags = Vec::new();
    for (at, (rest, end)) in rests.iter().zip(ends).enumerate() {
        let begin = format!("{}{rest}", triggers[at % triggers.len()]);
        if begins.insert(begin.clone()) {
            tags.push((begin, end));
        }
    }
    Drawn { triggers, tags }
}

impl Drawn {
    /// Whether a text is free text with these tags in it, by definition.
    fn holds(&self, text: &str) -> bool {
        let found = (1..=text.len()).find_map(|end| {
            let ends = self.triggers.iter().filter(|trigger| text[..end].ends_with(*trigger));
            let ends: Vec<&String> = ends.collect();
            (!ends.is_empty()).then_some((end, ends))
        });
        let Some((at, found)) = found else { return true };
        let own = |begin: &str| {
            let own = self.triggers.iter().filter(|trigger| begin.starts_with(*trigger));
            own.min_by_key(|trigger| trigger.len())
        };
        self.tags.iter().enumerate().any(|(number, (begin, end))| {
            let Some(trigger) = own(begin).filter(|own| found.contains(own)) else { return false };
            let whole = format!("{}\"{number}\"{end}", &begin[trigger.len()..]);
            text[at..].strip_prefix(&whole).is_some_and(|rest| self.holds(rest))
        })
    }

    fn grammar(&self) -> StructuralTags {
        let mut tags = StructuralTags::new(self.triggers.clone());
        for (number, (begin, end)) in self.tags.iter().enumerate() {
            tags.add_tag(begin, &format!(r#"{{"const": "{number}"}}"#), end);
        }
        tags
    }
}

#[test]
fn random_tags_hold_what_their_definition_says() {
    let count = std::env::var("LRMASK_RANDOM").ok().and_then(|count| count.parse().ok());
    let mut random = Rng::with_seed(7);
    let bytes: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
    let vocabulary = Vocabulary::from_tokens(bytes).expect("bytes");
    let (mut texts, mut held) = (0, 0);
    for _ in 0..count.unwrap_or(300) {
        let drawn = draw(&mut random);
        let grammar = drawn.grammar().grammar(&SchemaOptions::default()).expect("sound tags");
        let constraint = Constraint::new(&grammar, &vocabulary).expect("sound tags");
        for _ in 0..20 {
            let text = drawn.text(&mut random);
            let mut matcher = constraint.matcher();
            let is_held = matcher.advance_bytes(text.as_bytes()).is_ok() && matcher.is_accepting();
            assert_eq!(is_held, drawn.holds(&text), "{text} {:?} {:?}", drawn.triggers, drawn.tags);
            texts += 1;
            held += usize::from(is_held);
        }
    }
    assert!(held * 10 > texts, "{held} of {texts}");
}

impl Drawn {
    /// Returns random letters, and sometimes parts of tags.
    fn text(&self, random: &mut Rng) -> String {
        let mut text = String::new();
        for _ in 0..random.usize(1..5) {
            let (begin, end) = &self.tags[random.usize(0..self.tags.len())];
            match random.usize(0..3) {
                0 => text.push(if random.bool() { 'a' } else { 'c' }),
                1 => text.push_str(begin),
                _ => {
                    let number = random.usize(0..self.tags.len());
                    text.push_str(&format!("{begin}\"{number}\"{end}"));
                }
            }
        }
        text
    }
}

//! Structural tags as formats within formats: their language against its definition.
//!
//! `LRMASK_RANDOM=N` tries N random formats (default 60), each with all texts of a few letters.

use std::collections::BTreeSet;

use fastrand::Rng;
use lrmask::{Constraint, Matcher, SchemaErrorKind, SchemaOptions, StructuralTags, Vocabulary};
use serde_json::{Value, json};

use crate::tags::is_sentence;

/// Letters of the texts; `1` is a number, too.
const LETTERS: [u8; 3] = *b"ab1";
/// Letters of a text, at most.
const LONGEST: usize = 5;

/// A format, with as much of it as the definition below needs.
#[derive(Clone, Debug)]
enum Format {
    Text(String),
    /// A JSON schema that allows the numbers 1 and 11.
    Number,
    /// `a+` as a regex.
    Regex,
    Any(Vec<String>),
    Sequence(Vec<Format>),
    Or(Vec<Format>),
    Repeat(Box<Format>, usize, Option<usize>),
    Tag(Tag),
    Triggered {
        trigger: String,
        tags: Vec<Tag>,
        least: bool,
        stop: bool,
        excludes: Vec<String>,
    },
    Dispatch {
        rules: Vec<(String, Format)>,
        loops: bool,
        excludes: Vec<String>,
    },
    Separated {
        tags: Vec<Tag>,
        separator: String,
        least: bool,
        stop: bool,
    },
}

#[derive(Clone, Debug)]
struct Tag {
    begin: String,
    content: Box<Format>,
    end: String,
}

fn word(random: &mut Rng, least: usize, most: usize) -> String {
    (0..random.usize(least..=most)).map(|_| if random.bool() { 'a' } else { 'b' }).collect()
}

fn draw(random: &mut Rng, depth: usize) -> Format {
    let several =
        |random: &mut Rng| (0..random.usize(1..=3)).map(|_| draw(random, depth - 1)).collect();
    let tags = |random: &mut Rng, begin: &str| {
        let tag = |random: &mut Rng| draw_tag(random, begin, depth - 1);
        (0..random.usize(1..=2)).map(|_| tag(random)).collect::<Vec<Tag>>()
    };
    match random.usize(0..if depth == 0 { 4 } else { 12 }) {
        0 => Format::Text(word(random, 0, 2)),
        1 => Format::Number,
        2 => Format::Regex,
        3 => Format::Any((0..random.usize(0..=2)).map(|_| word(random, 1, 2)).collect()),
        4 => Format::Sequence(several(random)),
        5 => Format::Or(several(random)),
        6 => {
            let (min, max) = [(0, Some(1)), (0, None), (1, None), (1, Some(2))][random.usize(0..4)];
            Format::Repeat(Box::new(draw(random, depth - 1)), min, max)
        }
        7 => Format::Tag(draw_tag(random, "", depth - 1)),
        8 => {
            let trigger = word(random, 1, 2);
            let excludes = if random.bool() { vec!["1".to_owned()] } else { Vec::new() };
            let tags = tags(random, &trigger);
            let (least, stop) = (random.bool(), random.bool());
            Format::Triggered { trigger, tags, least, stop, excludes }
        }
        9 | 10 => {
            let rule = |random: &mut Rng| (word(random, 1, 3), draw(random, depth - 1));
            let rules = (0..random.usize(1..=3)).map(|_| rule(random)).collect();
            let excludes = if random.bool() { vec!["1".to_owned()] } else { Vec::new() };
            Format::Dispatch { rules, loops: random.bool(), excludes }
        }
        _ => {
            let separator = word(random, 0, 1);
            let tags = tags(random, "");
            Format::Separated { tags, separator, least: random.bool(), stop: random.bool() }
        }
    }
}

fn draw_tag(random: &mut Rng, begin: &str, depth: usize) -> Tag {
    let begin = format!("{begin}{}", word(random, 0, 1));
    Tag { begin, content: Box::new(draw(random, depth)), end: word(random, 0, 2) }
}

impl Tag {
    fn json(&self) -> Value {
        json!({"begin": self.begin, "content": self.content.json(), "end": self.end, "type": "tag"})
    }

    /// Where its text can end that begins at `at`, from behind `skipped` bytes of its beginning.
    fn ends(&self, text: &str, at: usize, skipped: usize) -> BTreeSet<usize> {
        let begin = &self.begin[skipped..];
        if !text[at..].starts_with(begin) {
            return BTreeSet::new();
        }
        let around: Vec<String> =
            Some(self.end.clone()).into_iter().filter(|end| !end.is_empty()).collect();
        let ends = self.content.ends(text, at + begin.len(), &around);
        let ends = ends.into_iter().filter(|&at| text[at..].starts_with(&self.end));
        ends.map(|at| at + self.end.len()).collect()
    }
}

impl Format {
    fn json(&self) -> Value {
        let all = |formats: &[Format]| formats.iter().map(Format::json).collect::<Vec<_>>();
        let tags = |tags: &[Tag]| tags.iter().map(Tag::json).collect::<Vec<_>>();
        match self {
            Format::Text(text) => json!({"type": "const_string", "value": text}),
            Format::Number => json!({"type": "json_schema", "json_schema": {"enum": [1, 11]}}),
            Format::Regex => json!({"type": "regex", "pattern": "a+"}),
            Format::Any(excludes) => json!({"type": "any_text", "excludes": excludes}),
            Format::Sequence(parts) => json!({"type": "sequence", "elements": all(parts)}),
            Format::Or(ways) => json!({"type": "or", "elements": all(ways)}),
            Format::Repeat(content, 0, Some(1)) => {
                json!({"type": "optional", "content": content.json()})
            }
            Format::Repeat(content, 0, None) => json!({"type": "star", "content": content.json()}),
            Format::Repeat(content, 1, None) => json!({"type": "plus", "content": content.json()}),
            Format::Repeat(content, min, max) => {
                let max = max.map_or(-1, |max| max as i64);
                json!({"type": "repeat", "min": min, "max": max, "content": content.json()})
            }
            Format::Tag(tag) => tag.json(),
            Format::Triggered { trigger, tags: own, least, stop, excludes } => json!({
                "type": "triggered_tags", "triggers": [trigger], "tags": tags(own),
                "at_least_one": least, "stop_after_first": stop, "excludes": excludes,
            }),
            Format::Dispatch { rules, loops, excludes } => {
                let rules: Vec<Value> =
                    rules.iter().map(|(text, format)| json!([text, format.json()])).collect();
                json!({"type": "dispatch", "rules": rules, "loop": loops, "excludes": excludes})
            }
            Format::Separated { tags: own, separator, least, stop } => json!({
                "type": "tags_with_separator", "tags": tags(own), "separator": separator,
                "at_least_one": least, "stop_after_first": stop,
            }),
        }
    }

    /// Where a text of it can end that begins at `at`, in a tag that ends with `around`.
    fn ends(&self, text: &str, at: usize, around: &[String]) -> BTreeSet<usize> {
        let each = |tags: &[Tag], at| tags.iter().flat_map(|tag| tag.ends(text, at, 0)).collect();
        match self {
            Format::Text(own) => {
                text[at..].starts_with(own.as_str()).then_some(at + own.len()).into_iter().collect()
            }
            Format::Number => {
                let ends = ["1", "11"].into_iter().filter(|number| text[at..].starts_with(number));
                ends.map(|number| at + number.len()).collect()
            }
            Format::Regex => {
                let count = text[at..].bytes().take_while(|&byte| byte == b'a').count();
                (at + 1..=at + count).collect()
            }
            Format::Any(excludes) => {
                let excludes: Vec<&String> = excludes.iter().chain(around).collect();
                let is_free = |end: &usize| !excludes.iter().any(|no| text[at..*end].contains(*no));
                (at..=text.len()).filter(is_free).collect()
            }
            Format::Sequence(parts) => parts.iter().fold(BTreeSet::from([at]), |ats, part| {
                ats.into_iter().flat_map(|at| part.ends(text, at, around)).collect()
            }),
            Format::Or(ways) => ways.iter().flat_map(|way| way.ends(text, at, around)).collect(),
            Format::Repeat(content, min, max) => {
                repeated(at, *min, *max, |at| content.ends(text, at, around))
            }
            Format::Tag(tag) => tag.ends(text, at, 0),
            Format::Triggered { trigger, tags, least, stop, excludes } => {
                let excludes: Vec<String> = excludes.iter().chain(around).cloned().collect();
                let firsts: BTreeSet<usize> =
                    if *least { each(tags, at) } else { BTreeSet::from([at]) };
                if *least && *stop {
                    return firsts;
                }
                let rest = |at: usize| {
                    tags.iter().flat_map(|tag| tag.ends(text, at, trigger.len())).collect()
                };
                let free = |at| dispatched(text, at, &[(trigger, &rest)], &excludes, !stop);
                firsts.into_iter().flat_map(free).collect()
            }
            Format::Dispatch { rules, loops, excludes } => {
                let excludes: Vec<String> = excludes.iter().chain(around).cloned().collect();
                let rest = |format: &'_ Format, at| format.ends(text, at, around);
                let rests: Vec<_> =
                    rules.iter().map(|(_, format)| move |at| rest(format, at)).collect();
                let found =
                    rules.iter().zip(&rests).map(|((own, _), rest)| (own.as_str(), rest as _));
                dispatched(text, at, &found.collect::<Vec<_>>(), &excludes, *loops)
            }
            Format::Separated { tags, separator, least, stop } => {
                let first: BTreeSet<usize> = each(tags, at);
                let more = |at: usize| match text[at..].starts_with(separator.as_str()) {
                    true => each(tags, at + separator.len()),
                    false => BTreeSet::new(),
                };
                let mut ends: BTreeSet<usize> = match stop {
                    true => first,
                    false => first.into_iter().flat_map(|at| repeated(at, 0, None, more)).collect(),
                };
                if !least {
                    ends.insert(at);
                }
                ends
            }
        }
    }
}

fn repeated(
    at: usize,
    min: usize,
    max: Option<usize>,
    once: impl Fn(usize) -> BTreeSet<usize>,
) -> BTreeSet<usize> {
    let mut now = BTreeSet::from([at]);
    let mut ends = BTreeSet::new();
    // Without a bound, more rounds than letters find nothing new.
    for count in 0..=max.unwrap_or(min + LONGEST + 1) {
        if count >= min {
            ends.extend(&now);
        }
        now = now.into_iter().flat_map(&once).collect();
    }
    ends
}

/// Where the text behind a trigger can end, by where it begins.
type Rest<'a> = &'a dyn Fn(usize) -> BTreeSet<usize>;

/// Text, and behind the first trigger in it the rest.
fn dispatched(
    text: &str,
    at: usize,
    triggers: &[(&str, Rest<'_>)],
    excludes: &[String],
    loops: bool,
) -> BTreeSet<usize> {
    let mut ends = BTreeSet::new();
    for end in at..=text.len() {
        let read = &text[at..end];
        if excludes.iter().any(|no| read.ends_with(no.as_str())) {
            break;
        }
        let found: Vec<Rest<'_>> = (triggers.iter())
            .filter(|(trigger, _)| read.ends_with(trigger))
            .map(|&(_, rest)| rest)
            .collect();
        if !found.is_empty() {
            for end in found.into_iter().flat_map(|rest| rest(end)) {
                match loops {
                    true => ends.extend(dispatched(text, end, triggers, excludes, true)),
                    false => ends.extend([end]),
                }
            }
            break;
        }
        ends.insert(end);
    }
    ends
}

/// All texts that begin with this one.
fn texts_from(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    let mut at = 0;
    while at < all.len() {
        if all[at].len() < LONGEST {
            for letter in LETTERS {
                all.push(format!("{}{}", all[at], letter as char));
            }
        }
        at += 1;
    }
    all
}

/// How many texts were tried.
fn compare(format: &Format, matcher: &Matcher, text: &str) -> usize {
    let holds = |text: &str| format.ends(text, 0, &[]).contains(&text.len());
    assert_eq!(matcher.is_accepting(), holds(text), "{text:?} {}", format.json());
    // No dead ends.
    let mut completed = matcher.clone();
    let completion = completed.shortest_completion().expect("everything can be completed");
    assert!(completed.advance_bytes(&completion).is_ok() && completed.is_accepting());
    let mut tried = 1;
    if text.len() == LONGEST {
        return tried;
    }
    for letter in LETTERS {
        let longer = format!("{text}{}", letter as char);
        let mut next = matcher.clone();
        let is_allowed = matcher.allows(u32::from(letter));
        assert_eq!(next.advance_bytes(&[letter]).is_ok(), is_allowed, "{longer:?}");
        if is_allowed {
            tried += compare(format, &next, &longer);
        } else {
            let texts = texts_from(&longer);
            let lost = texts.iter().find(|text| holds(text));
            assert!(lost.is_none(), "{lost:?} {}", format.json());
            tried += texts.len();
        }
    }
    tried
}

#[test]
fn random_formats_hold_what_their_definition_says() {
    let count = std::env::var("LRMASK_RANDOM").ok().and_then(|count| count.parse().ok());
    let mut random = Rng::with_seed(11);
    let vocabulary = Vocabulary::single_bytes();
    let (mut read, mut refused, mut tried) = (0, 0, 0);
    for _ in 0..count.unwrap_or(60) {
        let format = draw(&mut random, 2);
        let text = json!({"type": "structural_tag", "format": format.json()}).to_string();
        let tags = StructuralTags::parse(&text).expect("it is of this form");
        let grammar = match tags.grammar(&SchemaOptions::default()) {
            Ok(grammar) => grammar,
            Err(error) => {
                // A trigger that begins with what the text around it cannot have, or no text.
                assert_eq!(error.kind(), SchemaErrorKind::InvalidSchema, "{text}: {error}");
                refused += 1;
                continue;
            }
        };
        let constraint = Constraint::new(&grammar, &vocabulary).expect("it is within the limits");
        read += 1;
        tried += compare(&format, &constraint.matcher(), "");
    }
    assert!(read > 8 * refused, "{read} read, {refused} refused, {tried} texts");
}

/// Tokens of a vocabulary of bytes with three special ones: by their names, numbers and as text.
#[test]
fn special_tokens_stand_where_a_format_names_them() {
    let bytes: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
    let vocabulary = Vocabulary::from_tokens(bytes)
        .and_then(|v| v.with_special_tokens([(256, "<tool>"), (257, "</tool>"), (258, "[X]")]))
        .expect("sound");
    let ids = |text: &str| text.bytes().map(u32::from).collect::<Vec<u32>>();
    let tag =
        |content: &str| format!(r#"{{"begin": "<tool>", "content": {content}, "end": "</tool>"}}"#);
    let one = r#"{"type": "json_schema", "json_schema": {"const": 1}}"#;
    let triggered =
        format!(r#"{{"type": "triggered_tags", "triggers": ["<tool>"], "tags": [{}]}}"#, tag(one));
    let token = |token: &str| format!(r#"{{"type": "token", "token": {token}}}"#);
    let any = format!(
        r#"{{"type": "tag", "begin": {}, "content": {{"type": "any_tokens"}}, "end": {}}}"#,
        token("258"),
        token(r#""</tool>""#)
    );
    let others = r#"{"type": "exclude_token", "exclude_tokens": [97, 98, 258]}"#.to_owned();
    let tool = |value: &str, last: &[u32]| [&[256][..], &ids(value), last].concat();
    let cases = [
        (
            &triggered,
            vec![
                (vec![], true),
                (tool("1", &[257]), true),
                (tool("1", &ids("</tool>")), true),
                ([ids("Hi <"), tool("1", &[257]), ids("!"), tool("1", &[257])].concat(), true),
                ([ids("<tool>1"), vec![257]].concat(), true),
                (tool("2", &[257]), false),
                (tool("1", &[]), false),
                (vec![257], false),
                (vec![258], false),
            ],
        ),
        (
            &any,
            vec![
                (vec![258, 257], true),
                ([vec![258, 256], ids("a"), vec![258, 257]].concat(), true),
                (vec![258], false),
                (vec![258, 257, 257], false),
                ([ids("[X]"), vec![257]].concat(), false),
            ],
        ),
        (&others, vec![(ids("c"), true), (vec![256], true), (ids("a"), false), (vec![258], false)]),
    ];
    for (format, sequences) in cases {
        let tags = StructuralTags::parse(&format!(r#"{{"format": {format}}}"#)).expect("a format");
        let grammar = tags.grammar(&SchemaOptions::default()).expect("it is sound");
        let constraint = Constraint::new(&grammar, &vocabulary).expect("it is sound");
        for (sequence, is_member) in sequences {
            assert_eq!(is_sentence(&constraint, &sequence), is_member, "{format} {sequence:?}");
        }
    }
}

#[test]
fn a_trigger_named_twice_is_one() {
    let text = r#"{"format": {"type": "triggered_tags", "triggers": ["<", "<"], "tags":
        [{"begin": "<a", "content": {"type": "const_string", "value": "1"}, "end": ">"}]}}"#;
    let grammar = StructuralTags::parse(text).expect("a format").grammar(&SchemaOptions::default());
    let constraint =
        Constraint::new(&grammar.expect("sound"), &Vocabulary::single_bytes()).expect("sound");
    let ids = |text: &str| text.bytes().map(u32::from).collect::<Vec<u32>>();
    assert!(is_sentence(&constraint, &ids("x<a1>y")) && !is_sentence(&constraint, &ids("x<b")));
}

#[test]
fn no_tag_is_added_to_a_format() {
    let mut tags = StructuralTags::parse(r#"{"format": {"type": "any_text"}}"#).expect("a format");
    assert!(tags.grammar(&SchemaOptions::default()).is_ok());
    tags.add_tag("<a>", "{}", "");
    let error = tags.grammar(&SchemaOptions::default()).expect_err("it has a format");
    assert_eq!(error.kind(), SchemaErrorKind::InvalidSchema);
}

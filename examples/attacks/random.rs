//! Numbered random grammars and schemas, to complement the hand-written table.
//!
//! Counts are drawn so that all orders of magnitude are equally likely. Regexes overlap, count, and
//! have look-around; rules are ambiguous and derive nothing in many ways.

use fastrand::Rng;
use lrmask::{Constraint, Diagnostic, GrammarReader, KeyOrder, Limits, SchemaOptions, Vocabulary};
use serde_json::{Map, Value, json};

use crate::{Answer, Attack, findings};

/// Upper bound on the bytes of a grammar; larger ones are drawn again.
const MOST_BYTES: usize = 250_000;

/// Names of the attacks, also used by hunts.
pub(crate) const NAMES: [&str; 2] = ["a random grammar", "a random schema"];

/// The numbers are those of the grammars that cost most before the faults they showed were fixed,
/// and of those that cost most now.
pub(crate) fn attacks() -> Vec<Attack> {
    let [grammar, schema] = NAMES;
    vec![
        Attack {
            name: grammar,
            sizes: [3_211, 3_290, 4_261],
            run: |number, limits| first_mask(NAMES[0], number, limits),
        },
        Attack {
            name: schema,
            sizes: [37, 1_347, 2_279],
            run: |number, limits| first_mask(NAMES[1], number, limits),
        },
    ]
}

/// Returns the grammar or schema with this number.
pub(crate) fn text(name: &str, number: usize) -> Option<String> {
    let [grammar, schema] = NAMES;
    match name {
        _ if name == grammar => Some(small_enough(number, lark)),
        _ if name == schema => Some(small_enough(number, schema_with_definitions)),
        _ => None,
    }
}

/// Returns the constraint of one of these within limits, with a sample vocabulary.
pub(crate) fn constraint(
    name: &str,
    number: usize,
    limits: &Limits,
) -> Result<Constraint, Vec<Diagnostic>> {
    let text = text(name, number).unwrap_or_default();
    let grammar = if name == NAMES[0] {
        GrammarReader::new().limits(limits).lark(&text).map_err(|error| findings(&error))
    } else {
        let mut options = SchemaOptions::default();
        if number % 2 == 1 {
            options.order = KeyOrder::Any;
        }
        let schema = GrammarReader::new().limits(limits).json_schema(&text, &options);
        schema.map(|schema| schema.grammar()).map_err(|error| vec![error.diagnostic()])
    };
    Constraint::builder()
        .limits(limits)
        .compile(&grammar?)
        .and_then(|compiled| compiled.constraint(&vocabulary()))
        .map_err(|error| findings(&error))
}

/// Compiles it, and computes the mask before the first token.
fn first_mask(name: &str, number: usize, limits: &Limits) -> Answer {
    let answer = constraint(name, number, limits).map(|constraint| {
        let mut mask = constraint.new_mask();
        constraint.matcher().fill_mask(&mut mask);
        format!("{} tokens, {} undecided", mask.tokens().count(), constraint.undecided())
    });
    Answer::new(text(name, number).map_or(0, |text| text.len()), answer)
}

/// Returns all bytes, and 30,000 words of the letters that the grammars use.
fn vocabulary() -> Vocabulary {
    let mut random = Rng::with_seed(0);
    let letters = b"aabbcxkz019 (+\"{}[]:,-.eE\n\xc3\xa9";
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
    for _ in 0..30_000 {
        let length = between(&mut random, 2, 16);
        tokens.push((0..length).map(|_| letters[random.usize(..letters.len())]).collect());
    }
    Vocabulary::from_tokens(tokens).unwrap_or_else(|error| panic!("{error}"))
}

fn small_enough(number: usize, draw: fn(&mut Rng) -> String) -> String {
    let mut random = Rng::with_seed(number as u64);
    loop {
        let text = draw(&mut random);
        if text.len() <= MOST_BYTES {
            return text;
        }
    }
}

/// Returns a number; all orders of magnitude are equally likely.
fn between(random: &mut Rng, least: usize, most: usize) -> usize {
    let (least, most) = ((least as f64).ln(), (most as f64).ln());
    (least + random.f64() * (most - least)).exp() as usize
}

fn any<T: Clone>(random: &mut Rng, all: &[T]) -> T {
    all[random.usize(..all.len())].clone()
}

/// Joins `least` to `most` random strings with `between_them`.
fn several(
    random: &mut Rng,
    (least, most): (usize, usize),
    between_them: &str,
    mut draw: impl FnMut(&mut Rng) -> String,
) -> String {
    let count = between(random, least, most);
    let all: Vec<String> = (0..count).map(|_| draw(random)).collect();
    all.join(between_them)
}

const CLASSES: &[&str] = &[
    "[a-z]",
    "[a-c]",
    "[^a]",
    ".",
    r"\w",
    r"\d",
    r"\s",
    r"[^\n]",
    r"\p{L}",
    r"\p{Lu}",
    r"[\u0100-\uffff]",
    "a",
    "b",
    "(a|b)",
    "[ab]",
    "x",
    "(?:ab|a|b)",
    r"\b",
    "(?i:k)",
    r"[^\W\d]",
    r"[\x80-\uffff]",
];

/// Returns a regex with this nesting depth.
fn regex(random: &mut Rng, depth: usize) -> String {
    let kind = if depth == 0 { 0 } else { random.u8(..100) };
    let inner = |random: &mut Rng| regex(random, depth.saturating_sub(1));
    match kind {
        0..20 => any(random, CLASSES).to_owned(),
        20..40 => several(random, (2, 5), "", inner),
        40..55 => format!("({})", several(random, (2, 6), "|", inner)),
        55..65 => format!("({}){}", inner(random), any(random, &["*", "+", "?", "*?", "+?"])),
        65..88 => {
            let least = any(random, &[0, 1, 0]).max(between(random, 1, 3_000) - 1);
            let most = least + between(random, 1, 3_000);
            let count = match random.u8(..4) {
                0 => format!("{{{}}}", least.max(1)),
                1 => format!("{{{least},{most}}}"),
                2 => format!("{{{least},}}"),
                _ => format!("{{0,{most}}}"),
            };
            format!("({}){count}", inner(random))
        }
        88..94 => {
            any(random, &["(?!R)", "(?=R)", "(?<!a)R", "(?<=b)R"]).replace('R', &inner(random))
        }
        _ => format!(".*{}", inner(random)),
    }
}

/// A grammar of up to 300 terminals and 400 rules.
fn lark(random: &mut Rng) -> String {
    let terminals = between(random, 1, 300);
    let rules = between(random, 1, 400);
    let directive =
        any(random, &["", "", "%lexer basic\n", "%lexer contextual\n", "%conflicts shift\n"]);
    let mut text = directive.to_owned();
    let kind = random.u8(..4);
    let base = regex(random, 3);
    for number in 0..rules {
        let alternatives = several(random, (1, 8), " | ", |random| {
            let depth = any(random, &[0, 1, 1, 2]);
            expression(random, depth, (terminals, rules))
        });
        text += &format!("r{number}: {alternatives}\n");
    }
    text += &format!("start: r0{}\n", any(random, &["", "*", "+"]));
    for number in 0..terminals {
        let letter = |random: &mut Rng| any(random, &["a", "b", "."]).to_owned();
        let pattern = match kind {
            0 => format!("{base}{}", any(random, &["a", "b", "ab", "x"])),
            1 => {
                let word =
                    several(random, (1, 200), "", |random| any(random, &["a", "b"]).to_owned());
                text += &format!("T{number}: \"{word}\"\n");
                continue;
            }
            2 => format!(".*{}", several(random, (1, 20), "", letter)),
            _ => {
                let depth = between(random, 1, 4);
                regex(random, depth)
            }
        };
        let priority = any(random, &["", "", ".-2", ".1", ".3"]);
        text += &format!("T{number}{priority}: /{}/\n", pattern.replace('/', r"\/"));
    }
    for _ in 0..any(random, &[0, 0, 1, 2, 5]) {
        text += &format!("%ignore T{}\n", random.usize(..terminals));
    }
    text
}

/// Returns the right-hand side of a rule, over this many terminals and rules.
fn expression(random: &mut Rng, depth: usize, counts: (usize, usize)) -> String {
    let symbol = |random: &mut Rng| match random.u8(..4) {
        0 => format!("r{}", random.usize(..counts.1)),
        1 | 2 => format!("T{}", random.usize(..counts.0)),
        _ => format!("\"{}\"", any(random, &["a", "+", "(", "ab"])),
    };
    let kind = if depth == 0 { 0 } else { random.u8(..100) };
    let mut inner = |random: &mut Rng| expression(random, depth.saturating_sub(1), counts);
    match kind {
        0..30 => several(random, (1, 5), " ", symbol),
        30..55 => {
            let alternatives = several(random, (1, 5), " | ", inner);
            let repeated = match random.u8(..6) {
                0 => String::new(),
                1 => "*".to_owned(),
                2 => "+".to_owned(),
                3 => "?".to_owned(),
                4 => format!("~{}", between(random, 1, 500)),
                _ => format!("~0..{}", between(random, 1, 500)),
            };
            format!("({alternatives}){repeated}")
        }
        _ => several(random, (1, 3), " ", &mut inner),
    }
}

/// A schema, and four to which it may refer.
fn schema_with_definitions(random: &mut Rng) -> String {
    let depth = between(random, 2, 5);
    let mut whole = schema(random, depth);
    let definitions: Map<String, Value> =
        (0..4).map(|number| (format!("d{number}"), Value::Object(schema(random, 2)))).collect();
    whole.insert("$defs".to_owned(), Value::Object(definitions));
    Value::Object(whole).to_string()
}

fn schema(random: &mut Rng, depth: usize) -> Map<String, Value> {
    let mut schema = Map::new();
    for _ in 0..between(random, 1, 5) {
        let (keyword, value) = match depth == 0 || random.u8(..10) < 4 {
            true => bound(random),
            false => applicator(random, depth - 1),
        };
        schema.insert(keyword.to_owned(), value);
    }
    schema
}

/// Returns a number up to a random power of ten, whose exponent is at most `most`.
fn up_to(random: &mut Rng, most: u32) -> usize {
    let most = 10usize.pow(random.u32(..=most));
    between(random, 1, most)
}

fn pattern(random: &mut Rng) -> String {
    match random.u8(..4) {
        0 => {
            let depth = between(random, 1, 3);
            regex(random, depth)
        }
        1 => format!("^{}$", regex(random, 2)),
        2 => format!("^(a|b)*a(a|b){{{}}}$", between(random, 1, 40)),
        _ => format!("^{}", regex(random, 3)),
    }
}

/// Returns a keyword that contains no schema.
fn bound(random: &mut Rng) -> (&'static str, Value) {
    const FORMATS: &[&str] = &[
        "date-time",
        "email",
        "uri",
        "ipv6",
        "hostname",
        "idn-email",
        "iri",
        "uuid",
        "regex",
        "time",
        "duration",
        "json-pointer",
        "uri-template",
    ];
    match random.u8(..14) {
        0 => (
            "type",
            any(
                random,
                &[
                    json!("string"),
                    json!("integer"),
                    json!("number"),
                    json!("object"),
                    json!("array"),
                    json!(["string", "object"]),
                    json!("null"),
                ],
            ),
        ),
        1 => ("pattern", json!(pattern(random))),
        2 => ("minLength", json!(up_to(random, 6))),
        3 => ("maxLength", json!(up_to(random, 9))),
        4 => ("multipleOf", json!(any(random, &[1.0, 2.0, 7.0, 0.01, 97.0, 10007.0, 1e-5, 0.37]))),
        5 => ("minimum", json!((random.f64() - 0.5) * 2e6)),
        6 => ("maximum", json!(random.f64() * 1e12)),
        7 => {
            let values = [json!(null), json!(true), json!(1), json!(2.5), json!("a"), json!([])];
            let count = between(random, 1, 300);
            let value = |number| match random.bool() {
                true => any(random, &values),
                false => json!(format!("x{number}")),
            };
            ("enum", (0..count).map(value).collect())
        }
        8 => ("format", json!(any(random, FORMATS))),
        9 => ("minItems", json!(up_to(random, 5))),
        10 => ("maxItems", json!(up_to(random, 5))),
        11 => ("uniqueItems", json!(true)),
        12 => ("minProperties", json!(between(random, 1, 50))),
        _ => ("maxProperties", json!(up_to(random, 4))),
    }
}

/// Returns a keyword whose schemas have this nesting depth.
fn applicator(random: &mut Rng, depth: usize) -> (&'static str, Value) {
    let one = |random: &mut Rng| Value::Object(schema(random, depth));
    let key = |random: &mut Rng| match random.u8(..10) {
        0..7 => char::from(b'a' + random.u8(..12)).to_string(),
        _ => format!("k{}", random.u8(..100)),
    };
    let keys = |random: &mut Rng, most| -> Vec<String> {
        (0..between(random, 1, most)).map(|_| key(random)).collect()
    };
    let list = |random: &mut Rng, most| -> Value {
        (0..between(random, 1, most)).map(|_| one(random)).collect()
    };
    let by_key = |random: &mut Rng, most| -> Value {
        keys(random, most).into_iter().map(|key| (key, one(random))).collect::<Map<_, _>>().into()
    };
    match random.u8(..17) {
        0 => ("properties", by_key(random, 40)),
        1 => {
            let count = between(random, 1, 8);
            let of: Map<_, _> = (0..count).map(|_| (pattern(random), one(random))).collect();
            ("patternProperties", of.into())
        }
        2 => ("additionalProperties", if random.bool() { json!(false) } else { one(random) }),
        3 => ("allOf", list(random, 8)),
        4 => ("anyOf", list(random, 12)),
        5 => ("oneOf", list(random, 12)),
        6 => ("not", one(random)),
        7 => ("if", one(random)),
        8 => ("then", one(random)),
        9 => ("else", one(random)),
        10 => ("items", one(random)),
        11 => ("prefixItems", list(random, 30)),
        12 => ("contains", one(random)),
        13 => ("required", json!(keys(random, 40))),
        14 => ("dependentSchemas", by_key(random, 10)),
        15 => ("propertyNames", one(random)),
        _ => match random.u8(..5) {
            0 => ("$ref", json!("#")),
            1 => ("unevaluatedProperties", json!(false)),
            _ => ("$ref", json!(format!("#/$defs/d{}", random.u8(..4)))),
        },
    }
}

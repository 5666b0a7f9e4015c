//! Runs the samples of MaskBench, which may be placed next to the project: schemas with valid and
//! invalid instances.
//!
//! `cargo run --release --example maskbench large [NAME...]` times schemas that are large in one
//! respect.
//!
//! `cargo run --release --example maskbench replay` replays all valid instances with o200k and the
//! tokenizers of Llama 3 and Llama 2, if they are placed next to the project: split by the model's
//! tokenizer and at random, with the mask before each token, in any order of keys.
//!
//! `cargo run --release --example maskbench [any] [NAME...]` prints how many schemas pass, which
//! are refused and why, how many instances are judged wrongly, and the time from a schema to its
//! first mask (processor time, on Linux). A schema passes if it compiles, all its valid instances
//! are accepted and all its invalid ones refused. Instances are formatted as by Python's
//! `json.dumps`, and read byte by byte.

#![allow(clippy::print_stdout, reason = "printing is all it does")]

#[path = "../tests/corpus/mod.rs"]
mod corpus;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lrmask::{CompiledGrammar, JsonSchema, KeyOrder, SchemaOptions, Vocabulary};

/// Number of slowest schemas that are listed.
const SLOWEST: usize = 60;

/// Returns the processor time of this thread so far, on Linux: in steps of some milliseconds.
fn processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// The time from a schema to its first mask: the average, and the minimum for the schema, the
/// tables and the mask.
struct Times {
    whole: Duration,
    parts: [Duration; 3],
}

/// Goes from a schema to its first mask, repeatedly, to measure the time on a machine with other
/// load.
fn prepare(
    schema: &str,
    options: &SchemaOptions,
    vocabulary: &Vocabulary,
) -> Result<(CompiledGrammar, Times), (String, String)> {
    let mut parts = [Duration::MAX; 3];
    let (begin, clock) = (processor(), Instant::now());
    for round in 1.. {
        let first = Instant::now();
        let parsed = JsonSchema::parse(schema, options);
        let parsed = parsed.map_err(|error| (format!("{:?}", error.kind()), error.to_string()))?;
        let second = Instant::now();
        let compiled = CompiledGrammar::new(&parsed.grammar())
            .map_err(|error| ("grammar".to_owned(), error.to_string()))?;
        let third = Instant::now();
        let constraint = compiled.constraint(vocabulary).expect("its tokens are known");
        constraint.matcher().fill_mask(&mut constraint.new_mask());
        for (least, part) in parts.iter_mut().zip([second - first, third - second, third.elapsed()])
        {
            *least = part.min(*least);
        }
        let taken = match (begin, processor()) {
            (Some(begin), Some(end)) => end - begin,
            _ => clock.elapsed(),
        };
        if taken > Duration::from_millis(40) || round == 100 {
            return Ok((compiled, Times { whole: taken / round, parts }));
        }
    }
    unreachable!("the last round returns")
}

/// A JSON value, with numbers as they are written.
enum Json {
    Word(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Returns schemas that are large in one respect each.
fn large() -> Vec<(&'static str, String)> {
    let list = |count: usize, of: &dyn Fn(usize) -> String| {
        (0..count).map(of).collect::<Vec<_>>().join(", ")
    };
    let property = |number: usize| format!(r#""property{number}": {{"type": "integer"}}"#);
    let record = |number: usize| {
        let about = "What the record is for, in words that nobody reads. ".repeat(3);
        format!(
            r##""record{number}": {{"type": "object", "description": "{about}", "properties": {{"id": {{"type": "integer", "minimum": {number}}}, "name": {{"type": "string", "maxLength": {}}}, "next": {{"$ref": "#/$defs/record{}"}}, "tags": {{"type": "array", "items": {{"enum": ["a{number}", "b"]}}}}}}, "required": ["id", "name"], "additionalProperties": false}}"##,
            10 + number % 50,
            (number + 1) % 4_000,
        )
    };
    vec![
        (
            "10,000 properties",
            format!(r#"{{"type": "object", "properties": {{{}}}}}"#, list(10_000, &property)),
        ),
        (
            "an enum of 50,000",
            format!(r#"{{"enum": [{}]}}"#, list(50_000, &|number| format!("\"value {number}\""))),
        ),
        ("maxLength 100,000", r#"{"type": "string", "maxLength": 100000}"#.to_owned()),
        (
            "4,000 definitions",
            format!(r##"{{"$ref": "#/$defs/record0", "$defs": {{{}}}}}"##, list(4_000, &record)),
        ),
    ]
}

/// Replays the valid instances of all schemas: each is accepted exactly when it is accepted byte by
/// byte, however it is split.
fn replay() {
    const CUTS: u64 = 2;
    let Some(files) = corpus::archive("json/maskbench.tar.gz") else { return };
    let mut options = SchemaOptions::default();
    options.order = KeyOrder::Any;
    let bytes = bytes();
    let files_of = ["llama3/tokenizer.json.gz", "llama2/tokenizer.json.gz"];
    for (vocabulary_name, vocabulary, tokenizer) in corpus::vocabularies(&["o200k"], &files_of) {
        let stop = vocabulary.stop_tokens().first().copied();
        let [mut texts, mut tokens, mut refused, mut differing] = [0usize; 4];
        for (path, content) in files.iter().filter(|(path, _)| path.ends_with(".json")) {
            let Ok(text) = std::str::from_utf8(content) else { continue };
            let document = parse(text);
            let schema = write(member(&document, "schema").expect("a schema"));
            let Ok(parsed) = JsonSchema::parse(&schema, &options) else { continue };
            let Ok(compiled) = CompiledGrammar::new(&parsed.grammar()) else { continue };
            let (plain, constraint) = (
                compiled.constraint(&bytes).expect("its tokens are known"),
                compiled.constraint(&vocabulary).expect("its tokens are known"),
            );
            let mut mask = constraint.new_mask();
            let Some(Json::Array(tests)) = member(&document, "tests") else { continue };
            for test in tests {
                if !matches!(member(test, "valid"), Some(Json::Word(word)) if word == "true") {
                    continue;
                }
                let text = write(member(test, "data").expect("an instance"));
                let mut by_bytes = plain.matcher();
                let expected = text.bytes().all(|byte| by_bytes.advance(u32::from(byte)).is_ok())
                    && by_bytes.advance(256u32).is_ok();
                let random =
                    (0..CUTS).map(|seed| corpus::cut_random(&vocabulary, text.as_bytes(), seed));
                for cut in
                    std::iter::once(tokenizer.encode(&vocabulary, &text)).chain(random).flatten()
                {
                    texts += 1;
                    let mut matcher = constraint.matcher();
                    let mut allows = |matcher: &lrmask::Matcher, token: lrmask::TokenId| {
                        tokens += 1;
                        matcher.fill_mask(&mut mask);
                        mask.contains(token)
                    };
                    let is_read = cut
                        .iter()
                        .all(|&token| allows(&matcher, token) && matcher.advance(token).is_ok());
                    let is_accepted = is_read
                        && stop
                            .map_or_else(|| matcher.is_accepting(), |stop| allows(&matcher, stop));
                    refused += usize::from(!is_accepted);
                    if is_accepted != expected {
                        differing += 1;
                        println!("{vocabulary_name}: {path}: {text}");
                    }
                }
            }
        }
        println!(
            "{vocabulary_name}: {texts} texts, {tokens} masks, {refused} texts refused, \
             {differing} otherwise than by bytes"
        );
    }
}

/// Returns all single bytes, and the stop token.
fn bytes() -> Vocabulary {
    let tokens = (0..=255).map(|byte| vec![byte]).chain([Vec::new()]);
    let bytes = Vocabulary::from_tokens(tokens).and_then(|bytes| bytes.with_stop_tokens([256]));
    bytes.expect("a vocabulary")
}

/// Returns the peak memory of the process, if the system reports it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.map_or_else(String::new, |line| line.trim_start_matches("VmHWM:").trim().to_owned())
}

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.first().is_some_and(|name| name == "large") {
        let vocabulary = Vocabulary::builtin("o200k").expect("built in");
        println!("the vocabulary: peak {}", peak());
        for (name, schema) in large() {
            if names.len() > 1 && !names[1..].iter().any(|wanted| name.contains(wanted.as_str())) {
                continue;
            }
            match prepare(&schema, &SchemaOptions::default(), &vocabulary) {
                Ok((_, Times { whole, .. })) => {
                    let bytes = schema.len();
                    println!("{name}, {bytes} bytes: first mask after {whole:?}, peak {}", peak());
                }
                Err((_, message)) => println!("{name}: {message}"),
            }
        }
        return;
    }
    if names.first().is_some_and(|name| name == "replay") {
        return replay();
    }
    let is_any = names.first().is_some_and(|name| name == "any");
    if is_any {
        names.remove(0);
    }
    let mut options = SchemaOptions::default();
    options.order = if is_any { KeyOrder::Any } else { KeyOrder::Declared };
    let Some(files) = corpus::archive("json/maskbench.tar.gz") else { return };
    let bytes = bytes();
    let large = Vocabulary::builtin("o200k").expect("built in");

    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut times: Vec<(Duration, [Duration; 3], String)> = Vec::new();
    let mut parts = [Duration::ZERO; 3];
    for (path, content) in files {
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        if !name.ends_with(".json") {
            continue;
        }
        if !names.is_empty() && !names.iter().any(|wanted| name.contains(wanted.as_str())) {
            continue;
        }
        let document = parse(&String::from_utf8(content).expect("UTF-8"));
        let schema = write(member(&document, "schema").expect("a schema"));
        let verdict = std::panic::catch_unwind(|| {
            let (compiled, Times { whole, parts }) = prepare(&schema, &options, &large)?;
            let constraint = compiled.constraint(&bytes).expect("its tokens are known");
            let mut wrong = [0, 0];
            let Some(Json::Array(tests)) = member(&document, "tests") else {
                return Ok((whole, wrong, parts));
            };
            for test in tests {
                let is_valid =
                    matches!(member(test, "valid"), Some(Json::Word(word)) if word == "true");
                let text = write(member(test, "data").expect("an instance"));
                let mut matcher = constraint.matcher();
                let read = text.bytes().position(|byte| matcher.advance(u32::from(byte)).is_err());
                let is_accepted = read.is_none() && matcher.advance(256u32).is_ok();
                if is_accepted != is_valid {
                    wrong[usize::from(!is_valid)] += 1;
                    if !names.is_empty() {
                        let at = read.unwrap_or(text.len());
                        let at = (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                        println!("{name}: valid {is_valid}: {} >>> {}", &text[..at], &text[at..]);
                    }
                }
            }
            Ok((whole, wrong, parts))
        });
        match verdict {
            Err(_) => {
                *counts.entry("crash".to_owned()).or_default() += 1;
                println!("{name}: crash");
            }
            Ok(Err((kind, message))) => {
                *counts.entry(format!("refused: {kind}")).or_default() += 1;
                println!("{name}: {}", message.replace('\n', " "));
            }
            Ok(Ok((time, wrong, each))) => {
                times.push((time, each, name.clone()));
                parts.iter_mut().zip(each).for_each(|(all, one)| *all += one);
                *counts.entry("valid instances refused".to_owned()).or_default() += wrong[0];
                *counts.entry("invalid instances accepted".to_owned()).or_default() += wrong[1];
                let outcome = if wrong == [0, 0] { "pass" } else { "fails on an instance" };
                *counts.entry(outcome.to_owned()).or_default() += 1;
                if wrong != [0, 0] {
                    println!("{name}: refuses {} valid, accepts {} invalid", wrong[0], wrong[1]);
                }
            }
        }
    }
    times.sort();
    for (what, count) in &counts {
        println!("{count:6} {what}");
    }
    let quantile = |part: f64| times.get((times.len() as f64 * part) as usize).or(times.last());
    for part in [0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0] {
        if let Some((time, _, name)) = quantile(part) {
            println!("{:5.0} %: {:8.2} ms  {name}", part * 100.0, milliseconds(*time));
        }
    }
    println!("schema {:?}, tables {:?}, first mask {:?}", parts[0], parts[1], parts[2]);
    println!("the slowest, with the least that schema, tables and mask took, in milliseconds:");
    for (time, each, name) in times.iter().rev().take(SLOWEST) {
        let [schema, tables, mask] = each.map(milliseconds);
        println!("{:8.2} {schema:8.2} {tables:8.2} {mask:8.2}  {name}", milliseconds(*time));
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn member<'a>(value: &'a Json, key: &str) -> Option<&'a Json> {
    let Json::Object(members) = value else { return None };
    members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn parse(text: &str) -> Json {
    let mut rest = text;
    value(&mut rest)
}

fn value(rest: &mut &str) -> Json {
    *rest = rest.trim_start();
    let (open, inside) = rest.split_at(1);
    match open {
        "\"" => Json::Text(string(rest)),
        "[" => {
            *rest = inside.trim_start();
            let mut items = Vec::new();
            while !take(rest, "]") {
                items.push(value(rest));
                take(rest, ",");
            }
            Json::Array(items)
        }
        "{" => {
            *rest = inside.trim_start();
            let mut members = Vec::new();
            while !take(rest, "}") {
                *rest = rest.trim_start();
                let key = string(rest);
                take(rest, ":");
                members.push((key, value(rest)));
                take(rest, ",");
            }
            Json::Object(members)
        }
        _ => {
            let end = rest.find(|c: char| ",]} \n\r\t".contains(c)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            *rest = behind;
            Json::Word(word.to_owned())
        }
    }
}

fn take(rest: &mut &str, what: &str) -> bool {
    let trimmed = rest.trim_start();
    let behind = trimmed.strip_prefix(what);
    *rest = behind.unwrap_or(trimmed);
    behind.is_some()
}

fn string(rest: &mut &str) -> String {
    let mut escaped = false;
    let end = rest[1..].find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    let (text, behind) = rest.split_at(end.expect("the string ends") + 2);
    *rest = behind;
    serde_json::from_str(text).expect("a string")
}

/// Formats a value as Python's `json.dumps(value, ensure_ascii=False)` does.
fn write(value: &Json) -> String {
    let text = |text: &str| serde_json::to_string(text).expect("a string");
    match value {
        Json::Word(word) => word.clone(),
        Json::Text(own) => text(own),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(write).collect::<Vec<_>>().join(", "))
        }
        Json::Object(members) => {
            let members =
                members.iter().map(|(key, value)| format!("{}: {}", text(key), write(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

//! Measures the time that each shortcut of the index saves.
//!
//! ```sh
//! cargo test --release --lib shortcut_costs -- --ignored --nocapture
//! ```
//!
//! Prints, for each workload, the time of the masks along its documents from an empty index: the
//! mean, the 99th percentile, and the first. With all shortcuts the times are in microseconds;
//! without each shortcut they are multiples of those. For each mask, the fastest of several rounds
//! counts.

#![allow(clippy::print_stdout, reason = "the table is the answer")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::shortcuts::{ROOM, matcher};
use crate::constraint::{CompiledGrammar, Constraint};
use crate::grammar::{Grammar, GrammarReader};
use crate::index::Shortcuts;
use crate::schema::SchemaOptions;
use crate::util::id::TokenId;
use crate::vocab::Vocabulary;

const ROUNDS: usize = 7;

const CASES: [(&str, Shortcuts); 5] = [
    ("all", Shortcuts::ALL),
    ("no base walks", Shortcuts { base_walks: false, ..Shortcuts::ALL }),
    ("no self-loops", Shortcuts { self_loops: false, ..Shortcuts::ALL }),
    ("no branches", Shortcuts { branches: false, ..Shortcuts::ALL }),
    ("no submasks", Shortcuts { submasks: false, ..Shortcuts::ALL }),
];

/// Directories of workloads, and the paths of their grammars relative to them.
const WORKLOADS: [(&str, &str); 5] = [
    ("json", "../../../../grammars/json/json.lark"),
    ("select", "reserving.lark"),
    ("c-like", "reserving.lark"),
    ("sqlite", "../../../../grammars/sqlite/sqlite.lark"),
    ("python", "../../../../grammars/python/python.lark"),
];

/// Schemas with one text each: strings with a maximum length, with a very large one, with a
/// pattern, and with patterns that count.
const SCHEMAS: [(&str, &str); 4] = [
    (
        r#"{"properties": {"a": {"type": "string", "maxLength": 40}, "b": {"type": "string", "maxLength": 200}, "c": {"type": "integer"}}, "additionalProperties": false}"#,
        r#"{"a": "Lorem ipsum dolor sit amet", "b": "consectetur adipiscing elit, sed do", "c": 12}"#,
    ),
    (
        r#"{"properties": {"a": {"maxLength": 30000}}}"#,
        r#"{"a": "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua."}"#,
    ),
    (
        r#"{"properties": {"name": {"type": "string", "pattern": "^[A-Z][a-z]+( [A-Z][a-z]+)*$"}, "tags": {"items": {"enum": ["red", "green", "blue"]}}}, "required": ["name"]}"#,
        r#"{"name": "Ada Lovelace", "tags": ["red", "blue"], "more": {"x": [1, 2]}}"#,
    ),
    (
        r#"{"properties": {"name": {"pattern": "^[A-Z][a-z]+( [A-Z][a-z]+)*$", "maxLength": 100}, "id": {"pattern": "^[A-Za-z0-9_-]{3,64}$"}, "host": {"pattern": "^[a-z0-9-]{1,63}([.][a-z0-9-]{1,63})*$"}}}"#,
        r#"{"name": "Ada Lovelace", "id": "some-identifier_of-it", "host": "www.example-of-a-host.example.com"}"#,
    ),
];

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the documents in a directory, ordered by name; each line of a `.lines` file is one.
fn documents(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("there are documents");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let all = paths.into_iter().flat_map(|path| {
        let text = read(&path);
        match path.extension().is_some_and(|extension| extension == "lines") {
            true => text.lines().map(str::to_owned).collect(),
            false => vec![text],
        }
    });
    all.collect()
}

/// Returns the times of the masks along the texts, each the minimum of several rounds.
fn times(constraint: &Constraint, shortcuts: Shortcuts, texts: &[Vec<TokenId>]) -> Vec<Duration> {
    let mut least: Vec<Duration> = Vec::new();
    for _ in 0..ROUNDS {
        let (mut matcher, mut mask) =
            (matcher(constraint, (shortcuts, ROOM)), constraint.new_mask());
        let mut number = 0;
        for text in texts {
            matcher.reset();
            for &token in text {
                let begun = Instant::now();
                matcher.fill_mask(&mut mask);
                let time = begun.elapsed();
                match least.get_mut(number) {
                    Some(known) => *known = time.min(*known),
                    None => least.push(time),
                }
                number += 1;
                matcher.advance(token).expect("a text of the language");
            }
        }
    }
    least
}

/// Returns mean, 99th percentile and first, in microseconds.
fn figures(times: &[Duration]) -> [f64; 3] {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let mean = micros(times.iter().sum::<Duration>()) / times.len() as f64;
    [mean, micros(sorted[(times.len() - 1) * 99 / 100]), micros(times[0])]
}

fn print_row(name: &str, grammar: &Grammar, vocabulary: &Vocabulary, texts: &[String]) {
    let compiled = CompiledGrammar::new(grammar).expect("the grammar compiles");
    let constraint = compiled.constraint(vocabulary).expect("its tokens are known");
    let cut = |text: &String| vocabulary.cut_longest(text.as_bytes()).expect("bytes are tokens");
    let texts: Vec<Vec<TokenId>> = texts.iter().map(cut).collect();
    let mut all = [0.0; 3];
    for (case, shortcuts) in CASES {
        let found = figures(&times(&constraint, shortcuts, &texts));
        match shortcuts == Shortcuts::ALL {
            true => {
                all = found;
                let [mean, p99, first] = found;
                println!("| {name} | {case} | {mean:.1} µs | {p99:.1} µs | {first:.0} µs |");
            }
            false => {
                let [mean, p99, first] = std::array::from_fn(|at| found[at] / all[at]);
                println!("| {name} | {case} | {mean:.2} | {p99:.2} | {first:.2} |");
            }
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn shortcut_costs() {
    let vocabulary = Vocabulary::builtin("o200k").expect("it is built in");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/workloads");
    println!("| workload | shortcuts | mean | p99 | first |\n|---|---|---|---|---|");
    for (name, grammar) in WORKLOADS {
        let directory = root.join(name);
        let path = directory.join(grammar);
        let imports = |file: &str| fs::read_to_string(path.with_file_name(file));
        let grammar = GrammarReader::new().imports(&imports).lark(&read(&path)).expect("sound");
        print_row(name, &grammar, &vocabulary, &documents(&directory.join("documents")));
    }
    for (number, (schema, text)) in SCHEMAS.into_iter().enumerate() {
        let grammar = Grammar::from_schema(schema, &SchemaOptions::default()).expect("sound");
        print_row(&format!("schema {number}"), &grammar, &vocabulary, &[text.to_owned()]);
    }
}

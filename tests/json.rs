//! JSON, exactly as in RFC 8259.
//!
//! The oracle is `serde_json` reading into `IgnoredAny`, which checks syntax only. By default a
//! part of the samples is replayed; `LRMASK_LONG=1 cargo test --release --test json -- --nocapture`
//! replays all of them and prints their number.

#![allow(clippy::print_stdout, reason = "a long run says what it did")]

use crate::corpus;

use lrmask::{CompiledGrammar, Constraint, Grammar, TokenId, Vocabulary};
use serde::de::IgnoredAny;

const JSON: &str = include_str!("../grammars/json/json.lark");

/// Small texts and whether they are JSON.
const TEXTS: &str = include_str!("data/json.tsv");

fn compiled() -> CompiledGrammar {
    let grammar = Grammar::from_lark(JSON).expect("the grammar is sound");
    CompiledGrammar::new(&grammar).expect("the engine can do it exactly")
}

fn bytes_only() -> Vocabulary {
    Vocabulary::from_tokens((0..=255u8).map(|byte| vec![byte])).expect("a sound vocabulary")
}

/// Whether a whole text is in the language.
fn accepts(constraint: &Constraint, text: &[u8]) -> bool {
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(text).is_ok() && matcher.is_accepting()
}

/// Whether a text is JSON, by an independent parser. Reading into `IgnoredAny` does not check the
/// encoding, so that is checked first; nesting is not limited.
fn is_json(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

fn long_run() -> bool {
    std::env::var_os("LRMASK_LONG").is_some()
}

#[test]
fn small_texts() {
    let constraint = compiled().constraint(&bytes_only()).expect("its tokens are known");
    let mut count = 0;
    for line in TEXTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (verdict, text) = line.split_once('\t').expect("verdict and text");
        let text: String = serde_json::from_str(text).expect("the text as a JSON string");
        assert_eq!(accepts(&constraint, text.as_bytes()), verdict == "yes", "{text:?}");
        assert_eq!(is_json(text.as_bytes()), verdict == "yes", "the oracle on {text:?}");
        count += 1;
    }
    assert!(count > 60);
}

#[test]
#[ignore = "reads samples"]
fn json_test_suite() {
    let files = corpus::needed(corpus::archive("json/JSONTestSuite.tar.gz"));
    let constraint = compiled().constraint(&bytes_only()).expect("its tokens are known");
    let (mut yes, mut no, mut open) = (0, 0, Vec::new());
    for (path, text) in files {
        let Some((_, name)) = path.split_once("test_parsing/") else { continue };
        let accepted = accepts(&constraint, &text);
        match name.as_bytes()[0] {
            b'y' => {
                assert!(accepted, "{name} must be accepted");
                yes += 1;
            }
            b'n' => {
                assert!(!accepted, "{name} must be refused");
                no += 1;
            }
            _ => open.push((name.to_owned(), accepted)),
        }
    }
    // Cases that RFC 8259 leaves open are decided, and listed with the grammar.
    let readme = include_str!("../grammars/json/README.md");
    let rows = open.iter().map(|(name, accepted)| {
        let accepted = if *accepted { "yes" } else { "no" };
        format!("| `{name}` | {accepted} |")
    });
    let missing: Vec<String> = rows.filter(|row| !readme.contains(row)).collect();
    assert!(missing.is_empty(), "grammars/json/README.md must say:\n{}", missing.join("\n"));
    println!("{yes} accepted, {no} refused, {} decided", open.len());
    assert!(yes >= 90 && no >= 180 && open.len() >= 30);
}

/// Returns a text of about `size` bytes in the form of a log: many small records.
fn records(size: usize) -> Vec<u8> {
    let mut text = String::from("[");
    let mut count = 0u32;
    while text.len() < size {
        if count > 0 {
            text.push_str(",\n ");
        }
        let name = ["zoë", "ana", "b\\\"ob", "\\u00e9mile", "日本"][count as usize % 5];
        text.push_str(&format!(
            "{{\"id\": {count}, \"name\": \"{name}\", \"score\": {}.5e-{}, \"tags\": [true, null, {{}}]}}",
            count * 7,
            count % 9,
        ));
        count += 1;
    }
    text.push_str("]\n");
    text.into_bytes()
}

/// Returns a text nested `depth` deep.
fn nested(depth: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for level in 0..depth {
        text.extend_from_slice(if level % 2 == 0 { b"[" } else { b"{\"k\": " });
    }
    text.extend_from_slice(b"-0.0");
    for level in (0..depth).rev() {
        text.push(if level % 2 == 0 { b']' } else { b'}' });
    }
    text
}

/// Returns JSON documents of all shapes and of sizes up to a megabyte.
fn documents() -> Vec<(String, Vec<u8>)> {
    let mut documents: Vec<(String, Vec<u8>)> = Vec::new();
    for (archive, limit) in
        [("maskbench", 620), ("JSON-Schema-Test-Suite", 60), ("JSONTestSuite", 400)]
    {
        let files = corpus::archive(&format!("json/{archive}.tar.gz")).unwrap_or_default();
        let sound =
            files.into_iter().filter(|(path, text)| path.ends_with(".json") && is_json(text));
        documents.extend(sound.take(limit));
    }
    for size in [10, 1_000, 10_000, 100_000, 1_000_000] {
        documents.push((format!("records of {size} bytes"), records(size)));
    }
    for depth in [1, 10, 100] {
        documents.push((format!("nested {depth} deep"), nested(depth)));
    }
    documents
}

/// Replays `tokens`, which spell `text`: every token must be allowed by the mask and by `advance`,
/// and EOS exactly when the prefix is JSON. Returns the number of steps.
fn replay(constraint: &Constraint, name: &str, text: &[u8], tokens: &[TokenId]) -> usize {
    let vocabulary = constraint.vocabulary();
    let stop = vocabulary.stop_tokens()[0];
    let mut matcher = constraint.matcher();
    let mut mask = constraint.new_mask();
    let mut offset = 0;
    for (step, &token) in tokens.iter().enumerate() {
        matcher.fill_mask(&mut mask);
        assert!(mask.contains(token), "{name}: token {token} at byte {offset} must be allowed");
        // Parsing every prefix of a long text would be quadratic, so only some of them are parsed.
        if text.len() < 3_000 || step % (tokens.len() / 20 + 1) == 0 {
            assert_eq!(
                mask.contains(stop),
                is_json(&text[..offset]),
                "{name}: EOS at byte {offset}"
            );
        }
        matcher.advance(token).expect("a bit that is set");
        offset += vocabulary.bytes(token).map_or(0, <[u8]>::len);
    }
    assert_eq!(offset, text.len(), "{name}: the tokens spell the text");
    assert!(matcher.is_accepting(), "{name}: EOS at the end");
    matcher.advance(stop).expect("EOS at the end");
    tokens.len()
}

#[test]
fn no_true_token_is_refused() {
    let documents = documents();
    let part = if long_run() { 1 } else { 8 };
    let compiled = compiled();
    for (name, vocabulary, tokenizer) in corpus::vocabularies(
        &["gpt2", "o200k"],
        &["llama3/tokenizer.json.gz", "llama2/tokenizer.json.gz"],
    ) {
        let constraint = compiled.constraint(&vocabulary).expect("its tokens are known");
        let (mut count, mut own, mut steps) = (0, 0, 0);
        for (at, (path, text)) in documents.iter().enumerate().filter(|(at, _)| at % part == 0) {
            let random =
                corpus::cut_random(&vocabulary, text, at as u64).expect("bytes can be spelled");
            steps += replay(&constraint, path, text, &random);
            let tokens =
                tokenizer.encode(&vocabulary, std::str::from_utf8(text).expect("JSON is UTF-8"));
            if let Some(tokens) = tokens {
                steps += replay(&constraint, path, text, &tokens);
                own += 1;
            }
            count += 1;
        }
        println!(
            "{name}: {count} documents, {own} of them by the tokenizer's own cut as well, {steps} steps, {:?}",
            constraint.index_size()
        );
        assert!(own * 10 >= count * 9, "{name}: a tokenizer cuts what it is made for");
    }
}

#[test]
fn nesting_of_any_depth() {
    let constraint = compiled().constraint(&bytes_only()).expect("its tokens are known");
    for depth in [200, 10_000, 1_000_000] {
        let text = nested(depth);
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(&text).expect("nesting is not limited");
        assert!(matcher.is_accepting());
        assert!(!accepts(&constraint, &text[..text.len() - 1]));
        // A completion also exists from the middle.
        let half = &text[..text.len() / 2];
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(half).expect("a prefix");
        let rest = matcher.shortest_completion().expect("every viable text can be completed");
        matcher.advance_bytes(&rest).expect("the completion follows");
        assert!(matcher.is_accepting());
    }
}

#[test]
fn a_string_of_ten_megabytes() {
    let constraint = compiled().constraint(&bytes_only()).expect("its tokens are known");
    let mut text = vec![b'"'];
    text.resize(10 << 20, b'x');
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(&text).expect("strings are not limited");
    assert!(!matcher.is_accepting());
    matcher.advance_bytes(b"\"").expect("the string ends");
    assert!(matcher.is_accepting());
}

//! Memory of a sequence: some tens of bytes for each byte of its text, however long it is.
//!
//! The index is warmed up with the same text first, so that only the sequence itself is measured.
//! There is one test, because the allocator counts for the whole process.
//! `cargo test --release --test memory -- --nocapture` prints the measurements.

#![cfg(feature = "tiktoken")]
#![allow(clippy::print_stdout, reason = "the figures are worth reading")]

use lrmask::{Constraint, GrammarReader, Matcher, Vocabulary};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const JSON: &str = include_str!("../grammars/json/json.lark");
const SQLITE: &str = include_str!("../grammars/sqlite/sqlite.lark");
const PYTHON: &str = include_str!("../grammars/python/python.lark");
/// The import of Python's grammar.
const IDENTIFIERS: &str = include_str!("../grammars/python/identifiers.lark");

/// Least number of bytes of each text.
const LENGTH: usize = 1_100_000;

/// Upper bounds documented for `Matcher`, in heap bytes per byte of text: for tokens of a large
/// vocabulary, and for single bytes.
const BY_TOKEN: usize = 72;
const BY_BYTE: usize = 160;

/// Upper bound for a text that does nothing but nest, so that all of it is on the parse stack.
const NESTED_BY_TOKEN: usize = 108;

/// An element of an array, with a comma.
const ELEMENT: &str = r#"{"id": 17, "name": "caf\u00e9 noir", "tags": ["a", "b c", []], "size": -1.5e3, "open": true, "next": null},
"#;

const SCRIPT: &str = "\
    CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL CHECK (price >= 0));
INSERT INTO item (name, price) VALUES ('a ''quoted'' name', 1.5), ('another', 2e3);
SELECT i.name, count(*) AS n FROM item AS i LEFT JOIN sale ON sale.item = i.id -- all of them
 WHERE (i.price + 1) * 2 BETWEEN 3 AND 40 AND i.name LIKE 'a%' GROUP BY 1 HAVING n > 2 ORDER BY n DESC LIMIT 10;
UPDATE item SET price = CASE WHEN price > 10 THEN price * 0.9 ELSE price END WHERE id IN (SELECT item FROM sale);
";

const MODULE: &str = include_str!("data/python/verdicts.py");

fn constraint(text: &str, vocabulary: &Vocabulary) -> Constraint {
    let imports = |_: &str| Ok(IDENTIFIERS.to_owned());
    let grammar = GrammarReader::new()
        .name("grammar")
        .imports(&imports)
        .lark(text)
        .expect("the built-in grammar is sound");
    Constraint::new(&grammar, vocabulary).expect("the engine can do it exactly")
}

/// Returns the heap bytes that these steps add to a fresh sequence.
fn growth(constraint: &Constraint, steps: &dyn Fn(&mut Matcher)) -> usize {
    // Fills the index first.
    steps(&mut constraint.matcher());
    let mut matcher = constraint.matcher();
    let before = HEAP.current_usage();
    steps(&mut matcher);
    HEAP.current_usage() - before
}

/// Checks `bytes`, used for a text of `length` bytes, against a bound.
fn check(name: &str, bytes: usize, length: usize, bound: usize) {
    println!("{name}: {:.1} heap bytes for a byte of text", bytes as f64 / length as f64);
    assert!(
        bytes <= bound * length,
        "{name}: {bytes} bytes, {bound} for each byte of {length} promised"
    );
}

#[test]
fn memory_of_a_sequence() {
    let vocabulary = Vocabulary::builtin("o200k").expect("the vocabulary is built in");
    let document = format!("[{}0]", ELEMENT.repeat(LENGTH / ELEMENT.len() + 1));
    let script = SCRIPT.repeat(LENGTH / SCRIPT.len() + 1);
    let module = MODULE.repeat(LENGTH / MODULE.len() + 1);
    let nested = "[".repeat(LENGTH);
    let texts = [
        ("a JSON document", JSON, document, BY_TOKEN),
        ("an SQL script", SQLITE, script, BY_TOKEN),
        ("a Python module", PYTHON, module, BY_TOKEN),
        ("nested arrays", JSON, nested, NESTED_BY_TOKEN),
    ];
    for (name, grammar, text, by_token) in texts {
        let constraint = constraint(grammar, &vocabulary);
        let tokens = vocabulary.cut_longest(text.as_bytes()).expect("every byte is a token");
        let grown = growth(&constraint, &|matcher| {
            let mut mask = constraint.new_mask();
            for &token in &tokens {
                matcher.fill_mask(&mut mask);
                matcher.advance(token).expect("the text is of the language");
            }
        });
        check(&format!("{name}, {} tokens", tokens.len()), grown, text.len(), by_token);
        let grown = growth(&constraint, &|matcher| {
            for &byte in text.as_bytes() {
                matcher.advance_bytes(&[byte]).expect("the text is of the language");
            }
        });
        check(&format!("{name}, byte by byte"), grown, text.len(), BY_BYTE);
    }
}

//! Third-party grammars next to the project: how many of each notation are accepted, and why others
//! are not.
//!
//! `cargo test --release --test it -- --ignored --nocapture samples::` prints the table.

#![allow(clippy::print_stdout)]

use crate::corpus;

use std::collections::BTreeMap;

use lrmask::{CompiledGrammar, Diagnostic, Grammar, GrammarReader};

/// A grammar: its file, its text, and its start symbol.
struct Sample {
    file: String,
    text: String,
    start: Option<String>,
}

/// Returns the samples of a kind, from the archive.
fn samples(kind: &str) -> Vec<Sample> {
    let manifest = corpus::needed(corpus::file("grammars/MANIFEST.tsv"));
    let manifest = String::from_utf8(manifest).expect("the manifest is text");
    let files: BTreeMap<String, Vec<u8>> =
        corpus::needed(corpus::archive("grammars/grammars.tar.gz")).into_iter().collect();
    let rows = manifest.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let samples = rows.filter(|row| row[0] == kind).map(|row| Sample {
        file: row[1].to_owned(),
        text: String::from_utf8_lossy(&files[row[1]]).into_owned(),
        start: (!row[4].is_empty() && row[4] != "root").then(|| row[4].to_owned()),
    });
    samples.collect()
}

/// Prints the results for the samples, with the code of the first error for refused ones.
fn table(
    title: &str,
    samples: &[Sample],
    read: impl Fn(&Sample) -> Result<Grammar, lrmask::GrammarError>,
) -> Vec<(String, &'static str)> {
    let first = |found: &[Diagnostic]| {
        let error = found.iter().find(|finding| finding.severity == lrmask::Severity::Error);
        error.map_or(("refused", String::new()), |error| (error.code, error.to_string()))
    };
    let mut refused = Vec::new();
    for sample in samples {
        let compiled = match read(sample) {
            Ok(grammar) => {
                CompiledGrammar::new(&grammar).map_err(|error| first(error.diagnostics()))
            }
            Err(error) => Err(first(error.diagnostics())),
        };
        if let Err((code, message)) = compiled {
            println!("  {}: {message}", sample.file);
            refused.push((sample.file.clone(), code));
        }
    }
    println!("{title}: {} of {} taken", samples.len() - refused.len(), samples.len());
    refused
}

fn gbnf(sample: &Sample) -> Result<Grammar, lrmask::GrammarError> {
    GrammarReader::new().name(&sample.file).start(sample.start.as_deref()).gbnf(&sample.text)
}

#[test]
#[ignore = "reads samples"]
fn every_gbnf_file_is_taken() {
    let mut all = samples("gbnf");
    let directory = corpus::directory().expect("the samples are there").join("gbnf");
    for entry in std::fs::read_dir(directory).expect("the samples are readable") {
        let path = entry.expect("the samples are readable").path();
        if path.extension().is_some_and(|extension| extension == "gbnf") {
            let text = std::fs::read_to_string(&path).expect("a grammar is text");
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            all.push(Sample { file, text, start: None });
        }
    }
    assert_eq!(table("gbnf", &all, gbnf), []);
}

#[test]
#[ignore = "reads samples"]
fn nine_in_ten_of_the_relatives_are_taken() {
    let all = samples("ebnf");
    let refused = table("ebnf", &all, gbnf);
    assert!(refused.len() * 10 <= all.len(), "{refused:?}");
}

#[test]
#[ignore = "reads samples"]
fn every_yacc_file_that_is_a_grammar_is_taken() {
    let all = samples("yacc");
    let (empty, grammars): (Vec<Sample>, Vec<Sample>) =
        all.into_iter().partition(|sample| sample.text.trim().is_empty());
    assert_eq!(table("yacc", &grammars, |sample| Grammar::from_yacc_rules(&sample.text)), []);
    assert_eq!(
        table("empty files", &empty, |sample| Grammar::from_yacc_rules(&sample.text)).len(),
        empty.len()
    );
}

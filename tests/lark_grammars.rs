//! Third-party Lark grammars, which may be placed next to the project: how many are accepted, and
//! why the others are not.
//!
//! `cargo test --test lark_grammars -- --nocapture` prints the table. Texts are not compared with
//! Lark itself here, because that needs Lark.

use crate::corpus;

use std::collections::{BTreeMap, BTreeSet};

use std::io::ErrorKind;

use lrmask::{Constraint, Diagnostic, GrammarReader, Limits, Severity};

/// Reasons why a grammar may be refused: it is not a set of texts, it takes too long to decide in a
/// test, or it has blocks and brackets whose meaning only its own program defines.
const REASONS: &[&str] =
    &["decision-limit", "line-in-brackets", "regex-unsupported", "unbalanced-blocks"];

/// Least percentage of accepted grammars.
const TAKEN: usize = 90;

/// A line of the samples' table of contents.
struct Sample {
    file: String,
    start: String,
    rules: usize,
}

#[test]
#[ignore = "reads samples"]
fn grammars_of_others_are_taken_or_refused_with_a_reason() {
    let manifest = corpus::needed(corpus::file("grammars/MANIFEST.tsv"));
    let files = corpus::needed(corpus::archive("grammars/grammars.tar.gz"));
    let manifest = String::from_utf8(manifest).expect("the table is UTF-8");
    let files: BTreeMap<String, String> = files
        .into_iter()
        .filter_map(|(name, text)| Some((name, String::from_utf8(text).ok()?)))
        .collect();
    let samples: Vec<Sample> = manifest.lines().filter_map(sample).collect();
    assert!(samples.len() > 100, "the table has {} Lark grammars", samples.len());

    let (mut all, mut taken, mut large, mut large_taken) = (0, 0, 0, 0);
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut warnings: BTreeMap<&'static str, usize> = BTreeMap::new();
    for sample in &samples {
        let is_large = sample.rules >= 15;
        all += 1;
        large += usize::from(is_large);
        let outcome = compile(sample, &files);
        if outcome.is_ok() {
            taken += 1;
            large_taken += usize::from(is_large);
        }
        let findings = outcome.unwrap_or_else(|findings| {
            let error = findings.iter().find(|finding| finding.severity == Severity::Error);
            let error =
                error.unwrap_or_else(|| panic!("{}: refused without an error", sample.file));
            assert!(REASONS.contains(&error.code), "{}: {error}", sample.file);
            assert!(error.help.is_some(), "{}: {error}", sample.file);
            let reason = match error.message.split_once(": ") {
                Some((_, reason)) if error.code == "regex-unsupported" => reason.to_owned(),
                _ => error.code.to_owned(),
            };
            reasons.entry(reason).or_default().push(sample.file.clone());
            findings
        });
        let codes: BTreeSet<&'static str> = findings.iter().map(|finding| finding.code).collect();
        codes.into_iter().for_each(|code| *warnings.entry(code).or_default() += 1);
    }
    corpus::say(&format!(
        "Lark grammars of others: {taken} of {all} taken, {large_taken} of {large} with 15 rules or more"
    ));
    for (reason, files) in &reasons {
        corpus::say(&format!("{:>5} {reason}", files.len()));
        files.iter().for_each(|file| corpus::say(&format!("        {file}")));
    }
    corpus::say("findings, by how many grammars have one:");
    warnings.iter().for_each(|(code, count)| corpus::say(&format!("{count:>5} {code}")));
    assert!(taken * 100 >= all * TAKEN, "{taken} of {all} are taken");
}

fn sample(line: &str) -> Option<Sample> {
    let fields: Vec<&str> = line.split('\t').collect();
    let ["lark", file, _, _, start, _, _, rules, ..] = fields[..] else { return None };
    Some(Sample {
        file: file.to_owned(),
        start: start.to_owned(),
        rules: rules.parse().unwrap_or(0),
    })
}

/// Returns the warnings, or all findings on an error.
fn compile(
    sample: &Sample,
    files: &BTreeMap<String, String>,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let text = &files[&sample.file];
    let imports = |path: &str| files.get(path).cloned().ok_or_else(|| ErrorKind::NotFound.into());
    // If the table has no start symbol, the file's own is used.
    let start = Some(sample.start.as_str()).filter(|start| !start.is_empty());
    let grammar = GrammarReader::new().name(&sample.file).start(start).imports(&imports).lark(text);
    let grammar = grammar.map_err(|error| error.diagnostics().to_vec())?;
    let mut limits = Limits::default();
    limits.decision_steps /= 20;
    let compiled = Constraint::builder()
        .limits(&limits)
        .compile(&grammar)
        .map_err(|error| error.diagnostics().to_vec())?;
    Ok(compiled.warnings().to_vec())
}

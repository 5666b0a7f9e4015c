//! Every small grammar, every viable text up to a length, several vocabularies: compares whole
//! masks with the oracle.
//!
//! `LRMASK_CASE=name` runs one directory of `tests/grammars`. `LRMASK_TEXTS=N` visits up to N texts
//! with each vocabulary (default 300, shortest first; 2000 visits all texts that the cases need).

#![allow(clippy::print_stdout)]

use crate::oracle;

use oracle::case::{Case, Fact};
use oracle::check::{Extent, build, walk};
use oracle::every::in_every_small_grammar;
use oracle::spec::LexerKind;
use oracle::vocabularies::{self, SmallVocabulary};

fn vocabularies_of(case: &Case) -> Vec<SmallVocabulary> {
    let length = if case.alphabet.len() <= 6 { 3 } else { 2 };
    let mut all = vec![
        vocabularies::bytes(),
        vocabularies::strings(&case.alphabet, length),
        vocabularies::ragged(&case.alphabet, &case.tokens),
    ];
    if !case.sparse.is_empty() {
        all.push(vocabularies::sparse(&case.sparse));
    }
    all
}

/// Texts that are viable by hand-written expectations.
fn known(case: &Case, lexer: LexerKind) -> Vec<Vec<u8>> {
    let said = case.expectations.iter().filter(|e| e.lexer == lexer);
    said.filter(|e| matches!(e.fact, Fact::Member | Fact::Viable)).map(|e| e.text.clone()).collect()
}

fn check(case: &Case, lexer: LexerKind) -> Vec<String> {
    let most = std::env::var("LRMASK_TEXTS")
        .map_or(300, |texts| texts.parse().expect("LRMASK_TEXTS is a number"));
    let lark = case.lark(lexer);
    let refused = case.refused.iter().find(|(l, _)| *l == lexer).map(|(_, code)| code.as_str());
    let oracle = case.oracle(lexer);
    let mut faults = Vec::new();
    for vocabulary in vocabularies_of(case) {
        let built = build(&lark, &vocabulary);
        let (constraint, warnings) = match (built, refused) {
            (Ok(built), None) => built,
            (Ok(_), Some(code)) => {
                faults.push(format!("accepted, but should be refused: {code}"));
                return faults;
            }
            (Err(found), Some(code)) => {
                if !found.iter().any(|d| d.code == code) {
                    faults.push(format!("refused, but not by {code}: {found:#?}"));
                }
                return faults;
            }
            (Err(found), None) => {
                let found: Vec<String> = found.iter().map(ToString::to_string).collect();
                faults.push(format!("refused: {}", found.join("\n")));
                return faults;
            }
        };
        for (_, code) in case.warnings.iter().filter(|(l, _)| *l == lexer) {
            if !warnings.iter().any(|d| d.code == code) {
                faults.push(format!("[{}] no warning {code}", vocabulary.name));
            }
        }
        let in_tokens = matches!(vocabulary.name, "ragged" | "sparse");
        let extent = Extent {
            alphabet: case.alphabet.clone(),
            bytes: case.n,
            tokens: if in_tokens { 3 } else { 0 },
            texts: most / if in_tokens { 3 } else { 1 },
            also: known(case, lexer),
            descents: (0, 0),
            completes: !case.may_lack_completions,
        };
        let outcome = walk(&oracle, &constraint, &vocabulary, &extent);
        assert!(outcome.texts > 1 || !outcome.faults.is_empty(), "{}: nothing walked", case.name);
        faults.extend(outcome.faults);
        if faults.len() > 20 {
            break;
        }
    }
    faults
}

#[test]
fn the_engine_masks_what_the_oracle_masks_in_every_small_grammar() {
    in_every_small_grammar(check);
}

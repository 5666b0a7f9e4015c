//! Random small grammars and vocabularies: compares whole masks with the oracle.
//!
//! `LRMASK_RANDOM=N` tries N grammars (default 200), and a fifth as many with significant lines;
//! `LRMASK_SEED=N` selects others than the usual ones. Grammars that the engine refuses are counted
//! by reason. At least four fifths of those with a non-empty language must be accepted.

#![allow(clippy::print_stdout)]

use crate::oracle;

use oracle::check::{Extent, build_from, walk};
use oracle::draft;
use oracle::lines;
use oracle::open::without_hidden_left_recursion;
use oracle::sketch::Sketch;
use oracle::spec::Spec;
use oracle::viability::Oracle;
use oracle::vocabularies;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Results for the grammars, one for each entry point.
#[derive(Debug, Default)]
struct Tally {
    grammars: u32,
    accepted: u32,
    texts: usize,
    bits: usize,
    /// Bits that the oracle could not verify.
    undecided: usize,
    /// Counts by error code.
    refused: BTreeMap<&'static str, u32>,
    /// Counts of accepted grammars by feature.
    having: BTreeMap<&'static str, u32>,
}

fn number(variable: &str, default: u32) -> u32 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Returns the features of a grammar that are counted, besides the engine's warnings.
fn features(sketch: &Sketch, spec: &Spec) -> Vec<&'static str> {
    let mut features: Vec<&'static str> =
        sketch.relations.iter().map(|relation| relation.kind).collect();
    let counted = |pattern: &str| pattern.contains('{');
    let pending = |pattern: &str| pattern.contains("[^");
    let has =
        |is: &dyn Fn(&str) -> bool| sketch.terminals.iter().any(|terminal| is(&terminal.pattern));
    let ignored = sketch.terminals.iter().filter(|terminal| terminal.ignored).count();
    let mut note = |feature, is_there: bool| features.extend(is_there.then_some(feature));
    note("basic", sketch.basic);
    note("match all", sketch.matching == Some("all"));
    note("match priority", sketch.matching == Some("priority"));
    note("conflicts shift", sketch.shift);
    note("counted repetition", has(&counted));
    note("exclusive", !sketch.exclusive.is_empty());
    note("hidden left recursion", without_hidden_left_recursion(&spec.productive()).is_some());
    note("indentation", sketch.indent.is_some());
    note("pending match", has(&pending));
    note("precedence", !sketch.levels.is_empty());
    let looks_ahead = |pattern: &str| pattern.contains("(?=") || pattern.contains("(?!");
    note("look-ahead past the lexeme", has(&looks_ahead));
    let looks_behind = |pattern: &str| pattern.contains("(?<");
    note("look-behind before the lexeme", has(&looks_behind));
    note("several entry points", sketch.starts.len() > 1);
    note("several ignored terminals", ignored > 1);
    note("several relations", sketch.relations.len() > 1);
    features.sort_unstable();
    features.dedup();
    features
}

fn check(
    sketch: &Sketch,
    alphabet: &[u8],
    tokens: &[Vec<u8>],
    tally: &RefCell<Tally>,
) -> Result<(), TestCaseError> {
    let lark = sketch.lark();
    for start in &sketch.starts {
        let printed = sketch.spec(start);
        let spec = Spec::read(&printed);
        let mut features = features(sketch, &spec);
        // With significant lines no search is exhaustive, and each takes long.
        let oracle = match spec.indentation {
            None => Oracle::new(spec, alphabet),
            Some(_) => Oracle::with_limit(spec, alphabet, 200),
        };
        tally.borrow_mut().grammars += 1;
        let mut accepted = true;
        for vocabulary in
            [vocabularies::strings(alphabet, 2), vocabularies::ragged(alphabet, tokens)]
        {
            let (constraint, warnings) = match build_from(&lark, start, &vocabulary) {
                Ok(built) => built,
                Err(found) => {
                    let error = found.iter().rev().find(|d| d.severity == lrmask::Severity::Error);
                    let code = error.map_or("nothing said", |error| error.code);
                    *tally.borrow_mut().refused.entry(code).or_default() += 1;
                    accepted = false;
                    break;
                }
            };
            let warned = |code: &str| warnings.iter().any(|warning| warning.code == code);
            features.extend(
                ["conflict", "cyclic", "unproductive"].into_iter().filter(|code| warned(code)),
            );
            let extent = Extent {
                alphabet: alphabet.to_vec(),
                bytes: 5,
                tokens: 2,
                texts: 40,
                also: Vec::new(),
                descents: (3, 14),
                completes: false,
            };
            let outcome = walk(&oracle, &constraint, &vocabulary, &extent);
            let faults = outcome.faults.join("\n");
            if !faults.is_empty() {
                return Err(TestCaseError::fail(format!(
                    "start {start}\n{lark}\n{printed}\n{faults}"
                )));
            }
            let mut tally = tally.borrow_mut();
            tally.texts += outcome.texts;
            tally.bits += outcome.bits;
            tally.undecided += outcome.undecided;
        }
        if accepted {
            let mut tally = tally.borrow_mut();
            tally.accepted += 1;
            features.sort_unstable();
            features.dedup();
            features.into_iter().for_each(|feature| *tally.having.entry(feature).or_default() += 1);
        }
    }
    Ok(())
}

/// Reasons why a grammar may be refused: it has no text; it limits its blocks, and has precedence
/// or lexemes that run into one another; or it ignores a lexeme that no line end is certain to
/// follow.
const REFUSALS: [&str; 4] = ["empty-language", "unproductive", "level-limit", "unending-line"];

/// With fewer grammars, the share of accepted ones is a matter of chance.
const ENOUGH_FOR_SHARES: u32 = 40;

/// Tries this many drafts, and prints the results.
fn run<S: Strategy>(
    cases: u32,
    drafts: S,
    check: impl Fn(&S::Value, &RefCell<Tally>) -> Result<(), TestCaseError>,
) {
    let mut seed = [7; 32];
    seed[..4].copy_from_slice(&number("LRMASK_SEED", 1).to_le_bytes());
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let tally = RefCell::new(Tally::default());
    let result = runner.run(&drafts, |draft| check(&draft, &tally));
    let tally = tally.into_inner();
    println!("{tally:#?}");
    if let Err(failure) = result {
        panic!("{failure}");
    }
    assert!(
        tally.refused.keys().all(|code| REFUSALS.contains(code)),
        "a grammar is refused that should be taken: {tally:?}"
    );
    if tally.grammars < ENOUGH_FOR_SHARES {
        return;
    }
    assert!(tally.accepted * 2 >= tally.grammars, "too few drafts are grammars: {tally:?}");
    assert!(
        tally.undecided * 100 <= tally.bits,
        "the oracle cannot tell of too many bits: {tally:?}"
    );
}

#[test]
fn the_engine_masks_what_the_oracle_masks_in_random_grammars() {
    run(number("LRMASK_RANDOM", 200), draft::drafts(), |draft, tally| {
        check(&draft.sketch(), draft::ALPHABET, &draft.tokens(), tally)
    });
}

#[test]
fn the_engine_masks_what_the_oracle_masks_where_priority_or_all_matches_count() {
    run(number("LRMASK_RANDOM", 200), draft::with_match(), |draft, tally| {
        check(&draft.sketch(), draft::ALPHABET, &draft.tokens(), tally)
    });
}

#[test]
fn the_engine_masks_what_the_oracle_masks_where_ignored_matches_stay_pending() {
    run(number("LRMASK_RANDOM", 200), draft::with_pending(), |draft, tally| {
        check(&draft.sketch(), draft::ALPHABET, &draft.tokens(), tally)
    });
}

#[test]
fn the_engine_masks_what_the_oracle_masks_where_lines_count() {
    run(number("LRMASK_RANDOM", 200) / 5, lines::drafts(), |draft, tally| {
        check(&draft.sketch(), lines::ALPHABET, &draft.tokens(), tally)
    });
}

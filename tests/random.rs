//! Random small grammars and vocabularies: whole masks against the oracle.
//!
//! `LRMASK_RANDOM=N` tries N grammars (default 400); `LRMASK_SEED=N` tries others than those of every day. Grammars that
//! the engine refuses are counted and skipped; a fifth must be accepted.

#![allow(clippy::print_stdout)]

mod oracle;

use oracle::check::{Extent, build, walk};
use oracle::draft::{ALPHABET, Draft, drafts};
use oracle::spec::Spec;
use oracle::viability::Oracle;
use oracle::vocabularies;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What became of the grammars.
#[derive(Debug, Default)]
struct Tally {
    accepted: u32,
    texts: usize,
    bits: usize,
    refused: BTreeMap<&'static str, u32>,
}

fn number(variable: &str, default: u32) -> u32 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

fn check(draft: &Draft, tally: &RefCell<Tally>) -> Result<(), TestCaseError> {
    let printed = draft.print();
    let small = vocabularies::strings(ALPHABET, 2);
    let constraints = [small, vocabularies::ragged(ALPHABET, &draft.tokens)].map(|vocabulary| {
        let built = build(&printed.lark, &vocabulary);
        (built, vocabulary)
    });
    let oracle = Oracle::new(Spec::read(&printed.spec), ALPHABET);
    for (built, vocabulary) in constraints {
        let constraint = match built {
            Ok((constraint, _)) => constraint,
            Err(found) => {
                let code = found.iter().rev().find(|d| d.severity == lrmask::Severity::Error);
                *tally.borrow_mut().refused.entry(code.map_or("nothing said", |d| d.code)).or_default() += 1;
                return Ok(());
            }
        };
        let extent = Extent {
            alphabet: ALPHABET.to_vec(),
            bytes: 5,
            tokens: 2,
            texts: 60,
            also: Vec::new(),
            completes: false,
        };
        let outcome = walk(&oracle, &constraint, &vocabulary, &extent);
        let faults = outcome.faults.join("\n");
        if !faults.is_empty() {
            return Err(TestCaseError::fail(format!("{}\n{}\n{faults}", printed.lark, printed.spec)));
        }
        let mut tally = tally.borrow_mut();
        tally.texts += outcome.texts;
        tally.bits += outcome.bits;
    }
    tally.borrow_mut().accepted += 1;
    Ok(())
}

#[test]
fn the_engine_masks_what_the_oracle_masks_in_random_grammars() {
    let cases = number("LRMASK_RANDOM", 400);
    let mut seed = [7; 32];
    seed[..4].copy_from_slice(&number("LRMASK_SEED", 1).to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let tally = RefCell::new(Tally::default());
    let result = runner.run(&drafts(), |draft| check(&draft, &tally));
    let tally = tally.into_inner();
    println!("{tally:?}");
    if let Err(failure) = result {
        panic!("{failure}");
    }
    assert!(tally.accepted * 5 >= cases, "too few grammars are accepted: {tally:?}");
}

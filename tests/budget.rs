//! Budgets of tokens: whole masks against a breadth-first search for the fewest tokens, and texts
//! that follow the masks, which must end in time.
//!
//! `LRMASK_CASE=name` runs one directory of `tests/grammars`. `LRMASK_TEXTS=N` visits up to N texts
//! with each vocabulary. `LRMASK_RANDOM=N` writes N texts over the built-in grammars and schemas.

#![allow(clippy::print_stdout)]

use crate::oracle;

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lrmask::{AdvanceErrorKind, BudgetError, Constraint, Grammar, Matcher, TokenMask, Vocabulary};
use oracle::case::{Case, names};
use oracle::check::build;
use oracle::quoted::show;
use oracle::viability::{Oracle, Viable};
use oracle::vocabularies::{self, SmallVocabulary};

/// Budgets that are compared.
const MOST: usize = 3;

/// The fewest tokens that make a text a member, found by trying all.
struct Fewest<'a> {
    oracle: &'a Oracle,
    tokens: Vec<Vec<u8>>,
    /// Whether a text can become a member by so many tokens.
    known: HashMap<(Vec<u8>, usize), bool>,
}

impl Fewest<'_> {
    fn ends_within(&mut self, text: &[u8], tokens: usize) -> bool {
        if let Some(&known) = self.known.get(&(text.to_vec(), tokens)) {
            return known;
        }
        let mut ends = self.oracle.judge(text) == Some(true);
        if !ends && tokens > 0 {
            for token in self.tokens.clone() {
                let longer = [text, &token].concat();
                if self.oracle.viable(&longer) != Viable::No
                    && self.ends_within(&longer, tokens - 1)
                {
                    ends = true;
                    break;
                }
            }
        }
        self.known.insert((text.to_vec(), tokens), ends);
        ends
    }
}

/// Results of a walk.
#[derive(Debug, Default)]
struct Outcome {
    bits: usize,
    /// Tokens that could be allowed and are not.
    left_out: usize,
    faults: Vec<String>,
}

fn filled(constraint: &Constraint, matcher: &Matcher) -> TokenMask {
    let mut mask = constraint.new_mask();
    matcher.fill_mask(&mut mask);
    mask
}

fn check_text(
    fewest: &mut Fewest<'_>,
    constraint: &Constraint,
    vocabulary: &SmallVocabulary,
    (text, matcher): (&[u8], &Matcher),
    outcome: &mut Outcome,
) {
    let is_exact = vocabulary.name == "bytes";
    let mut fault = |why: String| outcome.faults.push(format!("{}: {why}", show(text)));
    for budget in 0..=MOST {
        let mut limited = matcher.clone();
        let fits = fewest.ends_within(text, budget);
        match limited.set_budget(budget) {
            Ok(()) if fits => {}
            Ok(()) => return fault(format!("a budget of {budget} is taken")),
            Err(BudgetError::SideState) => return,
            Err(error) => {
                if fits && is_exact {
                    fault(format!("a budget of {budget} is refused: {error}"));
                }
                if let BudgetError::TooSmall { least } = error {
                    if least <= MOST && !fewest.ends_within(text, least) || least <= budget {
                        fault(format!("{least} is said to be enough"));
                    }
                    if limited.set_budget(least).is_err() {
                        fault(format!("{least} is said to be enough, and refused"));
                    }
                }
                continue;
            }
        }
        let mask = filled(constraint, &limited);
        let free = filled(constraint, matcher);
        let is_member = matcher.is_accepting();
        if mask.is_empty() {
            fault(format!("the mask is empty with a budget of {budget}"));
        }
        for id in 0..vocabulary.width {
            let bit = mask.contains(id as u32);
            let mut next = limited.clone();
            let taken = next.advance(id as u32);
            if taken.is_ok() != bit {
                fault(format!("budget {budget}: the bit of {id} is {bit}, advance: {taken:?}"));
            }
            if let Err(error) = taken
                && free.contains(id as u32)
                && error.kind() != AdvanceErrorKind::Budget
            {
                fault(format!("budget {budget}: {id} is refused: {error}"));
            }
            let over = |bytes: &&[u8]| fewest.tokens.iter().any(|token| token == bytes);
            if vocabulary.is_stop(id) {
                if bit != is_member {
                    fault(format!("budget {budget}: the bit of a stop token is {bit}"));
                }
            } else if let Some(bytes) = vocabulary.bytes(id).filter(over) {
                let longer = [text, bytes].concat();
                let may = budget > 0
                    && free.contains(id as u32)
                    && fewest.ends_within(&longer, budget - 1);
                outcome.bits += usize::from(may);
                match (bit, may) {
                    (true, false) => fault(format!("budget {budget}: too wide: {}", show(bytes))),
                    (false, true) if is_exact => {
                        fault(format!("budget {budget}: too narrow: {}", show(bytes)));
                    }
                    (false, true) => outcome.left_out += 1,
                    _ => {}
                }
            }
        }
    }
}

fn check(case: &Case, lexer: oracle::spec::LexerKind) -> Outcome {
    let most = std::env::var("LRMASK_TEXTS")
        .map_or(40, |texts| texts.parse().expect("LRMASK_TEXTS is a number"));
    let mut outcome = Outcome::default();
    if case.refused.iter().any(|(of, _)| *of == lexer) {
        return outcome;
    }
    let (lark, oracle) = (case.lark(lexer), case.oracle(lexer));
    for vocabulary in [vocabularies::bytes(), vocabularies::strings(&case.alphabet, 2)] {
        let Ok((constraint, _)) = build(&lark, &vocabulary) else { continue };
        let tokens: Vec<Vec<u8>> = (0..vocabulary.width)
            .filter_map(|id| vocabulary.bytes(id))
            .filter(|bytes| bytes.iter().all(|byte| case.alphabet.contains(byte)))
            .map(<[u8]>::to_vec)
            .collect();
        let mut fewest = Fewest { oracle: &oracle, tokens, known: HashMap::new() };
        let mut queue = VecDeque::from([(Vec::new(), constraint.matcher())]);
        let mut texts = 0;
        while let Some((text, matcher)) = queue.pop_front() {
            check_text(&mut fewest, &constraint, &vocabulary, (&text, &matcher), &mut outcome);
            texts += 1;
            if texts >= most || outcome.faults.len() > 8 {
                break;
            }
            for &byte in &case.alphabet {
                let mut next = matcher.clone();
                if next.advance_bytes(&[byte]).is_ok() {
                    queue.push_back(([text.as_slice(), &[byte]].concat(), next));
                }
            }
        }
    }
    outcome
}

#[test]
fn masks_within_a_budget_are_those_of_the_oracle_in_every_small_grammar() {
    let only = std::env::var("LRMASK_CASE").ok();
    let names: Vec<String> =
        names().into_iter().filter(|name| only.as_ref().is_none_or(|only| only == name)).collect();
    let jobs: Vec<_> = names
        .iter()
        .map(|name| Case::read(name))
        .flat_map(|case| case.lexers.clone().into_iter().map(move |lexer| (case.clone(), lexer)))
        .collect();
    assert!(!jobs.is_empty());
    let next = AtomicUsize::new(0);
    let reports = Mutex::new(Vec::new());
    let (bits, left_out) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((case, lexer)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = std::time::Instant::now();
                    let outcome = check(case, *lexer);
                    bits.fetch_add(outcome.bits, Ordering::Relaxed);
                    left_out.fetch_add(outcome.left_out, Ordering::Relaxed);
                    println!(
                        "{} ({}): {} of {} tokens left out, {:.1?}",
                        case.name,
                        lexer.name(),
                        outcome.left_out,
                        outcome.bits,
                        start.elapsed()
                    );
                    if !outcome.faults.is_empty() {
                        let title = format!("== {} ({})\n", case.name, lexer.name());
                        reports.lock().unwrap().push(title + &outcome.faults.join("\n"));
                    }
                }
            });
        }
    });
    println!("{} of {} tokens left out", left_out.into_inner(), bits.into_inner());
    let mut reports = reports.into_inner().unwrap();
    reports.sort();
    assert!(reports.is_empty(), "{} fail:\n{}", reports.len(), reports.join("\n"));
}

fn bytes() -> Vocabulary {
    let tokens = (0..=255).map(|byte| vec![byte]).chain([b"<end>".to_vec()]);
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap();
    vocabulary.with_special(256, "<end>").unwrap().with_stop_tokens(&[256]).unwrap()
}

fn constraint(lark: &str) -> Constraint {
    Constraint::new(&Grammar::from_lark(lark).unwrap(), &bytes()).unwrap()
}

#[test]
fn a_budget_counts_down_and_comes_back() {
    let mut matcher = constraint("start: \"[\" start \"]\" | \"x\"").matcher();
    assert_eq!(matcher.budget(), None);
    assert_eq!(matcher.set_budget(0), Err(BudgetError::TooSmall { least: 1 }));
    matcher.set_budget(4).unwrap();
    matcher.advance(u32::from(b'[')).unwrap();
    assert_eq!(matcher.budget(), Some(3));
    // Two tokens would be left, and three are needed.
    let refused = matcher.advance(u32::from(b'[')).unwrap_err();
    assert_eq!(refused.kind(), AdvanceErrorKind::Budget);
    assert!(!matcher.allows(u32::from(b'[')) && matcher.allows(u32::from(b'x')));
    matcher.rollback(1);
    assert_eq!(matcher.budget(), Some(4));
    matcher.advance_bytes(b"[").unwrap();
    assert_eq!(matcher.budget(), Some(4));
    matcher.clear_budget();
    matcher.advance(u32::from(b'[')).unwrap();
    assert_eq!(matcher.budget(), None);
    matcher.set_budget(3).unwrap();
    let mut clone = matcher.clone();
    for byte in *b"x]]" {
        clone.advance(u32::from(byte)).unwrap();
    }
    assert!(clone.is_accepting() && clone.budget() == Some(0));
    clone.advance(256u32).unwrap();
    assert!(clone.is_finished());
}

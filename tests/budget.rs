//! Budgets of tokens: whole masks against a breadth-first search for the fewest tokens, and texts
//! that follow the masks, which must end in time.
//!
//! `LRMASK_CASE=name` runs one directory of `tests/grammars`. `LRMASK_TEXTS=N` visits up to N texts
//! with each vocabulary. `LRMASK_RANDOM=N` writes N texts over the built-in
//! grammars, the schemas here and 100 of the samples.

#![allow(clippy::print_stdout)]

use crate::oracle;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};

use lrmask::{
    AdvanceErrorKind, BudgetError, Constraint, Grammar, GrammarReader, Matcher, SchemaOptions,
    TokenMask, Vocabulary,
};
use oracle::case::Case;
use oracle::check::build;
use oracle::every::in_every_small_grammar;
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
            Err(BudgetError::DistinctItems) => return,
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
            let is_over =
                vocabulary.bytes(id).is_some_and(|bytes| fewest.tokens.contains(&bytes.to_vec()));
            if !bit && !is_over && id % 16 != 0 {
                continue;
            }
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
            if vocabulary.is_stop(id) {
                if bit != is_member {
                    fault(format!("budget {budget}: the bit of a stop token is {bit}"));
                }
            } else if let Some(bytes) = vocabulary.bytes(id).filter(|_| is_over) {
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
        .map_or(30, |texts| texts.parse().expect("LRMASK_TEXTS is a number"));
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
    let (bits, left_out) = (AtomicUsize::new(0), AtomicUsize::new(0));
    in_every_small_grammar(|case, lexer| {
        let outcome = check(case, lexer);
        bits.fetch_add(outcome.bits, Ordering::Relaxed);
        left_out.fetch_add(outcome.left_out, Ordering::Relaxed);
        outcome.faults
    });
    println!("{} of {} tokens left out", left_out.into_inner(), bits.into_inner());
}

fn bytes() -> Vocabulary {
    let tokens = (0..=255).map(|byte| vec![byte]).chain([b"<end>".to_vec()]);
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap();
    vocabulary.with_special(256, "<end>").unwrap().with_stop_tokens([256]).unwrap()
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

/// Where the tokens of a lexeme are limited, an ending may cut the lexeme off.
#[test]
fn limits_on_the_tokens_of_lexemes_keep_a_budget() {
    let lark = "start: \"<\" word \">\"\nword[max_tokens=2]: /[a-z]+/";
    let mut matcher = constraint(lark).matcher();
    assert_eq!(matcher.set_budget(2), Err(BudgetError::TooSmall { least: 3 }));
    matcher.set_budget(4).unwrap();
    for byte in *b"<ab" {
        matcher.advance(u32::from(byte)).unwrap();
    }
    assert!(!matcher.allows(u32::from(b'c')) && matcher.allows(u32::from(b'>')));
    let mut mask = TokenMask::default();
    matcher.fill_mask(&mut mask);
    assert_eq!(mask.tokens().map(lrmask::TokenId::get).collect::<Vec<_>>(), [u32::from(b'>')]);
}

/// Masks of drafts have the budget of their own texts.
#[test]
fn drafts_have_a_budget() {
    let mut matcher = constraint("start: \"[\" start \"]\" | \"x\"").matcher();
    matcher.set_budget(3).unwrap();
    let drafts = lrmask::Draft::chain(b"[[".iter().map(|&byte| u32::from(byte)));
    let mut rows = vec![0; 3 * 9];
    assert_eq!(matcher.fill_draft_masks(&drafts, &mut rows, 9), Ok(vec![true, false]));
    let allowed = |row: usize, byte: u8| rows[row * 9 + usize::from(byte) / 32] >> (byte % 32) & 1;
    assert_eq!([allowed(0, b'['), allowed(1, b'['), allowed(1, b'x')], [1, 0, 1]);
    assert_eq!(matcher.budget(), Some(3));
}

/// Items that must differ keep no budget, and the error says so.
#[test]
fn distinct_items_keep_no_budget() {
    let schema = r#"{"type": "array", "uniqueItems": true}"#;
    let constraint = Constraint::from_schema(schema, &SchemaOptions::default(), &bytes());
    let mut matcher = constraint.unwrap().matcher();
    assert_eq!(matcher.set_budget(100), Err(BudgetError::DistinctItems));
    assert_eq!(matcher.budget(), None);
}

/// A generator of random numbers (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % bound.max(1) as u64) as usize
    }
}

const SCHEMAS: &[&str] = &[
    r#"{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"]}"#,
    r#"{"type": "array", "items": {"enum": ["red", "green", "blue"]}, "minItems": 3, "maxItems": 9}"#,
    r#"{"type": "string", "minLength": 12, "maxLength": 40}"#,
    r#"{"type": "string", "format": "uuid"}"#,
    r#"{"type": "object", "properties": {"when": {"type": "string", "format": "date-time"}, "at": {"type": "array", "items": {"type": "number"}, "minItems": 2}}, "required": ["when"], "additionalProperties": false}"#,
    r##"{"$defs": {"tree": {"type": "object", "properties": {"value": {"type": "integer", "minimum": 10, "maximum": 4000}, "left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}}, "required": ["value"]}}, "$ref": "#/$defs/tree"}"##,
    r#"{"anyOf": [{"const": {"a": [1, 2, 3]}}, {"type": "string", "pattern": "^[a-z]{3}-[0-9]{4}$"}]}"#,
    r#"{}"#,
];

/// Returns the built-in grammars, the schemas above, and this many of the samples. Those of the
/// samples that keep no budget, or are refused, are left out.
#[cfg(feature = "tiktoken")]
fn subjects(sampled: usize) -> Vec<(String, Constraint)> {
    let vocabulary = Vocabulary::builtin("gpt2").unwrap();
    let identifiers = include_str!("../grammars/python/identifiers.lark");
    let imports = |_: &str| Ok(identifiers.to_owned());
    let mut all = Vec::new();
    for (name, text) in [
        ("json", include_str!("../grammars/json/json.lark")),
        ("sqlite", include_str!("../grammars/sqlite/sqlite.lark")),
        ("python", include_str!("../grammars/python/python.lark")),
    ] {
        let grammar = GrammarReader::new().name(name).imports(&imports).lark(text).unwrap();
        all.push((name.to_owned(), Constraint::new(&grammar, &vocabulary).unwrap()));
    }
    let of_schema = |schema: &str| {
        let options = SchemaOptions::default();
        let constraint = Constraint::from_schema(schema, &options, &vocabulary).ok()?;
        match constraint.matcher().set_budget(0) {
            Ok(()) | Err(BudgetError::TooSmall { .. }) => Some((schema.to_owned(), constraint)),
            Err(BudgetError::DistinctItems) => None,
            Err(error) => panic!("{schema}: {error}"),
        }
    };
    all.extend(SCHEMAS.iter().map(|schema| of_schema(schema).unwrap()));
    let most = all.len() + sampled;
    for (path, text) in crate::corpus::archive("json/maskbench.tar.gz").unwrap_or_default() {
        if all.len() == most {
            break;
        }
        let Ok(file) = serde_json::from_slice::<serde_json::Value>(&text) else { continue };
        if path.ends_with(".json") {
            all.extend(file.get("schema").and_then(|schema| of_schema(&schema.to_string())));
        }
    }
    all
}

/// The fewest tokens of these lexemes are too many states away for a search of all tokens, so that
/// some states have only an upper bound.
#[cfg(feature = "tiktoken")]
#[test]
fn bounds_of_searches_that_take_too_long_keep_a_budget() {
    let grammar = r"start: /ANSWER_START\[EXECUTOR\]\n(.+\n){1,3}ANSW/";
    let grammar = Grammar::from_lark(grammar).unwrap();
    let vocabulary = Vocabulary::builtin("o200k").unwrap();
    let constraint = Constraint::new(&grammar, &vocabulary).unwrap();
    let mut mask = constraint.new_mask();
    for seed in 0..60 {
        let (mut random, mut matcher) = (Random(seed), constraint.matcher());
        matcher.set_budget(20).unwrap();
        let lowered_after = random.below(12);
        let mut text = Vec::new();
        for taken in 0.. {
            if taken == lowered_after
                && let Err(BudgetError::TooSmall { least }) = matcher.set_budget(0)
            {
                matcher.set_budget(least).unwrap();
            }
            if matcher.is_accepting() {
                break;
            }
            matcher.fill_mask(&mut mask);
            let shown = String::from_utf8_lossy(&text);
            assert!(mask.count() > 0, "{:?} left after {shown:?}", matcher.budget());
            let token = mask.tokens().nth(random.below(mask.count())).unwrap();
            matcher.advance(token).unwrap();
            text.extend_from_slice(vocabulary.bytes(token).unwrap_or_default());
        }
    }
}

#[cfg(feature = "tiktoken")]
#[test]
fn texts_that_follow_the_masks_end_in_time() {
    let count = std::env::var("LRMASK_RANDOM").ok().and_then(|count| count.parse().ok());
    let count: usize = count.unwrap_or(60);
    let subjects = subjects(if count > 60 { 100 } else { 0 });
    let (next, tokens) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let write = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let mut random = Random(at as u64);
        let (name, constraint) = &subjects[at % subjects.len()];
        let mut matcher = constraint.matcher();
        let least = match matcher.set_budget(0) {
            Ok(()) => 0,
            Err(BudgetError::TooSmall { least }) => least,
            Err(error) => panic!("{name}: {error}"),
        };
        let budget = least + random.below(200usize.saturating_sub(least) + 1);
        matcher.set_budget(budget).unwrap();
        let (mut mask, mut text) = (constraint.new_mask(), Vec::new());
        for taken in 0.. {
            let shown = String::from_utf8_lossy(&text).into_owned();
            assert_eq!(matcher.budget(), Some(budget - taken), "{name}");
            matcher.fill_mask(&mut mask);
            if matcher.is_accepting() && (taken == budget || random.below(8) == 0) {
                break;
            }
            let allowed = mask.count();
            let may_end = matcher.is_accepting();
            assert!(allowed > 0 || may_end, "{name}: budget {budget}, empty after {shown:?}");
            if allowed == 0 {
                break;
            }
            let token = mask.tokens().nth(random.below(allowed)).unwrap();
            let taken = matcher.advance(token);
            assert!(taken.is_ok(), "{name}: budget {budget}, after {shown:?}: {taken:?}");
            if matcher.is_finished() {
                break;
            }
            text.extend_from_slice(constraint.vocabulary().bytes(token).unwrap_or_default());
            let other = random.below(constraint.vocabulary().width()) as u32;
            matcher.fill_mask(&mut mask);
            let bit = mask.contains(other);
            assert_eq!(matcher.allows(other), bit, "{name}: {other} after {shown:?}, and {token}");
            tokens.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while next.load(Ordering::Relaxed) < count {
                    write();
                }
            });
        }
    });
    println!(
        "{count} texts of {} grammars, {} tokens: all end in time",
        subjects.len(),
        tokens.into_inner()
    );
}

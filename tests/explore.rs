//! Warm-up without samples: the same masks, within the budget, the same in every run.

// Tests fail by panicking, but the lint recognizes only the test functions themselves.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use lrmask::{CompiledGrammar, Constraint, Grammar, Limits, Vocabulary};

const JSON: &str = include_str!("../grammars/json/json.lark");
const DOCUMENT: &str = "[{\"a\": [1, -2.5e3, \"b\\n\\u00e9\"], \"c\": {}}, true, null]";

/// Lines and blocks, a word with two readings, and a match that may be pending.
const BLOCKS: &str = "\
    %lexer basic
start: line*
line: NAME END | \"if\" NAME \":\" END INDENT line+ DEDENT | \"if\" DOTS END
DOTS: /\\.(\\.\\.)?/
NAME: /[a-z]+/
END: /\\n/
%declare INDENT DEDENT
%indent END INDENT DEDENT
%fallback NAME \"if\"
%ignore / /
";
const LINES: &str = "if a:\n  b\n  if if:\n     c\n  if ...\nd\n";

/// Single bytes, and tokens that span several lexemes.
fn vocabulary() -> Vocabulary {
    let longer = ["\": ", "},", "]}", " [\"", "1, ", ":\n", "\n  ", "if ", " a:\n", "..", "\n\n"];
    let longer = longer.map(|token| token.as_bytes().to_vec());
    let tokens = (0..=255).map(|byte| vec![byte]).chain(longer).chain([Vec::new()]);
    Vocabulary::from_tokens(tokens).unwrap().with_stop_tokens([256 + 11]).unwrap()
}

fn compiled(grammar: &str) -> CompiledGrammar {
    CompiledGrammar::new(&Grammar::from_lark(grammar).unwrap()).unwrap()
}

#[test]
fn masks_are_the_same() {
    for (grammar, text) in [(JSON, DOCUMENT), (BLOCKS, LINES)] {
        let vocabulary = vocabulary();
        let explored = compiled(grammar).constraint(&vocabulary).expect("its tokens are known");
        assert!(explored.warmup().threads(2).explore(2000) > 20);
        let loaded = Constraint::load(explored.save(), &vocabulary).unwrap();
        let cold = compiled(grammar).constraint(&vocabulary).expect("its tokens are known");
        let mut matchers = [explored.matcher(), loaded.matcher(), cold.matcher()];
        for token in vocabulary.cut_longest(text.as_bytes()).unwrap() {
            let [explored, loaded, cold] = matchers.each_mut().map(|matcher| {
                let mut mask = cold.new_mask();
                matcher.fill_mask(&mut mask);
                matcher.advance(token).unwrap();
                mask
            });
            assert_eq!((&explored, &loaded), (&cold, &cold), "before token {token} of {text}");
        }
        assert!(matchers.iter().all(lrmask::Matcher::is_accepting));
    }
}

#[test]
fn what_short_texts_lead_to_is_there() {
    let constraint = compiled(JSON).constraint(&vocabulary()).expect("its tokens are known");
    constraint.warmup().explore(2000);
    let known = constraint.index_size();
    for text in ["", "[", "{", "\"", "\"\\u0", "-1", "1e+", "tru", "[ ", "{\"a\""] {
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(text.as_bytes()).unwrap();
        matcher.fill_mask(&mut constraint.new_mask());
        assert_eq!(constraint.index_size(), known, "{text}");
    }
}

#[test]
fn no_more_than_asked_for() {
    let vocabulary = vocabulary();
    let of = |places: usize| {
        let constraint = compiled(JSON).constraint(&vocabulary).expect("its tokens are known");
        let told = AtomicUsize::new(0);
        let taken = constraint
            .warmup()
            .progress(&|count| _ = told.fetch_add(count, Relaxed))
            .explore(places);
        assert_eq!(told.into_inner(), taken);
        (taken, constraint)
    };
    for places in [0, 1, 70, 100] {
        assert_eq!(of(places).0, places);
    }
    assert_eq!(of(0).1.index_size().masks, 0);
    let (all, constraint) = of(usize::MAX);
    assert!(all < 1000, "{all} places");
    // A second run adds nothing.
    let size = constraint.index_size();
    assert_eq!(constraint.warmup().explore(usize::MAX), all);
    assert_eq!(constraint.index_size(), size);
    // Another constraint gives the same result.
    let other = of(usize::MAX).1.index_size();
    assert_eq!(
        (other.masks, other.branches, other.node_sets),
        (size.masks, size.branches, size.node_sets)
    );
}

#[test]
fn the_index_keeps_its_budget() {
    let limits = Limits::default().index_bytes(40_000);
    let grammar = Grammar::from_lark(JSON).unwrap();
    let constraint = Constraint::builder()
        .limits(&limits)
        .compile(&grammar)
        .unwrap()
        .constraint(&vocabulary())
        .expect("its tokens are known");
    let taken = constraint.warmup().explore(usize::MAX);
    let bytes = constraint.index_size().bytes;
    assert!(
        taken > 0 && (limits.index_bytes / 2..limits.index_bytes).contains(&bytes),
        "{bytes} at {taken}"
    );
}

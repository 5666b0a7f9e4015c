//! Saving and loading: a loaded constraint equals the saved one, and other bytes are refused.
//!
//! The walks of `tests/exhaustive.rs` and `tests/random.rs` check that masks are the same after
//! loading.

// Tests fail by panicking, but the lint recognizes only the test functions themselves.
#![allow(clippy::unwrap_used)]

use crate::forging;

use lrmask::{
    CompiledGrammar, Constraint, Grammar, GrammarErrorKind, Limits, LoadError, Stage, TokenId,
    Vocabulary,
};

const LISTS: &str = r#"
start: value
value: NUMBER | WORD | "[" [value ("," value)*] "]" | "if" value
NUMBER: /[0-9]+/
WORD: /[a-z]+/
%ignore /[ ]+/
%reserved WORD "if"
"#;

fn vocabulary(tokens: &[&str]) -> Vocabulary {
    Vocabulary::from_tokens(tokens.iter().map(|token| token.as_bytes().to_vec())).unwrap()
}

fn lists() -> Constraint {
    let vocabulary = vocabulary(&["[", "]", ",", "1", "12", " ", "if", "ab", "],", "[[1", ""]);
    let vocabulary = vocabulary.with_stop_tokens([10]).unwrap();
    Constraint::new(&Grammar::from_lark(LISTS).unwrap(), &vocabulary).unwrap()
}

fn refusal(saved: &[u8], vocabulary: &Vocabulary) -> Option<LoadError> {
    Constraint::load(saved, vocabulary).err()
}

#[test]
fn what_was_saved_comes_back() {
    let constraint = lists();
    let saved = constraint.save();
    let loaded = Constraint::load(&saved, constraint.vocabulary()).unwrap();
    assert_eq!(loaded.save(), saved);
    assert_eq!(loaded.warnings(), constraint.warnings());
    assert_eq!(loaded.compiled().size(), constraint.compiled().size());
    for stage in [Stage::Grammar, Stage::States, Stage::Scanner] {
        assert_eq!(loaded.compiled().print(stage), constraint.compiled().print(stage));
    }
    let compiled = constraint.compiled();
    let loaded = CompiledGrammar::load(compiled.save()).unwrap();
    assert_eq!(loaded.save(), compiled.save());
    assert_eq!(loaded.fingerprint(), Grammar::from_lark(LISTS).unwrap().fingerprint());
    assert_eq!(CompiledGrammar::load(&saved).unwrap().save(), compiled.save());
    // A grammar without a vocabulary can be loaded with any.
    assert_eq!(refusal(&compiled.save(), constraint.vocabulary()), None);
    assert_eq!(refusal(&compiled.save(), &vocabulary(&["[", "1"])), None);
}

/// Texts in lines and blocks.
const BLOCKS: &str = r#"
%declare INDENT DEDENT
%indent NEWLINE INDENT DEDENT open "(" close ")" levels 9
start: statement+
statement: NAME NEWLINE | NAME "(" NAME* ")" NEWLINE | NAME ":" NEWLINE INDENT statement+ DEDENT
NAME: /[a-z]+/
NEWLINE: "\n"
%ignore / +/
"#;

/// Matches that stay pending, and words that depend on other lexemes.
const PENDING: &str = r#"
%lexer basic
start: (NUMBER | NAME | "e" | OVER | "(" | ")" | "." | "...")*
NUMBER: /[0-9]+(e[0-9]+)?/
NAME: /[a-df-z]+/
OVER: "over"
%lookahead NAME OVER before "("
%ignore / /
"#;

#[test]
fn the_page_that_describes_the_form_is_of_its_version() {
    let saved = String::from_utf8(lists().save()).unwrap();
    let form = saved.strip_prefix("{\"lrmask\":").and_then(|rest| rest.split_once(',')).unwrap().0;
    let page = include_str!("../docs/saved.md");
    assert!(page.contains(&format!("The form is {form}.")));
}

#[test]
fn samples_are_followed_when_they_are_loaded() {
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let longer = ["\n  ", ":\n", "\n\n", "  a", "12e", "e1", ".. ", "over ", "over("];
    let vocabulary =
        Vocabulary::from_tokens(bytes.chain(longer.iter().map(|token| token.as_bytes().to_vec())))
            .unwrap();
    for (grammar, texts) in [
        (LISTS, &["[1, 22, [if ab]]", "if if 3", "[[[[a]]]]"][..]),
        (BLOCKS, &["a\n", "a:\n  b\n  c:\n   d (e\nf)\n\ng\n", "a:\n b:\n  c:\n   d\na\n"]),
        (PENDING, &["1e 2.. a", "12e3 over (a", "1e1 ..over", "over ( 3e"]),
    ] {
        let constraint =
            Constraint::new(&Grammar::from_lark(grammar).unwrap(), &vocabulary).unwrap();
        let samples = texts.iter().map(|text| vocabulary.cut_longest(text.as_bytes()).unwrap());
        let samples: Vec<Vec<TokenId>> = samples.collect();
        let samples: Vec<&[TokenId]> = samples.iter().map(Vec::as_slice).collect();
        let saved = constraint.save_with_samples(&samples);
        let loaded = Constraint::load(&saved, &vocabulary).unwrap();
        let size = loaded.index_size();
        assert!(size.masks > 0);
        // Every mask is found, and none is computed again.
        loaded.warmup().samples(&samples);
        assert_eq!(loaded.index_size(), size);
        constraint.warmup().samples(&samples);
        assert_eq!(constraint.index_size().masks, size.masks);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let constraint = lists();
    let saved = constraint.save();
    let of = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut saved = saved.clone();
        change(&mut saved);
        refusal(&saved, constraint.vocabulary())
    };
    assert_eq!(of(&|_| ()), None);
    assert_eq!(of(&|saved| saved.clear()), Some(LoadError::NotSaved));
    assert_eq!(of(&|saved| saved[0] = b'?'), Some(LoadError::NotSaved));
    assert_eq!(of(&|saved| saved.truncate(100)), Some(LoadError::Damaged));
    assert_eq!(of(&|saved| saved[10] = b'9'), Some(LoadError::Version));
    // A number, a name, a bracket.
    for at in saved.len() / 2..saved.len() {
        assert_eq!(of(&|saved| saved[at] ^= 1), Some(LoadError::Damaged), "byte {at}");
    }
}

#[test]
fn another_vocabulary_is_refused() {
    let constraint = lists();
    let saved = constraint.save();
    let own = constraint.vocabulary().clone();
    for other in [
        vocabulary(&["[", "]"]),
        own.clone().with_width(12).unwrap(),
        own.clone().with_stop_tokens([0; 0]).unwrap(),
        own.clone().with_special(7, "<special>").unwrap(),
    ] {
        assert_eq!(refusal(&saved, &other), Some(LoadError::OtherVocabulary));
    }
    assert_eq!(refusal(&saved, &own), None);
}

#[test]
fn loading_is_compiling_within_limits() {
    let constraint = lists();
    let few = Limits::default().build_steps(1_000);
    let refused =
        Constraint::builder().limits(&few).load(constraint.save(), constraint.vocabulary());
    let Err(LoadError::Grammar(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.kind(), GrammarErrorKind::Limit);
}

/// A small part of the work of `examples/forged.rs`.
#[test]
fn calls_on_a_forged_file_return() {
    let (vocabulary, mut forger) = (forging::vocabulary(), forging::Forger::new(7));
    let (mut refused, mut loaded) = (0, 0);
    for _ in 0..2_000 {
        let (bytes, first) = forger.forge();
        match forging::use_it(&bytes, &vocabulary, first) {
            Ok(()) => loaded += 1,
            Err(LoadError::Damaged | LoadError::Grammar(_)) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(refused > 300 && loaded > 300, "{refused} {loaded}");
}

#[test]
fn fingerprints_tell_grammars_apart() {
    let of = |text: &str| Grammar::from_lark(text).unwrap().fingerprint();
    assert_eq!(of("start: \"a\" \"b\""), of("// the same\nstart:   \"a\"   \"b\""));
    let all = [
        "start: \"a\" \"b\"",
        "start: \"a\" \"c\"",
        "start: \"a\" \"b\"?",
        "start: \"a\" \"b\"\n%ignore /x/",
        "start: \"a\" \"b\"\n%lexer basic",
        "start: \"a\" B\nB: \"b\"",
        "start: \"a\" B\nB: /b/",
    ];
    let distinct: std::collections::BTreeSet<u64> = all.iter().map(|text| of(text)).collect();
    assert_eq!(distinct.len(), all.len());
}

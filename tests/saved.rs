//! Saving and loading: what comes back is what was, and what is not what was saved is refused.
//!
//! That masks are the same after loading is held by the walks of `tests/exhaustive.rs` and
//! `tests/random.rs`.

// A test fails by panicking; the lint only knows that of the test functions themselves.
#![allow(clippy::unwrap_used)]

mod forging;

use std::sync::atomic::{AtomicBool, Ordering};

use forging::put_right;
use lrmask::{CompiledGrammar, Constraint, Grammar, Limits, LoadErrorKind, Stage, Vocabulary};

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

/// Takes the text, with a mask at each byte.
fn warm(constraint: &Constraint, text: &str) {
    let mut matcher = constraint.matcher();
    let mut mask = constraint.new_mask();
    for byte in text.bytes() {
        matcher.fill_mask(&mut mask);
        matcher.advance_bytes(&[byte]).unwrap();
    }
    matcher.fill_mask(&mut mask);
}

fn kind(saved: Vec<u8>, vocabulary: &Vocabulary) -> Option<LoadErrorKind> {
    Constraint::load(saved, vocabulary).err().map(|error| error.kind())
}

#[test]
fn what_was_compiled_comes_back() {
    let constraint = lists();
    warm(&constraint, "[1, 22, [if ab]]");
    let saved = constraint.save();
    let loaded = Constraint::load(saved.clone(), constraint.vocabulary()).unwrap();
    assert_eq!(loaded.save(), saved);
    assert_eq!(loaded.warnings(), constraint.warnings());
    assert_eq!(loaded.compiled().size(), constraint.compiled().size());
    for stage in [Stage::Grammar, Stage::States, Stage::Scanner] {
        assert_eq!(loaded.compiled().print(stage), constraint.compiled().print(stage));
    }
    let compiled = constraint.compiled();
    let loaded = CompiledGrammar::load(&compiled.save()).unwrap();
    assert_eq!(loaded.save(), compiled.save());
    assert_eq!(loaded.fingerprint(), Grammar::from_lark(LISTS).unwrap().fingerprint());
    // A constraint holds a compiled grammar, but not the other way round.
    assert_eq!(CompiledGrammar::load(&saved).unwrap().save(), compiled.save());
    assert_eq!(kind(compiled.save(), constraint.vocabulary()), Some(LoadErrorKind::NoVocabulary));
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

/// Matches that stay pending, and words that others decide about.
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
    let version = u32::from_le_bytes(lists().save()[12..16].try_into().unwrap());
    let page = include_str!("../docs/saved.md");
    assert!(page.contains(&format!("version of this format: {version} |")));
}

#[test]
fn what_was_computed_comes_back() {
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
        texts.iter().for_each(|text| warm(&constraint, text));
        let saved = constraint.save();
        let loaded = Constraint::load(saved.clone(), &vocabulary).unwrap();
        // Parts of masks are not kept, so the bytes are fewer.
        let counts = |constraint: &Constraint| {
            let size = constraint.index_size();
            (size.masks, size.branches, size.node_sets, size.scan_states)
        };
        assert_eq!(counts(&loaded), counts(&constraint));
        // Everything is found, nothing is computed again.
        let bytes = loaded.index_size().bytes;
        texts.iter().for_each(|text| warm(&loaded, text));
        assert_eq!((counts(&loaded), loaded.index_size().bytes), (counts(&constraint), bytes));
        assert_eq!(loaded.save(), saved);
        // And what is new is computed.
        let (mut one, mut other) = (constraint.new_mask(), constraint.new_mask());
        for text in texts {
            let (mut matcher, mut again) = (constraint.matcher(), loaded.matcher());
            let tokens = vocabulary.cut_longest(text.as_bytes()).unwrap();
            for token in tokens {
                matcher.fill_mask(&mut one);
                again.fill_mask(&mut other);
                assert_eq!(one, other);
                assert_eq!(matcher.advance(token), again.advance(token));
            }
        }
        assert_eq!(counts(&loaded), counts(&constraint));
    }
}

/// Rules that derive nothing in ever so many ways are not followed in all of them where they are
/// met late, so that a mask that was made when they were may be wrong where it is loaded.
#[test]
fn masks_over_what_may_be_cut_are_not_kept() {
    let step = |n: usize| format!("r{n}: a r{m} | b r{m} | c r{m}\n", m = n + 1);
    let steps: String = (0..6).map(step).collect();
    let text = format!("start: \"a\" r0\n{steps}r6: \"z\"\na:\nb:\nc:\n");
    let vocabulary = vocabulary(&["a", "z"]);
    let constraint = Constraint::new(&Grammar::from_lark(&text).unwrap(), &vocabulary).unwrap();
    warm(&constraint, "az");
    assert!(constraint.undecided() == 0 && constraint.index_size().masks > 0);
    let loaded = Constraint::load(constraint.save(), &vocabulary).unwrap();
    assert_eq!(loaded.index_size().masks, 0);
}

#[test]
fn what_is_saved_while_others_go_on_is_whole() {
    let vocabulary = Vocabulary::from_tokens((0..=255u8).map(|byte| vec![byte])).unwrap();
    for grammar in [LISTS, BLOCKS, PENDING] {
        let constraint =
            Constraint::new(&Grammar::from_lark(grammar).unwrap(), &vocabulary).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Along random texts.
                let (mut mask, mut random) = (constraint.new_mask(), fastrand::Rng::with_seed(7));
                for _ in 0..40 {
                    let mut matcher = constraint.matcher();
                    for _ in 0..40 {
                        matcher.fill_mask(&mut mask);
                        let nth = random.usize(..mask.count().max(1));
                        let Some(token) = mask.tokens().nth(nth) else { break };
                        matcher.advance(token).unwrap();
                    }
                }
                done.store(true, Ordering::Release);
            });
            while !done.load(Ordering::Acquire) {
                assert_eq!(kind(constraint.save(), &vocabulary), None);
            }
        });
    }
}

/// Behind the end of an epoch masks are bits to flip in a row of the vocabulary's, or gaps.
#[test]
fn what_took_little_room_comes_back() {
    let vocabulary = Vocabulary::builtin("gpt2").unwrap();
    let (grammar, mut limits) = (Grammar::from_lark(LISTS).unwrap(), Limits::default());
    limits = limits.index_bytes(24 << 10);
    let constraint = Constraint::builder().limits(&limits).build(&grammar, &vocabulary).unwrap();
    let fresh = Constraint::new(&grammar, &vocabulary).unwrap();
    let texts = ["[1, 22, [if ab]]", "[[[if if x, []], 7 ], abc,  12]", "[1,[2,[3,[4,[if x]]]]]"];
    for text in texts.iter().cycle().take(12) {
        warm(&constraint, text);
    }
    let saved = constraint.save();
    let loaded = Constraint::load(saved.clone(), &vocabulary).unwrap();
    assert!(loaded.index_size().masks > 2);
    assert_eq!(loaded.save(), saved);
    let masks = |constraint: &Constraint, text: &str| {
        let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
        let mask_before = |byte| {
            matcher.fill_mask(&mut mask);
            matcher.advance_bytes(&[byte]).unwrap();
            mask.words().to_vec()
        };
        text.bytes().map(mask_before).collect::<Vec<_>>()
    };
    for text in texts {
        let expected = masks(&fresh, text);
        assert_eq!(masks(&constraint, text), expected);
        assert_eq!(masks(&loaded, text), expected);
    }
}

#[test]
fn every_flipped_byte_is_found() {
    let constraint = lists();
    warm(&constraint, "[1,if ab]");
    let saved = constraint.save();
    for at in 0..saved.len() {
        for flip in [1, 0x80, 0xff] {
            let mut damaged = saved.clone();
            damaged[at] ^= flip;
            assert!(kind(damaged, constraint.vocabulary()).is_some(), "byte {at}");
        }
    }
}

#[test]
fn every_truncation_is_found() {
    let constraint = lists();
    let saved = constraint.save();
    for end in 0..saved.len() {
        assert!(kind(saved[..end].to_vec(), constraint.vocabulary()).is_some(), "{end} bytes");
    }
    let longer = [saved.as_slice(), b"\0"].concat();
    assert_eq!(kind(longer, constraint.vocabulary()), Some(LoadErrorKind::Damaged));
}

#[test]
fn what_is_wrong_is_said() {
    let constraint = lists();
    let saved = constraint.save();
    let of = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut saved = saved.clone();
        change(&mut saved);
        kind(saved, constraint.vocabulary())
    };
    assert_eq!(of(&|_| ()), None);
    assert_eq!(of(&|saved| saved.clear()), Some(LoadErrorKind::NotSaved));
    assert_eq!(of(&|saved| saved[0] = b'?'), Some(LoadErrorKind::NotSaved));
    assert_eq!(of(&|saved| saved.truncate(100)), Some(LoadErrorKind::Damaged));
    // The order of bytes, the version of the form, that of the crate.
    assert_eq!(of(&|saved| saved[8..12].reverse()), Some(LoadErrorKind::Version));
    assert_eq!(of(&|saved| saved[12] += 1), Some(LoadErrorKind::Version));
    assert_eq!(of(&|saved| saved[16] += 1), Some(LoadErrorKind::Version));
    assert_eq!(of(&|saved| *saved.last_mut().unwrap() ^= 1), Some(LoadErrorKind::Damaged));
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
        assert_eq!(kind(saved.clone(), &other), Some(LoadErrorKind::OtherVocabulary));
    }
    assert_eq!(kind(saved, &own), None);
}

#[test]
fn a_forged_file_makes_nothing_panic() {
    let constraint = lists();
    warm(&constraint, "[1,if ab]");
    let saved = constraint.save();
    let (mut refused, mut loaded) = (0, 0);
    for at in 72..saved.len() {
        for value in [0, 1, saved[at].wrapping_add(1), 0x7f, 0xff] {
            let mut forged = saved.clone();
            forged[at] = value;
            put_right(&mut forged);
            match kind(forged, constraint.vocabulary()) {
                Some(LoadErrorKind::Malformed) => refused += 1,
                None => loaded += 1,
                Some(other) => panic!("byte {at}: {other:?}"),
            }
        }
    }
    // Names, for one, may be any.
    assert!(refused > saved.len() && loaded > 0, "{refused} {loaded}");
    // The last bytes are there to fill up.
    for end in 72..saved.len() - 64 {
        let mut short = saved[..end].to_vec();
        put_right(&mut short);
        assert_eq!(kind(short, constraint.vocabulary()), Some(LoadErrorKind::Malformed));
    }
}

/// A small part of what `examples/forged.rs` does.
#[test]
fn calls_on_a_forged_file_return() {
    let (vocabulary, mut forger) = (forging::vocabulary(), forging::Forger::new(7));
    let (mut refused, mut loaded) = (0, 0);
    for _ in 0..2_000 {
        let (bytes, first) = forger.forge();
        match forging::use_it(bytes, &vocabulary, first) {
            Ok(()) => loaded += 1,
            Err(LoadErrorKind::Malformed) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(refused > 1_000 && loaded > 100, "{refused} {loaded}");
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

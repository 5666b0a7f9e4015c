//! State keys, forced tokens, speculation, opportunistic masks and traces.

use std::collections::HashMap;
use std::sync::Arc;

use lrmask::{
    Constraint, CountsError, Grammar, RowError, SchemaOptions, Speculator, TokenId, TokenMask,
    Vocabulary, Whitespace,
};
use proptest::prelude::*;

fn constraint(lark: &str, vocabulary: &Vocabulary) -> Constraint {
    Constraint::new(&Grammar::from_lark(lark).unwrap(), vocabulary).unwrap()
}

fn ids(tokens: &[TokenId]) -> Vec<u32> {
    tokens.iter().map(|token| token.get()).collect()
}

const JSON: &str = include_str!("../grammars/json/json.lark");

#[test]
fn a_state_key_depends_on_the_state_alone() {
    let vocabulary = Vocabulary::single_bytes();
    let json = constraint(JSON, &vocabulary);
    let text = br#"{"a": [1, "bc", {"d": null}], "e": [[2], true]}"#;
    // Keys along the text: in the same matcher after a rollback, in a clone, byte by byte, and in a
    // constraint that has met other texts first.
    let other = Constraint::load(json.save(), &vocabulary).unwrap();
    other.matcher().advance_bytes(b"[[[{\"zzz\": -1.5e3}, false]]]").unwrap();
    let mut matcher = json.matcher();
    let mut keys = vec![matcher.state_key()];
    for &byte in text {
        matcher.advance_bytes(&[byte]).unwrap();
        keys.push(matcher.state_key());
        assert_eq!(matcher.clone().state_key(), matcher.state_key());
    }
    for (length, &key) in keys.iter().enumerate() {
        let mut at_once = other.matcher();
        at_once.advance_bytes(&text[..length]).unwrap();
        assert_eq!(at_once.state_key(), key, "after {length} bytes");
    }
    for &key in keys.iter().rev().skip(1) {
        matcher.rollback(1);
        assert_eq!(matcher.state_key(), key);
    }
    let key = |text: &str| {
        let mut matcher = json.matcher();
        matcher.advance_bytes(text.as_bytes()).unwrap();
        matcher.state_key()
    };
    // The same top of the stack at another depth, and another text in the same lexeme.
    assert_eq!(key("[[1"), key("[[[[2"));
    assert_eq!(key(r#"{"a": "b"#), key(r#"{"x": "yzz"#));
    assert_ne!(key("[1"), key("[\"1"));
    assert_ne!(key("[1"), key("{\"a\":1"));
    let distinct: std::collections::HashSet<u64> = keys.into_iter().collect();
    assert!(distinct.len() > 15, "{}", distinct.len());
}

#[test]
fn the_end_of_a_text_and_several_readings_have_keys_of_their_own() {
    let vocabulary = Vocabulary::from_tokens(["a", "b", "c", ""]).unwrap();
    let vocabulary = vocabulary.with_stop_tokens([3]).unwrap();
    // After `ab` both readings are open; `c` decides.
    let constraint =
        constraint("start: x \"b\" \"c\" | y \"b\" \"a\"\nx: \"a\"\ny: \"a\"", &vocabulary);
    let key = |tokens: &[u32]| {
        let mut matcher = constraint.matcher();
        tokens.iter().for_each(|&token| matcher.advance(token).unwrap());
        matcher.state_key()
    };
    let all = [key(&[]), key(&[0]), key(&[0, 1]), key(&[0, 1, 2]), key(&[0, 1, 2, 3])];
    for (place, one) in all.iter().enumerate() {
        assert!(!all[..place].contains(one), "{place}");
    }
    assert_eq!(key(&[0, 1]), key(&[0, 1]));
}

/// A byte-pair encoder by merges, the earliest merge first.
fn encode(text: &[u8], merges: &[(usize, usize)], tokens: &[Vec<u8>]) -> Vec<usize> {
    let ids: HashMap<&[u8], usize> = tokens.iter().map(Vec::as_slice).zip(0..).collect();
    let mut cut: Vec<usize> = text.iter().map(|byte| ids[&[*byte][..]]).collect();
    loop {
        let best = (0..cut.len().saturating_sub(1))
            .filter_map(|at| {
                let pair = (cut[at], cut[at + 1]);
                Some((merges.iter().position(|&merge| merge == pair)?, at))
            })
            .min();
        let Some((merge, at)) = best else { return cut };
        let (one, other) = merges[merge];
        let merged = [&tokens[one][..], &tokens[other][..]].concat();
        cut[at] = ids[&merged[..]];
        cut.remove(at + 1);
    }
}

/// Tokens and merges over `a`, `b`, `c`; each merge joins two earlier tokens.
fn byte_pairs() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<(usize, usize)>)> {
    proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..12)
        .prop_map(|pairs| {
            let mut tokens: Vec<Vec<u8>> = b"abc".iter().map(|&byte| vec![byte]).collect();
            let mut merges = Vec::new();
            for (one, other) in pairs {
                let (one, other) = (one.index(tokens.len()), other.index(tokens.len()));
                let merged = [&tokens[one][..], &tokens[other][..]].concat();
                if merged.len() <= 6 && !tokens.contains(&merged) {
                    tokens.push(merged);
                    merges.push((one, other));
                }
            }
            (tokens, merges)
        })
}

/// Number of cases of a property: `LRMASK_RANDOM`, or a few.
fn cases() -> u32 {
    std::env::var("LRMASK_RANDOM").map_or(500, |cases| cases.parse().unwrap())
}

#[test]
fn a_token_that_crosses_the_end_from_within_another_makes_that_one_unsure() {
    let tokens: Vec<Vec<u8>> =
        ["a", "b", "c", "d", "ab", "cd", "bcd"].map(|token| token.as_bytes().to_vec()).to_vec();
    let merges = [(2, 3), (1, 5), (0, 1)];
    let vocabulary = Vocabulary::from_tokens(tokens.clone()).unwrap();
    let cut = |text: &[u8]| encode(text, &merges, &tokens);
    // `abc` alone is cut into `ab` `c`, but `abcd` into `a` `bcd`.
    assert_eq!((cut(b"abc"), cut(b"abcd")), (vec![4, 2], vec![0, 6]));
    let tokenize = |text: &[u8]| cut(text).into_iter().map(|id| id as u32).collect::<Vec<_>>();
    let open = constraint("start: \"abc\" (\"d\" | \"a\")", &vocabulary);
    assert_eq!(open.matcher().forced_tokens(tokenize), []);
    let closed = constraint("start: \"abc\" (\"a\" | \"b\")", &vocabulary);
    assert_eq!(ids(&closed.matcher().forced_tokens(tokenize)), [4, 2]);
}

#[test]
fn forced_tokens_begin_the_tokens_of_every_text() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let forced = std::cell::Cell::new(0usize);
    let input = (byte_pairs(), "[abc]{1,6}", proptest::collection::btree_set("[abc]{0,4}", 1..4));
    runner
        .run(&input, |((tokens, merges), begin, ends)| {
            let texts: Vec<String> = ends.iter().map(|end| format!("{begin}{end}")).collect();
            let grammar = Grammar::from_choices(texts.iter().map(String::as_str)).unwrap();
            let vocabulary = Vocabulary::from_tokens(tokens.clone()).unwrap();
            let constraint = Constraint::new(&grammar, &vocabulary).unwrap();
            let matcher = constraint.matcher();
            let found = matcher.forced_tokens(|text| {
                encode(text, &merges, &tokens).into_iter().map(|id| id as u32).collect()
            });
            forced.set(forced.get() + usize::from(!found.is_empty()));
            for text in &texts {
                let own = encode(text.as_bytes(), &merges, &tokens);
                let begins = own.iter().zip(&found).all(|(&id, token)| id == token.index());
                prop_assert!(begins && found.len() <= own.len(), "{text}: {own:?}, {found:?}");
            }
            prop_assert_eq!(matcher.validate(found.iter().copied()), found.len());
            Ok(())
        })
        .unwrap();
    assert!(forced.get() > cases() as usize / 4, "only {} cases force a token", forced.get());
}

#[test]
fn proposals_stay_within_the_mask_and_learn() {
    let vocabulary = Vocabulary::from_tokens(["(", ")", "1", ""]).unwrap();
    let vocabulary = vocabulary.with_stop_tokens([3]).unwrap();
    let constraint = constraint("start: \"(\" start \")\" | \"1\"", &vocabulary);
    let speculator = Speculator::new(&constraint);
    assert!(speculator.propose(&constraint.matcher(), None, 8, 0.0).is_empty());
    // Counting ends at the first token that is not allowed.
    assert_eq!(speculator.observe([0u32, 0, 2, 1, 1, 1]), 5);
    assert_eq!(speculator.observe([0u32, 0, 0, 2, 1, 1, 1, 3]), 8);
    // The keys know only the top of the stack, so the counts alone would close too often.
    for depth in 0..5usize {
        let mut matcher = constraint.matcher();
        (0..depth).for_each(|_| matcher.advance(0u32).unwrap());
        matcher.advance(2u32).unwrap();
        let tokens = speculator.propose(&matcher, Some(2u32.into()), 20, 0.0);
        assert_eq!(matcher.validate(tokens.iter().copied()), tokens.len());
        let closing = tokens.iter().filter(|token| token.get() == 1).count();
        assert!(closing <= depth, "{tokens:?}");
        assert_eq!(matcher.steps(), depth + 1);
    }
    assert!(speculator.propose(&constraint.matcher(), None, 0, 0.0).is_empty());
    assert!(speculator.propose(&constraint.matcher(), None, 9, f64::NAN).is_empty());
    let proposed = speculator.propose(&constraint.matcher(), None, 3, 0.5);
    assert_eq!(ids(&proposed), [0, 0, 2]);
}

#[test]
fn drafts_have_forced_tokens_where_nothing_is_counted() {
    let schema = r#"{"type": "object", "additionalProperties": false, "required": ["name", "age"],
        "properties": {"name": {"enum": ["Ada", "Bob"]}, "age": {"enum": [30, 40]}}}"#;
    let mut options = SchemaOptions::default();
    options.whitespace = Whitespace::None;
    let vocabulary = Vocabulary::builtin("gpt2").unwrap();
    let constraint = Constraint::from_schema(schema, &options, &vocabulary).unwrap();
    let cut = |text: &[u8]| vocabulary.cut_longest(text).unwrap();
    let text = br#"{"name":"Bob","age":40}"#;
    let speculator = Speculator::new(&constraint);
    let draft = speculator.draft(&constraint.matcher(), None, 64, 0.5, cut);
    assert!(draft.forced > 1 && draft.forced == draft.tokens.len(), "{draft:?}");
    let tokens = cut(text);
    speculator.observe(tokens.iter().copied());
    let learnt = speculator.draft(&constraint.matcher(), None, 64, 0.5, cut);
    let bytes: Vec<u8> = learnt
        .tokens
        .iter()
        .flat_map(|&token| vocabulary.bytes(token).unwrap_or_default().to_vec())
        .collect();
    assert!(bytes.starts_with(br#"{"name":"B"#), "{:?}", String::from_utf8_lossy(&bytes));
    assert!(learnt.forced < learnt.tokens.len());
    let stride = vocabulary.width().div_ceil(32);
    let mut rows = vec![0; (learnt.tokens.len() + 1) * stride];
    let allowed = constraint.matcher().fill_draft_masks(&learnt.drafts(), &mut rows, stride);
    assert!(allowed.unwrap().iter().all(|&allowed| allowed));
    let short = speculator.draft(&constraint.matcher(), None, 2, 0.5, cut);
    assert_eq!((short.tokens.len(), short.forced), (2, 2));
}

#[test]
fn drafts_follow_a_model_that_cuts_forced_text_in_its_own_way() {
    let vocabulary = Vocabulary::from_tokens(["{", "{\"", "\"", "a", "\":", "1", "}"]).unwrap();
    let grammar = Grammar::from_lark(r#"start: "{" "\"a\":" "1" "}""#).unwrap();
    let constraint = Constraint::new(&grammar, &vocabulary).unwrap();
    let cut = |text: &[u8]| vocabulary.cut_longest(text).unwrap();
    let speculator = Speculator::new(&constraint);
    let ids = |speculator: &Speculator| {
        let draft = speculator.draft(&constraint.matcher(), None, 8, 0.5, cut);
        (draft.tokens.iter().map(|token| token.get()).collect::<Vec<u32>>(), draft.forced)
    };
    assert_eq!(ids(&speculator), (vec![1, 3, 4, 5, 6], 5));
    speculator.observe([0u32, 2]);
    // Nothing is counted after these two.
    assert_eq!(ids(&speculator), (vec![0, 2, 3, 4, 5, 6], 0));
}

#[test]
fn counts_are_saved_with_their_constraint() {
    let vocabulary = Vocabulary::from_tokens(["a", "b"]).unwrap();
    let ab = constraint("start: (\"a\" \"b\")*", &vocabulary);
    let speculator = Speculator::new(&ab).with_capacity(100);
    speculator.observe([0u32, 1, 0, 1, 0, 1, 0]);
    let saved = speculator.save();
    let loaded = Speculator::load(&saved, &ab).unwrap();
    assert_eq!((loaded.capacity(), loaded.contexts()), (100, speculator.contexts()));
    assert_eq!(loaded.save(), saved);
    let propose = |from: &Speculator| from.propose(&ab.matcher(), None, 10, 0.5);
    assert_eq!((propose(&loaded), propose(&loaded).len()), (propose(&speculator), 10));

    let other = constraint("start: (\"b\" \"a\")*", &vocabulary);
    let error = |bytes: &[u8], of: &Constraint| Speculator::load(bytes, of).map(drop).unwrap_err();
    assert_eq!(error(&saved, &other), CountsError::OtherConstraint);
    assert_eq!(error(&ab.save(), &ab), CountsError::NotSaved);
    let text = String::from_utf8(saved.clone()).unwrap();
    let later = text.replace("\"lrmask_counts\":1", "\"lrmask_counts\":2");
    assert_eq!(error(later.as_bytes(), &ab), CountsError::Version);
    // Every cut and every changed byte is noticed.
    for end in 0..saved.len() {
        assert!(Speculator::load(&saved[..end], &ab).is_err(), "cut at {end}");
        for flip in [1, 0x10, 0x80] {
            let mut damaged = saved.clone();
            damaged[end] ^= flip;
            assert!(Speculator::load(&damaged, &ab).is_err(), "byte {end} changed");
        }
    }
}

#[test]
fn threads_share_a_speculator() {
    let vocabulary = Vocabulary::from_tokens(["a", "b", "c"]).unwrap();
    let constraint = constraint("start: (\"a\" (\"b\" | \"c\"))*", &vocabulary);
    let speculator = Arc::new(Speculator::new(&constraint));
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (speculator, constraint) = (speculator.clone(), &constraint);
            scope.spawn(move || {
                for _ in 0..200 {
                    speculator.observe([0, if thread == 0 { 2 } else { 1 }, 0u32]);
                    let tokens = speculator.propose(&constraint.matcher(), None, 4, 0.0);
                    assert_eq!(constraint.matcher().validate(tokens.iter().copied()), tokens.len());
                }
            });
        }
    });
    let proposed = speculator.propose(&constraint.matcher(), None, 2, 0.7);
    assert_eq!(ids(&proposed), [0, 1]);
    assert_eq!(ids(&speculator.propose(&constraint.matcher(), None, 2, 0.8)), [0]);
}

#[test]
fn free_choices_give_the_texts_that_masks_give() {
    let vocabulary = Vocabulary::single_bytes();
    let json = constraint(JSON, &vocabulary);
    let (mut refused, mut taken) = (0, 0);
    for seed in 0..50u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut free, mut masked) = (json.matcher(), json.matcher());
        let mut mask = TokenMask::default();
        for _ in 0..40 {
            let order: Vec<u8> = {
                let mut order: Vec<u8> = b"[]{},:\"a1 -.etrunl".to_vec();
                random.shuffle(&mut order);
                order
            };
            let first = |mask: Option<&TokenMask>| {
                let is_allowed =
                    |byte: &&u8| mask.is_none_or(|mask| mask.contains(u32::from(**byte)));
                u32::from(*order.iter().find(is_allowed).unwrap_or(&0))
            };
            masked.fill_mask(&mut mask);
            let expected = first(Some(&mask));
            let before = free.steps();
            match free.sample_with(first) {
                Ok(token) => assert_eq!(token.get(), expected),
                Err(_) => {
                    assert!(!mask.contains(expected) && free.steps() == before);
                    break;
                }
            }
            masked.advance(expected).unwrap();
        }
        let choices = free.choices();
        assert_eq!((choices.free + choices.masked) as usize, free.steps());
        refused += choices.masked;
        taken += choices.free;
        free.reset();
        assert_eq!(free.choices(), lrmask::Choices::default());
    }
    assert!(refused > 100 && taken > 100, "{refused} {taken}");
}

#[test]
fn a_trace_is_what_a_matcher_says_step_by_step() {
    let vocabulary = Vocabulary::builtin("gpt2").unwrap();
    let json = constraint(JSON, &vocabulary);
    let stride = vocabulary.width().div_ceil(32) + 3;
    for text in [r#"{"a": [true, false, 1.5], "b": null}"#, r#"{"a": tru, "b": 1}"#] {
        let mut tokens = vocabulary.cut_longest(text.as_bytes()).unwrap();
        tokens.extend(vocabulary.stop_tokens().first());
        let mut random = fastrand::Rng::with_seed(7);
        let width = vocabulary.width() + 5;
        let scores: Vec<f32> =
            (0..width * tokens.len()).map(|_| random.f32() * 8.0 - 4.0).collect();
        let mut rows = vec![7; tokens.len() * stride];
        let trace =
            json.trace(tokens.iter().copied()).scores(&scores).threads(3).fill(&mut rows, stride);
        let trace = trace.unwrap();
        let mut matcher = json.matcher();
        let mut viable = true;
        for (place, (step, row)) in trace.iter().zip(rows.chunks(stride)).enumerate() {
            assert_eq!(step.token, tokens[place]);
            let mut expected = vec![0; stride];
            if viable {
                matcher.fill_mask_into(&mut expected).unwrap();
                let own = &scores[place * width..][..width];
                let mass: f64 = own.iter().map(|&score| f64::from(score).exp()).sum();
                let inside = |id: &usize| expected[id / 32] >> (id % 32) & 1 == 1;
                let kept: f64 = (0..width).filter(inside).map(|id| f64::from(own[id]).exp()).sum();
                let removed = step.removed.unwrap();
                assert!((removed - (1.0 - kept / mass)).abs() < 1e-6, "{removed}");
            } else {
                assert_eq!(step.removed, None);
            }
            assert_eq!(row, expected);
            let count: u32 = expected.iter().map(|word| word.count_ones()).sum();
            assert_eq!(step.allowed, count as usize);
            viable = viable && matcher.advance(step.token).is_ok();
            assert_eq!(step.is_allowed, viable);
        }
        // `tru` leaves one way: `e`.
        assert_eq!(trace.last().unwrap().is_allowed, !text.contains("tru,"));
    }
    let mut rows = vec![0; 2 * stride];
    let short = json.trace([0u32, 1]).fill(&mut rows, 3);
    assert!(matches!(short, Err(RowError::Short { words: 3, .. })));
    let few = json.trace([0u32, 1, 2]).fill(&mut rows, stride);
    assert_eq!(few, Err(RowError::Missing { row: 2, rows: 2 }));
    assert_eq!(json.trace([0u32; 0]).fill(&mut [], stride), Ok(Vec::new()));
}

#[test]
fn a_trace_says_where_there_is_no_choice() {
    let vocabulary = Vocabulary::from_tokens(["a", "b", "ab", "c", ""]).unwrap();
    let vocabulary = vocabulary.with_stop_tokens([4]).unwrap();
    let constraint = constraint("start: \"ab\" (\"c\" | \"a\") [\"c\"]", &vocabulary);
    let forced = |tokens: &[u32]| {
        let mut rows = vec![0; tokens.len()];
        let trace = constraint.trace(tokens.iter().copied()).fill(&mut rows, 1).unwrap();
        trace.iter().map(|step| step.is_forced).collect::<Vec<_>>()
    };
    // `a` and `ab` are two cuts of the same forced bytes.
    assert_eq!(forced(&[2, 3, 4]), [true, false, false]);
    assert_eq!(forced(&[0, 1, 0, 3, 4]), [true, true, false, false, true]);
    assert_eq!(forced(&[0, 3, 4]), [true, false, false]);
}

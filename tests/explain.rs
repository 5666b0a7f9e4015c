//! Explanations of refusals, the lookahead of a masker, and the tokens that a model prefers.

use lrmask::{
    AdvanceErrorKind, Constraint, Grammar, Matcher, SchemaOptions, TokenId, TokenMask, Vocabulary,
};
use proptest::prelude::*;

const JSON: &str = include_str!("../grammars/json/json.lark");

fn constraint(lark: &str, vocabulary: &Vocabulary) -> Constraint {
    Constraint::new(&Grammar::from_lark(lark).unwrap(), vocabulary).unwrap()
}

fn ids(tokens: &[TokenId]) -> Vec<u32> {
    tokens.iter().map(|token| token.get()).collect()
}

fn shown(expected: &[lrmask::Expected<'_>]) -> Vec<String> {
    expected.iter().map(ToString::to_string).collect()
}

#[test]
fn a_refusal_names_its_byte_its_lexeme_and_its_reason() {
    let tokens = ["{\"", "a\"", ": t", "ru", "e", "x", "ue}", "}x", "", "", "1"];
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap();
    let vocabulary =
        vocabulary.with_special_tokens([(8, "</s>"), (9, "<x>")]).unwrap().with_stop_tokens([8]);
    let json = constraint(JSON, &vocabulary.unwrap());
    let mut matcher = json.matcher();
    for token in [0u32, 1, 2] {
        assert_eq!(matcher.explain(token), None);
        matcher.advance(token).unwrap();
    }
    use AdvanceErrorKind as Kind;
    // After `{"a": t`: the word began one byte before.
    for (token, reason, offset, start) in [
        (5u32, Kind::Grammar, 0, Some(-1)),
        (6, Kind::Grammar, 0, Some(-1)),
        (8, Kind::Incomplete, 0, Some(-1)),
        (9, Kind::NoText, 0, Some(-1)),
        (11, Kind::Width, 0, Some(-1)),
        (64, Kind::Width, 0, Some(-1)),
    ] {
        let why = matcher.explain(token).unwrap();
        let found = (why.reason(), why.offset(), why.lexeme().map(|lexeme| lexeme.start));
        assert_eq!(found, (reason, offset, start), "{token}: {why}");
        assert_eq!(matcher.clone().advance(token).unwrap_err(), *why.error());
        assert!(shown(why.expected()).contains(&"\"true\"".to_owned()), "{why}");
        let begin = shown(&why.lexeme().unwrap().expected);
        assert!(begin.len() > 3 && begin.contains(&"\"null\"".to_owned()), "{begin:?}");
    }
    matcher.advance(3u32).unwrap();
    matcher.advance(4u32).unwrap();
    // The word is complete, so no lexeme is open: `}` ends the object, and nothing follows.
    let why = matcher.explain(7u32).unwrap();
    assert_eq!((why.reason(), why.offset()), (Kind::Grammar, 1));
    assert_eq!(why.lexeme(), None);
    assert!(why.to_string().contains("; expected "), "{why}");
    let why = matcher.explain(10u32).unwrap();
    assert_eq!((why.offset(), why.lexeme()), (0, None));
    matcher.advance_bytes(b"}").unwrap();
    matcher.advance(8u32).unwrap();
    assert_eq!(matcher.explain(5u32).unwrap().reason(), Kind::Finished);
    assert_eq!(matcher.explain(8u32), None);
}

#[test]
fn a_lexeme_is_traced_back_through_tokens_and_short_texts() {
    let vocabulary = Vocabulary::single_bytes();
    let json = constraint(JSON, &vocabulary);
    let start = |matcher: &Matcher| {
        let why = matcher.explain(u32::from(b'\n')).unwrap();
        why.lexeme().map(|lexeme| lexeme.start)
    };
    let mut matcher = json.matcher();
    matcher.advance_bytes(b"[1, ").unwrap();
    for (count, &byte) in b"\"abcdefgh".iter().enumerate() {
        matcher.advance(u32::from(byte)).unwrap();
        assert_eq!(start(&matcher), Some(-(count as isize) - 1));
    }
    matcher.advance_bytes(b"ijklmn").unwrap();
    assert_eq!(start(&matcher), Some(-15));
    assert_eq!(matcher.clone().explain(u32::from(b'\n')), matcher.explain(u32::from(b'\n')));
    // Longer texts are not kept, but what follows them is.
    matcher.advance_bytes(b"opqrstu").unwrap();
    assert_eq!(start(&matcher), None);
    matcher.rollback(1);
    assert_eq!(start(&matcher), Some(-15));
    matcher.advance_bytes(b"1234567\", \"").unwrap();
    assert_eq!(start(&matcher), None);
    let why = matcher.explain_bytes(b"ab\", \"c\n").unwrap();
    assert_eq!((why.offset(), why.lexeme().unwrap().start), (7, 5));
    assert_eq!(matcher.explain_bytes(b"ab\", \"c"), None);
    let why = matcher.explain_end(b"ab\", \"c").unwrap();
    assert_eq!((why.reason(), why.offset()), (AdvanceErrorKind::Incomplete, 7));
    assert_eq!(why.lexeme().unwrap().start, 5);
    assert_eq!(matcher.explain_end(b"ab\"]"), None);
    // A lexeme longer than what is read again.
    let mut matcher = json.matcher();
    matcher.advance(u32::from(b'"')).unwrap();
    (0..5000).for_each(|_| matcher.advance(u32::from(b'a')).unwrap());
    assert_eq!(start(&matcher), None);
}

#[test]
fn a_repeated_item_has_a_reason_of_its_own() {
    let schema = r#"{"type": "array", "items": {"type": "string"}, "uniqueItems": true}"#;
    let vocabulary = Vocabulary::from_tokens(["[", "]", ",", "\"", "a", "b", "a\"", "x"]).unwrap();
    let constraint =
        Constraint::from_schema(schema, &SchemaOptions::default(), &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    for token in [0u32, 3, 6, 2, 3] {
        matcher.advance(token).unwrap();
    }
    // After `["a","`.
    let why = matcher.explain(6u32).unwrap();
    assert_eq!((why.reason(), why.offset()), (AdvanceErrorKind::RepeatedItem, 1));
    assert_eq!(matcher.clone().advance(6u32).unwrap_err().kind(), AdvanceErrorKind::RepeatedItem);
    assert!(why.to_string().contains("repeat an item"), "{why}");
    matcher.advance(5u32).unwrap();
    matcher.advance(3u32).unwrap();
    assert_eq!(matcher.explain(7u32).unwrap().reason(), AdvanceErrorKind::Grammar);
}

#[test]
fn the_kinds_have_names_for_programs() {
    use AdvanceErrorKind as Kind;
    let all = [
        Kind::Grammar,
        Kind::RepeatedItem,
        Kind::Incomplete,
        Kind::Finished,
        Kind::Width,
        Kind::NoText,
        Kind::Lookahead,
        Kind::Limit,
        Kind::Budget,
    ];
    let names: std::collections::BTreeSet<&str> = all.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), all.len());
}

/// Returns the lexemes of a sum: runs of digits, and signs.
fn lexemes(text: &str) -> usize {
    let is_new = |(place, sign): (usize, char)| {
        !sign.is_ascii_digit() || place == 0 || !text.as_bytes()[place - 1].is_ascii_digit()
    };
    text.char_indices().filter(|&at| is_new(at)).count()
}

/// The lexemes of a sum can be counted by hand: a masker with lookahead k allows the tokens that
/// touch at most k + 1 of them.
#[test]
fn a_lookahead_bounds_the_lexemes_of_a_token() {
    let texts: Vec<String> = (1..=4usize)
        .flat_map(|length| {
            (0..4usize.pow(length as u32)).map(move |number| {
                (0..length)
                    .map(|at| ["1", "+", "(", ")"][number / 4usize.pow(at as u32) % 4])
                    .collect()
            })
        })
        .collect();
    let vocabulary = Vocabulary::from_tokens(texts.iter().map(String::as_str)).unwrap();
    let sums =
        constraint("start: atom (\"+\" atom)*\natom: /[0-9]+/ | \"(\" start \")\"", &vocabulary);
    let mut compared = 0;
    for begin in ["", "1", "1+", "(1", "(1)", "((1+1)", "1+((", "(1+1"] {
        let mut matcher = sums.matcher();
        matcher.advance_bytes(begin.as_bytes()).unwrap();
        let mut exact = TokenMask::default();
        matcher.fill_mask(&mut exact);
        for k in 0..5usize {
            let far = sums.with_lookahead(k);
            let mut bounded = far.matcher();
            bounded.advance_bytes(begin.as_bytes()).unwrap();
            let mut mask = TokenMask::default();
            bounded.fill_mask(&mut mask);
            for (id, text) in (0u32..).zip(&texts) {
                let ended = lexemes(text) - 1;
                let expected = exact.contains(id) && ended <= k;
                assert_eq!(mask.contains(id), expected, "{begin:?} {text:?} {k}");
                assert_eq!(bounded.allows(id), expected, "{begin:?} {text:?} {k}");
                let own = exact.contains(id).then_some(ended);
                assert_eq!(matcher.lexemes_ended(id), own, "{begin:?} {text:?}");
                if exact.contains(id) && !expected {
                    let error = bounded.clone().advance(id).unwrap_err();
                    assert_eq!(error.kind(), AdvanceErrorKind::Lookahead);
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn a_lookahead_takes_tokens_away_and_adds_none() {
    let vocabulary = Vocabulary::builtin("gpt2").unwrap();
    let json = constraint(JSON, &vocabulary);
    let mut counts = Vec::new();
    for k in [0, 1, 2, 9] {
        let (mut matcher, mut exact) = (json.with_lookahead(k).matcher(), json.matcher());
        let (mut mask, mut all) = (TokenMask::default(), TokenMask::default());
        let mut count = 0;
        for part in ["", "{\"a", "\": ", "[1", ", true"] {
            matcher.advance_bytes(part.as_bytes()).unwrap();
            exact.advance_bytes(part.as_bytes()).unwrap();
            matcher.fill_mask(&mut mask);
            exact.fill_mask(&mut all);
            let within = mask.words().iter().zip(all.words()).all(|(one, all)| one & !all == 0);
            assert!(within);
            for token in all.tokens().step_by(37) {
                let ended = exact.lexemes_ended(token).unwrap();
                assert_eq!(mask.contains(token), ended <= k, "{part:?} {token}");
            }
            count += mask.count();
        }
        counts.push(count);
    }
    assert!(counts.is_sorted() && counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
}

fn scores() -> impl Strategy<Value = Vec<f32>> {
    proptest::collection::vec(-8.0f32..8.0, 8)
}

/// Algorithm 3 of the paper, over strings: each token is the best of those that match and leave a
/// text that can be spelled.
fn preferred(text: &str, tokens: &[&str], scores: impl Fn(&[u32]) -> Vec<f32>) -> Option<Vec<u32>> {
    fn spells(text: &str, tokens: &[&str]) -> bool {
        text.is_empty()
            || tokens
                .iter()
                .any(|&token| text.strip_prefix(token).is_some_and(|rest| spells(rest, tokens)))
    }
    let (mut path, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let scores = scores(&path);
        let fits =
            |&id: &usize| rest.strip_prefix(tokens[id]).is_some_and(|after| spells(after, tokens));
        let best = (0..tokens.len())
            .filter(fits)
            .max_by(|&one, &other| scores[one].total_cmp(&scores[other]))?;
        path.push(best as u32);
        rest = &rest[tokens[best].len()..];
    }
    Some(path)
}

#[test]
fn retokenization_takes_the_best_token_at_each_step() {
    let tokens = ["a", "b", "ab", "ba", "abb", "bab", "c", "bc"];
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap();
    let constraint = constraint("start: /[abc]+/", &vocabulary);
    let cases = std::env::var("LRMASK_RANDOM").map_or(500, |cases| cases.parse().unwrap());
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(text in "[abc]{1,9}", scores in scores())| {
        // The scores depend on the tokens before.
        let after = |path: &[u32]| {
            let mut scores = scores.clone();
            scores.rotate_left(path.iter().sum::<u32>() as usize % 8);
            scores
        };
        let found = constraint.matcher().retokenize(text.as_bytes(), |path| after(&ids(path)));
        prop_assert_eq!(found.as_deref().map(ids), preferred(&text, &tokens, after));
    });
    assert_eq!(constraint.matcher().retokenize(b"abd", |_| [0.0]), None);
    assert_eq!(constraint.matcher().retokenize(b"", |_| [0.0]), Some(Vec::new()));
    // Greedy, but not into a dead end: nothing spells `b`.
    let vocabulary = Vocabulary::from_tokens(["a", "ab"]).unwrap();
    let only = self::constraint("start: \"ab\"", &vocabulary);
    let found = only.matcher().retokenize(b"ab", |_| [9.0, 1.0]).unwrap();
    assert_eq!(ids(&found), [1]);
    assert_eq!(only.matcher().retokenize(b"a", |_| [f32::NAN]).as_deref().map(ids), Some(vec![0]));
}

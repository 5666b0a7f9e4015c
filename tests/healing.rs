//! Token healing: whole masks while bytes taken back from a prompt are left to write, against the
//! oracle, over the small grammars.
//!
//! A token is right exactly if its bytes begin the bytes that are left, or if it begins with all of
//! them and the oracle says that the text so far may go on with the rest.
//!
//! `LRMASK_RANDOM=N` compares about N bits (default 20,000).

#![allow(clippy::print_stdout)]

use lrmask::{
    AdvanceErrorKind, Constraint, Draft, FreeText, Grammar, Matcher, TakeBack, TokenId, Vocabulary,
};

use crate::oracle::case::{Case, names};
use crate::oracle::check::build;
use crate::oracle::quoted::show;
use crate::oracle::viability::{Oracle, Viable};
use crate::oracle::vocabularies::{self, SmallVocabulary};

fn bits(matcher: &Matcher) -> Vec<u32> {
    let mut mask = lrmask::TokenMask::default();
    matcher.fill_mask(&mut mask);
    mask.words().to_vec()
}

fn has(row: &[u32], id: usize) -> bool {
    row.get(id / 32).is_some_and(|word| word >> (id % 32) & 1 == 1)
}

struct Check<'a> {
    oracle: &'a Oracle,
    vocabulary: &'a SmallVocabulary,
    constraint: &'a Constraint,
    random: fastrand::Rng,
    compared: usize,
    undecided: usize,
}

impl Check<'_> {
    /// Compares everything where `left` must be written after `text`, and then at some states that
    /// follow.
    fn visit(&mut self, text: &[u8], left: &[u8], matcher: &Matcher, depth: usize) {
        let place = format!("after {}, {} left", show(text), show(left));
        let row = bits(matcher);
        let mut plain = self.constraint.matcher();
        plain.advance_bytes(text).unwrap();
        assert_eq!(matcher.unwritten(), left, "{place}");
        assert!(matcher.is_accepting() == (left.is_empty() && plain.is_accepting()), "{place}");
        let mut allowed = Vec::new();
        for id in 0..self.vocabulary.width + 1 {
            let bit = has(&row, id);
            self.compared += 1;
            let bytes = self.vocabulary.bytes(id).unwrap_or_default();
            let written = bytes.len().min(left.len());
            let rest = &bytes[written..];
            let longer = [text, rest].concat();
            let right = if self.vocabulary.is_stop(id) {
                left.is_empty() && plain.is_accepting()
            } else if bytes.is_empty() || bytes[..written] != left[..written] {
                false
            } else if rest.is_empty() {
                true
            } else {
                match self.oracle.viable(&longer) {
                    Viable::Yes => true,
                    Viable::No => false,
                    Viable::Unknown | Viable::TooMany => {
                        self.undecided += 1;
                        plain.clone().advance_bytes(rest).is_ok()
                    }
                }
            };
            // A no of the oracle's search is of its own alphabet alone.
            let is_found = bit && !right && !rest.is_empty() && {
                let mut next = plain.clone();
                let end = next.advance_bytes(rest).ok().and_then(|()| next.shortest_completion());
                end.is_some_and(|end| self.oracle.is_completed_by(&longer, &end) == Some(true))
            };
            assert!(bit == right || is_found, "{place}: {} is {bit}", show(bytes));
            assert_eq!(matcher.allows(id as u32), bit, "{place}: {}", show(bytes));
            let mut next = matcher.clone();
            assert_eq!(next.advance(id as u32).is_ok(), bit, "{place}: {}", show(bytes));
            assert_eq!(bits(matcher), row, "{place}: the clone has moved the original");
            if bit && !self.vocabulary.is_stop(id) {
                let mut by_bytes = matcher.clone();
                by_bytes.advance_bytes(bytes).unwrap();
                assert_eq!(bits(&by_bytes), bits(&next), "{place}: {} as bytes", show(bytes));
                assert_eq!(next.rollback(1), 1);
                assert_eq!(bits(&next), row, "{place}: after rollback");
                allowed.push(id);
            }
        }
        self.ends(&place, left, matcher, &plain);
        for _ in 0..3 {
            if depth > 0 && !allowed.is_empty() {
                let id = allowed[self.random.usize(..allowed.len())];
                let bytes = self.vocabulary.bytes(id).unwrap();
                let written = bytes.len().min(left.len());
                let longer = [text, &bytes[written..]].concat();
                let mut next = matcher.clone();
                next.advance(id as u32).unwrap();
                self.drafts(&place, matcher, id, &next);
                self.visit(&longer, &left[written..], &next, depth - 1);
            }
        }
    }

    /// Compares what is said of the text to come.
    fn ends(&self, place: &str, left: &[u8], matcher: &Matcher, plain: &Matcher) {
        let with = |end: Vec<u8>| [left, &end].concat();
        assert_eq!(matcher.forced_bytes(), with(plain.forced_bytes()), "{place}");
        let completion = plain.shortest_completion().map(with);
        assert_eq!(matcher.shortest_completion(), completion, "{place}");
        assert_eq!(matcher.can_continue(), !left.is_empty() || plain.can_continue(), "{place}");
        let cut =
            |bytes: &[u8]| self.constraint.vocabulary().cut_longest(bytes).unwrap_or_default();
        let forced = matcher.forced_tokens(cut);
        assert_eq!(matcher.validate(forced.clone()), forced.len(), "{place}");
        let bytes: Vec<u8> = forced
            .iter()
            .flat_map(|&token| self.constraint.vocabulary().bytes(token).unwrap().to_vec())
            .collect();
        assert!(matcher.forced_bytes().starts_with(&bytes), "{place}");
    }

    /// Compares the masks along drafts.
    fn drafts(&mut self, place: &str, matcher: &Matcher, id: usize, next: &Matcher) {
        let stride = self.vocabulary.width.div_ceil(32);
        let mut rows = vec![0; 3 * stride];
        let second = self.random.u32(..self.vocabulary.width as u32);
        let drafts = Draft::chain([id as u32, second]);
        let are_allowed = matcher.fill_draft_masks(&drafts, &mut rows, stride).unwrap();
        assert_eq!(are_allowed, [true, next.allows(second)], "{place}");
        assert_eq!(rows[..stride], bits(matcher), "{place}");
        assert_eq!(rows[stride..2 * stride], bits(next), "{place}");
    }
}

#[test]
fn masks_while_healing_are_those_of_the_oracle() {
    let most: usize = std::env::var("LRMASK_RANDOM").map_or(20_000, |count| count.parse().unwrap());
    let jobs: Vec<Case> = names().iter().map(|name| Case::read(name)).collect();
    let share = most / jobs.len() + 1;
    let (mut compared, mut undecided) = (0, 0);
    for (number, case) in jobs.iter().enumerate() {
        let lexer = case.lexers[number % case.lexers.len()];
        let vocabulary = match number % 2 {
            0 => vocabularies::strings(&case.alphabet, 2),
            _ => vocabularies::ragged(&case.alphabet, &case.tokens),
        };
        let Ok((constraint, _)) = build(&case.lark(lexer), &vocabulary) else { continue };
        let oracle = case.oracle(lexer);
        let random = fastrand::Rng::with_seed(number as u64);
        let mut check = Check {
            oracle: &oracle,
            vocabulary: &vocabulary,
            constraint: &constraint,
            random,
            compared: 0,
            undecided: 0,
        };
        while check.compared < share {
            let letter = |check: &mut Check<'_>| {
                // Mostly letters of the grammar, sometimes others and parts of characters.
                let other = [b' ', 0xe2, 0x82, 0xff, b'a'];
                match check.random.usize(..5) {
                    0 => other[check.random.usize(..other.len())],
                    _ => case.alphabet[check.random.usize(..case.alphabet.len())],
                }
            };
            // Some text that the constraint has read before, then the bytes.
            let (mut text, mut matcher) = (Vec::new(), constraint.matcher());
            for _ in 0..check.random.usize(..3) {
                let byte = letter(&mut check);
                if matcher.advance_bytes(&[byte]).is_ok() {
                    text.push(byte);
                }
            }
            let prefix: Vec<u8> =
                (0..check.random.usize(..4)).map(|_| letter(&mut check)).collect();
            matcher.heal(&prefix);
            let (row, steps) = (bits(&matcher), matcher.steps());
            check.visit(&text, &prefix, &matcher, 2);
            assert_eq!((bits(&matcher), matcher.steps()), (row, steps));
        }
        compared += check.compared;
        undecided += check.undecided;
    }
    println!("{compared} bits compared, {undecided} of them undecided by the oracle");
    assert!(undecided * 5 < compared);
}

fn constraint(lark: &str, tokens: &[&str]) -> Constraint {
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap();
    Constraint::new(&Grammar::from_lark(lark).unwrap(), &vocabulary).unwrap()
}

fn allowed(matcher: &Matcher) -> Vec<u32> {
    let mut mask = lrmask::TokenMask::default();
    matcher.fill_mask(&mut mask);
    mask.tokens().map(TokenId::get).collect()
}

#[test]
fn a_token_may_span_the_end_of_the_prefix() {
    let constraint =
        constraint(r#"start: "{" "a"+ "}""#, &[" ", "x", " {", " {a", "{", "x {a}", "}"]);
    let mut matcher = constraint.matcher();
    matcher.heal(b"x ");
    assert_eq!(allowed(&matcher), [1, 5]);
    assert_eq!(matcher.forced_bytes(), b"x {a");
    assert_eq!(matcher.shortest_completion().unwrap(), b"x {a}");
    let error = matcher.advance(4).unwrap_err();
    assert_eq!((error.kind(), error.accepted_bytes()), (AdvanceErrorKind::Unwritten, 0));
    matcher.advance(1).unwrap();
    assert_eq!(allowed(&matcher), [0, 2, 3]);
    matcher.advance(3).unwrap();
    assert_eq!(allowed(&matcher), [6]);
    // To roll back, and to begin anew, return to the bytes.
    assert_eq!(matcher.rollback(1), 1);
    assert_eq!(matcher.unwritten(), b" ");
    matcher.reset();
    assert_eq!(matcher.unwritten(), b"x ");
    let error = matcher.advance_bytes(b"xy").unwrap_err();
    assert_eq!((error.kind(), error.accepted_bytes()), (AdvanceErrorKind::Unwritten, 1));
    let error = matcher.advance_bytes(b"x [").unwrap_err();
    assert_eq!((error.kind(), error.accepted_bytes()), (AdvanceErrorKind::Grammar, 2));
    matcher.heal(b"");
    assert_eq!(allowed(&matcher), [4]);
}

#[test]
fn a_character_may_be_cut_by_the_prefix() {
    let vocabulary = Vocabulary::from_tokens([
        &b"\xe2"[..],
        b"\x82",
        b"\xac",
        b"\x82\xac",
        "\u{20ac}".as_bytes(),
        "\u{20ac}1".as_bytes(),
        b"1",
    ]);
    let grammar = Grammar::from_lark("start: /[0-9]/").unwrap();
    let mut matcher = Constraint::new(&grammar, &vocabulary.unwrap()).unwrap().matcher();
    matcher.heal("\u{20ac}".as_bytes());
    assert_eq!(allowed(&matcher), [0, 4, 5]);
    matcher.advance(0).unwrap();
    assert_eq!(allowed(&matcher), [1, 3]);
    matcher.advance(3).unwrap();
    assert_eq!(allowed(&matcher), [6]);
}

#[test]
fn special_tokens_wait_for_the_prefix() {
    let vocabulary = Vocabulary::from_tokens(["a", "b", "", ""]).unwrap();
    let vocabulary = vocabulary.with_special_tokens([(2, "<|x|>"), (3, "</s>")]).unwrap();
    let grammar = Grammar::from_lark("start: <|x|>? \"b\"? ").unwrap();
    let constraint = Constraint::new(&grammar, &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    matcher.heal(b"a");
    assert_eq!(allowed(&matcher), [0]);
    assert_eq!(matcher.advance(3).unwrap_err().kind(), AdvanceErrorKind::Unwritten);
    matcher.advance(0).unwrap();
    assert_eq!(allowed(&matcher), [1, 2, 3]);
    // A finished text has nothing to write.
    matcher.advance(3).unwrap();
    matcher.heal(b"a");
    assert!(matcher.unwritten().is_empty() && matcher.is_finished());
    // Stop tokens of a matcher wait as well; those with bytes are text until then.
    let mut matcher = constraint.matcher_with_stops([0]).unwrap();
    matcher.heal(b"a");
    assert_eq!(allowed(&matcher), [0]);
    matcher.advance(0).unwrap();
    assert!(!matcher.is_finished());
    assert_eq!(allowed(&matcher), [0, 1, 2]);
}

#[test]
fn captures_are_of_the_constraint_s_text() {
    let lark = "start: name \";\"\nname[capture]: /[a-z]+/";
    let constraint = constraint(lark, &["x ", "x", " ", " ab", "c", ";"]);
    let mut matcher = constraint.matcher();
    matcher.heal(b"x ");
    for token in [1, 3, 4, 5] {
        matcher.advance(token).unwrap();
    }
    let captures = matcher.captures();
    assert_eq!((captures[0].bytes(), captures[0].span()), (&b"abc"[..], 0..3));
    matcher.rollback(4);
    for token in [1, 2, 4, 5] {
        matcher.advance(token).unwrap();
    }
    assert_eq!(matcher.captures()[0].bytes(), b"c");
}

#[test]
fn token_limits_and_distinct_items_hold_after_healing() {
    let limited =
        constraint("start: name \";\"\nname[max_tokens=2]: /[a-z]+/", &["x", "xab", "c", ";"]);
    let mut matcher = limited.matcher();
    matcher.heal(b"x");
    assert_eq!(allowed(&matcher), [0, 1]);
    // The rest of this token is the first of two.
    matcher.advance(1).unwrap();
    assert_eq!(allowed(&matcher), [0, 1, 2, 3]);
    matcher.advance(2).unwrap();
    assert_eq!(allowed(&matcher), [3]);

    let tokens = ["x", "x[1,", "x[1,1", "x[1,2]", "1", "2", "]", "x[1,1]"];
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap();
    let schema = r#"{"type": "array", "uniqueItems": true, "items": {"type": "integer"}}"#;
    let options = lrmask::SchemaOptions::default();
    let mut matcher = Constraint::from_schema(schema, &options, &vocabulary).unwrap().matcher();
    matcher.heal(b"x");
    // `[1,1` may go on as `[1,12`, but not end.
    assert_eq!(allowed(&matcher), [0, 1, 2, 3]);
}

#[test]
fn free_text_is_healed_like_a_constraint_of_any_text() {
    let tokens = ["a", "ab", "b", "abc", "c", "", "\u{20ac}"];
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap().with_special(5, "</s>").unwrap();
    let grammar = Grammar::from_lark(r"start: /(.|\n)*/").unwrap();
    let constraint = Constraint::new(&grammar, &vocabulary).unwrap();
    for prefix in ["", "a", "ab", "abca", "\u{20ac}b", "x"] {
        let (mut text, mut matcher) =
            (FreeText::new(&vocabulary, prefix.as_bytes()), constraint.matcher());
        matcher.heal(prefix.as_bytes());
        for steps in 0..6 {
            let row = text.mask();
            assert!(row.tokens().map(TokenId::get).eq(allowed(&matcher)), "{prefix} {steps}");
            for id in 0..8 {
                assert_eq!(text.allows(id), row.contains(id), "{prefix} {steps} {id}");
                assert_eq!(text.clone().advance(id).is_ok(), row.contains(id));
            }
            assert_eq!(text.unwritten(), matcher.unwritten());
            let Some(token) =
                row.tokens().nth(steps % row.count().max(1)).filter(|token| token.get() != 5)
            else {
                break;
            };
            text.advance(token).unwrap();
            matcher.advance(token).unwrap();
        }
        text.rollback(usize::MAX);
        assert_eq!(text.unwritten(), prefix.as_bytes());
    }
}

#[test]
fn a_prompt_of_tokens_can_always_write_what_is_taken_back() {
    let tokens = ["", "a", " b", "cd", " ", "\n", "\u{e9}", "\"la", "st", "c", "d"];
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..1_000 {
        let prompt: Vec<TokenId> =
            (0..random.usize(..30)).map(|_| random.u32(..11).into()).collect();
        for how in [TakeBack::Word, TakeBack::Tokens(random.usize(..5))] {
            let taken = vocabulary.take_back(&prompt, how);
            let mut text = FreeText::new(&vocabulary, &taken.bytes);
            for &token in &prompt[taken.kept..] {
                text.advance(token).unwrap();
            }
            assert!(text.unwritten().is_empty());
        }
    }
}

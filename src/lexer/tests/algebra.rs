//! Intersections, complements, explicit automata, and combinations of them.

use proptest::prelude::*;
use smallvec::smallvec;

use super::{compile, dfa, literal, regex};
use crate::grammar::pattern::{Automaton, Pattern, State};
use crate::lexer::error::PatternErrorKind;

fn not(pattern: Pattern) -> Pattern {
    Pattern::Complement(Box::new(pattern))
}

/// An even number of `a`s, and nothing else.
fn even() -> Pattern {
    let state = |next, accepts| State { moves: smallvec![(b'a', b'a', next)], accepts };
    let lost = State { moves: smallvec![(0, 255, 0)], accepts: true };
    Pattern::Automaton(Automaton::new([state(1, true), state(0, false), lost]))
}

#[test]
fn equal_languages_are_equal_automata() {
    let word = || regex("[a-z]+");
    for (pattern, same) in [
        (Pattern::Intersection(vec![]), r"[\s\S]*"),
        (not(regex(r"[\s\S]*")), r"[^\s\S]"),
        (not(Pattern::Alternation(vec![])), r"[\s\S]*"),
        (not(regex("")), r"[\s\S]+"),
        (not(not(word())), "[a-z]+"),
        (Pattern::Intersection(vec![word(), not(regex("[a-y]*"))]), "[a-y]*z[a-z]*"),
        (
            Pattern::Intersection(vec![word(), regex("..."), not(literal("abc", false))]),
            "(?!abc)[a-z]{3}",
        ),
        (even(), "(aa)*"),
        (Pattern::Concat(vec![literal("x", false), even(), word()]), "x(aa)*[a-z]+"),
        (Pattern::Repeat { pattern: Box::new(even()), min: 2, max: Some(3) }, "(aa)*"),
        (Pattern::Concat(vec![not(regex(r"[\s\S]+")), word()]), "[a-z]+"),
        (Pattern::Concat(vec![Pattern::Automaton(Automaton::default()), word()]), r"[^\s\S]"),
    ] {
        assert_eq!(compile(&pattern).expect("within the limits"), dfa(same), "{pattern}");
    }
}

#[test]
fn what_grows_without_bound_is_refused() {
    // As many states as the product of the two primes.
    let large = Pattern::Intersection(vec![regex("(a{499})*"), regex("(a{503})*")]);
    let many = Pattern::Repeat { pattern: Box::new(even()), min: u32::MAX, max: None };
    let deep = (0..1_000).fold(even(), |inner, _| not(inner));
    for pattern in [large, many, deep] {
        let error = compile(&pattern).expect_err("too large");
        assert_eq!(error.kind(), PatternErrorKind::TooLarge);
    }
}

/// Returns whether `pattern` matches `text`, by the definition.
fn is_match(pattern: &Pattern, text: &str) -> bool {
    let splits = || (0..=text.len()).map(|at| text.split_at(at));
    match pattern {
        Pattern::Literal { text: literal, .. } => literal == text,
        Pattern::Concat(parts) => match parts.split_first() {
            None => text.is_empty(),
            Some((first, rest)) => {
                let rest = Pattern::Concat(rest.to_vec());
                splits().any(|(one, other)| is_match(first, one) && is_match(&rest, other))
            }
        },
        Pattern::Alternation(parts) => parts.iter().any(|part| is_match(part, text)),
        Pattern::Intersection(parts) => parts.iter().all(|part| is_match(part, text)),
        Pattern::Complement(pattern) => !is_match(pattern, text),
        Pattern::Repeat { pattern: part, min, max } => {
            let less = |count: u32| count.saturating_sub(1);
            let rest =
                Pattern::Repeat { pattern: part.clone(), min: less(*min), max: max.map(less) };
            let once = |(one, other): (&str, &str)| {
                (!one.is_empty() || *min > 0) && is_match(part, one) && is_match(&rest, other)
            };
            (*min == 0 && text.is_empty()) || (*max != Some(0) && splits().any(once))
        }
        Pattern::Automaton(_) => {
            text.len().is_multiple_of(2) && text.bytes().all(|byte| byte == b'a')
        }
        Pattern::Shortest(pattern) => {
            is_match(pattern, text) && (0..text.len()).all(|at| !is_match(pattern, &text[..at]))
        }
        Pattern::Range(..)
        | Pattern::Regex { .. }
        | Pattern::Counted(_)
        | Pattern::Tokens(_)
        | Pattern::Schema(_) => {
            unreachable!("no case has one")
        }
    }
}

#[test]
fn operands_that_look_beyond_their_text_are_refused() {
    for asks in ["a(?=b)", r"a\b", "(?<!b)a", "^a"] {
        for pattern in [
            not(regex(asks)),
            Pattern::Intersection(vec![regex("[a-z]"), regex(asks)]),
            Pattern::Concat(vec![even(), regex(asks)]),
        ] {
            let error = compile(&pattern).expect_err("nothing is known of what stands around");
            assert_eq!(error.kind(), PatternErrorKind::Unsupported, "{pattern}");
        }
    }
}

fn patterns() -> impl Strategy<Value = Pattern> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["", "a", "b", "ab", "ba"]).prop_map(|text| literal(text, false)),
        Just(even()),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        let many = || prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            many().prop_map(Pattern::Concat),
            many().prop_map(Pattern::Alternation),
            many().prop_map(Pattern::Intersection),
            inner.clone().prop_map(not),
            inner.clone().prop_map(|pattern| Pattern::Shortest(Box::new(pattern))),
            (inner.clone(), 0..3u32, prop::option::of(0..2u32)).prop_map(|(pattern, min, more)| {
                Pattern::Repeat {
                    pattern: Box::new(pattern),
                    min,
                    max: more.map(|more| min + more),
                }
            }),
        ]
    })
}

proptest! {
    #[test]
    fn the_automaton_accepts_what_the_definition_says(pattern in patterns()) {
        let dfa = compile(&pattern).expect("small");
        for length in 0..6 {
            for number in 0..1u32 << length {
                let letter = |at: u32| if number >> at & 1 == 0 { 'a' } else { 'b' };
                let text: String = (0..length).map(letter).collect();
                prop_assert_eq!(dfa.matches(text.as_bytes()), is_match(&pattern, &text), "{}", text);
            }
        }
    }
}

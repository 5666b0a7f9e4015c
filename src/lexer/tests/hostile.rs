//! Patterns that are large, or would be when expanded, end in time.

use super::*;

/// Compiles a pattern that must be compiled or refused for its size.
fn bounded(pattern: &Pattern, name: &str) -> Option<Dfa> {
    match compile(pattern) {
        Ok(dfa) => Some(dfa),
        Err(error) => {
            assert_eq!(error.kind(), PatternErrorKind::TooLarge, "{name}: {error}");
            None
        }
    }
}

#[test]
fn hostile_patterns_end_in_time() {
    let sets: String = (0..20_000u32).filter_map(|i| char::from_u32(0x4E00 + 2 * i)).collect();
    let alternatives: Vec<String> = sets.chars().map(|c| format!("[{c}a]")).collect();
    for pattern in [
        "(a|b)*a(a|b){30}",
        "(..){1,100000}",
        "(?:a{0,1000}){0,1000}",
        "(?:(?:.{0,300}a){0,300}b)*c",
        "((a{1000}){1000}){1000}",
        "(?:){4294967294}",
        "(?:(?:){4294967294}){4294967294}",
        r"[^\s\S]{1000000}",
        "(.*a){500}",
        "(?:.*a.*|.*b.*|.*c.*)(?:.{0,50}x){20}",
        &r"\w".repeat(100_000),
        &r"[^\W\d]".repeat(100_000),
        &r"(?i:[\u0000-\U0010ffff])".repeat(10_000),
        &"a?".repeat(20_000),
        &"a*".repeat(20_000),
        &"(a|".repeat(100_000),
        &"(?=a)".repeat(100_000),
        &format!("{}a", "(?!b{100})[ab]{10}".repeat(50)),
        &format!("({})*c", "(?=[ab]*c)a|(?![ab]{20}c)b|".repeat(20)),
        &format!("{}a{}", "(?=".repeat(10_000), ")".repeat(10_000)),
        &"a|".repeat(100_000),
        &format!("[{sets}]"),
        &format!("(?i)[^{sets}]"),
        &alternatives.join("|"),
    ] {
        let name: String = pattern.chars().take(40).collect();
        bounded(&regex(pattern), &name);
    }
}

#[test]
fn long_counted_repetitions_are_exact() {
    let dfa = bounded(&regex("[a-z]{1,100000}"), "long repetition").expect("within the limits");
    assert_eq!(dfa.state_count(), 100_001);
    assert!(dfa.matches(&b"q".repeat(100_000)) && !dfa.matches(&b"q".repeat(100_001)));
}

#[test]
fn long_strings_work_and_huge_ones_are_refused() {
    let text: String = (0..100_000u32).map(|i| char::from(b' ' + (i * 7919 % 89) as u8)).collect();
    let dfa = bounded(&literal(&text, false), "100 kB").expect("within the limits");
    assert!(dfa.matches(text.as_bytes()) && dfa.shortest() == text.as_bytes());
    assert!(bounded(&literal(&text, true), "100 kB, any case").is_some());
    assert!(bounded(&literal(&"x".repeat(10 << 20), false), "10 MB").is_none());
    assert!(bounded(&literal(&"x".repeat(10 << 20), true), "10 MB, any case").is_none());
}

#[test]
fn many_words_make_one_automaton() {
    let words: Vec<Pattern> =
        (0..100_000).map(|i| literal(&format!("word{}", i * 7), false)).collect();
    let dfa = bounded(&Pattern::Alternation(words), "100,000 words").expect("within the limits");
    assert!(dfa.matches(b"word699993") && !dfa.matches(b"word699994") && dfa.matches(b"word0"));
}

#[test]
fn depth_is_limited() {
    let groups = format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(compile(&regex(&groups)).unwrap_err().kind(), PatternErrorKind::TooLarge);
    let fits = format!("{}a{}", "(x|".repeat(199), ")*".repeat(199));
    assert!(compile(&regex(&fits)).is_ok());
    let mut nested = literal("a", false);
    for _ in 0..300 {
        nested = Pattern::Concat(vec![nested]);
    }
    assert_eq!(compile(&nested).unwrap_err().kind(), PatternErrorKind::TooLarge);
}

/// Repetitions of repetitions, and options in a row, are merged into one count.
#[test]
fn repetitions_are_counted_together() {
    for (pattern, same) in [
        ("((a{1,5}){1,5}){1,5}b", "a{1,125}b"),
        ("(a{2}){0,2}", "(aa)?(aa)?"),
        ("(a{2,3}){0,2}", "|aa|a{3}|a{4}|a{5}|a{6}"),
        ("(a{3,4}){2,3}", "a{6,12}"),
        ("(a{3}){1,2}", "a{3}|a{6}"),
        ("(a{2,}){0,3}", "|a{2,}"),
        ("(a{0,2})*", "a*"),
        ("a?a?a*a{2}", "a{2,}"),
        ("(a|bc)?(a|bc)?(a|bc)", "(a|bc){1,3}"),
        ("(a{1,2}){0,0}b", "b"),
    ] {
        assert_eq!(dfa(pattern), dfa(same), "{pattern}");
    }
    let many = |count: usize| regex(&"(a|bc)?".repeat(count));
    let steps = |pattern: &Pattern| {
        let meter = Meter::new(&Limits::default());
        Compiler::new(&meter).compile(pattern).expect("within the limits");
        meter.cost().steps
    };
    assert!(steps(&many(2_000)) < 3 * steps(&many(1_000)));
    assert_eq!(dfa("((a{1,50}){1,50}){1,50}b").state_count(), 125_001 + 1);
}

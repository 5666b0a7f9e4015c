//! Patterns that are large, or would be when written out, end in time.

use super::*;

/// A pattern that must be compiled or refused for its size.
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

//! What the whole of the layer promises, pass by pass where an oracle exists.

use crate::grammar::pattern::{Pattern, RegexFlags};
use crate::lexer::{Dfa, LexerLimits, PatternError};

fn regex(pattern: &str) -> Pattern {
    Pattern::Regex { pattern: pattern.to_owned(), flags: RegexFlags::default(), place: None }
}

fn compile(pattern: &Pattern) -> Result<Dfa, PatternError> {
    Dfa::compile(pattern, &LexerLimits::default()).map(|compiled| compiled.dfa)
}

fn dfa(pattern: &str) -> Dfa {
    match compile(&regex(pattern)) {
        Ok(dfa) => dfa,
        Err(error) => panic!("{pattern}: {error}"),
    }
}

fn literal(text: &str, ignore_case: bool) -> Pattern {
    Pattern::Literal { text: text.to_owned(), ignore_case }
}

/// How many classes Moore's algorithm finds: as many as there are states when the automaton is minimal.
fn moore(dfa: &Dfa) -> usize {
    let count = dfa.state_count();
    let mut block: Vec<usize> = (0..count).map(|s| usize::from(dfa.is_accept(s as u32))).collect();
    loop {
        let mut known = std::collections::HashMap::new();
        let next: Vec<usize> = (0..count)
            .map(|s| {
                let moves: Vec<Option<usize>> =
                    (0..=255).map(|b| block.get(dfa.next(s as u32, b) as usize).copied()).collect();
                let fresh = known.len();
                *known.entry((block[s], moves)).or_insert(fresh)
            })
            .collect();
        let before = block.iter().collect::<std::collections::HashSet<_>>().len();
        block = next;
        if known.len() == before {
            return before;
        }
    }
}

#[test]
fn state_counts_are_those_of_the_literature() {
    for (pattern, states) in [
        ("[A-Za-z_][A-Za-z0-9_]*", 2),
        (r#""[^"\\]*""#, 10),
        ("(?s:.)", 9),
        ("(a|b)*a(a|b){12}", 8192),
        ("", 1),
        ("a*", 1),
        (r"[^\s\S]", 0),
    ] {
        assert_eq!(dfa(pattern).state_count(), states, "{pattern}");
    }
}

#[test]
fn the_same_language_is_the_same_value() {
    for (a, b) in [
        ("(?:a|b)*c|d", "d|[ab]*c"),
        ("x{2,4}", "xx(?:xx?)?"),
        ("(?:if|ifx|else)", "else|if(?:x|)"),
        ("[0-9]", "[02468]|[13579]"),
        ("a{,}", "a*"),
    ] {
        assert_eq!(dfa(a), dfa(b), "{a} and {b}");
    }
    assert_eq!(compile(&literal("while", false)), compile(&regex("while")));
}

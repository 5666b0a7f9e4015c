//! Properties of the whole layer, pass by pass where an oracle exists.

mod algebra;
mod hostile;
mod python;
mod references;

use proptest::prelude::*;

use self::python::matches_wholly;
use crate::grammar::pattern::{Pattern, RegexFlags};
use crate::lexer::error::{PatternError, PatternErrorKind};
use crate::lexer::{Compiler, Dfa};
use crate::util::limits::Limits;
use crate::util::meter::Meter;

fn regex(pattern: &str) -> Pattern {
    Pattern::Regex { pattern: pattern.to_owned(), flags: RegexFlags::default(), place: None }
}

fn compile(pattern: &Pattern) -> Result<Dfa, PatternError> {
    Compiler::new(&Meter::new(&Limits::default())).compile(pattern)
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

/// Returns the number of classes that Moore's algorithm finds: the number of states if the
/// automaton is minimal.
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

/// A group may begin in one regex and end in another, as in Lark; complete regexes stay separate.
#[test]
fn parts_that_are_no_regexes_are_put_together() {
    let keyword = Pattern::Alternation(vec![literal("if", false), literal("a.b", false)]);
    let parts = vec![regex("(?!("), keyword, regex(r")\b)"), regex("[a-z.]+")];
    let dfa = compile(&Pattern::Concat(parts)).expect("together they are one");
    let matched = ["of", "ifs", "if", "a.b"].map(|text| matches_wholly(&dfa, text));
    assert_eq!(matched, [true, true, false, false]);
    let dfa = compile(&Pattern::Concat(vec![regex("a|b"), regex("c")])).expect("a regex");
    assert!(dfa.matches(b"ac") && !dfa.matches(b"a"));
    let error =
        compile(&Pattern::Concat(vec![regex("("), regex("c")])).map_err(|error| error.span());
    assert_eq!(error, Err(Some(0..1)));
}

/// A group with infinitely many texts is read as some of them, none followed by a byte that might
/// belong to it. Complements and callers that need the exact language are refused.
#[test]
fn back_references_to_groups_with_many_texts_are_narrowed() {
    let narrowed = |pattern: &str| {
        let meter = Meter::new(&Limits::default());
        let mut compiler = Compiler::narrowing(&meter);
        let dfa =
            compiler.compile(&regex(pattern)).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        let narrowed = compiler.take_narrowed();
        assert_eq!(narrowed.len(), 1, "{pattern}");
        (dfa, narrowed[0].clone())
    };
    let (dfa, of) = narrowed(r"<<(?P<end>[A-Za-z]\w*)\n(.|\n)*?\n(?P=end)\n");
    assert_eq!(of.group, r"(?P<end>[A-Za-z]\w*)");
    assert_eq!(of.texts.len(), 16);
    assert!(dfa.matches(b"<<EOF\na\nb\nEOF\n") && dfa.matches(b"<<END\na\nEOF\nEND\n"));
    assert!(!dfa.matches(b"<<EOF\na\nEND\n") && !dfa.matches(b"<<EOF\na\nEOF\nEOF\n"));

    let (dfa, of) = narrowed(r"\[(=*)\[(.|\n)*?\]\1\]");
    assert_eq!((of.texts[0].len(), of.texts[15].as_str()), (15, ""));
    assert!(dfa.matches(b"[[a]]") && dfa.matches(b"[==[a]=]b]==]") && !dfa.matches(b"[=[a]]"));

    // `re` matches all the signs that there are.
    let (dfa, _) = narrowed(r"(`+).*?\1");
    assert!(dfa.matches(b"`a`") && dfa.matches(b"``a`b``") && !dfa.matches(b"``a`"));
    let twenty = "`".repeat(20);
    assert!(!dfa.matches(format!("{twenty}a{}", "`".repeat(15)).as_bytes()));

    let many = regex(r"(=*)a\1");
    assert_eq!(compile(&many).map_err(|error| error.kind()), Err(PatternErrorKind::Unsupported));
    let meter = Meter::new(&Limits::default());
    assert!(Compiler::narrowing(&meter).compile(&Pattern::Complement(Box::new(many))).is_err());
}

#[test]
fn properties_of_characters_are_unicodes() {
    for (pattern, yes, no) in [
        (r"\p{Lu}", "Ä", "ä"),
        (r"\pL", "é", "1"),
        (r"\P{L}", "1", "é"),
        (r"\p{^L}", "1", "é"),
        (r"[\p{L}\p{N}_-]", "-", " "),
        (r"[^\p{L}]", "1", "é"),
        (r"\p{Greek}", "λ", "l"),
        (r"\p{script=Greek}", "λ", "l"),
        (r"\p{Emoji_Presentation}", "😀", "a"),
        (r"(?i:\p{Lu})", "ä", "1"),
    ] {
        assert!(dfa(pattern).matches(yes.as_bytes()), "{pattern} {yes}");
        assert!(!dfa(pattern).matches(no.as_bytes()), "{pattern} {no}");
    }
    for (pattern, kind) in [
        (r"\p{Nobody}", PatternErrorKind::Unsupported),
        (r"\p{}", PatternErrorKind::Unsupported),
        (r"\p", PatternErrorKind::Unsupported),
        (r"\p{L", PatternErrorKind::Syntax),
        (r"\p{L}|\p{)}", PatternErrorKind::Unsupported),
    ] {
        assert_eq!(compile(&regex(pattern)).unwrap_err().kind(), kind, "{pattern}");
    }
}

#[test]
fn without_the_empty_text_the_others_are_left() {
    for (pattern, others) in [
        ("a*", "a+"),
        ("(ab)*", "(ab)+"),
        ("a?b?", "ab?|b"),
        ("a+", "a+"),
        ("", r"[^\s\S]"),
        ("a*?", r"[^\s\S]"),
        ("(a|b(ab)*)*", "(a|b(ab)*)+"),
    ] {
        assert_eq!(dfa(pattern).without_empty(), dfa(others), "{pattern}");
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

#[test]
fn texts_that_are_not_utf8_never_match() {
    for pattern in ["(?s).", r"[^a]", r"\W", r"\S", "(?i)[^k]"] {
        let dfa = dfa(pattern);
        for text in
            [&b"\xFF"[..], b"\x80", b"\xC0\x80", b"\xED\xA0\x80", b"\xF4\x90\x80\x80", b"\xE2\x82"]
        {
            assert!(!dfa.matches(text), "{pattern} {text:x?}");
        }
    }
}

#[test]
fn patterns_compose() {
    let digit = Pattern::Range('0', '9');
    let number = Pattern::Repeat { pattern: Box::new(digit), min: 1, max: None };
    let sign = Pattern::Alternation(vec![literal("+", false), literal("-", false)]);
    let sign = Pattern::Repeat { pattern: Box::new(sign), min: 0, max: Some(1) };
    let unit = literal("km", true);
    let all = Pattern::Concat(vec![sign, number, unit]);
    assert_eq!(compile(&all).unwrap(), dfa("[+-]?[0-9]+(?i:km)"));
    assert!(compile(&Pattern::Alternation(Vec::new())).unwrap().is_empty());
    assert!(compile(&Pattern::Concat(Vec::new())).unwrap().accepts_empty());
}

#[test]
fn an_empty_language_has_no_state_and_no_panic() {
    let none = dfa(r"[^\s\S]");
    assert!(none.is_empty() && !none.accepts_empty() && !none.matches(b""));
    assert_eq!(none.start(), Dfa::DEAD);
    assert_eq!(none.next(none.start(), b'a'), Dfa::DEAD);
    assert_eq!(none.distance(none.start()), u32::MAX);
    assert_eq!(none.shortest(), b"");
}

#[test]
fn shortest_texts_are_short_and_tidy() {
    for (pattern, text) in [
        ("[^\\W\\d]\\w*", "a"),
        (r#""[^"]*"|'[^']*'"#, r#""""#),
        ("[0-9]{4}-[0-9]{2}", "0000-00"),
        (r"\s", " "),
        (r"[\n\t]", "\n"),
        ("[é-ü]+", "é"),
        ("abc|de", "de"),
    ] {
        assert_eq!(String::from_utf8(dfa(pattern).shortest()).unwrap(), text);
    }
    let date = dfa("[0-9]{4}-[0-9]{2}");
    assert_eq!(date.distance(date.start()), 7);
}

#[test]
fn the_table_prints() {
    assert_eq!(
        dfa("[a-cx]+;").to_string(),
        "3 states, 3 byte classes\n    0  [a-cx]>1\n    1  [;]>2 [a-cx]>1\n    2*\n"
    );
}

/// The parts of a terminal are one regex, as in Lark: a lazy part ends where the next can begin.
#[test]
fn a_lazy_part_ends_where_the_next_one_begins() {
    let any = Pattern::Repeat { pattern: Box::new(regex(".")), min: 0, max: None };
    let lazy = Pattern::Concat(vec![literal("<", false), regex(".*?"), literal(">", false)]);
    assert_eq!(compile(&lazy).unwrap(), dfa("<[^>\n]*>"));
    let greedy = Pattern::Concat(vec![literal("<", false), any, literal(">", false)]);
    assert_eq!(compile(&greedy).unwrap(), dfa("<.*>"));
}

#[test]
fn errors_point_at_the_fault() {
    let error = compile(&regex(r"é(?>x)")).unwrap_err();
    assert_eq!(error.span(), Some(2..5));
    let diagnostic = error.into_diagnostic("STRING", None);
    assert_eq!(diagnostic.code, "regex-unsupported");
    assert!(diagnostic.message.contains("STRING"), "{diagnostic}");
    assert_eq!(diagnostic.example.as_deref(), Some("é(?>x)\n ^^^"));
    assert!(diagnostic.help.is_some());
}

/// Patterns that mean the same in Python and in the `regex` crate.
fn safe_pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => "[abc]",
        1 => "é|😀".prop_map(|s| s),
        1 => Just("[a-b]".to_owned()),
        1 => Just("[^a]".to_owned()),
        1 => Just("[^bé]".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just(String::new()),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (
                inner.clone(),
                prop_oneof![
                    Just("*"),
                    Just("+"),
                    Just("?"),
                    Just("{2}"),
                    Just("{1,3}"),
                    Just("{2,}")
                ]
            )
                .prop_map(|(part, suffix)| format!("(?:{part}){suffix}")),
            inner.prop_map(|part| format!("(?i:{part})")),
        ]
    })
}

#[test]
fn states_that_only_long_rests_tell_apart_are_states_of_their_own() {
    // The byte ten positions from the end decides: that takes more rounds over whole rows than are
    // made.
    let dfa = dfa("[ab]*a[ab]{9}");
    assert_eq!(dfa.state_count(), 1 << 10);
    assert_eq!(moore(&dfa), dfa.state_count());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn agrees_with_an_independent_engine(
        pattern in safe_pattern(),
        texts in prop::collection::vec("[abcAé😀\n]{0,6}", 12),
    ) {
        let dfa = dfa(&pattern);
        let oracle = regex::Regex::new(&format!(r"\A(?:{pattern})\z")).unwrap();
        for text in &texts {
            prop_assert_eq!(dfa.matches(text.as_bytes()), oracle.is_match(text), "{} on \
                {:?}", &pattern, text);
        }
        if !dfa.is_empty() {
            let shortest = String::from_utf8(dfa.shortest()).unwrap();
            prop_assert!(oracle.is_match(&shortest));
            prop_assert_eq!(shortest.len() as u32, dfa.distance(dfa.start()));
        }
    }

    #[test]
    fn no_two_states_are_equivalent_and_none_is_useless(pattern in safe_pattern()) {
        let dfa = dfa(&pattern);
        prop_assert_eq!(moore(&dfa), dfa.state_count());
        prop_assert!((0..dfa.state_count() as u32).all(|state| dfa.distance(state) != u32::MAX));
        for class in 1..dfa.classes().count() as u8 {
            let differs = |other| (0..dfa.state_count() as u32)
                .any(|state| dfa.next_class(state, class) != dfa.next_class(state, other));
            prop_assert!((0..class).all(differs), "{} is no class of its own", class);
        }
    }

    #[test]
    fn no_regex_panics(pattern in r"([abxdwsSDWZNuUPLim#:=!<>?*+|^$.,0-9é\n -]|[\\(){}\[\]]){0,24}", verbose: bool) {
        let flags = RegexFlags { verbose, ..RegexFlags::default() };
        let limits = Limits { terminal_states: 2_000, build_bytes: 10 << 20, build_steps: 1_000_000, ..Limits::default() };
        match Compiler::new(&Meter::new(&limits)).compile(&Pattern::Regex { pattern, flags, place: None }) {
            Ok(compiled) => {
                compiled.shortest();
            }
            Err(error) => {
                let _ = error.to_string();
            }
        }
    }
}

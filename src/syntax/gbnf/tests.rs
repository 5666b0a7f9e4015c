//! Tests of the reader: the resulting tree, each kind of refusal, and that no file makes it panic.

use proptest::prelude::*;

use super::ast::{Class, ExprKind, TokenName, TokenReference};
use super::*;

fn only(text: &str) -> Vec<ExprKind> {
    let file = parse_gbnf(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    file.rules[0].body[0].iter().map(|expr| expr.node.clone()).collect()
}

fn class(ranges: &[(u32, u32)]) -> ExprKind {
    ExprKind::Class(Class { negated: false, ranges: ranges.to_vec() })
}

#[test]
fn rules_end_where_the_next_one_begins() {
    let text = "a ::= b\n  | \"x\" # one\n  c\nb::=c;c ::=\n\n'y' // two\n/* d ::= */ (* e ::= \
        *)\n<f> ::= <f> a";
    let file = parse_gbnf(text).expect("sound");
    let names: Vec<&str> = file.rules.iter().map(|rule| &*rule.name.node).collect();
    assert_eq!(names, ["a", "b", "c", "f"]);
    assert_eq!(file.rules[0].body.len(), 2);
    assert_eq!(file.rules[0].body[1].len(), 2);
    assert_eq!(file.rules[3].body[0][0].node, ExprKind::Rule("f".to_owned()));
    assert_eq!(&text[file.rules[1].name.span.clone()], "b");
}

#[test]
fn escapes_stand_for_characters() {
    let literal = |text: &str| vec![ExprKind::Literal(text.to_owned())];
    assert_eq!(
        only(r#"a ::= "\n\t\r\\\"\x41\u00e9\U0001F600""#),
        literal("\n\t\r\\\"A\u{e9}\u{1f600}")
    );
    assert_eq!(only(r#"a ::= "\ud83d\ude00\[\-\/""#), literal("\u{1f600}[-/"));
    assert_eq!(only("a ::= '\"' "), literal("\""));
    assert_eq!(
        only(r"a ::= [a-z\]\-\^_-]"),
        [class(&[
            (0x61, 0x7a),
            (0x5d, 0x5d),
            (0x2d, 0x2d),
            (0x5e, 0x5e),
            (0x5f, 0x5f),
            (0x2d, 0x2d),
        ])]
    );
    assert_eq!(only(r"a ::= [\x00-\x1f\d]"), [class(&[(0, 0x1f), (0x30, 0x39)])]);
    let all = ExprKind::Class(Class { negated: true, ranges: Vec::new() });
    assert_eq!(only("a ::= . [^]"), [all.clone(), all]);
}

#[test]
fn counts_are_taken_in_all_their_forms() {
    for (count, expected) in [
        ("?", (0, Some(1))),
        ("*", (0, None)),
        ("+", (1, None)),
        ("{3}", (3, Some(3))),
        ("{3,}", (3, None)),
        ("{3,5}", (3, Some(5))),
        ("{, 5 }", (0, Some(5))),
        ("{3, -1}", (3, None)),
        ("{0,-1}", (0, None)),
    ] {
        let found = only(&format!("a ::= \"x\"{count}"));
        let [ExprKind::Repeat { min, max, .. }] = &found[..] else { panic!("{found:?}") };
        assert_eq!((*min, *max), expected, "{count}");
    }
}

#[test]
fn tokens_are_told_from_names() {
    let token = |negated, token| ExprKind::Token(TokenReference { negated, token });
    let text = |text: &str| TokenName::Text(format!("<{text}>"));
    assert_eq!(
        only("a ::= <[10]> !<[11]> <think> !</think>"),
        [
            token(false, TokenName::Id(10)),
            token(true, TokenName::Id(11)),
            token(false, text("think")),
            token(true, text("/think")),
        ]
    );
}

#[test]
fn names_are_llama_cpps() {
    let file = parse_gbnf("root ::= -a | --\n-a ::= \"x\"\n-- ::= -1\n-1::= root").expect("sound");
    let names: Vec<&str> = file.rules.iter().map(|rule| &*rule.name.node).collect();
    assert_eq!(names, ["root", "-a", "--", "-1"]);
    assert_eq!(file.rules[2].body[0][0].node, ExprKind::Rule("-1".to_owned()));
}

#[test]
fn deep_groups_become_rules() {
    let text = format!("a ::= {}b{} c\nd ::= (e)", "(".repeat(100), ")?".repeat(100));
    let file = parse_gbnf(&text).expect("sound");
    let names: Vec<&str> = file.rules.iter().map(|rule| &*rule.name.node).collect();
    assert_eq!(names, ["a", "a(2)", "a(1)", "d"]);
    assert_eq!(file.rules[0].body[0].len(), 2, "what stands behind a group stays there");
    let depth = 300_000;
    let text = format!("a ::= {}b{}", "(".repeat(depth), ")".repeat(depth));
    assert!(parse_gbnf(&text).expect("sound").rules.len() > depth / 100);
    let text = format!("a ::= {}b", "(=".repeat(100));
    assert_eq!(parse_gbnf(&text).expect_err("open").span(), 204..205);
    let text = format!("a ::= {}b{}", "(=".repeat(100), ")".repeat(100));
    assert_eq!(parse_gbnf(&text).expect("sound").rules.len(), 3);
}

#[test]
fn every_refusal_names_the_place() {
    use SyntaxErrorKind::*;
    let cases: &[(&str, SyntaxErrorKind, &str)] = &[
        ("\"x\"", UnexpectedToken, "\"x\""),
        ("a", UnexpectedToken, "a"),
        ("a ::= * \"x\"", UnexpectedToken, "*"),
        ("a ::= (\"x\"", UnclosedBracket, "("),
        ("a ::= (\"x\"\nb ::= \"y\"", UnclosedBracket, "("),
        ("a ::= \"x\")", UnmatchedBracket, ")"),
        ("a ::= \"x", UnterminatedString, "\""),
        ("a ::= [x", UnclosedBracket, "["),
        ("a ::= \"\\q\"", BadEscape, "\\q"),
        ("a ::= \"\\x4\"", BadEscape, "\\x4"),
        ("a ::= \"\\ud800\"", BadEscape, "\\ud800"),
        ("a ::= \"\\U00110000\"", BadEscape, "\\U00110000"),
        ("a ::= \"\\d\"", BadEscape, "\\d"),
        ("a ::= b{3,2}", BadRepetition, "{3,2}"),
        ("a ::= b{x}", BadRepetition, "{x}"),
        ("a ::= b{,}", BadRepetition, "{,}"),
        ("a ::= b{3,-2}", BadRepetition, "{3,-2}"),
        ("a ::= b{-1}", BadRepetition, "{-1}"),
        ("a ::= b{", BadRepetition, "{"),
        ("a ::= b{99999999999}", BadNumber, "{99999999999}"),
        ("a ::= <[x]>", BadNumber, "<[x]>"),
        ("a ::= <b", UnexpectedCharacter, "<"),
        ("a ::= !b", UnexpectedCharacter, "!"),
        ("a ::= $b", UnexpectedCharacter, "$"),
        ("a = b", UnexpectedToken, "a"),
        ("a ::= b = c", UnexpectedCharacter, "="),
        ("a ::= b /* c", UnclosedBracket, "/*"),
    ];
    for (text, kind, fault) in cases {
        let error =
            parse_gbnf(text).map(|file| panic!("{text:?} is {file:?}")).expect_err("refused");
        assert_eq!(error.kind(), *kind, "{text:?}: {error}");
        assert_eq!(&text[error.span()], *fault, "{text:?}: {error}");
    }
    assert_eq!(parse_gbnf(&" ".repeat(MAX_BYTES + 1)).expect_err("too large").kind(), TooLarge);
    assert_eq!(
        parse_gbnf(&format!("a ::= b{}", "*".repeat(201))).expect_err("too deep").kind(),
        TooDeep
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_read_or_refused_at_a_place_within_it(text in any::<String>(), rule in any::<bool>()) {
        let text = if rule { format!("a ::= {text}") } else { text };
        if let Err(error) = parse_gbnf(&text) {
            prop_assert!(text.get(error.span()).is_some(), "{:?}: {}", text, error);
        }
    }

    #[test]
    fn any_words_are_read_or_refused_at_a_place_within_them(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "a", "b-c", "é", "::=", "|", "(", ")", "(=", "[", "]", "[^", "a-z", "\\", "\\n",
                "\\u00e", "\"", "'", "\"x\"", "{",
                "}", "{2}", "{2,3}", ",", "*", "+", "?", ".", ";", "<", ">", "<b-c>", "<[1]>",
                "!", "#", "//", "/*", "*/", "(*", "*)",
                "\n", " ", "\u{feff}", "\\ud800", "\\udc00",
            ]),
            0..24,
        ),
        separator in prop_oneof![Just(""), Just(" ")],
    ) {
        let text = words.join(separator);
        if let Err(error) = parse_gbnf(&text) {
            prop_assert!(text.get(error.span()).is_some(), "{:?}: {}", text, error);
        }
    }
}

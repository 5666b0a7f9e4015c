//! Terminals and findings of grammars of characters.

use super::*;
use crate::util::limits::Limits;

/// Returns the terminals by their patterns, ascending.
fn terminals(text: &str) -> Vec<String> {
    let grammar = lower_gbnf(text, "<grammar>", None, &Limits::default())
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    let terminals = grammar.terminals.iter().filter_map(|terminal| terminal.pattern.as_ref());
    let mut patterns: Vec<String> = terminals.map(ToString::to_string).collect();
    patterns.sort();
    patterns
}

/// Returns the number of terminals that may end at each match, and the number of all.
fn at_each_match(text: &str) -> (usize, usize) {
    let grammar = lower_gbnf(text, "<grammar>", None, &Limits::default()).expect("sound");
    (
        grammar.terminals.iter().filter(|terminal| terminal.every_match).count(),
        grammar.terminals.len(),
    )
}

#[test]
fn names_that_a_word_may_follow_at_once_stay_whole() {
    let expr = "root ::= expr\nws ::= \" \"*\nname ::= [a-z]+\n";
    // A blank is required between them.
    let text = "expr ::= name | expr \" in \" expr | \"(\" expr \")\"";
    assert_eq!(at_each_match(&format!("{expr}{text}")), (0, 4));
    // None is required: the name may end at each letter. The word may not.
    let text = "expr ::= name | expr ws \"in\" ws expr | \"(\" expr \")\"";
    assert_eq!(at_each_match(&format!("{expr}{text}")), (1, 4));
    // A name can continue where the word and a shorter name end.
    let text = "expr ::= name \";\" | \"for\" name expr | \"(\" expr \")\"";
    assert_eq!(at_each_match(&format!("{expr}{text}")), (1, 4));
}

#[test]
fn text_between_interpolations_is_one_lexeme() {
    let text = "root ::= \"'\" ([^'$] | \"${\" root \"}\")* \"'\"";
    assert_eq!(at_each_match(text), (0, 4));
    // It can continue with a character that an interpolation begins with.
    let text = "root ::= \"'\" ([^'$] | \"$\" [^{'] | \"${\" root \"}\")* \"'\"";
    assert_eq!(at_each_match(text), (1, 4));
}

fn codes(text: &str, start: Option<&str>) -> Vec<&'static str> {
    let codes = |findings: &[Diagnostic]| findings.iter().map(|finding| finding.code).collect();
    match lower_gbnf(text, "<grammar>", start, &Limits::default()) {
        Ok(grammar) => codes(grammar.warnings()),
        Err(error) => codes(error.diagnostics()),
    }
}

#[test]
fn a_regular_grammar_is_one_terminal() {
    assert_eq!(terminals("root ::= item+\nitem ::= \"- \" [^\\n]+ \"\\n\"").len(), 1);
    assert_eq!(terminals("root ::= ([a] root)?"), ["\"a\" \"a\"*"]);
}

#[test]
fn recursion_cuts_the_text_into_its_largest_regular_parts() {
    let text = "root ::= \"{\" ws (pair (\",\" ws pair)*)? \"}\" ws\npair ::= [a-z]+ \":\" ws \
        root\nws ::= \" \"*";
    assert_eq!(terminals(text).len(), 4, "{:?}", terminals(text));
}

#[test]
fn what_the_longest_match_would_take_away_is_taken_apart() {
    // The blanks may be a line end, and one must follow.
    let text =
        "root ::= (value \"\\n\")+\nvalue ::= \"(\" value \")\" ws | \"a\" ws\nws ::= [ \\n]*";
    let patterns = terminals(text);
    assert!(
        patterns.contains(&"\"\\n\"".to_owned()) && patterns.contains(&"\" \"".to_owned()),
        "{patterns:?}"
    );
    // Nothing that follows can continue the blanks.
    let text = "root ::= (value \";\")+\nvalue ::= \"(\" value \")\" ws | \"a\" ws\nws ::= [ \\n]*";
    assert_eq!(terminals(text).len(), 4, "{:?}", terminals(text));
}

#[test]
fn words_leave_the_pattern_that_has_them() {
    let text =
        "root ::= \"if\" call | name call\ncall ::= \"(\" root \")\" | \";\"\nname ::= [a-z]+";
    let patterns = terminals(text);
    assert!(patterns.contains(&"\"if\"".to_owned()), "{patterns:?}");
    assert!(
        patterns.iter().any(|pattern| pattern.contains("a-z") || pattern.contains("\"a\"..\"z\"")),
        "{patterns:?}"
    );
    // The text after the word decides.
    let text = "root ::= \"if \" root | name \"=\" root | \"(\" root \")\" | name\nname ::= [a-z]+";
    assert!(terminals(text).contains(&"\"if \"".to_owned()), "{:?}", terminals(text));
}

#[test]
fn classes_that_compete_are_divided() {
    let patterns = terminals("root ::= [ab] root \"c\" | [bc] root \"a\" | \"b\"");
    assert_eq!(patterns, ["\"a\"", "\"b\"", "\"c\""]);
}

#[test]
fn findings_are_those_of_other_notations() {
    assert_eq!(codes("start ::= \"a\"", None), ["no-start"]);
    assert_eq!(codes("root ::= \"a\"", Some("rot")), ["undefined-symbol"]);
    assert_eq!(codes("root ::= rot", None), ["undefined-symbol"]);
    assert_eq!(codes("root ::= \"a\"\nroot ::= \"b\"", None), ["duplicate-definition"]);
    assert_eq!(codes("root ::= [z-ab]", None), ["reversed-range"]);
    assert_eq!(codes("root ::= \"a\" root", None), ["unproductive"]);
    assert_eq!(codes("root ::= \"a\" | never\nnever ::= never \"x\"", None), ["unproductive"]);
    assert_eq!(codes("root ::= []", None), ["unproductive"]);
    assert_eq!(
        codes("root ::= \"a\"\nother ::= third\nthird ::= \"b\"", None),
        ["unused-rule", "unreachable"]
    );
    assert_eq!(codes("root ::= \"a\"\nother ::= \"b\"", Some("other")), Vec::<&str>::new());
    assert_eq!(codes("root ::= <think> !<[7]>*", None), Vec::<&str>::new());
    assert_eq!(codes("root ::= \"a\" (= \"b\") \"b\"", None), ["lookahead-assertion"]);
}

#[test]
fn tokens_are_terminals_between_regular_parts() {
    let text = "root ::= <think> [a-z]* (!<[7]>)* \"x\" [0-9]+ | <think> \"y\"";
    // No token may precede the `x`, so the letters may end before one.
    let letters = "(\"a\"..\"z\") (\"a\"..\"z\")*";
    let number = "\"x\" (\"0\"..\"9\")+";
    assert_eq!(terminals(text), ["!<[7]>", number, "\"y\"", letters, "<think>"]);
}

#[test]
fn a_grammar_of_the_empty_text_alone_is_one() {
    let grammar =
        lower_gbnf("root ::= \"\"", "<grammar>", None, &Limits::default()).expect("sound");
    assert!(grammar.terminals.is_empty());
    assert_eq!(grammar.productions.len(), 1);
}

#[test]
fn the_same_text_gives_the_same_grammar() {
    let text = "root ::= ( \"if\" name | name ws | \"(\" root \")\" ws )+\n\
                name ::= [a-z]+ [0-9]{0,3}\nws ::= [ \\t]*";
    let print =
        || lower_gbnf(text, "<grammar>", None, &Limits::default()).expect("sound").to_string();
    assert_eq!(print(), print());
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let page = include_str!("../../../docs/grammar.md");
    let (_, example) = page.split_once("```gbnf\n").expect("the page has an example");
    let (example, _) = example.split_once("```").expect("the example ends");
    assert_eq!(codes(example, None), Vec::<&str>::new());
}

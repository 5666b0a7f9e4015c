//! Messages use the terms of the grammar's author.
// Tests fail by panicking, but the lint recognizes only the test functions themselves.
#![allow(clippy::unwrap_used)]

use lrmask::{CompiledGrammar, Constraint, Grammar, SchemaOptions, StructuralTags, Vocabulary};

fn expected(grammar: &Grammar) -> Vec<String> {
    let matcher = CompiledGrammar::new(grammar).unwrap().matcher();
    matcher.expected().iter().map(ToString::to_string).collect()
}

fn codes(grammar: &Grammar) -> Vec<&'static str> {
    let vocabulary = Vocabulary::builtin("gpt2").unwrap();
    let constraint = Constraint::new(grammar, &vocabulary).unwrap();
    constraint.warnings().iter().map(|warning| warning.code).collect()
}

#[test]
fn what_has_no_name_is_expected_as_it_is_written() {
    assert_eq!(expected(&Grammar::from_regex("[a-z]").unwrap()), ["a character of /[a-z]/"]);
    assert_eq!(expected(&Grammar::from_choices(["yes", "no"]).unwrap()), [r#""no" | "yes""#]);
    let lark = Grammar::from_lark("start: /[0-9]/ \"x\"").unwrap();
    assert_eq!(expected(&lark), ["a character of /[0-9]/"]);
    let gbnf = Grammar::from_gbnf("root ::= [a-z] \"!\"").unwrap();
    assert_eq!(expected(&gbnf), [r#"[a-z] "!""#]);
}

/// All terminals compete under `basic`: `un` is a name, but the stack cannot take one.
#[test]
fn a_lexeme_is_incomplete_where_no_label_of_it_can_be_taken() {
    let text = "%lexer basic\nstart: NAME (\"union\" NAME)*\nNAME: /[a-z]+/\n%ignore \" \"\n";
    let grammar = Grammar::from_lark(text).unwrap();
    let matcher = CompiledGrammar::new(&grammar).unwrap().matcher();
    let lexeme = |text: &str| {
        let why = matcher.explain_bytes(text.as_bytes()).unwrap();
        why.lexeme().map(|lexeme| lexeme.start)
    };
    assert_eq!(lexeme("a un?"), Some(2));
    for complete in ["a?", "a ?", "a union b?"] {
        assert_eq!(lexeme(complete), None, "{complete}");
    }
}

#[test]
fn a_special_token_that_is_written_as_text_is_a_warning() {
    let lark = Grammar::from_lark("start: \"<|endoftext|>\" \"a\"").unwrap();
    assert!(codes(&lark).contains(&"special-token-as-text"));
    let mut tags = StructuralTags::new(["<|endoftext|>"]);
    tags.add_tag("<|endoftext|>f", "{}", ".");
    let tags = tags.grammar(&SchemaOptions::default()).unwrap();
    assert!(!codes(&tags).contains(&"special-token-as-text"));
    let mut tags = StructuralTags::new(["<f"]);
    tags.add_tag("<f<|endoftext|>", "{}", ".");
    let tags = tags.grammar(&SchemaOptions::default()).unwrap();
    assert!(codes(&tags).contains(&"special-token-as-text"));
    let plain = Grammar::from_lark("start: \"<end>\" \"a\"").unwrap();
    assert!(!codes(&plain).contains(&"special-token-as-text"));
}

#[test]
fn a_token_that_is_missing_is_told_once() {
    let grammar = Grammar::from_lark("start: a b\na: <x> \"1\"\nb: <x> \"2\"").unwrap();
    let error = Constraint::new(&grammar, &Vocabulary::single_bytes()).unwrap_err();
    let unknown = error.diagnostics().iter().filter(|finding| finding.code == "unknown-token");
    assert_eq!(unknown.count(), 1);
}

#[test]
fn errors_that_main_returns_are_shown_as_they_are_displayed() {
    let error = Grammar::from_lark("start: nowhere").unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    let error = Vocabulary::builtin("nowhere").unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
}

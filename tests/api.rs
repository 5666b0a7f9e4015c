//! The public interface: errors, limits and shapes, as callers meet them.

use lrmask::{CompiledGrammar, Constraint, Grammar, GrammarErrorKind, Vocabulary};

fn lark(text: &str) -> Grammar {
    Grammar::from_lark(text).expect("a sound grammar")
}

#[test]
fn a_token_that_the_vocabulary_lacks_is_an_error_of_constraint() {
    let compiled = CompiledGrammar::new(&lark("start: \"a\" <|sytem|>")).expect("sound");
    let vocabulary = Vocabulary::single_bytes().with_special(256, "<|system|>").expect("free");
    let error = compiled.constraint(&vocabulary).expect_err("it is unknown");
    assert_eq!(error.kind(), GrammarErrorKind::Grammar);
    assert_eq!(error.diagnostics()[0].code, "unknown-token");
    let help = error.diagnostics()[0].help.as_deref().unwrap_or_default();
    assert!(help.contains("<|system|>"), "{help}");
    let same = Constraint::new(&lark("start: \"a\" <|sytem|>"), &vocabulary);
    assert_eq!(same.expect_err("it is unknown"), error);
    assert!(compiled.constraint(&vocabulary.with_special(257, "<|sytem|>").expect("free")).is_ok());
}

#[test]
fn texts_are_followed_without_a_vocabulary() {
    let compiled = CompiledGrammar::new(&lark("start: \"a\" [\"b\" <|end|>]")).expect("sound");
    let mut matcher = compiled.matcher();
    assert!(matcher.advance_bytes(b"a").is_ok() && matcher.is_accepting());
    // The spelling of a named token is no text.
    for byte in 0..=255 {
        assert_eq!(matcher.clone().advance_bytes(&[byte]).is_ok(), byte == b'b', "{byte}");
    }
    assert!(matcher.advance_bytes(b"b").is_ok() && !matcher.is_accepting());
    assert!((0..=255).all(|byte: u8| matcher.advance_bytes(&[byte]).is_err()));
}

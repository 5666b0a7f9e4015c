//! Faults that were found once, each as the smallest grammar that shows it.

use lrmask::{CompiledGrammar, Constraint, Grammar, Matcher, TokenMask, Vocabulary};

/// A matcher of the grammar over single bytes.
fn matcher(text: &str) -> Matcher {
    let grammar = Grammar::from_lark(text).expect("the grammar can be read");
    let vocabulary = Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).expect("bytes");
    Constraint::new(&grammar, &vocabulary).expect("every viable text can be completed").matcher()
}

/// After a blank, every dot continues the ignored lexeme: no text that begins with a blank is a sentence.
#[test]
fn nothing_can_follow_what_is_ignored() {
    for lexer in ["basic", "contextual"] {
        let matcher =
            matcher(&format!("%lexer {lexer}\nstart: DOT\nDOT: \".\"\nBLANK: /[ .]+/\n%ignore BLANK\n"));
        assert!(matcher.clone().advance_bytes(b" ").is_err(), "{lexer}");
        assert!(matcher.clone().advance_bytes(b". ").is_err(), "{lexer}");
        assert!(matcher.clone().advance_bytes(b".").is_ok(), "{lexer}");
    }
}

/// Only a line's end can follow a comment: where none can stand, a comment cannot be got out of. Between lines the
/// text may end instead.
#[test]
fn comment_where_no_line_can_end() {
    let rest = "END: /\\n/\nNAME: /[a-z]+/\nCOMMENT: /#[^\\n]*/\n%ignore COMMENT\n%ignore \" \"\n";
    let matcher = matcher(&format!("start: (NAME NAME END)*\n{rest}"));
    assert!(matcher.clone().advance_bytes(b"a #").is_err());
    assert!(matcher.clone().advance_bytes(b"a b # a\n # b").is_ok());
}

/// The example of a grammar that no text of any length belongs to shows two lexemes that run into one another.
#[test]
fn a_dead_end_shows_which_lexemes_run_together() {
    let grammar = Grammar::from_lark("start: A A\nA: /a+/\n").expect("the grammar can be read");
    let error = CompiledGrammar::new(&grammar).expect_err("no text belongs to it");
    assert_eq!(error.diagnostics()[0].code, "empty-language");
    assert_eq!(error.diagnostics()[0].example.as_deref(), Some("A A\n`a` may run into a following A"));
}

/// The cheapest way on is a dot, but the blank would swallow it: the completion is another.
#[test]
fn completion_goes_round_what_cannot_be_spelled() {
    let rest = "DOT: /\\./\nBLANK: /[ .]+/\n%ignore BLANK\n";
    let cases =
        [("start: NAME DOT | NAME NAME NAME\nNAME: /[abc]/\n", "a "), ("start: \"bcd\" | DOT\n", " ")];
    for (rules, text) in cases {
        let grammar = Grammar::from_lark(&format!("{rules}{rest}")).expect("the grammar can be read");
        let vocabulary = Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).expect("bytes");
        let constraint = Constraint::new(&grammar, &vocabulary).expect("every text can be completed");
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(text.as_bytes()).expect("viable");
        let completion = matcher.shortest_completion().expect("there is one");
        matcher.advance_bytes(&completion).expect("viable");
        assert!(matcher.is_accepting(), "{text:?} and {completion:?}");
    }
}

/// The second terminal shadows the third wherever both can stand, but not at the beginning: there the third one is
/// read, and swallows all that could follow it. So it must not begin.
#[test]
fn what_is_shadowed_elsewhere_is_no_dead_end() {
    let grammar = "start: T1 | T2 T1 rest\nrest: T0 | T2\nT0: /c[ab]*/\nT1: \"a\"\nT2: /c[ab]*/\n";
    let matcher = matcher(grammar);
    assert!(matcher.clone().advance_bytes(b"c").is_err());
    assert!(matcher.clone().advance_bytes(b"a").is_ok());
}

/// Each word doubles the readings, and none is given up.
#[test]
fn readings_that_double_with_every_word() {
    let grammar = "start: A start \"1\" | B start \"2\" | \".\"\nA: \"a\"\nB: /b/\n%soft B A\n";
    let mut matcher = matcher(&format!("%lexer basic\n{grammar}"));
    let mut mask = TokenMask::default();
    for count in 0..200 {
        matcher.fill_mask(&mut mask);
        let allowed: Vec<u32> = mask.tokens().map(|token| token.0).collect();
        assert_eq!(allowed, [b'.', b'a', b'b'].map(u32::from), "after {count} words");
        matcher.advance(u32::from(b'a')).expect("a word may follow");
    }
    matcher.advance_bytes(b".").expect("viable");
    for count in 0..200 {
        matcher.fill_mask(&mut mask);
        let allowed: Vec<u32> = mask.tokens().map(|token| token.0).collect();
        assert_eq!(allowed, [b'1', b'2'].map(u32::from), "after {count} ends");
        matcher.advance(u32::from(b'1' + count % 2)).expect("viable");
    }
    assert!(matcher.is_accepting());
}

/// A fallback word that does not compete there does not get a text out of what is ignored.
#[test]
fn a_word_that_does_not_compete_passes_no_gate() {
    let rest = "DOT: /\\./\nWORD: \"b\"\n%fallback DOT WORD\nBLANK: /[ .]+/\n%ignore BLANK\n";
    let matcher = matcher(&format!("start: DOT WORD\n{rest}"));
    assert!(matcher.clone().advance_bytes(b" ").is_err());
    assert!(matcher.clone().advance_bytes(b".b").is_ok());
}

/// A token that holds many words of two readings each makes very many of one.
#[test]
fn a_token_of_many_readings() {
    let text =
        "%lexer basic\nstart: TA start \"1\" | TB start \"2\" | \".\"\nTA: \"b\"\nTB: /c/\n%soft TB TA\n";
    let grammar = Grammar::from_lark(text).expect("the grammar can be read");
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let vocabulary =
        Vocabulary::from_tokens(bytes.chain((2..12).map(|count| vec![b'b'; count]))).expect("bytes");
    let constraint = Constraint::new(&grammar, &vocabulary).expect("every viable text can be completed");
    let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
    for _ in 0..5 {
        matcher.fill_mask(&mut mask);
        for token in 0..vocabulary.width() as u32 {
            assert_eq!(
                mask.allows(token),
                matcher.allows(token),
                "token {token} after {} words",
                matcher.steps()
            );
        }
        matcher.advance(u32::from(b'b')).expect("a word may follow");
    }
}

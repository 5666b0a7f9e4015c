//! What the fuzz targets do with their input. Everything that must hold is asserted here.

pub mod limits;
pub mod operations;
pub mod oracle;
pub mod saved;
pub mod small;

use std::hint::black_box;

use lrmask::{
    Constraint, Grammar, GrammarError, Limits, SchemaOptions, Stage, TokenId, Vocabulary,
};

/// Reads a grammar in Lark's notation, and uses it.
pub fn read_and_use(text: &str) {
    use_if_read(text, Grammar::from_lark(text));
}

/// Reads a grammar of characters, and uses it.
pub fn read_and_use_gbnf(text: &str) {
    use_if_read(text, Grammar::from_gbnf(text));
}

/// Reads a grammar that is marked as one of llguidance's, and uses it.
pub fn read_and_use_dialect(text: &str) {
    use_if_read(text, Grammar::from_lark(&format!("%llguidance {{}}\n{text}")));
}

/// Reads a regex, and uses it.
pub fn read_and_use_regex(text: &str) {
    use_if_read(text, Grammar::from_regex(text));
}

/// Reads the rules of a Yacc file alone, and with the terminals behind a line `%%%%`.
pub fn read_and_use_yacc(text: &str) {
    match text.split_once("%%%%") {
        Some((rules, terminals)) => use_if_read(text, Grammar::from_yacc(rules, terminals)),
        None => use_if_read(text, Grammar::from_yacc_rules(text)),
    }
}

/// Reads a schema within small limits, and uses it.
pub fn read_and_use_schema(text: &str) {
    match Grammar::from_schema(text, &SchemaOptions::default()) {
        Ok(grammar) => use_if_read(text, Ok(grammar)),
        Err(error) => {
            black_box(error.to_string());
        }
    }
}

/// Makes the lines the choices, and asks for each of them and for its beginnings.
pub fn read_and_use_choices(text: &str) {
    let texts: Vec<&str> = text.split('\n').collect();
    let grammar = Grammar::from_choices(&texts).expect("there is one text at least");
    let vocabulary =
        Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).expect("bytes are a vocabulary");
    let constraint = Constraint::new(&grammar, &vocabulary).expect("texts are a language");
    for text in texts.iter().take(16) {
        let mut matcher = constraint.matcher();
        for (count, &byte) in text.as_bytes().iter().take(64).enumerate() {
            let is_choice = texts.iter().any(|other| other.as_bytes() == &text.as_bytes()[..count]);
            assert_eq!(matcher.is_accepting(), is_choice, "a beginning of a text");
            matcher.advance(u32::from(byte)).expect("a byte of a choice");
        }
        assert!(text.len() > 64 || matcher.is_accepting(), "a choice is a text");
    }
}

/// Compiles a grammar within small limits, and follows a short completion.
fn use_if_read(text: &str, grammar: Result<Grammar, GrammarError>) {
    let grammar = match grammar {
        Ok(grammar) => grammar,
        Err(error) => {
            assert!(!error.diagnostics().is_empty(), "an error without a finding");
            black_box(error.to_string());
            return;
        }
    };
    let limits = Limits::default()
        .terminal_states(2_000)
        .scan_states(5_000)
        .proof_steps(200_000)
        .index_bytes(1 << 20);
    let compiled = match Constraint::builder().limits(&limits).compile(&grammar) {
        Ok(compiled) => compiled,
        Err(error) => {
            assert!(!error.diagnostics().is_empty(), "an error without a finding");
            black_box(error.to_string());
            return;
        }
    };
    if text.len() < 200 {
        for stage in [Stage::Grammar, Stage::States, Stage::Scanner] {
            black_box(compiled.print(stage));
        }
    }
    let vocabulary =
        Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).expect("bytes are a vocabulary");
    let vocabulary = vocabulary.with_special(256, "<|end|>").expect("a name is free");
    // The grammar may name tokens that there are not.
    let Ok(constraint) = compiled.constraint(&vocabulary) else { return };
    let mut matcher = constraint.matcher();
    let mut mask = constraint.new_mask();
    matcher.fill_mask(&mut mask);
    // Long completions say nothing more. A lexeme with a budget of tokens may end before it is
    // completed byte by byte.
    let completion = matcher.shortest_completion().unwrap_or_default();
    for byte in completion.into_iter().take(64) {
        assert_eq!(
            mask.contains(u32::from(byte)),
            matcher.allows(u32::from(byte)),
            "bit and advance agree"
        );
        if text.contains("max_tokens") && !mask.contains(u32::from(byte)) {
            break;
        }
        matcher.advance(u32::from(byte)).expect("a completion is allowed");
        matcher.fill_mask(&mut mask);
        assert!(mask.count() > 0 || matcher.is_accepting(), "a dead end");
    }
    black_box(matcher.captures());
    black_box((matcher.temperature(), matcher.remaining_tokens(), matcher.expected()));
    let steps = matcher.steps();
    assert_eq!(matcher.rollback(steps), steps);
}

/// Gives the bytes to every loader, and asks what was loaded.
pub fn load_and_ask(bytes: &[u8]) {
    let loaders = [
        Vocabulary::from_file_bytes,
        Vocabulary::from_tokenizer_json,
        Vocabulary::from_sentencepiece,
        Vocabulary::from_tiktoken,
        Vocabulary::from_tekken,
        Vocabulary::from_vocab_json,
        Vocabulary::from_token_list,
    ];
    for load in loaders {
        let vocabulary = match load(bytes) {
            Ok(vocabulary) => vocabulary,
            Err(error) => {
                black_box(error.to_string());
                continue;
            }
        };
        black_box(vocabulary.to_string());
        black_box(vocabulary.fingerprint());
        let mut count = 0;
        for id in (0..vocabulary.width() as u32).map(TokenId::from) {
            let ordinary = vocabulary.bytes(id).is_some();
            assert!(
                !(ordinary && vocabulary.special(id).is_some()),
                "{id} is ordinary and special"
            );
            count += usize::from(ordinary);
        }
        assert_eq!(vocabulary.len(), count + vocabulary.special_tokens().count());
        assert!(vocabulary.stop_tokens().iter().all(|stop| stop.index() < vocabulary.width()));
        assert_eq!(vocabulary.bytes(vocabulary.width() as u32), None);
        assert_eq!(vocabulary.bytes(u32::MAX), None);
        if vocabulary.width() < 10_000 {
            let same = Vocabulary::from_file_bytes(bytes);
            assert!(
                same.is_err()
                    || load(bytes)
                        .is_ok_and(|again| again.fingerprint() == vocabulary.fingerprint())
            );
        }
    }
}

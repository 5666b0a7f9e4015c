//! What the fuzz targets do with their input. Everything that must hold is asserted here.

pub mod limits;
pub mod operations;
pub mod oracle;
pub mod saved;
pub mod small;

use std::hint::black_box;

use lrmask::{CompiledGrammar, Grammar, GrammarError, Limits, Stage, TokenId, Vocabulary};

/// Reads a grammar in Lark's notation, and uses it.
pub fn read_and_use(text: &str) {
    use_if_read(text, Grammar::from_lark(text));
}

/// Reads a grammar of characters, and uses it.
pub fn read_and_use_gbnf(text: &str) {
    use_if_read(text, Grammar::from_gbnf(text));
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
    let mut limits = Limits::default();
    limits.terminal_states = 2_000;
    limits.scan_states = 5_000;
    limits.proof_steps = 200_000;
    limits.index_bytes = 1 << 20;
    let compiled = match CompiledGrammar::with_limits(&grammar, limits) {
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
    let constraint = compiled.constraint(&vocabulary);
    let mut matcher = constraint.matcher();
    let mut mask = constraint.new_mask();
    matcher.fill_mask(&mut mask);
    // Long completions say nothing more.
    for byte in matcher.shortest_completion().unwrap_or_default().into_iter().take(64) {
        assert!(mask.allows(u32::from(byte)), "the completion of a text begins with a refused byte");
        matcher.advance(u32::from(byte)).expect("bit and advance agree");
        matcher.fill_mask(&mut mask);
        assert!(mask.count() > 0 || matcher.is_accepting(), "a dead end");
    }
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
        for id in (0..vocabulary.width() as u32).map(TokenId) {
            let ordinary = vocabulary.bytes(id).is_some();
            assert!(!(ordinary && vocabulary.special(id).is_some()), "{id} is ordinary and special");
            count += usize::from(ordinary);
        }
        assert_eq!(vocabulary.len(), count + vocabulary.special_tokens().count());
        assert!(vocabulary.stop_tokens().iter().all(|stop| stop.index() < vocabulary.width()));
        assert_eq!(vocabulary.bytes(TokenId(vocabulary.width() as u32)), None);
        assert_eq!(vocabulary.bytes(TokenId(u32::MAX)), None);
        if vocabulary.width() < 10_000 {
            let same = Vocabulary::from_file_bytes(bytes);
            assert!(
                same.is_err()
                    || load(bytes).is_ok_and(|again| again.fingerprint() == vocabulary.fingerprint())
            );
        }
    }
}

//! Splitting texts for replays: known texts have their known tokens, and the tokens spell the text.

use crate::corpus;

use corpus::mini;
use corpus::tokenizer::Tokenizer;
use lrmask::{TokenId, Vocabulary};
use proptest::prelude::*;

/// Returns the texts of the tokens into which a file's tokenizer splits `text`.
fn cut(file: &[u8], text: &str) -> Option<Vec<String>> {
    let vocabulary = Vocabulary::from_file_bytes(file).expect("a sound file");
    let tokens =
        Tokenizer::from_file_bytes(file).expect("a sound file").encode(&vocabulary, text)?;
    let shown = |id| vocabulary.bytes(id).map(|bytes| bytes.escape_ascii().to_string());
    tokens.into_iter().map(shown).collect()
}

/// Texts with spaces, scripts, combining marks and the tokenizers' own symbols.
fn text() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        4 => prop::sample::select(vec![
            "the", " the", "  ", "   ", "\n", "\n\n", "\t", "don't", "I'LL", " 's", "123", "12345678", "{\"a\":", "</s>",
            "<|endoftext|>", "\r\n", "\0", "HTTPServer", "é", "a\u{301}", "日本語", "한국어", "Привет", "😀👍🏽", "½", "\u{a0}",
            "\u{2003}", "ſ", "…", "    return x",
        ]).prop_map(String::from),
        1 => "\\PC{1,4}",
    ];
    prop::collection::vec(bit, 0..12).prop_map(|bits| bits.concat())
}

#[test]
fn merges_go_by_rank_within_words() {
    let file = mini("mini-byte-level.json");
    // " the" is merged from "the", which has the better rank; the pre-tokenizer keeps the " t" of
    // the next word separate.
    assert_eq!(cut(&file, "the the{\"th").expect("text"), ["the", " the", "{\\\"", "th"]);
    // An added token is split off as a whole, before any merge.
    assert_eq!(cut(&file, "a     b").expect("text"), ["a", "   ", " ", " ", "b"]);
    // A special token's name is text like any other.
    assert_eq!(cut(&file, "<|endoftext|>").expect("text").concat(), "<|endoftext|>");
}

#[test]
fn what_is_put_before_a_text_is_not_part_of_it() {
    let file = mini("mini-byte-fallback.json");
    for text in ["the the", "  the  ", "é日", "", "{\"the\": \"\n\"}", "ththe</s>"] {
        assert_eq!(
            cut(&file, text).expect("text").concat(),
            text.as_bytes().escape_ascii().to_string()
        );
    }
    // It would be decoded as a space.
    assert_eq!(cut(&file, "a\u{2581}b"), None);
}

#[test]
fn other_files_do_not_say_how_they_cut() {
    for name in ["mini-vocab.json", "mini-list.json", "mini.tiktoken", "mini.model"] {
        assert!(Tokenizer::from_file_bytes(&mini(name)).is_err(), "{name}");
    }
    assert!(Tokenizer::builtin("mini").is_err());
}

#[test]
fn known_texts_have_their_known_tokens() {
    let ids = |ids: &[u32]| Some(ids.iter().map(TokenId::from).collect::<Vec<_>>());
    let builtin = |name: &str, text: &str| {
        let vocabulary = Vocabulary::builtin(name).expect("built in");
        Tokenizer::builtin(name).expect("built in").encode(&vocabulary, text)
    };
    assert_eq!(builtin("gpt2", "Hello world"), ids(&[15496, 995]));
    assert_eq!(builtin("cl100k", "tiktoken is great!"), ids(&[83, 1609, 5963, 374, 2294, 0]));
    assert_eq!(builtin("o200k", "tiktoken is great!"), ids(&[83, 8251, 2488, 382, 2212, 0]));
}

#[test]
#[ignore = "reads samples"]
fn a_text_may_begin_with_a_blank() {
    let file = corpus::needed(corpus::file("tokenizers/llama2/tokenizer.json.gz"));
    let vocabulary = Vocabulary::from_file_bytes(&file).expect("a sound file");
    let tokenizer = Tokenizer::from_file_bytes(&file).expect("a sound file");
    assert_eq!(
        tokenizer.encode(&vocabulary, " Hello world"),
        Some([15043, 3186].map(TokenId::from).to_vec())
    );
}

#[test]
fn real_tokenizers_spell_what_they_cut() {
    let files = ["llama2/tokenizer.json.gz", "llama3/tokenizer.json.gz", "phi2/tokenizer.json.gz"];
    let all = corpus::vocabularies(&["gpt2", "cl100k", "o200k"], &files);
    proptest!(|(text in text())| {
        for (name, vocabulary, tokenizer) in &all {
            let is_rewritten = name.starts_with("llama2") && text.contains('\u{2581}');
            prop_assert_eq!(tokenizer.encode(vocabulary, &text).is_none(), is_rewritten, "{}", name);
        }
    });
}

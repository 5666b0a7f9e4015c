//! Cutting texts as a model's own tokenizer does: on small files of our own, against `tiktoken-rs`,
//! and one format against the other where real files lie beside the project.
#![cfg(feature = "tokenizer")]
#![allow(clippy::unwrap_used, reason = "helpers of tests, too, may panic")]

mod corpus;

use corpus::mini;
use lrmask::{TokenId, Tokenizer, Vocabulary, VocabularyErrorKind};
use proptest::prelude::*;

/// The content of a real tokenizer file, if it lies beside the project; else that is said.
fn real(name: &str) -> Option<Vec<u8>> {
    corpus::file(&format!("tokenizers/{name}"))
}

/// The small SentencePiece model with its unused piece made a normal one: tokenizers refuse unused
/// pieces.
fn mini_model() -> Vec<u8> {
    let mut file = mini("mini.model");
    let name = file.windows(4).position(|window| window == b"gone").expect("the unused piece");
    let kind = name + file[name..].windows(2).position(|window| window == [0x18, 5]).expect("its type") + 1;
    file[kind] = 1;
    file
}

/// The texts of the tokens that a file's tokenizer cuts `text` into.
fn cut(file: &[u8], text: &str) -> Option<Vec<String>> {
    let vocabulary = Vocabulary::from_file_bytes(file).unwrap();
    let tokens = Tokenizer::from_file_bytes(file).unwrap().encode(text)?;
    Some(tokens.iter().map(|&t| vocabulary.bytes(t).unwrap().escape_ascii().to_string()).collect())
}

/// Texts that try spaces, scripts, marks and the tokenizers' own signs.
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
    // " the" is merged from "the", which has the better rank; the split keeps " t" of the next word
    // apart.
    assert_eq!(cut(&file, "the the{\"th").unwrap(), ["the", " the", "{\\\"", "th"]);
    // An added token is taken out whole, before any merge.
    assert_eq!(cut(&file, "a     b").unwrap(), ["a", "   ", " ", " ", "b"]);
    assert_eq!(Tokenizer::from_file_bytes(&file).unwrap().encode("é").unwrap(), [TokenId(267)]);
    // A special token's name is text like any other.
    assert_eq!(cut(&file, "<|endoftext|>").unwrap().concat(), "<|endoftext|>");
}

#[test]
fn both_forms_of_sentencepiece_cut_alike() {
    for text in ["the the", "  the  ", "é日", "a<tool>the", "", "{\"the\": \"\n\"}", "ththe</s>"] {
        let cuts = [mini_model(), mini("mini-byte-fallback.json")]
            .map(|file| cut(&file, text).expect("nothing is rewritten"));
        assert_eq!(cuts[0], cuts[1]);
        assert_eq!(cuts[0].concat(), text.as_bytes().escape_ascii().to_string());
    }
    let file = mini_model();
    assert_eq!(
        cut(&file, "the the  é日").unwrap(),
        ["the", " the", "  ", "\\xc3\\xa9", "\\xe6", "\\x97", "\\xa5"]
    );
    assert_eq!(cut(&file, "a\u{2581}b"), None); // it would come back as a space
}

#[test]
fn tekken_brings_its_pattern() {
    assert_eq!(cut(&mini("mini-tekken.json"), "the the  \"").unwrap(), ["the", " the", " ", " ", "\\\""]);
}

#[test]
fn steps_that_are_not_known_are_refused() {
    let with = |from: &str, to: &str| {
        String::from_utf8(mini("mini-byte-level.json")).unwrap().replace(from, to).into_bytes()
    };
    let lowercase = with("\"normalizer\": null", "\"normalizer\": {\"type\": \"Lowercase\"}");
    let dropout = with("\"dropout\": null", "\"dropout\": 0.1");
    let strip = with("\"lstrip\": false", "\"lstrip\": true");
    let digits = with("\"type\": \"ByteLevel\"", "\"type\": \"Punctuation\"");
    for file in [
        lowercase,
        dropout,
        strip,
        mini("mini-unigram.json"),
        mini("mini.tiktoken"),
        mini("mini-list.json"),
        mini("mini.model"),
    ] {
        assert_eq!(Tokenizer::from_file_bytes(&file).unwrap_err().kind(), VocabularyErrorKind::Unsupported);
    }
    assert!(Tokenizer::from_file_bytes(&digits).is_err());
    let merge = with("\"t h\"", "\"t hh\"");
    assert_eq!(Tokenizer::from_file_bytes(&merge).unwrap_err().kind(), VocabularyErrorKind::Malformed);
}

#[test]
fn a_normal_form_is_not_made() {
    let nfc = String::from_utf8(mini("mini-byte-level.json"))
        .unwrap()
        .replace("\"normalizer\": null", "\"normalizer\": {\"type\": \"NFC\"}");
    assert_eq!(cut(nfc.as_bytes(), "ß the"), Some(vec!["\\xc3".into(), "\\x9f".into(), " the".into()]));
    assert_eq!(cut(nfc.as_bytes(), "e\u{301}"), None);
}

#[test]
fn a_long_word_is_not_quadratic() {
    // A model without a splitting pattern takes the whole text as one word.
    let tokens = Tokenizer::from_file_bytes(&mini_model()).unwrap().encode(&"the ".repeat(200_000)).unwrap();
    assert_eq!(tokens.len(), 200_001);
}

#[cfg(feature = "tiktoken")]
#[test]
fn known_texts_have_their_known_tokens() {
    let encode = |name: &str, text: &str| -> Vec<u32> {
        Tokenizer::builtin(name).unwrap().encode(text).unwrap().iter().map(|t| t.0).collect()
    };
    assert_eq!(encode("gpt2", "Hello world"), [15496, 995]);
    assert_eq!(encode("cl100k", "tiktoken is great!"), [83, 1609, 5963, 374, 2294, 0]);
    assert_eq!(encode("o200k", "tiktoken is great!"), [83, 8251, 2488, 382, 2212, 0]);
}

#[cfg(feature = "tiktoken")]
#[test]
fn built_in_tokenizers_cut_as_tiktoken_does() {
    let pairs = [
        ("gpt2", tiktoken_rs::r50k_base()),
        ("cl100k", tiktoken_rs::cl100k_base()),
        ("o200k", tiktoken_rs::o200k_base()),
    ]
    .map(|(name, oracle)| (Tokenizer::builtin(name).unwrap(), oracle.unwrap()));
    proptest!(|(text in text())| {
        for (ours, oracle) in &pairs {
            let tokens: Vec<u32> = ours.encode(&text).unwrap().iter().map(|t| t.0).collect();
            prop_assert_eq!(tokens, oracle.encode_ordinary(&text));
        }
    });
}

#[test]
fn both_files_of_llama_3_cut_alike() {
    let (Some(json), Some(model)) = (real("llama3/tokenizer.json.gz"), real("llama3/tokenizer.model")) else {
        return;
    };
    let json = Tokenizer::from_file_bytes(&json).unwrap();
    let model = Tokenizer::from_file_bytes(&model).unwrap();
    proptest!(|(text in text())| {
        prop_assert_eq!(json.encode(&text), model.encode(&text));
    });
}

#[test]
fn llama_2_spells_what_it_cuts() {
    let Some(file) = real("llama2/tokenizer.model") else { return };
    let vocabulary = Vocabulary::from_file_bytes(&file).unwrap();
    let tokenizer = Tokenizer::from_file_bytes(&file).unwrap();
    let ids: Vec<u32> = tokenizer.encode(" Hello world").unwrap().iter().map(|t| t.0).collect();
    assert_eq!(ids, [15043, 3186]);
    proptest!(|(text in text())| {
        let spelled = tokenizer.encode(&text).map(|tokens| {
            tokens.iter().flat_map(|&t| vocabulary.bytes(t).unwrap().to_vec()).collect::<Vec<u8>>()
        });
        prop_assert_eq!(spelled.as_deref(), (!text.contains('\u{2581}')).then_some(text.as_bytes()));
    });
}

proptest! {
    #[test]
    fn mutated_files_never_panic(
        name in prop::sample::select(vec!["mini-byte-level.json", "mini-byte-fallback.json", "mini-tekken.json", "mini.model"]),
        mutations in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        text in text(),
    ) {
        let mut file = if name == "mini.model" { mini_model() } else { mini(name) };
        for (at, byte) in mutations {
            let at = at.index(file.len());
            file[at] = byte;
        }
        if let Ok(tokenizer) = Tokenizer::from_file_bytes(&file) {
            let _ = tokenizer.encode(&text);
        }
    }
}

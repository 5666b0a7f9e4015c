//! Loaders of tokenizer files: each format on a small file of our own, the formats against each
//! other, real files if they are placed next to the project, and garbage.

use crate::corpus;

use corpus::mini;
use lrmask::{TokenId, Vocabulary, VocabularyErrorKind};
use proptest::prelude::*;

/// Returns the content of a real tokenizer file, if it is placed next to the project; prints a
/// message otherwise.
fn real(name: &str) -> Option<Vec<u8>> {
    corpus::file(&format!("tokenizers/{name}"))
}

/// Returns all ordinary tokens by id.
fn tokens(vocabulary: &Vocabulary) -> Vec<Option<&[u8]>> {
    (0..vocabulary.width() as u32).map(|id| vocabulary.bytes(id)).collect()
}

/// Panics at the first id whose bytes differ.
fn assert_same_tokens(a: &[Option<&[u8]>], b: &[Option<&[u8]>]) {
    assert_eq!(a.len(), b.len());
    let shown = |token: Option<&[u8]>| token.map(|bytes| bytes.escape_ascii().to_string());
    for (id, (&a, &b)) in a.iter().zip(b).enumerate() {
        assert!(a == b, "id {id}: {:?}, {:?}", shown(a), shown(b));
    }
}

fn id(vocabulary: &Vocabulary, bytes: &[u8]) -> Option<u32> {
    (0..vocabulary.width() as u32).find(|&id| vocabulary.bytes(id) == Some(bytes))
}

const MINI: [&str; 8] = [
    "mini-byte-fallback.json",
    "mini-byte-level.json",
    "mini-list.json",
    "mini-tekken.json",
    "mini-unigram.json",
    "mini-vocab.json",
    "mini.model",
    "mini.tiktoken",
];

#[test]
fn every_format_is_recognised_by_its_content() {
    let by_loader: [(&str, Result<Vocabulary, _>); 8] = [
        (
            "mini-byte-fallback.json",
            Vocabulary::from_tokenizer_json(&mini("mini-byte-fallback.json")),
        ),
        ("mini-byte-level.json", Vocabulary::from_tokenizer_json(&mini("mini-byte-level.json"))),
        ("mini-list.json", Vocabulary::from_token_list(&mini("mini-list.json"))),
        ("mini-tekken.json", Vocabulary::from_tekken(&mini("mini-tekken.json"))),
        ("mini-unigram.json", Vocabulary::from_tokenizer_json(&mini("mini-unigram.json"))),
        ("mini-vocab.json", Vocabulary::from_vocab_json(&mini("mini-vocab.json"))),
        ("mini.model", Vocabulary::from_sentencepiece(&mini("mini.model"))),
        ("mini.tiktoken", Vocabulary::from_tiktoken(&mini("mini.tiktoken"))),
    ];
    for (name, loaded) in by_loader {
        let sniffed = Vocabulary::from_file_bytes(&mini(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(sniffed.fingerprint(), loaded.unwrap().fingerprint(), "{name}");
        let mut led_by_newline = b"\n".to_vec();
        led_by_newline.extend(mini(name));
        if name != "mini.model" {
            let sniffed = Vocabulary::from_file_bytes(&led_by_newline).unwrap();
            assert_eq!(tokens(&sniffed).len(), sniffed.width(), "{name}");
        }
    }
}

#[test]
fn the_byte_level_formats_agree() {
    let tiktoken = Vocabulary::from_tiktoken(&mini("mini.tiktoken")).unwrap();
    let vocab = Vocabulary::from_vocab_json(&mini("mini-vocab.json")).unwrap();
    let hugging_face = Vocabulary::from_tokenizer_json(&mini("mini-byte-level.json")).unwrap();
    let n = tiktoken.width();
    assert_eq!(n, 263);
    assert_same_tokens(&tokens(&tiktoken), &tokens(&vocab)[..n]);
    assert_same_tokens(&tokens(&tiktoken), &tokens(&hugging_face)[..n]);
    assert_eq!(vocab.stop_tokens(), [TokenId::from(263)]);
    let marked = tiktoken.with_special(263, "<|endoftext|>").unwrap();
    assert_eq!(marked.fingerprint(), vocab.fingerprint());
    assert_eq!(id(&marked, b" the"), Some(258));
    assert_eq!(id(&marked, b"\xe2\x82"), Some(260));
}

#[test]
fn added_tokens_are_their_text_or_special() {
    let v = Vocabulary::from_tokenizer_json(&mini("mini-byte-level.json")).unwrap();
    assert_eq!((v.width(), v.len()), (268, 266));
    assert_eq!((v.special(263), v.bytes(263)), (Some("<|endoftext|>"), None));
    assert_eq!(v.stop_tokens(), [TokenId::from(263)]);
    assert_eq!(v.bytes(264), Some(&b"   "[..]));
    assert_eq!((v.bytes(265), v.special(265)), (None, None));
    assert!(!v.has_leading_space());
}

#[test]
fn sentencepiece_and_its_conversion_agree() {
    let model = Vocabulary::from_sentencepiece(&mini("mini.model")).unwrap();
    let json = Vocabulary::from_tokenizer_json(&mini("mini-byte-fallback.json")).unwrap();
    assert_same_tokens(&tokens(&model)[..json.width()], &tokens(&json));
    assert_eq!(model.width(), json.width() + 1); // the unused piece
    for v in [&model, &json] {
        assert_eq!(v.stop_tokens(), [TokenId::from(2)]);
        assert_eq!((v.special(0), v.bytes(1)), (Some("<unk>"), None));
        assert_eq!(v.bytes(3 + 0xc3), Some(&[0xc3][..]));
        assert_eq!(v.bytes(3 + 256 + 2), Some(&b" the"[..]));
        assert_eq!(v.bytes(3 + 256 + 3), Some(&b"  "[..]));
        assert!(id(v, b"<tool>").is_some() && id(v, b"gone").is_none());
        assert!(v.has_leading_space());
    }
}

#[test]
fn the_special_tokens_of_tekken_come_first() {
    let v = Vocabulary::from_tekken(&mini("mini-tekken.json")).unwrap();
    assert_eq!((v.width(), v.len()), (271, 271));
    assert_eq!((v.special(2), v.special(7)), (Some("</s>"), Some("[TOOL_RESULTS]")));
    assert_eq!(v.stop_tokens(), [TokenId::from(2)]);
    assert_eq!(v.bytes(8 + 97), Some(&b"a"[..]));
    assert_eq!((id(&v, b" the"), id(&v, b"unused rank")), (Some(8 + 258), None));
}

#[test]
fn a_unigram_model_spells_spaces() {
    let v = Vocabulary::from_tokenizer_json(&mini("mini-unigram.json")).unwrap();
    assert_eq!(
        tokens(&v),
        [None, None, Some(&b" the"[..]), Some(b"the"), Some(b" ")][..]
            .iter()
            .enumerate()
            .map(|(i, t)| if i == 0 { Some(&b"</s>"[..]) } else { *t })
            .collect::<Vec<_>>()
    );
    assert!(!v.has_leading_space());
}

#[test]
fn tokenizers_without_bytes_of_their_own_are_refused() {
    let bpe = |fields: &str| {
        format!(
            r#"{{"added_tokens":[],"decoder":{{"type":"ByteLevel"}},"model":{{"type":"BPE","vocab":{{"a":0}}{fields}}}}}"#
        )
    };
    let decoder = |decoder: &str| {
        format!(r#"{{"decoder":{decoder},"model":{{"type":"BPE","vocab":{{"a":0}}}}}}"#)
    };
    assert!(Vocabulary::from_tokenizer_json(bpe("").as_bytes()).is_ok());
    for file in [
        bpe(r#","end_of_word_suffix":"</w>""#),
        bpe(r###","continuing_subword_prefix":"##""###),
        r#"{"decoder":{"type":"WordPiece"},"model":{"type":"WordPiece","vocab":{"a":0}}}"#
            .to_owned(),
        r#"{"decoder":null,"model":{"type":"WordLevel","vocab":{"a":0}}}"#.to_owned(),
        decoder("null"),
        decoder(r#"{"type":"CTC"}"#),
        decoder(
            r#"{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Strip","content":" ","start":1,"stop":0}]}"#,
        ),
        decoder(r#"{"type":"Replace","pattern":{"Regex":"a+"},"content":" "}"#),
    ] {
        let error = Vocabulary::from_tokenizer_json(file.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), VocabularyErrorKind::Unsupported, "{file}: {error}");
    }
}

#[test]
fn faults_in_files_have_their_kind() {
    use VocabularyErrorKind::{DuplicateId, Limit, Malformed, UnknownFormat};
    let byte_level = |vocab: &str| {
        format!(r#"{{"added_tokens":[],"decoder":{{"type":"ByteLevel"}},"model":{{"type":"BPE","vocab":{vocab}}}}}"#).into_bytes()
    };
    let cases: Vec<(Vec<u8>, VocabularyErrorKind)> = vec![
        (byte_level(r#"{"a":0,"b":0}"#), DuplicateId),
        (byte_level(r#"{"a":-1}"#), Malformed),
        (byte_level(r#"{"a":1.5}"#), Malformed),
        (byte_level(r#"{"a":"0"}"#), Malformed),
        (byte_level(r#"{"a":16777216}"#), Limit),
        (byte_level(r#"{"a":18446744073709551615}"#), Limit),
        (byte_level(r#"{"a":18446744073709551616}"#), Malformed),
        (byte_level("{}"), Malformed),
        (byte_level("7"), Malformed),
        (br#"{"added_tokens":[{"id":-1,"content":"x"}],"model":{"vocab":{}}}"#.to_vec(), Malformed),
        (b"YQ== 0\nYg== 0\n".to_vec(), DuplicateId),
        (b"YQ== 0\nYg=\n".to_vec(), Malformed),
        (b"YQ== 0\nYg= 1\n".to_vec(), Malformed),
        (b"YQ== 0\nYg== -1\n".to_vec(), Malformed),
        (b"YQ== 0\nYg== 99999999999999999999999\n".to_vec(), Malformed),
        (b"YQ== 99999999\n".to_vec(), Limit),
        (br#"{"config":{"default_vocab_size":4,"default_num_special_tokens":5},"vocab":[]}"#.to_vec(), Malformed),
        (br#"{"config":{"default_vocab_size":99999999999,"default_num_special_tokens":0},"vocab":[]}"#.to_vec(), Limit),
        (br#"{"config":{"default_vocab_size":9,"default_num_special_tokens":1},"vocab":[{"rank":0,"token_bytes":"?"}]}"#.to_vec(), Malformed),
        (b"\x0a\x05abc".to_vec(), Malformed),
        (b"\x0a\x02\x0a\xff".to_vec(), Malformed),
        (b"".to_vec(), UnknownFormat),
        (b"  \n".to_vec(), UnknownFormat),
        (b"{\"x\":{}}".to_vec(), UnknownFormat),
        (b"{".to_vec(), UnknownFormat),
        (b"\x1f\x8b\x08\x00".to_vec(), UnknownFormat),
        (b"GGUF\x03\x00".to_vec(), Malformed),
        (b"#version: 0.2\nt h\n".to_vec(), UnknownFormat),
        (b"hello".to_vec(), UnknownFormat),
        (b"\xff\xfe\x00".to_vec(), UnknownFormat),
    ];
    for (file, kind) in cases {
        let error = Vocabulary::from_file_bytes(&file).unwrap_err();
        assert_eq!(error.kind(), kind, "{}: {error}", file.escape_ascii());
    }
}

#[test]
fn a_file_cut_off_is_an_error() {
    for name in [
        "mini-byte-fallback.json",
        "mini-byte-level.json",
        "mini-tekken.json",
        "mini-vocab.json",
        "mini-list.json",
    ] {
        let file = mini(name);
        let end = file.trim_ascii_end().len();
        for cut in (1..end).step_by(end / 50 + 1) {
            assert!(Vocabulary::from_file_bytes(&file[..cut]).is_err(), "{name} cut at {cut}");
        }
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let nested = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    let decoder = r#"{"type":"Sequence","decoders":["#;
    for text in [
        nested("[", "]"),
        nested(r#"{"x":"#, "}"),
        format!(r#"{{"decoder":{},"model":{{}}}}"#, nested(decoder, "]}")),
    ] {
        assert!(Vocabulary::from_file_bytes(text.as_bytes()).is_err());
    }
}

#[test]
fn the_report_counts() {
    let report = Vocabulary::from_file_bytes(&mini("mini-list.json")).unwrap().to_string();
    for line in [
        "width of the logits  8",
        "ordinary tokens      7 (0 duplicates)",
        "holes and padding    1",
        "none",
    ] {
        assert!(report.contains(line), "{report}");
    }
}

#[cfg(feature = "tiktoken")]
#[test]
fn built_in_vocabularies_are_there() {
    for (name, width, stop) in
        [("gpt2", 50_257, 50_256), ("cl100k_base", 100_277, 100_257), ("o200k", 200_019, 199_999)]
    {
        let v = Vocabulary::builtin(name).unwrap();
        assert_eq!((v.width(), v.stop_tokens()), (width, &[TokenId::from(stop)][..]), "{name}");
        assert!((0..=255).all(|byte| id(&v, &[byte]).is_some()), "{name}");
    }
    assert_eq!(Vocabulary::builtin("gpt9").unwrap_err().kind(), VocabularyErrorKind::UnknownName);
    let bytes = Vocabulary::builtin("bytes").unwrap();
    assert_eq!(bytes.fingerprint(), Vocabulary::single_bytes().fingerprint());
    let spaced = bytes.clone().with_leading_space(true);
    assert!(spaced.has_leading_space() && spaced.fingerprint() != bytes.fingerprint());
}

#[cfg(feature = "tiktoken")]
#[test]
fn three_files_of_gpt2_are_the_built_in_one() {
    let builtin = Vocabulary::builtin("gpt2").unwrap();
    if let Some(file) = real("gpt2/r50k_base.tiktoken") {
        let v = Vocabulary::from_file_bytes(&file)
            .unwrap()
            .with_special(50_256, "<|endoftext|>")
            .unwrap();
        assert_eq!(v.fingerprint(), builtin.fingerprint());
    }
    if let Some(file) = real("gpt2/vocab.json.gz") {
        let v = Vocabulary::from_file_bytes(&file).unwrap();
        assert_eq!(v.fingerprint(), builtin.fingerprint());
        assert_same_tokens(&tokens(&v), &tokens(&builtin));
    }
    if let Some(file) = real("phi2/tokenizer.json.gz") {
        let v = Vocabulary::from_file_bytes(&file).unwrap();
        assert_eq!((v.width(), v.stop_tokens()), (50_295, &[TokenId::from(50_256)][..]));
        assert_same_tokens(&tokens(&v)[..50_257], &tokens(&builtin));
        assert_eq!(v.bytes(50_294), Some(&b"\t\t"[..]));
    }
}

#[test]
#[ignore = "reads samples"]
fn both_files_of_llama_3_agree() {
    let [json, model] = ["llama3/tokenizer.json.gz", "llama3/tokenizer.model"].map(|name| {
        Vocabulary::from_file_bytes(&corpus::needed(real(name))).expect("a sound file")
    });
    assert_eq!((json.width(), model.width()), (128_256, 128_000));
    assert_same_tokens(&tokens(&json)[..128_000], &tokens(&model));
    assert!(tokens(&json)[128_000..].iter().all(Option::is_none));
    assert_eq!(json.stop_tokens(), [TokenId::from(128_001), TokenId::from(128_009)]);
}

#[test]
#[ignore = "reads samples"]
fn both_files_of_llama_2_agree() {
    let [json, model] = ["llama2/tokenizer.json.gz", "llama2/tokenizer.model"].map(|name| {
        Vocabulary::from_file_bytes(&corpus::needed(real(name))).expect("a sound file")
    });
    // In this copy of tokenizer.json four tokens have spaces in place of their no-break spaces.
    let respaced =
        |token: &[u8]| String::from_utf8_lossy(token).replace('\u{a0}', " ").into_bytes();
    let mut changed = 0;
    for id in (0..32_000).map(TokenId::from) {
        if json.bytes(id) != model.bytes(id) {
            assert_eq!(json.bytes(id), model.bytes(id).map(respaced).as_deref(), "{id}");
            changed += 1;
        }
        assert_eq!(json.special(id), model.special(id), "{id}");
    }
    assert!(changed == 0 || changed == 4);
    for v in [json, model] {
        assert_eq!(
            (v.width(), v.len(), v.stop_tokens()),
            (32_000, 32_000, &[TokenId::from(2)][..])
        );
        assert!(v.has_leading_space());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), first in prop::sample::select(b"\n[{YQ= ".to_vec())) {
        let mut file = vec![first];
        file.extend(&bytes);
        let _ = Vocabulary::from_file_bytes(&file);
        let _ = Vocabulary::from_sentencepiece(&bytes);
        let _ = Vocabulary::from_tiktoken(&bytes);
        let _ = Vocabulary::from_tokenizer_json(&bytes);
        let _ = Vocabulary::from_tekken(&bytes);
        let _ = Vocabulary::from_vocab_json(&bytes);
        let _ = Vocabulary::from_token_list(&bytes);
    }

    #[test]
    fn mutated_files_never_panic(
        name in prop::sample::select(&MINI[..]),
        mutations in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        let mut file = mini(name);
        for (at, byte, what) in mutations {
            let at = at.index(file.len());
            match what {
                0 => file[at] = byte,
                1 => file[at] ^= 1 << (byte % 8),
                2 => file.insert(at, byte),
                _ => { file.remove(at); }
            }
        }
        if let Ok(v) = Vocabulary::from_file_bytes(&file) {
            prop_assert!(v.len() <= v.width());
            let _ = v.to_string();
        }
    }
}

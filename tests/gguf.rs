//! Vocabularies in the metadata of GGUF models: against the same tokens in other formats, with
//! every type of token, in both byte orders, and files that lie.
//!
//! `LRMASK_GGUF=DIR` compares the vocabularies `*.gguf` in a directory with the texts and ids
//! beside them, `*.gguf.inp` and `*.gguf.out`, as llama.cpp has them.

#![allow(clippy::print_stdout)]

use lrmask::{Limits, TokenId, Vocabulary, VocabularyErrorKind, VocabularyReader};
use proptest::prelude::*;

use crate::corpus;

/// Writes GGUF files.
#[derive(Clone, Default)]
struct Writer {
    pairs: Vec<u8>,
    count: u64,
    is_big: bool,
}

impl Writer {
    fn u32(&mut self, number: u32) {
        let bytes = if self.is_big { number.to_be_bytes() } else { number.to_le_bytes() };
        self.pairs.extend(bytes);
    }

    fn u64(&mut self, number: u64) {
        let bytes = if self.is_big { number.to_be_bytes() } else { number.to_le_bytes() };
        self.pairs.extend(bytes);
    }

    fn string(&mut self, text: &[u8]) {
        self.u64(text.len() as u64);
        self.pairs.extend(text);
    }

    fn key(&mut self, key: &str, kind: u32) {
        self.count += 1;
        self.string(key.as_bytes());
        self.u32(kind);
    }

    fn model(&mut self, name: &str) {
        self.key("tokenizer.ggml.model", 8);
        self.string(name.as_bytes());
    }

    fn tokens<T: AsRef<[u8]>>(&mut self, tokens: &[T]) {
        self.key("tokenizer.ggml.tokens", 9);
        self.u32(8);
        self.u64(tokens.len() as u64);
        tokens.iter().for_each(|token| self.string(token.as_ref()));
    }

    fn types(&mut self, types: &[u32]) {
        self.key("tokenizer.ggml.token_type", 9);
        self.u32(5);
        self.u64(types.len() as u64);
        types.iter().for_each(|&kind| self.u32(kind));
    }

    fn number(&mut self, key: &str, number: u32) {
        self.key(key, 4);
        self.u32(number);
    }

    fn file(&self) -> Vec<u8> {
        let mut head = Self { is_big: self.is_big, ..Self::default() };
        head.u32(3);
        head.u64(1);
        head.u64(self.count);
        [&b"GGUF"[..], &head.pairs, &self.pairs].concat()
    }
}

fn texts(vocabulary: &Vocabulary) -> Vec<Option<String>> {
    let ids = 0..vocabulary.width() as u32;
    ids.map(|id| vocabulary.bytes(id).map(|bytes| bytes.escape_ascii().to_string())).collect()
}

fn of(model: &str, tokens: &[&str], types: &[u32]) -> Writer {
    let mut writer = Writer::default();
    writer.key("general.name", 8);
    writer.string(b"test");
    writer.model(model);
    writer.tokens(tokens);
    writer.types(types);
    writer
}

#[test]
fn tokens_are_read_by_their_types() {
    let tokens = [
        "a",
        "\u{2581}b",
        "\u{120}c",
        "<unk>",
        "<s>",
        "\u{120}",
        "[PAD7]",
        "<0x0A>",
        "</s>",
        "<|im_end|>",
        "x",
    ];
    let types = [1, 1, 1, 2, 3, 4, 4, 6, 3, 4, 5];
    for (model, expected) in [
        (
            "gpt2",
            ["a", "\\xe2\\x96\\x81b", " c", "-", "-", "\\xc4\\xa0", "-", "\\n", "-", "-", "-"],
        ),
        ("llama", ["a", " b", "\\xc4\\xa0c", "-", "-", "\\xc4\\xa0", "-", "\\n", "-", "-", "-"]),
    ] {
        let mut writer = of(model, &tokens, &types);
        writer.number("tokenizer.ggml.eos_token_id", 4);
        // Out of range: no token.
        writer.number("tokenizer.ggml.eot_token_id", 400);
        let vocabulary = Vocabulary::from_gguf(&writer.file()).unwrap();
        let shown: Vec<String> =
            texts(&vocabulary).into_iter().map(|text| text.unwrap_or("-".to_owned())).collect();
        assert_eq!(shown, expected, "{model}");
        assert_eq!(vocabulary.special(3), Some("<unk>"));
        assert_eq!((vocabulary.special(6), vocabulary.special(10)), (None, None));
        assert_eq!(vocabulary.stop_tokens(), [4, 8, 9].map(TokenId::from));
        assert_eq!(vocabulary.has_leading_space(), model == "llama");
        let sniffed = Vocabulary::from_file_bytes(&writer.file()).unwrap();
        assert_eq!(sniffed.fingerprint(), vocabulary.fingerprint());
    }
    // Files without types have special tokens, too.
    let mut writer = Writer::default();
    writer.model("gpt2");
    writer.tokens(&["a", "<|endoftext|>", "<unk>"]);
    let vocabulary = Vocabulary::from_gguf(&writer.file()).unwrap();
    // It stays when more special tokens are named.
    let named = vocabulary.clone().with_special_tokens([(2u32, "<unk>")]).expect("a small id");
    assert_eq!(named.stop_tokens(), vocabulary.stop_tokens());
    assert_eq!((vocabulary.special(2), vocabulary.stop_tokens()), (Some("<unk>"), &[1.into()][..]));
}

#[test]
fn both_byte_orders_and_what_follows_the_metadata() {
    let mut files = Vec::new();
    for is_big in [false, true] {
        let mut writer = Writer { is_big, ..Writer::default() };
        // Values of all types, which are skipped.
        for (kind, size) in [
            (0, 1),
            (1, 1),
            (2, 2),
            (3, 2),
            (4, 4),
            (5, 4),
            (6, 4),
            (7, 1),
            (10, 8),
            (11, 8),
            (12, 8),
        ] {
            writer.key(&format!("x.{kind}"), kind);
            writer.pairs.extend(vec![1; size]);
            writer.key(&format!("x.list.{kind}"), 9);
            writer.u32(kind);
            writer.u64(3);
            writer.pairs.extend(vec![1; 3 * size]);
        }
        writer.key("x.nested", 9);
        writer.u32(9);
        writer.u64(2);
        for _ in 0..2 {
            writer.u32(8);
            writer.u64(1);
            writer.string(b"in");
        }
        writer.tokens(&["a", "b"]);
        writer.key("tokenizer.ggml.add_space_prefix", 7);
        writer.pairs.push(0);
        writer.model("llama");
        let mut file = writer.file();
        let vocabulary = Vocabulary::from_gguf(&file).unwrap();
        assert!(!vocabulary.has_leading_space());
        file.extend(b"tensors");
        assert_eq!(Vocabulary::from_gguf(&file).unwrap().fingerprint(), vocabulary.fingerprint());
        // The bound is on the metadata.
        let limits = Limits::default().vocabulary_bytes(file.len() - 7);
        let reader = VocabularyReader::new().limits(&limits);
        assert!(reader.gguf(&file).is_ok() && reader.file_bytes(&file).is_ok());
        let reader =
            VocabularyReader::new().limits(&Limits::default().vocabulary_bytes(file.len() - 8));
        assert_eq!(reader.gguf(&file).unwrap_err().kind(), VocabularyErrorKind::Limit);
        files.push(vocabulary.fingerprint());
    }
    assert_eq!(files[0], files[1]);
}

#[test]
fn faults_are_named() {
    let (good, types) = (of("gpt2", &["a"], &[1]), of("gpt2", &["a"], &[1, 1]));
    let mut without = Writer::default();
    without.tokens(&["a"]);
    let mut numbers = Writer::default();
    numbers.key("tokenizer.ggml.tokens", 9);
    numbers.u32(4);
    numbers.u64(0);
    let mut version = good.file();
    version[4] = 1;
    for (file, kind, words) in [
        (b"GGUF".to_vec(), VocabularyErrorKind::Malformed, "cut off"),
        (version, VocabularyErrorKind::Malformed, "version"),
        (types.file(), VocabularyErrorKind::Malformed, "types differ"),
        (numbers.file(), VocabularyErrorKind::Malformed, "another type"),
        (without.file(), VocabularyErrorKind::Unsupported, "no tokenizer"),
        (of("rwkv", &["a"], &[1]).file(), VocabularyErrorKind::Unsupported, "`rwkv`"),
        (of("gpt2", &["a"], &[9]).file(), VocabularyErrorKind::Malformed, "unknown type 9"),
        (of("llama", &["<0xZZ>"], &[6]).file(), VocabularyErrorKind::Malformed, "<0xZZ>"),
        (of("gpt2", &[], &[]).file(), VocabularyErrorKind::Malformed, "no tokens"),
    ] {
        let error = Vocabulary::from_gguf(&file).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let file = good.file();
    for end in 0..file.len() {
        let error = Vocabulary::from_gguf(&file[..end]).unwrap_err();
        assert_eq!(error.kind(), VocabularyErrorKind::Malformed, "{end}: {error}");
    }
    let few = VocabularyReader::new().limits(&Limits::default().token_ids(1));
    let two = of("gpt2", &["a", "b"], &[1, 1]).file();
    assert_eq!(few.gguf(&two).unwrap_err().kind(), VocabularyErrorKind::Limit);
}

/// Writes a byte-level piece as GPT-2 does.
fn byte_level(bytes: &[u8]) -> String {
    let is_printable = |byte: &u8| matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    let others: Vec<u8> = (0..=255).filter(|byte| !is_printable(byte)).collect();
    let letter = |byte: &u8| match others.iter().position(|other| other == byte) {
        Some(place) => char::from_u32(256 + place as u32).unwrap(),
        None => char::from(*byte),
    };
    bytes.iter().map(letter).collect()
}

#[test]
#[ignore = "reads samples"]
fn a_vocabulary_is_the_same_in_gguf() {
    for (name, model) in [
        ("gpt2/vocab.json.gz", "gpt2"),
        ("llama3/tokenizer.json.gz", "gpt2"),
        ("llama2/tokenizer.model", "llama"),
    ] {
        let bytes = corpus::needed(corpus::file(&format!("tokenizers/{name}")));
        let from = Vocabulary::from_file_bytes(&bytes).unwrap();
        let (mut tokens, mut types) = (Vec::new(), Vec::new());
        for id in 0..from.width() as u32 {
            let (token, kind) = match (from.bytes(id), from.special(id)) {
                (Some(&[byte]), _) if model == "llama" && !byte.is_ascii_graphic() => {
                    (format!("<0x{byte:02X}>").into_bytes(), 6)
                }
                (Some(bytes), _) if model == "llama" => {
                    (String::from_utf8_lossy(bytes).replace(' ', "\u{2581}").into_bytes(), 1)
                }
                (Some(bytes), _) => (byte_level(bytes).into_bytes(), 1),
                (None, Some(name)) => (name.as_bytes().to_vec(), 3),
                (None, None) => (Vec::new(), 5),
            };
            tokens.push(token);
            types.push(kind);
        }
        let mut writer = Writer::default();
        writer.model(model);
        writer.tokens(&tokens);
        writer.types(&types);
        let read = Vocabulary::from_gguf(&writer.file()).unwrap();
        assert_eq!(read.width(), from.width());
        for id in 0..from.width() as u32 {
            assert_eq!(
                (read.bytes(id), read.special(id)),
                (from.bytes(id), from.special(id)),
                "{name} {id}"
            );
        }
        assert_eq!(read.stop_tokens(), from.stop_tokens(), "{name}");
        println!("{name}: {} ids", read.width());
    }
}

#[test]
fn real_files_spell_the_texts_beside_them() {
    let Ok(directory) = std::env::var("LRMASK_GGUF") else { return };
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "gguf"));
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let vocabulary = Vocabulary::from_gguf(&std::fs::read(&path).unwrap()).unwrap();
        let beside = |end: &str| std::fs::read_to_string(format!("{}.{end}", path.display()));
        let (mut same, mut different) = (0, Vec::new());
        if let (Ok(texts), Ok(ids)) = (beside("inp"), beside("out")) {
            let texts = texts.split("\n__ggml_vocab_test__\n").collect::<Vec<_>>();
            for (text, ids) in texts.iter().zip(ids.lines()) {
                let ids = ids.split_whitespace().map(|id| id.parse::<u32>().unwrap());
                let spelled: Vec<u8> =
                    ids.flat_map(|id| vocabulary.bytes(id).unwrap_or_default().to_vec()).collect();
                let spelled = match vocabulary.has_leading_space() {
                    true => spelled.strip_prefix(b" ").unwrap_or(&spelled),
                    false => &spelled,
                };
                if *spelled == *text.as_bytes() {
                    same += 1;
                } else {
                    different.push(text.to_string());
                }
            }
        }
        println!(
            "{}: width {}, {} tokens, stops {:?}; {same} texts are spelled, {different:?} are not",
            path.file_name().unwrap().display(),
            vocabulary.width(),
            vocabulary.len(),
            vocabulary.stop_tokens().iter().map(|&id| vocabulary.special(id)).collect::<Vec<_>>(),
        );
    }
}

proptest! {
    #[test]
    fn no_file_makes_the_loader_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
        is_big in any::<bool>(),
        number in prop_oneof![Just(u64::MAX), Just(1 << 63), Just(1 << 32), 0u64..100],
        at in any::<prop::sample::Index>(),
        is_replaced in any::<bool>(),
    ) {
        let mut writer = Writer { is_big, ..Writer::default() };
        writer.model("llama");
        writer.tokens(&["a", "\u{2581}b", "<0x0A>", "</s>"]);
        writer.types(&[1, 1, 6, 3]);
        writer.key("x", 9);
        writer.u32(9);
        writer.u64(1);
        writer.u32(4);
        writer.u64(0);
        writer.number("tokenizer.ggml.eos_token_id", 3);
        let mut file = writer.file();
        for (place, byte) in changes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        if is_replaced {
            let place = at.index(file.len() - 8);
            file[place..place + 8].copy_from_slice(&number.to_le_bytes());
        }
        if is_cut {
            file.truncate(cut.index(file.len()));
        }
        if let Ok(vocabulary) = Vocabulary::from_gguf(&file) {
            for id in 0..vocabulary.width() as u32 + 2 {
                let _ = (vocabulary.bytes(id), vocabulary.special(id));
            }
        }
        let _ = Vocabulary::from_file_bytes(&file);
    }
}

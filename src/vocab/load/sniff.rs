//! Detects the format of a file, by its first bytes and, for JSON, its keys.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{check_size, gguf};
use crate::vocab::Vocabulary;
use crate::vocab::error::{VocabularyError, VocabularyErrorKind};
use crate::vocab::reader::VocabularyReader;

/// The supported formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::vocab) enum Format {
    TokenizerJson,
    Tekken,
    VocabJson,
    TokenList,
    SentencePiece,
    Tiktoken,
}

impl Vocabulary {
    /// Reads a tokenizer file of any supported format: Hugging Face's `tokenizer.json`, a
    /// SentencePiece `.model`, a GGUF model, a tiktoken file, Mistral's `tekken.json`, GPT-2's
    /// `vocab.json`, or a plain list of tokens (see [`Vocabulary::from_token_list`]).
    ///
    /// # Errors
    ///
    /// [`VocabularyErrorKind::UnknownFormat`] reports the content found and the supported formats;
    /// all other errors come from the loader of the format.
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, VocabularyError> {
        VocabularyReader::new().file_bytes(bytes)
    }
}

impl VocabularyReader {
    /// Reads the formats of [`Vocabulary::from_file_bytes`].
    ///
    /// # Errors
    ///
    /// The same, and [`VocabularyErrorKind::Limit`] if a limit is exceeded.
    pub fn file_bytes(&self, bytes: &[u8]) -> Result<Vocabulary, VocabularyError> {
        let limits = self.within();
        if bytes.starts_with(gguf::MAGIC) {
            return self.gguf(bytes);
        }
        check_size(bytes, limits)?;
        match sniff(bytes)? {
            Format::TokenizerJson => self.tokenizer_json(bytes),
            Format::Tekken => self.tekken(bytes),
            Format::VocabJson => self.vocab_json(bytes),
            Format::TokenList => self.token_list(bytes),
            Format::SentencePiece => self.sentencepiece(bytes),
            Format::Tiktoken => self.tiktoken(bytes),
        }
    }
}

/// Detects the format of a file. Reads no more than necessary: in JSON formats the distinguishing
/// keys come first.
pub(in crate::vocab) fn sniff(bytes: &[u8]) -> Result<Format, VocabularyError> {
    let unknown = |what: &str| {
        Err(VocabularyError::new(
            VocabularyErrorKind::UnknownFormat,
            format!(
                "unknown tokenizer format: {what}; supported are tokenizer.json (Hugging Face), \
                 tokenizer.model (SentencePiece), GGUF models, tiktoken files, tekken.json (Mistral), \
                 vocab.json (GPT-2) and a JSON list of tokens"
            ),
        ))
    };
    match bytes.trim_ascii_start() {
        [] => unknown("the file is empty"),
        [b'[', ..] => Ok(Format::TokenList),
        [b'{', ..] => sniff_json(bytes).map_or_else(
            || unknown("it is a JSON object without the keys of a supported format"),
            Ok,
        ),
        _ if bytes.starts_with(&[0x1f, 0x8b]) => {
            unknown("it is compressed with gzip; unpack it first")
        }
        _ if bytes.starts_with(b"PK\x03\x04") => unknown("it is a zip archive"),
        _ if bytes.starts_with(b"#version") => {
            unknown("it is the merges.txt of a BPE, which has no ids")
        }
        _ if is_tiktoken(bytes) => Ok(Format::Tiktoken),
        // Field 1, a message: the first piece.
        _ if bytes.first() == Some(&0x0a) => Ok(Format::SentencePiece),
        _ if bytes.is_ascii() => {
            unknown("it is text, but neither JSON nor lines of base64 with ids")
        }
        _ => unknown("it is binary, but not a SentencePiece model"),
    }
}

/// Returns whether the first line consists of a token in base64 and a number.
fn is_tiktoken(bytes: &[u8]) -> bool {
    let line = bytes
        .trim_ascii_start()
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default()
        .trim_ascii_end();
    let Some(space) = line.iter().position(|&byte| byte == b' ') else { return false };
    let (token, id) = (&line[..space], &line[space + 1..]);
    let base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    !token.is_empty()
        && token.iter().all(base64)
        && !id.is_empty()
        && id.iter().all(u8::is_ascii_digit)
}

fn sniff_json(bytes: &[u8]) -> Option<Format> {
    let found = Cell::new(None);
    // An error is expected: the visitor leaves the rest of the object unread.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(Keys(&found));
    found.get()
}

/// Reads keys until one determines the format.
struct Keys<'c>(&'c Cell<Option<Format>>);

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<super::pieces::Text<'de>>()? {
            // A map of pieces to ids may have any of the keys below, so a number decides first.
            let IsNumber(is_number) = map.next_value()?;
            let format = match &*key.0 {
                _ if is_number => Format::VocabJson,
                "model" | "added_tokens" | "pre_tokenizer" => Format::TokenizerJson,
                "config" | "vocab" | "special_tokens" => Format::Tekken,
                "tokens" => Format::TokenList,
                _ => continue,
            };
            self.0.set(Some(format));
            break;
        }
        Ok(())
    }
}

/// Whether a value is a number; other values are skipped.
struct IsNumber(bool);

impl<'de> Deserialize<'de> for IsNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IsNumber(false))
    }
}

impl<'de> Visitor<'de> for IsNumber {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(Self(true))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(Self(true))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(Self(true))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(self)
    }
}

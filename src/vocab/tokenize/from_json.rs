//! Hugging Face's `tokenizer.json` with a BPE model: the merges are listed.
//!
//! Only steps whose effect is known exactly are taken; any other is refused by name.

use std::fmt;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;

use crate::vocab::load::pieces::{Pieces, Text};
use crate::vocab::load::tokenizer_json::{fallback_byte, kind, steps};

use super::{
    Atoms, GPT2_PATTERN, Merges, NO_TOKEN, Regex, TokenId, Tokenizer, Units, Vocabulary, VocabularyError,
    pattern,
};

#[derive(Deserialize)]
struct File<'a> {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(borrow)]
    model: Model<'a>,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
}

#[derive(Deserialize)]
struct Model<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Text<'a>>,
    vocab: Pieces,
    #[serde(default)]
    merges: Pairs,
    #[serde(default)]
    dropout: Option<f32>,
    #[serde(default)]
    ignore_merges: bool,
    #[serde(default)]
    byte_fallback: bool,
}

/// The merges, best first, in one string; each is `left right` or `["left", "right"]` in the file.
#[derive(Default)]
struct Pairs {
    text: String,
    /// Where the left half begins, where the right half does, and where that ends.
    ends: Vec<(usize, usize, usize)>,
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of merges")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Pairs, A::Error> {
                let mut pairs = Pairs::default();
                while let Some(Pair(left, right)) = list.next_element()? {
                    let start = pairs.text.len();
                    pairs.text.push_str(&left);
                    let middle = pairs.text.len();
                    pairs.text.push_str(&right);
                    pairs.ends.push((start, middle, pairs.text.len()));
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

struct Pair(String, String);

impl<'de> Deserialize<'de> for Pair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct One;
        impl<'de> Visitor<'de> for One {
            type Value = Pair;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("two pieces to merge")
            }

            fn visit_str<E: Error>(self, pair: &str) -> Result<Pair, E> {
                let (left, right) =
                    pair.split_once(' ').ok_or_else(|| E::custom("a merge without a space"))?;
                Ok(Pair(left.to_owned(), right.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Pair, A::Error> {
                match (pair.next_element()?, pair.next_element()?, pair.next_element::<String>()?) {
                    (Some(left), Some(right), None) => Ok(Pair(left, right)),
                    _ => Err(A::Error::custom("a merge of other than two pieces")),
                }
            }
        }
        deserializer.deserialize_any(One)
    }
}

impl Tokenizer {
    /// The tokenizer of Hugging Face's `tokenizer.json` with a BPE model. What its normalizer would
    /// put before a text is left out.
    ///
    /// # Errors
    ///
    /// [`crate::VocabularyErrorKind::Unsupported`] names the step that is not known here exactly;
    /// else as of [`Vocabulary::from_tokenizer_json`].
    pub fn from_tokenizer_json(bytes: &[u8]) -> Result<Self, VocabularyError> {
        let vocabulary = Vocabulary::from_tokenizer_json(bytes)?;
        let file: File<'_> = serde_json::from_slice(bytes)
            .map_err(|error| VocabularyError::malformed(format!("not a tokenizer.json: {error}")))?;
        if file.model.kind.as_ref().is_some_and(|kind| kind.0 != "BPE") || file.model.dropout.is_some() {
            return Err(VocabularyError::unsupported(
                "only the merges of a BPE without dropout are known here",
            ));
        }
        let normal_form_c = normal_form_c(&file.normalizer)?;
        let (splits, byte_level) = splits(&file.pre_tokenizer)?;
        let merges = merges(&file.model)?;
        Ok(Self {
            atoms: atoms(&vocabulary, &file.added_tokens)?,
            splits,
            // With listed pairs a word that is a token is reached only by its merges, unless the
            // file says so.
            whole_words: file.model.ignore_merges.then(|| vocabulary.clone()),
            units: units(&vocabulary, &file.model, byte_level),
            merges,
            normal_form_c,
            escapes_spaces: !byte_level,
        })
    }
}

/// Reads the normalizer: whether it is normal form C. Spaces written as U+2581 are undone by the
/// vocabulary.
fn normal_form_c(normalizer: &Value) -> Result<bool, VocabularyError> {
    let mut normal_form_c = false;
    for step in steps(normalizer, "normalizers") {
        let escapes_spaces = || {
            step.pointer("/pattern/String").and_then(Value::as_str) == Some(" ")
                && step.get("content").and_then(Value::as_str) == Some("\u{2581}")
        };
        match kind(step) {
            "NFC" => normal_form_c = true,
            // Put before the text as a whole; see the invariant of the module above.
            "Prepend" => {}
            "Replace" if escapes_spaces() => {}
            other => {
                return Err(VocabularyError::unsupported(format!(
                    "the normalizer's step {other} is not known here"
                )));
            }
        }
    }
    Ok(normal_form_c)
}

/// Reads the pre-tokenizer: the patterns that split, and whether words are merged from bytes.
fn splits(pre_tokenizer: &Value) -> Result<(Vec<Regex>, bool), VocabularyError> {
    let mut splits = Vec::new();
    let mut byte_level = false;
    for step in steps(pre_tokenizer, "pretokenizers") {
        let is = |field: &str, value: bool| step.get(field).and_then(Value::as_bool) == Some(value);
        let isolated =
            step.get("behavior").and_then(Value::as_str) == Some("Isolated") && !is("invert", true);
        let split = step.pointer("/pattern/Regex").and_then(Value::as_str);
        match (kind(step), split) {
            ("Split", Some(split)) if isolated => splits.push(pattern(split)?),
            ("ByteLevel", _) => {
                byte_level = true;
                if !is("use_regex", false) {
                    splits.push(pattern(GPT2_PATTERN)?);
                }
            }
            ("Metaspace", _) if is("split", false) => {}
            (other, _) => {
                return Err(VocabularyError::unsupported(format!(
                    "the pre-tokenizer's step {other}, as it is set up here, is not known"
                )));
            }
        }
    }
    Ok((splits, byte_level))
}

/// The added tokens that are text.
fn atoms(vocabulary: &Vocabulary, added: &[AddedToken]) -> Result<Atoms, VocabularyError> {
    let mut atoms = Vec::new();
    for token in added {
        let Some(text) = vocabulary.bytes(TokenId(token.id)) else { continue };
        if token.single_word || token.lstrip || token.rstrip {
            return Err(VocabularyError::unsupported(format!(
                "added token {} is matched with regard to what stands beside it",
                token.id
            )));
        }
        atoms.push((token.id, text));
    }
    Ok(Atoms::new(&atoms))
}

fn merges(model: &Model<'_>) -> Result<Merges, VocabularyError> {
    let pieces: FxHashMap<&str, u32> = model.vocab.iter().map(|(piece, id)| (piece, id as u32)).collect();
    let pairs = &model.merges;
    let mut merges = FxHashMap::default();
    merges.reserve(pairs.ends.len());
    for (rank, &(start, middle, end)) in pairs.ends.iter().enumerate() {
        let id = |piece: &str| {
            pieces.get(piece).copied().ok_or_else(|| {
                VocabularyError::malformed(format!(
                    "merge {rank} needs the piece \"{}\", which is not in the vocabulary",
                    piece.escape_debug()
                ))
            })
        };
        let pair = (id(&pairs.text[start..middle])?, id(&pairs.text[middle..end])?);
        let merged = id(&pairs.text[start..end])?;
        // Of a pair that is listed twice the last counts, as in the library that writes such files.
        merges.insert(pair, (rank as u32, merged));
    }
    Ok(Merges::ByPair(merges))
}

fn units(vocabulary: &Vocabulary, model: &Model<'_>, byte_level: bool) -> Units {
    let mut bytes = [NO_TOKEN; 256];
    let mut known = FxHashMap::default();
    for (piece, id) in model.vocab.iter() {
        let id = id as u32;
        let Some(text) = vocabulary.bytes(TokenId(id)) else { continue };
        let is_fallback = model.byte_fallback && fallback_byte(piece).is_some();
        let mut chars = std::str::from_utf8(text).unwrap_or_default().chars();
        if let &[byte] = text
            && (byte_level || is_fallback)
        {
            bytes[usize::from(byte)] = id;
        } else if let (Some(c), None) = (chars.next(), chars.next()) {
            known.insert(c, id);
        }
    }
    if byte_level { Units::Bytes(bytes) } else { Units::Characters { known, bytes } }
}

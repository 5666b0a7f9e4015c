//! Hugging Face's `tokenizer.json`.
//!
//! A piece of the vocabulary is not what the model writes, but what the file's *decoder* makes of
//! it. The decoder is a pipeline; what it does to one piece, whatever stands beside it, is read off
//! its steps:
//!
//! * `ByteLevel`: the piece is written in the byte-level alphabet ([`super::byte_level`]);
//! * `Replace` and `Metaspace`: a character stands for the space;
//! * `ByteFallback`: `<0x0A>` is the byte;
//! * `Fuse`, and `Strip` behind it: concern the beginning of the whole text alone.
//!
//! Decoders that look at neighbours or rewrite text (WordPiece, CTC, suffixes of words) give a
//! piece no bytes of its own: refused. The merges are skipped; masks need none.

use std::borrow::Cow;
use std::cell::Cell;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::check_size;
use crate::util::limits::Limits;
use crate::vocab::Vocabulary;
use crate::vocab::builder::VocabularyBuilder;
use crate::vocab::error::VocabularyError;
use crate::vocab::reader::VocabularyReader;
use crate::vocab::stops::is_stop_name;

use super::byte_level;
use super::pieces::{Pieces, Text};

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, default)]
    added_tokens: Vec<AddedToken<'a>>,
    #[serde(borrow, default)]
    pre_tokenizer: Option<&'a RawValue>,
    #[serde(borrow, default)]
    decoder: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Model<'a>,
}

#[derive(Deserialize)]
struct AddedToken<'a> {
    id: u64,
    #[serde(borrow)]
    content: Text<'a>,
    #[serde(default)]
    special: bool,
}

#[derive(Deserialize)]
struct Model<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Text<'a>>,
    vocab: Pieces,
    #[serde(borrow, default)]
    unk_token: Option<Text<'a>>,
    #[serde(default)]
    unk_id: Option<u64>,
    #[serde(borrow, default)]
    continuing_subword_prefix: Option<Text<'a>>,
    #[serde(borrow, default)]
    end_of_word_suffix: Option<Text<'a>>,
    #[serde(default)]
    byte_fallback: bool,
}

impl Vocabulary {
    /// Reads Hugging Face's `tokenizer.json`: byte-level BPE, and SentencePiece style BPE and
    /// Unigram with or without byte fallback. Added tokens that are marked special, and those whose
    /// names are known to end texts, are special; the others are their text.
    ///
    /// # Errors
    ///
    /// JSON of another shape; tokenizers whose pieces have no bytes of their own (WordPiece, CTC,
    /// BPE with suffixes); two pieces with one id; the limits of [`Vocabulary::from_tokens`]. Cost:
    /// some 30 ms for the 128,256 tokens of Llama 3.
    pub fn from_tokenizer_json(bytes: &[u8]) -> Result<Self, VocabularyError> {
        VocabularyReader::new().tokenizer_json(bytes)
    }
}

impl VocabularyReader {
    /// Reads what [`Vocabulary::from_tokenizer_json`] reads.
    ///
    /// # Errors
    ///
    /// As there, and [`VocabularyErrorKind::Limit`](crate::VocabularyErrorKind::Limit) when a limit
    /// is exceeded.
    pub fn tokenizer_json(&self, bytes: &[u8]) -> Result<Vocabulary, VocabularyError> {
        let limits = self.within();
        check_size(bytes, limits)?;
        let file: File<'_> = serde_json::from_slice(bytes).map_err(|error| {
            VocabularyError::malformed(format!("not a tokenizer.json: {error}"))
        })?;
        refuse_context(&file.model)?;
        let coding = Coding::of(&file, limits)?;

        let mut builder = VocabularyBuilder::within(limits);
        builder.leading_space(coding.leading_space);
        let mut decoded = Vec::new();
        for (piece, id) in file.model.vocab.iter() {
            let unknown = file.model.unk_token.as_ref().is_some_and(|unk| unk.0 == piece)
                || file.model.unk_id == Some(id);
            if unknown {
                builder.special(id, piece)?;
                continue;
            }
            decoded.clear();
            coding.decode(piece, &mut decoded)?;
            builder.token(id, &decoded)?;
        }
        add_tokens(&mut builder, &file.added_tokens, &coding)?;
        builder.finish()
    }
}

/// Lays the added tokens over the model's own: they are cut out of the text before the model sees
/// it.
fn add_tokens(
    builder: &mut VocabularyBuilder,
    added: &[AddedToken<'_>],
    coding: &Coding,
) -> Result<(), VocabularyError> {
    let mut decoded = Vec::new();
    for token in added {
        let text = &*token.content.0;
        // Some files leave the mark off tokens that nobody would call text, `</s>` of Phi 3 among
        // them.
        if token.special || is_stop_name(text) {
            builder.special(token.id, text)?;
            continue;
        }
        // Listing a piece of the model here as well changes when it is used, not what it stands for
        // (Gemma's runs of spaces). Otherwise the text is plain, but for the character that stands
        // for the space.
        decoded.clear();
        coding.decode(text, &mut decoded)?;
        if builder.bytes(token.id) == Some(&decoded) {
            continue;
        }
        decoded.clear();
        coding.decode_added(text, &mut decoded)?;
        builder.replace(token.id, &decoded)?;
    }
    Ok(())
}

/// Refuses models whose pieces are not what they look like.
fn refuse_context(model: &Model<'_>) -> Result<(), VocabularyError> {
    let kind = model.kind.as_ref().map_or("BPE", |kind| &*kind.0);
    if !matches!(kind, "BPE" | "Unigram") {
        return Err(VocabularyError::unsupported(format!(
            "this tokenizer is a {kind} model, whose pieces have no bytes of their own: spaces \
             depend on the \
             neighbours; supported are BPE and Unigram"
        )));
    }
    for (field, value) in [
        ("continuing_subword_prefix", &model.continuing_subword_prefix),
        ("end_of_word_suffix", &model.end_of_word_suffix),
    ] {
        if let Some(affix) = value.as_ref().filter(|affix| !affix.0.is_empty()) {
            return Err(VocabularyError::unsupported(format!(
                "the tokenizer's model has the {field} \"{}\", so that the bytes of a piece \
                 depend on its \
                 neighbours",
                affix.0.escape_debug()
            )));
        }
    }
    Ok(())
}

/// What the decoder does to one piece.
struct Coding {
    byte_level: bool,
    byte_fallback: bool,
    /// What to replace by what, in order.
    replacements: Vec<(String, String)>,
    leading_space: bool,
    /// Bytes that replacing may still make, of all pieces and all steps.
    replaced: Cell<usize>,
}

/// Steps that replace: files have two or three.
const MAX_REPLACEMENTS: usize = 64;

/// Bytes of a description of what is done to pieces: files have some kilobytes.
const MAX_DESCRIPTION: usize = 1 << 20;

/// How often the bytes of all tokens may be made anew by replacing.
const TIMES_REPLACED: usize = 8;

/// A part of the file that says what is done to pieces; null where there is none.
fn description(raw: Option<&RawValue>) -> Result<Value, VocabularyError> {
    let Some(raw) = raw.map(RawValue::get) else { return Ok(Value::Null) };
    if raw.len() > MAX_DESCRIPTION {
        return Err(VocabularyError::limit(format!(
            "the tokenizer's decoder has {} bytes; at most {MAX_DESCRIPTION} are supported",
            raw.len()
        )));
    }
    serde_json::from_str(raw)
        .map_err(|error| VocabularyError::malformed(format!("not a tokenizer.json: {error}")))
}

impl Coding {
    fn of(file: &File<'_>, limits: &Limits) -> Result<Self, VocabularyError> {
        let (decoder, pre_tokenizer) =
            (description(file.decoder)?, description(file.pre_tokenizer)?);
        let mut coding = Self {
            byte_level: false,
            byte_fallback: false,
            replacements: Vec::new(),
            leading_space: false,
            replaced: Cell::new(limits.token_bytes.saturating_mul(TIMES_REPLACED)),
        };
        let mut fused = false;
        for step in steps(&decoder, "decoders") {
            coding.add_decoder(step, &mut fused)?;
        }
        if decoder.is_null() {
            // Without a decoder the pieces are joined as they are; the way in tells what they stand
            // for.
            for step in steps(&pre_tokenizer, "pretokenizers") {
                match kind(step) {
                    "ByteLevel" => coding.byte_level = true,
                    "Metaspace" => coding.add_metaspace(step),
                    _ => {}
                }
            }
        }
        coding.byte_fallback |= file.model.byte_fallback;
        if coding.replacements.len() > MAX_REPLACEMENTS {
            return Err(VocabularyError::limit(format!(
                "the tokenizer's decoder has more than {MAX_REPLACEMENTS} steps that replace"
            )));
        }
        if !coding.byte_level && !coding.byte_fallback && coding.replacements.is_empty() {
            return Err(VocabularyError::unsupported(
                "the tokenizer's decoder says nothing of how bytes are written: supported are \
                 ByteLevel, and \
                 Metaspace, Replace and ByteFallback",
            ));
        }
        Ok(coding)
    }

    fn add_decoder(&mut self, step: &Value, fused: &mut bool) -> Result<(), VocabularyError> {
        match kind(step) {
            "ByteLevel" => self.byte_level = true,
            "ByteFallback" => self.byte_fallback = true,
            "Metaspace" => self.add_metaspace(step),
            "Fuse" => *fused = true,
            "Replace" => {
                let from = step
                    .pointer("/pattern/String")
                    .and_then(Value::as_str)
                    .filter(|from| !from.is_empty());
                let to = step.get("content").and_then(Value::as_str);
                let (Some(from), Some(to)) = (from, to) else {
                    return Err(VocabularyError::unsupported(
                        "the tokenizer's decoder replaces by a regular expression; only plain \
                         strings are \
                         supported",
                    ));
                };
                self.replacements.push((from.to_owned(), to.to_owned()));
            }
            // Behind Fuse the whole text is one piece, and only its beginning loses a space.
            "Strip" if *fused => {
                let stripped = |end: &str| step.get(end).and_then(Value::as_u64).unwrap_or(0);
                let of_space = step.get("content").and_then(Value::as_str) == Some(" ");
                self.leading_space |= of_space && stripped("start") > 0;
            }
            other => {
                return Err(VocabularyError::unsupported(format!(
                    "the tokenizer's decoder has the step {other}, behind which a piece has no \
                     bytes of its own; \
                     supported are ByteLevel, ByteFallback, Metaspace, Replace, Fuse, and Strip \
                     behind Fuse"
                )));
            }
        }
        Ok(())
    }

    fn add_metaspace(&mut self, step: &Value) {
        let character = step.get("replacement").and_then(Value::as_str).unwrap_or("\u{2581}");
        if !character.is_empty() {
            self.replacements.push((character.to_owned(), " ".to_owned()));
        }
        let scheme = step.get("prepend_scheme").and_then(Value::as_str);
        let prefix = step.get("add_prefix_space").and_then(Value::as_bool);
        self.leading_space |= scheme.map_or(prefix.unwrap_or(true), |scheme| scheme != "never");
    }

    /// Appends the bytes of a piece of the model.
    fn decode(&self, piece: &str, bytes: &mut Vec<u8>) -> Result<(), VocabularyError> {
        if self.byte_fallback
            && let Some(byte) = fallback_byte(piece)
        {
            bytes.push(byte);
            return Ok(());
        }
        // A piece that is not all of the alphabet is taken as it stands, as the decoder does.
        if self.byte_level && byte_level::decode(piece, bytes) {
            return Ok(());
        }
        self.decode_added(piece, bytes)
    }

    /// Appends the bytes of a token that was added to the model's pieces.
    fn decode_added(&self, text: &str, bytes: &mut Vec<u8>) -> Result<(), VocabularyError> {
        let mut text = Cow::Borrowed(text);
        for (from, to) in &self.replacements {
            let times = text.matches(&**from).count();
            if times > 0 {
                // Known before any of it is made: a few steps can make gigabytes of a letter.
                let length = (text.len() - times * from.len())
                    .saturating_add(times.saturating_mul(to.len()));
                let left = self.replaced.get().checked_sub(length);
                let left = left.ok_or_else(|| {
                    VocabularyError::limit(
                        "what the tokenizer's decoder replaces makes too long tokens",
                    )
                })?;
                self.replaced.set(left);
                text = text.replace(from, to).into();
            }
        }
        bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// The byte that a piece of the form `<0x0A>` stands for.
pub(in crate::vocab) fn fallback_byte(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    let hexadecimal = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    hexadecimal.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

/// The type of a pipeline's step.
pub(in crate::vocab) fn kind(step: &Value) -> &str {
    step.get("type").and_then(Value::as_str).unwrap_or("without a type")
}

/// The steps of a pipeline in order, sequences opened. The JSON reader bounds how deep they nest.
pub(in crate::vocab) fn steps<'v>(component: &'v Value, list: &str) -> Vec<&'v Value> {
    let mut open = vec![component];
    let mut steps = Vec::new();
    while let Some(step) = open.pop() {
        match step {
            Value::Null => {}
            _ if kind(step) == "Sequence" => {
                open.extend(step.get(list).and_then(Value::as_array).into_iter().flatten().rev());
            }
            _ => steps.push(step),
        }
    }
    steps
}

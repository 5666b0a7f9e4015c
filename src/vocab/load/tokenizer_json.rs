//! Hugging Face's `tokenizer.json`.
//!
//! The bytes of a piece are not its text in the vocabulary, but the output of the file's *decoder*
//! for it. The decoder is a pipeline; its effect on one piece, independent of the pieces next to
//! it, is derived from its steps:
//!
//! * `ByteLevel`: the piece is written in the byte-level alphabet ([`super::byte_level`]);
//! * `Replace` and `Metaspace`: a character is replaced by a space;
//! * `ByteFallback`: `<0x0A>` is the byte;
//! * `Fuse`, and `Strip` after it: affect only the beginning of the whole text.
//!
//! Decoders that depend on neighbours or rewrite text (WordPiece, CTC, suffixes of words) are
//! refused, because a piece then has no bytes of its own. How texts are cut into tokens
//! ([`rules`]) is not needed for that: files that do not tell it are accepted.

mod rules;

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
pub(super) struct File<'a> {
    #[serde(borrow, default)]
    pub(super) added_tokens: Vec<AddedToken<'a>>,
    #[serde(borrow, default)]
    pub(super) normalizer: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) pre_tokenizer: Option<&'a RawValue>,
    #[serde(borrow, default)]
    decoder: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) model: Model<'a>,
}

#[derive(Deserialize)]
pub(super) struct AddedToken<'a> {
    pub(super) id: u64,
    #[serde(borrow)]
    pub(super) content: Text<'a>,
    #[serde(default)]
    special: bool,
    #[serde(default)]
    pub(super) normalized: Option<bool>,
    #[serde(default)]
    pub(super) lstrip: bool,
    #[serde(default)]
    pub(super) rstrip: bool,
    #[serde(default)]
    pub(super) single_word: bool,
}

#[derive(Deserialize)]
pub(super) struct Model<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Option<Text<'a>>,
    pub(super) vocab: Pieces,
    #[serde(borrow, default)]
    pub(super) merges: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) ignore_merges: bool,
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
    /// names are known to end texts, are special; the others are their text. Costs about 30 ms for
    /// the 128,256 tokens of Llama 3.
    ///
    /// # Errors
    ///
    /// If the JSON has another shape, the tokenizer's pieces have no bytes of their own (WordPiece,
    /// CTC, BPE with suffixes), two pieces have the same id, or the limits of
    /// [`Vocabulary::from_tokens`] are exceeded.
    pub fn from_tokenizer_json(bytes: &[u8]) -> Result<Self, VocabularyError> {
        VocabularyReader::new().tokenizer_json(bytes)
    }
}

impl VocabularyReader {
    /// Reads the format of [`Vocabulary::from_tokenizer_json`].
    ///
    /// # Errors
    ///
    /// The same, and [`VocabularyErrorKind::Limit`](crate::VocabularyErrorKind::Limit) if a limit
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
        builder.tokenizer(rules::of(&file, &coding, &builder));
        builder.finish()
    }
}

/// Adds the added tokens, which override the model's own: they are split off the text before the
/// model sees it.
fn add_tokens(
    builder: &mut VocabularyBuilder,
    added: &[AddedToken<'_>],
    coding: &Coding,
) -> Result<(), VocabularyError> {
    let mut decoded = Vec::new();
    for token in added {
        let text = &*token.content.0;
        // Some files do not mark all control tokens as special, `</s>` of Phi 3 among them.
        if token.special || is_stop_name(text) {
            builder.special(token.id, text)?;
            continue;
        }
        // If a piece of the model is also listed here, this changes when it is used, not its bytes
        // (Gemma's runs of spaces). Otherwise the text is literal, except for the character that
        // represents the space.
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

/// Refuses models in which the bytes of a piece depend on its neighbours.
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

/// The effect of the decoder on one piece.
pub(super) struct Coding {
    pub(super) byte_level: bool,
    pub(super) byte_fallback: bool,
    /// Patterns and replacements, in order.
    replacements: Vec<(String, String)>,
    leading_space: bool,
    /// Remaining bytes that replacements may produce, over all pieces and all steps.
    replaced: Cell<usize>,
}

/// Upper bound on the replacing steps: files have two or three.
const MAX_REPLACEMENTS: usize = 64;

/// Upper bound on the bytes of the decoder's description: files have a few kilobytes.
const MAX_DESCRIPTION: usize = 1 << 20;

/// Upper bound on the bytes that replacements produce, as a multiple of the limit on the bytes of
/// all tokens.
const TIMES_REPLACED: usize = 8;

/// Parses the description of a decoder or pre-tokenizer; null if there is none.
pub(super) fn description(raw: Option<&RawValue>) -> Result<Value, VocabularyError> {
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
            // Without a decoder the pieces are joined unchanged; the pre-tokenizer shows their
            // encoding.
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
                "the tokenizer's decoder has more than {MAX_REPLACEMENTS} Replace steps"
            )));
        }
        if !coding.byte_level && !coding.byte_fallback && coding.replacements.is_empty() {
            return Err(VocabularyError::unsupported(
                "the tokenizer's decoder does not define how bytes are written: supported are \
                 ByteLevel, and Metaspace, Replace and ByteFallback",
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
            // After Fuse the whole text is one piece, and only its beginning loses a space.
            "Strip" if *fused => {
                let stripped = |end: &str| step.get(end).and_then(Value::as_u64).unwrap_or(0);
                let of_space = step.get("content").and_then(Value::as_str) == Some(" ");
                self.leading_space |= of_space && stripped("start") > 0;
            }
            other => {
                return Err(VocabularyError::unsupported(format!(
                    "the tokenizer's decoder has the step {other}, after which a piece has no \
                     bytes of its own; supported are ByteLevel, ByteFallback, Metaspace, Replace, \
                     Fuse, and Strip after Fuse"
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
    pub(super) fn decode(&self, piece: &str, bytes: &mut Vec<u8>) -> Result<(), VocabularyError> {
        if self.byte_fallback
            && let Some(byte) = fallback_byte(piece)
        {
            bytes.push(byte);
            return Ok(());
        }
        // A piece with characters outside the alphabet is taken literally, as the decoder does.
        if self.byte_level && byte_level::decode(piece, bytes) {
            return Ok(());
        }
        self.decode_added(piece, bytes)
    }

    /// Appends the bytes of an added token.
    fn decode_added(&self, text: &str, bytes: &mut Vec<u8>) -> Result<(), VocabularyError> {
        let mut text = Cow::Borrowed(text);
        for (from, to) in &self.replacements {
            let times = text.matches(&**from).count();
            if times > 0 {
                // Checked before the text is built: a few steps can turn one letter into gigabytes.
                let length = (text.len() - times * from.len())
                    .saturating_add(times.saturating_mul(to.len()));
                let left = self.replaced.get().checked_sub(length);
                let left = left.ok_or_else(|| {
                    VocabularyError::limit(
                        "the replacements of the tokenizer's decoder make tokens too long",
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

/// Returns the byte of a piece of the form `<0x0A>`.
pub(in crate::vocab) fn fallback_byte(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    let hexadecimal = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    hexadecimal.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

/// Returns the type of a step of a pipeline.
pub(in crate::vocab) fn kind(step: &Value) -> &str {
    step.get("type").and_then(Value::as_str).unwrap_or("without a type")
}

/// Returns the steps of a pipeline in order, with sequences flattened. The JSON reader bounds their
/// nesting.
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

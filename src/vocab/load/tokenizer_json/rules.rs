//! How the tokenizer of a `tokenizer.json` cuts texts into tokens: its normalizer, pre-tokenizer,
//! added tokens and merges.

use serde_json::Value;

use super::{Coding, File, description, fallback_byte, kind, steps};
use crate::vocab::Vocabulary;
use crate::vocab::bpe::{Bpe, CanonicalError, Letters, ONE_PIECE, Ranks, Tokenizer, patterns};
use crate::vocab::builder::VocabularyBuilder;
use crate::vocab::load::merges::{EachMerge, MergeList};

/// Returns the rules of a file, or the reason why they cannot be followed.
pub(super) fn of(file: &File<'_>, coding: &Coding, builder: &VocabularyBuilder) -> Tokenizer {
    rules(file, coding, builder).map_or_else(Tokenizer::Unknown, Tokenizer::from)
}

fn rules(
    file: &File<'_>,
    coding: &Coding,
    builder: &VocabularyBuilder,
) -> Result<Bpe, CanonicalError> {
    let model = file.model.kind.as_ref().map_or("BPE", |kind| &*kind.0);
    if model != "BPE" {
        return Err(CanonicalError::NotBpe(model.to_owned()));
    }
    let pattern = pattern(file, coding)?;
    let ranks = Ranks::Merges(merges(file, coding)?.into());
    let letters = match coding.byte_level {
        true => Letters::Bytes,
        false => {
            let bytes = file.model.vocab.iter().filter(|(piece, _)| fallback_byte(piece).is_some());
            Letters::Characters(bytes.map(|(_, id)| id as u32).collect())
        }
    };
    let mut bpe = Bpe::new(ranks, letters).with_pattern(&pattern);
    bpe.whole_first = file.model.ignore_merges;
    let mut added = Vec::new();
    for token in &file.added_tokens {
        let Some(bytes) = builder.bytes(token.id) else { continue };
        // A text is searched for these as it is, and for the others after it is normalized.
        let is_text = token.normalized != Some(false) || bytes == token.content.0.as_bytes();
        if (token.lstrip || token.rstrip || token.single_word) && is_text {
            return Err(step("an added token takes the blanks around it, or is a word"));
        }
        if is_text {
            added.push(token.id as u32);
        }
    }
    bpe.added = added.into();
    Ok(bpe)
}

fn step(what: impl Into<String>) -> CanonicalError {
    CanonicalError::Step(what.into())
}

fn merges(
    file: &File<'_>,
    coding: &Coding,
) -> Result<Vec<crate::vocab::bpe::Merge>, CanonicalError> {
    let Some(raw) = file.model.merges else { return Err(CanonicalError::NoMerges) };
    let pieces = &file.model.vocab;
    let piece = |place| pieces.get(place).map(|(piece, id): (&str, u64)| (piece.as_bytes(), id));
    let mut list = MergeList::new(piece);
    let mut decoded = Vec::new();
    let mut is_read = true;
    let each = EachMerge(|left: &str, right: &str| {
        // In the byte-level alphabet each character is a byte.
        let length = match coding.byte_level {
            true => left.chars().count(),
            false => {
                decoded.clear();
                is_read &= coding.decode(left, &mut decoded).is_ok();
                decoded.len()
            }
        };
        list.add(left, right, length);
    });
    let read = each.read(raw.get());
    match read.is_ok() && is_read {
        true => Ok(list.finish()),
        false => Err(step("its merges are no pairs of pieces")),
    }
}

/// Returns the pattern that splits a text.
fn pattern(file: &File<'_>, coding: &Coding) -> Result<String, CanonicalError> {
    let read = |raw| description(raw).map_err(|error| step(error.to_string()));
    let (normalizer, pre_tokenizer) = (read(file.normalizer)?, read(file.pre_tokenizer)?);
    let mut spaces_are_replaced = false;
    for normal in steps(&normalizer, "normalizers") {
        let is_space = normal.pointer("/pattern/String").and_then(Value::as_str) == Some(" ");
        match kind(normal) {
            // The text that a model writes is not normalized: these change no text that it is
            // compared with.
            "NFC" | "Prepend" => {}
            "Replace" if is_space && !coding.byte_level => spaces_are_replaced = true,
            other => return Err(step(format!("its normalizer has the step {other}"))),
        }
    }
    let mut pattern: Option<String> = None;
    let mut digits = false;
    for split in steps(&pre_tokenizer, "pretokenizers") {
        let flag =
            |name: &str, default| split.get(name).and_then(Value::as_bool).unwrap_or(default);
        let next = match kind(split) {
            "ByteLevel" if flag("use_regex", true) && digits => patterns::DIGITS_AND_GPT2,
            "ByteLevel" if flag("use_regex", true) => Vocabulary::GPT2_PATTERN,
            "ByteLevel" => continue,
            "Digits" if flag("individual_digits", false) && pattern.is_none() && !digits => {
                digits = true;
                continue;
            }
            "Metaspace" if flag("split", true) => patterns::SPACES,
            "Metaspace" => continue,
            // No text has spaces any more.
            "Split"
                if spaces_are_replaced
                    && split.pointer("/pattern/String").is_some_and(|p| p == " ") =>
            {
                continue;
            }
            "Split" => {
                let behavior = split.get("behavior").and_then(Value::as_str).unwrap_or("Isolated");
                let regex = split.pointer("/pattern/Regex").and_then(Value::as_str);
                let is_whole = match behavior {
                    "Isolated" => !flag("invert", false),
                    "Removed" => flag("invert", false),
                    _ => false,
                };
                match regex.filter(|_| is_whole) {
                    Some(regex) => regex,
                    None => return Err(step("its pre-tokenizer splits other than by a regex")),
                }
            }
            other => return Err(step(format!("its pre-tokenizer has the step {other}"))),
        };
        if pattern.replace(next.to_owned()).is_some() || digits && next != patterns::DIGITS_AND_GPT2
        {
            return Err(step("its pre-tokenizer splits several times"));
        }
    }
    match pattern {
        Some(pattern) => Ok(pattern),
        None if digits => Err(step("its pre-tokenizer splits digits only")),
        None => Ok(ONE_PIECE.to_owned()),
    }
}

//! Mistral's `tekken.json`: tokens in base64 by rank, after the special tokens.
//!
//! The first `default_num_special_tokens` ids are special; the id of a token is that number plus
//! its rank. Tokens whose id would not be below `default_vocab_size` are in the file but not used.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::check_size;
use crate::vocab::Vocabulary;
use crate::vocab::bpe::Bpe;
use crate::vocab::builder::VocabularyBuilder;
use crate::vocab::error::VocabularyError;
use crate::vocab::reader::VocabularyReader;

use super::pieces::Text;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    config: Config<'a>,
    #[serde(borrow)]
    vocab: Vec<Entry<'a>>,
    #[serde(borrow, default)]
    special_tokens: Option<Vec<SpecialToken<'a>>>,
}

#[derive(Deserialize)]
struct Config<'a> {
    #[serde(borrow, default)]
    pattern: Option<Text<'a>>,
    default_vocab_size: u64,
    default_num_special_tokens: u64,
}

#[derive(Deserialize)]
struct Entry<'a> {
    rank: u64,
    #[serde(borrow)]
    token_bytes: Text<'a>,
}

#[derive(Deserialize)]
struct SpecialToken<'a> {
    rank: u64,
    #[serde(borrow)]
    token_str: Text<'a>,
}

/// The first special tokens of files that do not list them (before version 7).
const OLD_SPECIAL_TOKENS: &str = "\
    <unk>|<s>|</s>|[INST]|[/INST]|[AVAILABLE_TOOLS]|[/AVAILABLE_TOOLS]|[TOOL_RESULTS]|\
    [/TOOL_RESULTS]|[TOOL_CALLS]|[IMG]|<pad>|[IMG_BREAK]|[IMG_END]|[PREFIX]|[MIDDLE]|[SUFFIX]|\
    [SYSTEM_PROMPT]|[/SYSTEM_PROMPT]|[TOOL_CONTENT]";

impl Vocabulary {
    /// Reads Mistral's `tekken.json`. Costs about 60 ms, most of it for skipping unused parts.
    ///
    /// # Errors
    ///
    /// If the JSON has another shape, a token is not base64, two tokens have the same id, or the
    /// limits of [`Vocabulary::from_tokens`] are exceeded.
    pub fn from_tekken(bytes: &[u8]) -> Result<Self, VocabularyError> {
        VocabularyReader::new().tekken(bytes)
    }
}

impl VocabularyReader {
    /// Reads the format of [`Vocabulary::from_tekken`].
    ///
    /// # Errors
    ///
    /// The same, and [`VocabularyErrorKind::Limit`](crate::VocabularyErrorKind::Limit) if a limit
    /// is exceeded.
    pub fn tekken(&self, bytes: &[u8]) -> Result<Vocabulary, VocabularyError> {
        let limits = self.within();
        check_size(bytes, limits)?;
        let file: File<'_> = serde_json::from_slice(bytes)
            .map_err(|error| VocabularyError::malformed(format!("not a tekken.json: {error}")))?;
        let special_count = file.config.default_num_special_tokens;
        let width = file.config.default_vocab_size;
        if special_count > width {
            return Err(VocabularyError::malformed(format!(
                "{special_count} special tokens do not fit in a vocabulary of {width}"
            )));
        }

        let mut builder = VocabularyBuilder::within(limits);
        let mut bpe = Bpe::by_ids();
        bpe.pattern = file.config.pattern.as_ref().map(|pattern| pattern.0.as_ref().into());
        builder.tokenizer(bpe.into());
        if let Some(last) = width.checked_sub(1) {
            builder.widen(last)?;
        }
        for id in 0..special_count {
            builder.special(id, &format!("<SPECIAL_{id}>"))?;
        }
        match &file.special_tokens {
            Some(listed) => {
                for token in listed {
                    if token.rank >= special_count {
                        return Err(VocabularyError::malformed(format!(
                            "special token \"{}\" has the rank {}, which is not below the number \
                             of special tokens, {special_count}",
                            token.token_str.0.escape_debug(),
                            token.rank
                        )));
                    }
                    builder.special(token.rank, &token.token_str.0)?;
                }
            }
            None => {
                for (id, name) in (0..special_count).zip(OLD_SPECIAL_TOKENS.split('|')) {
                    builder.special(id, name)?;
                }
            }
        }
        let mut decoded = Vec::new();
        for entry in file.vocab.iter().filter(|entry| entry.rank < width - special_count) {
            decoded.clear();
            STANDARD.decode_vec(&*entry.token_bytes.0, &mut decoded).map_err(|error| {
                VocabularyError::malformed(format!(
                    "the token of rank {} is not base64: {error}",
                    entry.rank
                ))
            })?;
            builder.token(special_count + entry.rank, &decoded)?;
        }
        builder.finish()
    }
}

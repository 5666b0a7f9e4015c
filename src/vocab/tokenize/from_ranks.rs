//! Tokenizers that merge whatever makes a token, the least rank first: tiktoken and tekken.

use serde::Deserialize;

use crate::vocab::load::pieces::Text;

use super::{
    Atoms, GPT2_PATTERN, Merges, NO_TOKEN, TokenId, Tokenizer, Units, Vocabulary, VocabularyError, pattern,
};

const CL100K_PATTERN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const O200K_PATTERN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

impl Tokenizer {
    /// The tokenizer of a built-in vocabulary; the names are those of [`Vocabulary::builtin`].
    ///
    /// # Errors
    ///
    /// A name that is not known.
    #[cfg(feature = "tiktoken")]
    pub fn builtin(name: &str) -> Result<Self, VocabularyError> {
        by_count(&Vocabulary::builtin(name)?)
    }

    /// The tokenizer of a tiktoken file. The splitting pattern is not in the file: it is known for
    /// the files of GPT-2, `p50k`, `cl100k`, `o200k` and Llama 3, which are told apart by their
    /// count of tokens.
    ///
    /// # Errors
    ///
    /// [`crate::VocabularyErrorKind::Unsupported`] for other files; else as of
    /// [`Vocabulary::from_tiktoken`].
    pub fn from_tiktoken(bytes: &[u8]) -> Result<Self, VocabularyError> {
        by_count(&Vocabulary::from_tiktoken(bytes)?)
    }

    /// The tokenizer of Mistral's `tekken.json`.
    ///
    /// # Errors
    ///
    /// As of [`Vocabulary::from_tekken`].
    pub fn from_tekken(bytes: &[u8]) -> Result<Self, VocabularyError> {
        #[derive(Deserialize)]
        struct File<'a> {
            #[serde(borrow)]
            config: Config<'a>,
        }
        #[derive(Deserialize)]
        struct Config<'a> {
            #[serde(borrow)]
            pattern: Text<'a>,
        }
        let file: File<'_> = serde_json::from_slice(bytes)
            .map_err(|error| VocabularyError::malformed(format!("not a tekken.json: {error}")))?;
        by_rank(&Vocabulary::from_tekken(bytes)?, &file.config.pattern.0)
    }
}

fn by_count(vocabulary: &Vocabulary) -> Result<Tokenizer, VocabularyError> {
    let count = vocabulary.len() - vocabulary.special_tokens().count();
    let split = match count {
        50_256 | 50_280 => GPT2_PATTERN,
        // Llama 3 splits as cl100k does.
        100_256 | 128_000 => CL100K_PATTERN,
        199_998 => O200K_PATTERN,
        _ => {
            return Err(VocabularyError::unsupported(format!(
                "a tiktoken file does not say how texts are split into words, and none that is known has \
                 {count} tokens; use the model's tokenizer.json"
            )));
        }
    };
    by_rank(vocabulary, split)
}

/// The tokenizer whose ranks are in the order of the ids.
fn by_rank(vocabulary: &Vocabulary, split: &str) -> Result<Tokenizer, VocabularyError> {
    let mut bytes = [NO_TOKEN; 256];
    let mut tokens = rustc_hash::FxHashMap::default();
    for id in (0..vocabulary.width() as u32).rev() {
        let Some(token) = vocabulary.bytes(TokenId(id)) else { continue };
        if let &[byte] = token {
            bytes[usize::from(byte)] = id;
        }
        tokens.insert(token.into(), (id, id));
    }
    Ok(Tokenizer {
        atoms: Atoms::new(&[]),
        splits: vec![pattern(split)?],
        whole_words: Some(vocabulary.clone()),
        merges: Merges::ByBytes(tokens),
        units: Units::Bytes(bytes),
        normal_form_c: false,
        escapes_spaces: false,
    })
}

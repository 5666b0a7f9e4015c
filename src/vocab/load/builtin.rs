//! The vocabularies that are called by name: single bytes, and those of `tiktoken-rs`.

#[cfg(feature = "tiktoken")]
use tiktoken_rs::CoreBPE;

#[cfg(feature = "tiktoken")]
use crate::util::limits::Limits;
use crate::vocab::Vocabulary;
#[cfg(feature = "tiktoken")]
use crate::vocab::bpe::Bpe;
#[cfg(feature = "tiktoken")]
use crate::vocab::builder::VocabularyBuilder;
use crate::vocab::error::{VocabularyError, VocabularyErrorKind};

impl Vocabulary {
    /// Loads a vocabulary by its name: `bytes` ([`Vocabulary::single_bytes`]), and with the feature
    /// `tiktoken` also `gpt2` (`r50k_base`), `p50k` (`p50k_base`), `cl100k` (`cl100k_base`, GPT-4),
    /// `o200k` (`o200k_base`, GPT-4o) and `o200k_harmony` (gpt-oss). Costs 30 ms for `gpt2`, 200 ms
    /// for `o200k`: it is parsed each time, so keep the result.
    ///
    /// # Errors
    ///
    /// If the name is none of these.
    pub fn builtin(name: &str) -> Result<Self, VocabularyError> {
        if name == "bytes" {
            return Ok(Self::single_bytes());
        }
        #[cfg(feature = "tiktoken")]
        if let Some((bpe, width, pattern)) = find(name) {
            let bpe = bpe.map_err(|error| {
                VocabularyError::malformed(format!("built-in vocabulary: {error}"))
            })?;
            return extract(&bpe, width, pattern);
        }
        let names = if cfg!(feature = "tiktoken") {
            "there are bytes, gpt2, p50k, cl100k, o200k and o200k_harmony"
        } else {
            "without the feature `tiktoken` there is only bytes; read the tokenizer's file"
        };
        Err(VocabularyError::new(
            VocabularyErrorKind::UnknownName,
            format!("no built-in vocabulary is called \"{}\"; {names}", name.escape_debug()),
        ))
    }
}

/// Returns the tokenizer with this name, the width of its vocabulary, and its pattern.
#[cfg(feature = "tiktoken")]
fn find(name: &str) -> Option<(Result<CoreBPE, impl std::fmt::Display>, u32, &'static str)> {
    let (gpt2, o200k) = (Vocabulary::GPT2_PATTERN, Vocabulary::O200K_PATTERN);
    Some(match name {
        "gpt2" | "r50k" | "r50k_base" => (tiktoken_rs::r50k_base(), 50_257, gpt2),
        "p50k" | "p50k_base" => (tiktoken_rs::p50k_base(), 50_281, gpt2),
        "cl100k" | "cl100k_base" => {
            (tiktoken_rs::cl100k_base(), 100_277, Vocabulary::CL100K_PATTERN)
        }
        "o200k" | "o200k_base" => (tiktoken_rs::o200k_base(), 200_019, o200k),
        "o200k_harmony" => (tiktoken_rs::o200k_harmony(), 201_088, o200k),
        _ => return None,
    })
}

/// Extracts the bytes of every id; ids unknown to the tokenizer are holes.
#[cfg(feature = "tiktoken")]
fn extract(bpe: &CoreBPE, width: u32, pattern: &str) -> Result<Vocabulary, VocabularyError> {
    let mut builder = VocabularyBuilder::within(&Limits::default());
    builder.tokenizer(Bpe::by_ids().with_pattern(pattern).into());
    builder.widen(u64::from(width) - 1)?;
    for id in 0..width {
        if let Ok(bytes) = bpe.decode_bytes(&[id]) {
            builder.token(id.into(), &bytes)?;
        }
    }
    for name in bpe.special_tokens() {
        if let &[id] = &*bpe.encode_with_special_tokens(name) {
            builder.special(id.into(), name)?;
        }
    }
    builder.finish()
}

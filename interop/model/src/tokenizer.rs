//! The model's own tokenizer and vocabulary, from the file's metadata.

use anyhow::{Context, Result, anyhow};
use lrmask::Vocabulary;
use tokenizers::Tokenizer as Encoder;

use crate::gguf::{Header, Value};

/// The type of tokens that are no text, such as the beginning of a message.
const CONTROL: f64 = 3.0;

/// Encodes prompts, and tells the tokens' bytes.
pub struct Tokenizer {
    encoder: Encoder,
    /// The tokens as bytes, with the tokens that end a text.
    pub vocabulary: Vocabulary,
}

impl Tokenizer {
    /// Reads a byte-level BPE. The pre-tokenizer is SmolLM's: single digits, then GPT-2's words.
    pub fn read(header: &Header, file: &[u8]) -> Result<Self> {
        let tokens = header.texts("tokenizer.ggml.tokens")?;
        let Some(Value::List(kinds)) = header.metadata.get("tokenizer.ggml.token_type") else {
            return Err(anyhow!("the file has no types of tokens"));
        };
        let special: Vec<_> = tokens
            .iter()
            .zip(kinds)
            .enumerate()
            .filter(|(_, (_, kind))| matches!(kind, Value::Number(kind) if *kind == CONTROL))
            .map(|(id, (token, _))| {
                serde_json::json!({
                    "id": id, "content": token, "special": true, "normalized": false,
                    "single_word": false, "lstrip": false, "rstrip": false,
                })
            })
            .collect();
        let ids: serde_json::Map<_, _> =
            tokens.iter().enumerate().map(|(id, &token)| (token.into(), id.into())).collect();
        let bytes = serde_json::json!({
            "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true,
        });
        let description = serde_json::to_vec(&serde_json::json!({
            "version": "1.0",
            "added_tokens": special,
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [{ "type": "Digits", "individual_digits": true }, bytes.clone()],
            },
            "decoder": bytes,
            "model": {
                "type": "BPE", "vocab": ids, "merges": header.texts("tokenizer.ggml.merges")?,
            },
        }))?;
        let encoder = Encoder::from_bytes(&description).map_err(|error| anyhow!("{error}"))?;
        Ok(Self { encoder, vocabulary: Vocabulary::from_gguf(file).context("the vocabulary")? })
    }

    /// Encodes a text, in which names of special tokens are these tokens.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let encoding = self.encoder.encode_fast(text, false);
        encoding.map(|encoding| encoding.get_ids().to_vec()).unwrap_or_default()
    }

    /// Encodes bytes, if they are UTF-8; otherwise there are no tokens.
    pub fn encode_bytes(&self, text: &[u8]) -> Vec<u32> {
        std::str::from_utf8(text).map(|text| self.encode(text)).unwrap_or_default()
    }

    /// Returns the bytes of a list of tokens; special tokens have none.
    pub fn decode(&self, tokens: &[u32]) -> Vec<u8> {
        let bytes = |&token: &u32| self.vocabulary.bytes(token).unwrap_or_default();
        tokens.iter().flat_map(|token| bytes(token).iter().copied()).collect()
    }
}

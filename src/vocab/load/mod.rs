//! Readers of tokenizer files, one for each format, and one that detects the format.
//!
//! They accept any bytes: garbage is an error, never a panic, and memory is used only in proportion
//! to the file (and to the greatest id, which is bounded).

mod builtin;
mod byte_level;
mod gguf;
mod list;
mod merges;
pub(super) mod pieces;
mod protobuf;
pub(super) mod sentencepiece;
pub(super) mod sniff;
mod tekken;
mod tiktoken;
pub(super) mod tokenizer_json;
mod vocab_json;

use crate::util::limits::Limits;
use crate::vocab::error::VocabularyError;

/// Refuses a file that is too large before it is parsed.
fn check_size(bytes: &[u8], limits: &Limits) -> Result<(), VocabularyError> {
    match bytes.len() > limits.vocabulary_bytes {
        true => Err(VocabularyError::limit(format!(
            "the file has {} bytes; `vocabulary_bytes` of the limits allows {}",
            bytes.len(),
            limits.vocabulary_bytes
        ))),
        false => Ok(()),
    }
}

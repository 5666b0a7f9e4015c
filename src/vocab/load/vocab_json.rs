//! GPT-2's `vocab.json` (`encoder.json`): only a map from pieces to ids.
//!
//! The file does not specify the encoding of bytes, so it is detected from the pieces: either all
//! 256 characters of the byte-level alphabet occur, or all 256 pieces `<0x00>` to `<0xFF>`.

use super::check_size;
use crate::vocab::Vocabulary;
use crate::vocab::builder::VocabularyBuilder;
use crate::vocab::error::VocabularyError;
use crate::vocab::reader::VocabularyReader;
use crate::vocab::stops::is_stop_name;

use super::byte_level;
use super::pieces::Pieces;
use super::tokenizer_json::fallback_byte;

impl Vocabulary {
    /// Reads GPT-2's `vocab.json`, a JSON map from pieces to ids. Pieces whose names are known to
    /// end texts, and `<s>`, `<unk>`, `<pad>` and `<bos>`, are special; added tokens are in other
    /// files, see [`Vocabulary::with_special`].
    ///
    /// # Errors
    ///
    /// If the JSON has another shape, the pieces do not show the encoding of bytes, two pieces have
    /// the same id, or the limits of [`Vocabulary::from_tokens`] are exceeded.
    pub fn from_vocab_json(bytes: &[u8]) -> Result<Self, VocabularyError> {
        VocabularyReader::new().vocab_json(bytes)
    }
}

impl VocabularyReader {
    /// Reads the format of [`Vocabulary::from_vocab_json`].
    ///
    /// # Errors
    ///
    /// The same, and [`VocabularyErrorKind::Limit`](crate::VocabularyErrorKind::Limit) if a limit
    /// is exceeded.
    pub fn vocab_json(&self, bytes: &[u8]) -> Result<Vocabulary, VocabularyError> {
        let limits = self.within();
        check_size(bytes, limits)?;
        let pieces: Pieces = serde_json::from_slice(bytes)
            .map_err(|error| VocabularyError::malformed(format!("not a vocab.json: {error}")))?;
        let byte_level = is_byte_level(&pieces)?;

        let mut builder = VocabularyBuilder::within(limits);
        let mut decoded = Vec::new();
        for (piece, id) in pieces.iter() {
            if is_stop_name(piece) || matches!(piece, "<s>" | "<unk>" | "<pad>" | "<bos>") {
                builder.special(id, piece)?;
                continue;
            }
            decoded.clear();
            if byte_level {
                if !byte_level::decode(piece, &mut decoded) {
                    decoded.extend_from_slice(piece.as_bytes());
                }
            } else if let Some(byte) = fallback_byte(piece) {
                decoded.push(byte);
            } else {
                decoded.extend_from_slice(piece.replace('\u{2581}', " ").as_bytes());
            }
            builder.token(id, &decoded)?;
        }
        builder.finish()
    }
}

/// Returns whether the pieces are written in the byte-level alphabet; if not, they are in
/// SentencePiece's form.
fn is_byte_level(pieces: &Pieces) -> Result<bool, VocabularyError> {
    let mut letters = [false; 256];
    let mut fallbacks = [false; 256];
    let mut decoded = Vec::new();
    for (piece, _) in pieces.iter() {
        if let Some(byte) = fallback_byte(piece) {
            fallbacks[usize::from(byte)] = true;
        } else if piece.chars().nth(1).is_none() {
            decoded.clear();
            if byte_level::decode(piece, &mut decoded)
                && let &[byte] = &*decoded
            {
                letters[usize::from(byte)] = true;
            }
        }
    }
    if letters.iter().all(|&known| known) {
        return Ok(true);
    }
    if fallbacks.iter().all(|&known| known) {
        return Ok(false);
    }
    Err(VocabularyError::unsupported(
        "the pieces do not show how bytes are written: neither all 256 letters of the byte-level \
         alphabet nor all of <0x00> to <0xFF> are present; use the model's tokenizer.json",
    ))
}

//! tiktoken's files, also used by Llama 3: each line is `BASE64 RANK`; the rank is the id.
//!
//! Special tokens are not in the file but in the code of each model's tokenizer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::check_size;
use crate::vocab::Vocabulary;
use crate::vocab::bpe::Bpe;
use crate::vocab::builder::VocabularyBuilder;
use crate::vocab::error::VocabularyError;
use crate::vocab::reader::VocabularyReader;

impl Vocabulary {
    /// Reads a tiktoken file: on each line a token in base64, a space, and its id. Special tokens
    /// are not in such a file: add them with [`Vocabulary::with_special`], at least the one that
    /// ends the text. Costs about 20 ms for 128,000 tokens.
    ///
    /// # Errors
    ///
    /// If a line has another form, two tokens have the same id, or the limits of
    /// [`Vocabulary::from_tokens`] are exceeded.
    pub fn from_tiktoken(bytes: &[u8]) -> Result<Self, VocabularyError> {
        VocabularyReader::new().tiktoken(bytes)
    }
}

impl VocabularyReader {
    /// Reads the format of [`Vocabulary::from_tiktoken`].
    ///
    /// # Errors
    ///
    /// The same, and [`VocabularyErrorKind::Limit`](crate::VocabularyErrorKind::Limit) if a limit
    /// is exceeded.
    pub fn tiktoken(&self, bytes: &[u8]) -> Result<Vocabulary, VocabularyError> {
        let limits = self.within();
        check_size(bytes, limits)?;
        let mut builder = VocabularyBuilder::within(limits);
        builder.tokenizer(Bpe::by_ids().into());
        let mut decoded = Vec::new();
        for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let malformed =
                |what: &str| VocabularyError::malformed(format!("line {}: {what}", number + 1));
            let space = line
                .iter()
                .position(|&byte| byte == b' ')
                .ok_or_else(|| malformed("expected a token in base64, a space and an id"))?;
            decoded.clear();
            STANDARD
                .decode_vec(&line[..space], &mut decoded)
                .map_err(|error| malformed(&format!("the token is not base64: {error}")))?;
            let id = std::str::from_utf8(&line[space + 1..])
                .ok()
                .and_then(|id| id.parse::<u64>().ok())
                .ok_or_else(|| malformed("the id is not a number"))?;
            builder.token(id, &decoded)?;
        }
        builder.finish()
    }
}

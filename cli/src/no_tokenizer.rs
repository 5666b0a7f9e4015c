//! The place of models' own tokenizers in a program that is built without them.

use lrmask::{TokenId, Vocabulary};

/// No tokenizer.
#[derive(Debug)]
pub(crate) enum Tokenizer {}

/// The reason.
const ABSENT: &str = "this program is built without tokenizers";

impl Tokenizer {
    /// Always an error.
    pub(crate) fn builtin(_: &str) -> Result<Self, String> {
        Err(ABSENT.to_owned())
    }

    /// Always an error.
    pub(crate) fn from_file_bytes(_: &[u8]) -> Result<Self, String> {
        Err(ABSENT.to_owned())
    }

    /// Never called.
    pub(crate) fn encode(&self, _: &Vocabulary, _: &str) -> Option<Vec<TokenId>> {
        match *self {}
    }
}

//! Cutting of texts as a model's own tokenizer does it, by the crates that models use elsewhere.

use std::fmt;

use lrmask::{TokenId, Vocabulary};
use serde_json::{Value, json};

/// The tokenizer of a built-in vocabulary, or of a `tokenizer.json` file.
pub(crate) enum Tokenizer {
    /// Of a built-in vocabulary.
    BuiltIn(Box<tiktoken_rs::CoreBPE>),
    /// Of a file.
    File(Box<tokenizers::Tokenizer>),
}

impl Tokenizer {
    /// Returns the tokenizer of the built-in vocabulary `name`.
    ///
    /// # Errors
    ///
    /// A message, if there is none.
    pub(crate) fn builtin(name: &str) -> Result<Self, String> {
        let tokenizer = match name {
            "gpt2" | "r50k" | "r50k_base" => tiktoken_rs::r50k_base(),
            "p50k" | "p50k_base" => tiktoken_rs::p50k_base(),
            "cl100k" | "cl100k_base" => tiktoken_rs::cl100k_base(),
            "o200k" | "o200k_base" => tiktoken_rs::o200k_base(),
            "o200k_harmony" => tiktoken_rs::o200k_harmony(),
            _ => return Err(format!("no built-in tokenizer is called {name}")),
        };
        Ok(Self::BuiltIn(Box::new(tokenizer.map_err(|error| error.to_string())?)))
    }

    /// Reads the tokenizer of a `tokenizer.json` file. Anything that it puts before every text is
    /// removed: it is not part of the text.
    ///
    /// # Errors
    ///
    /// A message, for other files and for broken ones.
    pub(crate) fn from_file_bytes(bytes: &[u8]) -> Result<Self, String> {
        let no_json = "its file is not a tokenizer.json, so how it cuts texts is unknown";
        let mut file: Value = serde_json::from_slice(bytes).map_err(|_| no_json.to_owned())?;
        if file.get("model").is_none() {
            return Err(no_json.to_owned());
        }
        without_prefix(&mut file);
        without_blank_merges(&mut file);
        let file = serde_json::to_vec(&file).map_err(|error| error.to_string())?;
        let mut tokenizer =
            tokenizers::Tokenizer::from_bytes(&file).map_err(|error| error.to_string())?;
        // The name of a special token is ordinary text.
        tokenizer.set_encode_special_tokens(true);
        Ok(Self::File(Box::new(tokenizer)))
    }

    /// Cuts `text`. Returns `None` if the tokenizer changes the text, for example by normalization.
    pub(crate) fn encode(&self, vocabulary: &Vocabulary, text: &str) -> Option<Vec<TokenId>> {
        let ids = match self {
            Self::BuiltIn(tokenizer) => tokenizer.encode_ordinary(text),
            Self::File(tokenizer) => tokenizer.encode_fast(text, false).ok()?.get_ids().to_vec(),
        };
        let spelled = ids.iter().flat_map(|id| vocabulary.bytes(id).unwrap_or_default());
        spelled.eq(text.as_bytes()).then(|| ids.iter().map(TokenId::from).collect())
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokenizer")
    }
}

/// Removes the steps of a tokenizer that put a space before the text, and no others.
fn without_prefix(file: &mut Value) {
    for step in steps(&mut file["normalizer"], "normalizers") {
        if step["type"] == "Prepend" {
            *step = json!({ "type": "Sequence", "normalizers": [] });
        }
    }
    for step in steps(&mut file["pre_tokenizer"], "pretokenizers") {
        match step["type"].as_str() {
            Some("Metaspace") => step["prepend_scheme"] = "never".into(),
            Some("ByteLevel") => step["add_prefix_space"] = false.into(),
            _ => {}
        }
    }
}

/// Removes merges that do not consist of two words: files converted from SentencePiece may contain
/// merges of blanks, which their own normalizer has replaced before any merge.
fn without_blank_merges(file: &mut Value) {
    if let Some(Value::Array(merges)) = file.pointer_mut("/model/merges") {
        merges.retain(|merge| merge.as_str().is_none_or(|merge| merge.split(' ').count() == 2));
    }
}

/// Returns the steps of a part of the file: those in the list `name`, or the part itself.
fn steps<'f>(part: &'f mut Value, name: &str) -> &'f mut [Value] {
    if part.get(name).is_none() {
        return std::slice::from_mut(part);
    }
    part[name].as_array_mut().map_or(&mut [], Vec::as_mut_slice)
}

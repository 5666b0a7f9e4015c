//! The plain format: a JSON array of tokens, for tests, small models and tokenizers of other kinds.
//!
//! ```json
//! ["a", "\u00e9", [226, 130], null, "</s>"]
//! ```
//!
//! The id of a token is its position. A string is its UTF-8 text, an array of numbers is bytes (for
//! tokens that are not text by themselves), `null` and the empty string are holes. The longer form
//! is an object:
//!
//! ```json
//! {"tokens": ["a", "b"], "special": {"</s>": 2}, "stop": [2], "width": 32}
//! ```
//!
//! where all but `tokens` is optional.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::check_size;
use crate::vocab::Vocabulary;
use crate::vocab::builder::VocabularyBuilder;
use crate::vocab::error::VocabularyError;
use crate::vocab::reader::VocabularyReader;

#[derive(Deserialize)]
#[serde(untagged)]
enum Token<'a> {
    Hole,
    #[serde(borrow)]
    Text(Cow<'a, str>),
    Bytes(Vec<u8>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object<'a> {
    #[serde(borrow)]
    tokens: Vec<Token<'a>>,
    #[serde(default)]
    special: BTreeMap<String, u64>,
    #[serde(default)]
    stop: Option<Vec<u32>>,
    #[serde(default)]
    width: Option<usize>,
}

impl Vocabulary {
    /// Reads a plain list of tokens: a JSON array whose elements are strings (UTF-8 text), arrays
    /// of byte values, or `null` for a hole; the id is the position. Alternatively an object
    /// `{"tokens": [..], "special": {NAME: ID, ..}, "stop": [ID, ..], "width": N}`, where all but
    /// `tokens` is optional.
    ///
    /// # Errors
    ///
    /// If the JSON has another shape, or exceeds the limits of [`Vocabulary::from_tokens`].
    pub fn from_token_list(bytes: &[u8]) -> Result<Self, VocabularyError> {
        VocabularyReader::new().token_list(bytes)
    }
}

impl VocabularyReader {
    /// Reads the format of [`Vocabulary::from_token_list`].
    ///
    /// # Errors
    ///
    /// The same, and [`VocabularyErrorKind::Limit`](crate::VocabularyErrorKind::Limit) if a limit
    /// is exceeded.
    pub fn token_list(&self, bytes: &[u8]) -> Result<Vocabulary, VocabularyError> {
        let limits = self.within();
        check_size(bytes, limits)?;
        let malformed =
            |error| VocabularyError::malformed(format!("not a list of tokens: {error}"));
        let object = match bytes.trim_ascii_start().first() {
            Some(b'{') => serde_json::from_slice(bytes).map_err(malformed)?,
            _ => Object {
                tokens: serde_json::from_slice(bytes).map_err(malformed)?,
                special: BTreeMap::new(),
                stop: None,
                width: None,
            },
        };

        let mut builder = VocabularyBuilder::within(limits);
        for (id, token) in object.tokens.iter().enumerate() {
            let id = id as u64;
            match token {
                Token::Hole => builder.widen(id)?,
                Token::Text(text) => builder.token(id, text.as_bytes())?,
                Token::Bytes(bytes) => builder.token(id, bytes)?,
            }
        }
        for (name, &id) in &object.special {
            builder.special(id, name)?;
        }
        let mut vocabulary = builder.finish()?;
        if let Some(width) = object.width {
            vocabulary = vocabulary.with_width(width)?;
        }
        match object.stop {
            Some(stop) => vocabulary.with_stop_tokens(&stop),
            None => Ok(vocabulary),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::id::TokenId;
    use crate::vocab::VocabularyErrorKind;

    #[test]
    fn an_array_of_texts_bytes_and_holes() {
        let v = Vocabulary::from_token_list(br#" ["a", "\u00e9\"", [226, 130], null, "", []]"#)
            .unwrap();
        assert_eq!(v.bytes(TokenId(1)), Some("é\"".as_bytes()));
        assert_eq!(v.bytes(TokenId(2)), Some(&[226, 130][..]));
        assert_eq!((v.width(), v.len()), (6, 3));
    }

    #[test]
    fn an_object_with_special_tokens() {
        let v = Vocabulary::from_token_list(
            br#"{"tokens": ["a"], "special": {"</s>": 2, "<pad>": 1}, "width": 32}"#,
        )
        .unwrap();
        assert_eq!((v.width(), v.stop_tokens()), (32, &[TokenId(2)][..]));
        assert_eq!(v.special(TokenId(1)), Some("<pad>"));
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in [
            "",
            "[",
            "[1]",
            "[[256]]",
            "[[-1]]",
            "[{}]",
            "{}",
            r#"{"tokens":[],"x":1}"#,
            "[]",
            "[true]",
        ] {
            let error = Vocabulary::from_token_list(text.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), VocabularyErrorKind::Malformed, "{text}: {error}");
        }
    }
}

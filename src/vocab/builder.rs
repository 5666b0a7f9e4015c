//! Builds a vocabulary: loaders add tokens one by one, in any order, within limits.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::util::id::TokenId;
use crate::util::limits::Limits;

use super::Vocabulary;
use super::bpe::{CanonicalError, Tables, Tokenizer};
use super::error::{VocabularyError, VocabularyErrorKind};
use super::stops::stops_by_name;
use super::tokens::{MAX_WIDTH, Span, Tokens, check_id};
use super::trie::Trie;

impl Vocabulary {
    /// Creates a vocabulary of the 256 bytes, each with its value as id, without stop tokens: any
    /// text can be spelled.
    ///
    /// ```
    /// let vocabulary = lrmask::Vocabulary::single_bytes();
    /// assert_eq!((vocabulary.width(), vocabulary.bytes(97)), (256, Some(&b"a"[..])));
    /// ```
    pub fn single_bytes() -> Self {
        let spans = (0..256).map(|start| Span { start, end: start + 1 }).collect();
        Self {
            width: 256,
            tokens: Arc::new(Tokens::new((0..=255).collect(), spans)),
            special: BTreeMap::new(),
            stops: Vec::new(),
            stops_chosen: false,
            leading_space: false,
            tokenizer: Tokenizer::Unknown(CanonicalError::NoMerges),
            tables: Tables::default(),
        }
    }
}

/// Collects tokens in any order; every loader fills one.
pub(crate) struct VocabularyBuilder {
    /// Upper bounds on the bytes of all tokens together, and on the number of ids.
    most_bytes: usize,
    most_ids: usize,
    bytes: Vec<u8>,
    spans: Vec<Span>,
    special: BTreeMap<u32, Box<str>>,
    stops: Vec<u32>,
    leading_space: bool,
    tokenizer: Tokenizer,
}

impl VocabularyBuilder {
    /// Creates an empty builder with these limits.
    pub(crate) fn within(limits: &Limits) -> Self {
        Self {
            most_bytes: limits.token_bytes.min(u32::MAX as usize),
            most_ids: limits.token_ids.min(MAX_WIDTH),
            bytes: Vec::new(),
            spans: Vec::new(),
            special: BTreeMap::new(),
            stops: Vec::new(),
            leading_space: false,
            tokenizer: Tokenizer::Unknown(CanonicalError::NoMerges),
        }
    }

    /// Sets the bytes of `id`. Empty bytes make a hole.
    pub(crate) fn token(&mut self, id: u64, bytes: &[u8]) -> Result<(), VocabularyError> {
        self.widen(id)?;
        if bytes.len() > Trie::MAX_TOKEN_LENGTH {
            return Err(VocabularyError::limit(format!(
                "token {id} has {} bytes; at most {} are supported",
                bytes.len(),
                Trie::MAX_TOKEN_LENGTH
            )));
        }
        if let Some(known) = self.bytes(id) {
            if known == bytes {
                return Ok(());
            }
            return Err(VocabularyError::new(
                VocabularyErrorKind::DuplicateId,
                format!("id {id} has two tokens, {} and {}", quote(known), quote(bytes)),
            ));
        }
        if self.bytes.len() + bytes.len() > self.most_bytes {
            return Err(VocabularyError::limit(format!(
                "the tokens together have more than the {} bytes that `token_bytes` of the limits \
                 allows",
                self.most_bytes
            )));
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        self.spans[id as usize] = Span { start, end: self.bytes.len() as u32 };
        Ok(())
    }

    /// Returns the bytes set for `id` so far.
    pub(crate) fn bytes(&self, id: u64) -> Option<&[u8]> {
        let span = usize::try_from(id).ok().and_then(|id| self.spans.get(id))?;
        Some(&self.bytes[span.start as usize..span.end as usize]).filter(|bytes| !bytes.is_empty())
    }

    /// Sets the bytes of `id`, replacing earlier ones.
    pub(crate) fn replace(&mut self, id: u64, bytes: &[u8]) -> Result<(), VocabularyError> {
        self.widen(id)?;
        self.spans[id as usize] = Span::default();
        self.special.remove(&(id as u32));
        self.token(id, bytes)
    }

    /// Makes `id` a special token, which has no bytes.
    pub(crate) fn special(&mut self, id: u64, name: &str) -> Result<(), VocabularyError> {
        self.widen(id)?;
        self.spans[id as usize] = Span::default();
        self.special.insert(id as u32, name.into());
        Ok(())
    }

    /// Makes `id` a stop token, in addition to those found by name.
    pub(crate) fn stop(&mut self, id: u64) -> Result<(), VocabularyError> {
        self.widen(id)?;
        self.stops.push(id as u32);
        Ok(())
    }

    /// Sets whether the tokenizer puts a space before every text.
    pub(crate) fn leading_space(&mut self, yes: bool) {
        self.leading_space = yes;
    }

    /// Sets how the tokenizer cuts texts into tokens.
    pub(crate) fn tokenizer(&mut self, tokenizer: Tokenizer) {
        self.tokenizer = tokenizer;
    }

    /// Makes the logits wide enough for `id`.
    pub(crate) fn widen(&mut self, id: u64) -> Result<(), VocabularyError> {
        check_id(id, self.most_ids)?;
        if self.spans.len() <= id as usize {
            self.spans.resize(id as usize + 1, Span::default());
        }
        Ok(())
    }

    /// Sorts the tokens and builds the trie.
    pub(crate) fn finish(self) -> Result<Vocabulary, VocabularyError> {
        let mut stops = stops_by_name(&self.special);
        stops.extend(self.stops.into_iter().map(TokenId));
        stops.sort_unstable();
        stops.dedup();
        let vocabulary = Vocabulary {
            width: self.spans.len(),
            tokens: Arc::new(Tokens::new(self.bytes, self.spans)),
            special: self.special,
            stops,
            stops_chosen: false,
            leading_space: self.leading_space,
            tokenizer: self.tokenizer,
            tables: Tables::default(),
        };
        if vocabulary.is_empty() {
            return Err(VocabularyError::malformed("the vocabulary has no tokens"));
        }
        Ok(vocabulary)
    }
}

/// Formats a token for a message: escaped, and shortened if it is long.
fn quote(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(40)];
    format!("\"{}\"{}", shown.escape_ascii(), if shown.len() < bytes.len() { "..." } else { "" })
}

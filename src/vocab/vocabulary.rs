//! A model's vocabulary: what bytes each id stands for, and which ids stand for none.
//!
//! An id below the width of the logits is exactly one of
//!
//! * an *ordinary* token: it has bytes, and is in the trie;
//! * a *special* token: it has a name and no bytes, so that no text of the grammar ever matches it;
//! * a *hole* or *padding*: neither; it is never allowed.
//!
//! Several ids may have the same bytes. *Stop tokens* are ids that end the text; they are special
//! or holes in nearly all vocabularies, but that is the caller's to say.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::util::fingerprint::Fingerprint;
use crate::util::id::TokenId;
use crate::util::limits::Limits;

use super::error::{VocabularyError, VocabularyErrorKind};
use super::trie::Trie;

/// The greatest width of the logits that a caller can set: sixteen million ids, some sixty times the
/// largest vocabulary known. What a file says has a smaller limit.
pub(crate) const MAX_WIDTH: usize = 1 << 24;

/// The tokens of a language model, as bytes, with the ids that the model itself uses.
///
/// Immutable and cheap to clone: clones share the bytes and the trie. Made by one of the loaders,
/// each of which takes a file's content; [`Vocabulary::from_file_bytes`] finds out by itself which
/// it is.
#[derive(Clone)]
pub struct Vocabulary {
    tokens: Arc<Tokens>,
    width: usize,
    special: BTreeMap<u32, Box<str>>,
    stops: Vec<TokenId>,
    /// Whether the stop tokens were set by the caller, and are no longer to be guessed from names.
    stops_chosen: bool,
    leading_space: bool,
}

/// The ordinary tokens: what is large, never changes and is shared.
pub(super) struct Tokens {
    bytes: Box<[u8]>,
    /// Where an id's bytes are; empty for ids without.
    spans: Box<[Span]>,
    trie: Trie,
    /// Hash of all ids and bytes.
    fingerprint: u64,
}

/// A run of bytes in the arena.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Tokens {
    pub(super) fn new(bytes: Vec<u8>, spans: Vec<Span>) -> Self {
        let slice = |id: u32| {
            let span = spans[id as usize];
            &bytes[span.start as usize..span.end as usize]
        };
        let trie = Trie::new(spans.len(), slice);
        let mut hash = Fingerprint::default();
        for id in 0..spans.len() as u32 {
            let token = slice(id);
            if !token.is_empty() {
                hash.number(id.into());
                hash.bytes(token);
            }
        }
        Self { fingerprint: hash.value(), trie, bytes: bytes.into(), spans: spans.into() }
    }

    fn get(&self, id: usize) -> &[u8] {
        self.spans.get(id).map_or(&[], |span| &self.bytes[span.start as usize..span.end as usize])
    }
}

impl Vocabulary {
    /// A vocabulary of plain byte strings; the id of each is its position, and an empty one is a
    /// hole.
    ///
    /// # Errors
    ///
    /// More tokens or bytes than the default [`Limits`] allow, a token longer than 65,535 bytes, or
    /// no token at all.
    pub fn from_tokens<I: IntoIterator<Item = Vec<u8>>>(tokens: I) -> Result<Self, VocabularyError> {
        let mut builder = VocabularyBuilder::within(&Limits::default());
        for (id, token) in tokens.into_iter().enumerate() {
            builder.widen(id as u64)?;
            builder.token(id as u64, &token)?;
        }
        builder.finish()
    }

    /// Sets the width of the logits, which is often larger than the vocabulary: the ids beyond are
    /// padding.
    ///
    /// # Errors
    ///
    /// A width that leaves out a token, or of more than 2^24.
    pub fn with_width(mut self, width: usize) -> Result<Self, VocabularyError> {
        let least = self.least_width();
        if width < least {
            return Err(VocabularyError::new(
                VocabularyErrorKind::Argument,
                format!("a width of {width} leaves out token {}; it must be {least} at least", least - 1),
            ));
        }
        check_id(width.saturating_sub(1) as u64, MAX_WIDTH)?;
        self.width = width;
        Ok(self)
    }

    /// Sets the ids that end the text, in place of those found by name. May be empty.
    ///
    /// # Errors
    ///
    /// An id that is not below the width.
    pub fn with_stop_tokens(mut self, ids: &[u32]) -> Result<Self, VocabularyError> {
        if let Some(&id) = ids.iter().find(|&&id| id as usize >= self.width) {
            return Err(VocabularyError::new(
                VocabularyErrorKind::Argument,
                format!("stop token {id} is past the width of the logits, which is {}", self.width),
            ));
        }
        self.stops = ids.iter().map(|&id| TokenId(id)).collect();
        self.stops.sort_unstable();
        self.stops.dedup();
        self.stops_chosen = true;
        Ok(self)
    }

    /// Makes `id` a special token called `name`: it loses its bytes, if it had any, and no text
    /// matches it. Widens the logits where needed. A name that is known to end texts makes it a
    /// stop token, unless the stop tokens were set by [`Vocabulary::with_stop_tokens`].
    ///
    /// # Errors
    ///
    /// An id of 2^24 or more. Cost: none to speak of, but that of building the trie again when the
    /// id had bytes.
    pub fn with_special(mut self, id: u32, name: &str) -> Result<Self, VocabularyError> {
        check_id(id.into(), MAX_WIDTH)?;
        if !self.tokens.get(id as usize).is_empty() {
            let mut spans = self.tokens.spans.to_vec();
            spans[id as usize] = Span::default();
            self.tokens = Arc::new(Tokens::new(self.tokens.bytes.to_vec(), spans));
        }
        self.width = self.width.max(id as usize + 1);
        self.special.insert(id, name.into());
        if !self.stops_chosen {
            self.stops = stops_by_name(&self.special);
        }
        Ok(self)
    }

    /// The width of the logits: ids are below it.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many ids stand for something: have bytes, or are special tokens.
    pub fn len(&self) -> usize {
        self.trie().ids().len() + self.special.len()
    }

    /// Whether no id stands for anything. No loader gives such a vocabulary.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of an ordinary token; `None` for a special one, a hole, and any id past the
    /// vocabulary.
    #[inline]
    pub fn bytes(&self, id: TokenId) -> Option<&[u8]> {
        Some(self.tokens.get(id.index())).filter(|bytes| !bytes.is_empty())
    }

    /// The name of a special token; `None` for all other ids.
    pub fn special(&self, id: TokenId) -> Option<&str> {
        self.special.get(&id.0).map(|name| &**name)
    }

    /// The special tokens with their names, by id.
    pub fn special_tokens(&self) -> impl Iterator<Item = (TokenId, &str)> {
        self.special.iter().map(|(&id, name)| (TokenId(id), &**name))
    }

    /// The ids that end the text, ascending. Found by name among the special tokens, or by what the
    /// file says, unless set by [`Vocabulary::with_stop_tokens`]; none when nothing was found.
    #[inline]
    pub fn stop_tokens(&self) -> &[TokenId] {
        &self.stops
    }

    /// Whether the tokenizer puts a space before every text and takes it away again when it
    /// decodes, as SentencePiece does by default: at the very beginning of a text, that space is
    /// not part of it.
    pub fn has_leading_space(&self) -> bool {
        self.leading_space
    }

    /// A number that differs, but for chance, between vocabularies that differ in a token, a
    /// special token, the stop tokens or the width. The same on every machine.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fingerprint::from(self.tokens.fingerprint);
        hash.number(self.width as u64);
        hash.number(self.leading_space.into());
        for (&id, name) in &self.special {
            hash.number(id.into());
            hash.bytes(name.as_bytes());
        }
        // The count keeps a special token from being taken for a stop token.
        hash.number(self.stops.len() as u64);
        for stop in &self.stops {
            hash.number(stop.0.into());
        }
        hash.value()
    }

    /// The trie of the ordinary tokens.
    #[inline]
    pub(crate) fn trie(&self) -> &Trie {
        &self.tokens.trie
    }

    /// The same with other bytes for its tokens, and this width.
    pub(super) fn with_bytes(&self, tokens: Arc<Tokens>, width: usize) -> Self {
        Self { tokens, width, ..self.clone() }
    }

    /// The bytes that no token spells by itself. A text with such a byte may be out of the model's
    /// reach.
    pub(crate) fn unspellable_bytes(&self) -> [bool; 256] {
        std::array::from_fn(|byte| {
            self.trie().child(Trie::ROOT, byte as u8).is_none_or(|node| self.trie().tokens(node).is_empty())
        })
    }

    /// One past the last id that stands for something.
    fn least_width(&self) -> usize {
        let ordinary = self.tokens.spans.iter().rposition(|span| span.start < span.end);
        let special = self.special.last_key_value().map(|(&id, _)| id as usize);
        let stop = self.stops.last().map(|id| id.index());
        ordinary.max(special).max(stop).map_or(0, |id| id + 1)
    }
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary")
            .field("width", &self.width)
            .field("len", &self.len())
            .field("stop_tokens", &self.stops)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trie = self.trie();
        let ordinary = trie.ids().len();
        let distinct = (0..trie.node_count() as u32).filter(|&node| !trie.tokens(node).is_empty()).count();
        let missing: Vec<usize> =
            self.unspellable_bytes().iter().enumerate().filter(|(_, m)| **m).map(|(byte, _)| byte).collect();
        writeln!(f, "width of the logits  {}", self.width)?;
        writeln!(f, "ordinary tokens      {ordinary} ({} duplicates)", ordinary - distinct)?;
        writeln!(f, "special tokens       {}", self.special.len())?;
        writeln!(f, "holes and padding    {}", self.width - self.len())?;
        write!(f, "stop tokens         ")?;
        for &stop in &self.stops {
            write!(f, " {stop}")?;
            if let Some(name) = self.special(stop) {
                write!(f, " {name}")?;
            }
        }
        if self.stops.is_empty() {
            f.write_str(" none")?;
        }
        writeln!(f)?;
        write!(f, "single bytes         {}", 256 - missing.len())?;
        if !missing.is_empty() && missing.len() <= 16 {
            f.write_str(", all but")?;
            for byte in missing {
                write!(f, " {byte:02x}")?;
            }
        }
        writeln!(f)?;
        writeln!(
            f,
            "trie                 {} nodes, {} deep, {} bytes",
            trie.node_count(),
            trie.max_depth(),
            trie.size_bytes()
        )?;
        writeln!(f, "fingerprint          {:016x}", self.fingerprint())
    }
}

/// Collects tokens in any order; every loader fills one.
pub(crate) struct VocabularyBuilder {
    /// How many bytes all tokens may have, and how many ids there may be.
    most_bytes: usize,
    most_ids: usize,
    bytes: Vec<u8>,
    spans: Vec<Span>,
    special: BTreeMap<u32, Box<str>>,
    stops: Vec<u32>,
    leading_space: bool,
}

impl VocabularyBuilder {
    /// Nothing yet.
    pub(crate) fn within(limits: &Limits) -> Self {
        Self {
            most_bytes: limits.token_bytes.min(u32::MAX as usize),
            most_ids: limits.token_ids.min(MAX_WIDTH),
            bytes: Vec::new(),
            spans: Vec::new(),
            special: BTreeMap::new(),
            stops: Vec::new(),
            leading_space: false,
        }
    }

    /// Gives `id` its bytes. Empty bytes make a hole.
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
                format!("id {id} stands for two tokens, {} and {}", quote(known), quote(bytes)),
            ));
        }
        if self.bytes.len() + bytes.len() > self.most_bytes {
            return Err(VocabularyError::limit(format!(
                "the tokens together have more than {} bytes, which `token_bytes` of the limits allows",
                self.most_bytes
            )));
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        self.spans[id as usize] = Span { start, end: self.bytes.len() as u32 };
        Ok(())
    }

    /// The bytes that `id` has so far.
    pub(crate) fn bytes(&self, id: u64) -> Option<&[u8]> {
        let span = usize::try_from(id).ok().and_then(|id| self.spans.get(id))?;
        Some(&self.bytes[span.start as usize..span.end as usize]).filter(|bytes| !bytes.is_empty())
    }

    /// Gives `id` other bytes than it may have had.
    pub(crate) fn replace(&mut self, id: u64, bytes: &[u8]) -> Result<(), VocabularyError> {
        self.widen(id)?;
        self.spans[id as usize] = Span::default();
        self.special.remove(&(id as u32));
        self.token(id, bytes)
    }

    /// Makes `id` a special token; it loses its bytes.
    pub(crate) fn special(&mut self, id: u64, name: &str) -> Result<(), VocabularyError> {
        self.widen(id)?;
        self.spans[id as usize] = Span::default();
        self.special.insert(id as u32, name.into());
        Ok(())
    }

    /// Makes `id` a stop token, besides those that are found by name.
    pub(crate) fn stop(&mut self, id: u64) -> Result<(), VocabularyError> {
        self.widen(id)?;
        self.stops.push(id as u32);
        Ok(())
    }

    /// Says that the tokenizer puts a space before every text.
    pub(crate) fn leading_space(&mut self, yes: bool) {
        self.leading_space = yes;
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
        };
        if vocabulary.is_empty() {
            return Err(VocabularyError::malformed("the vocabulary has no tokens"));
        }
        Ok(vocabulary)
    }
}

/// Refuses ids that no model has, before memory is taken for them.
fn check_id(id: u64, most: usize) -> Result<(), VocabularyError> {
    if id < most as u64 {
        return Ok(());
    }
    Err(VocabularyError::limit(format!(
        "token id {id} is too large; ids up to {} are supported",
        most.saturating_sub(1)
    )))
}

/// Names of special tokens that end a text or a turn, in the vocabularies of models in wide use.
///
/// A grammar's text is one answer of the model, so the end of a turn ends it as much as the end of
/// the document does: all of them are allowed there, and the model chooses.
const STOP_NAMES: &[&str] = &[
    "</s>",                  // SentencePiece's default: Llama 1 and 2, Mistral, T5
    "<|endoftext|>",         // GPT-2 and its heirs
    "<|end_of_text|>",       // Llama 3, the document
    "<|eot_id|>",            // Llama 3, the turn
    "<|eom_id|>",            // Llama 3.1, the message that calls a tool
    "<|eot|>",               // Llama 4
    "<|eom|>",               // Llama 4
    "<|im_end|>",            // ChatML: Qwen and many others
    "<eos>",                 // Gemma
    "<end_of_turn>",         // Gemma
    "<|end|>",               // Phi 3 and 4
    "<|return|>",            // gpt-oss, the answer
    "<|call|>",              // gpt-oss, the message that calls a tool
    "<|end_of_turn|>",       // OpenChat
    "<|END_OF_TURN_TOKEN|>", // Command R
    "<|EOT|>",               // DeepSeek Coder
    "<｜end▁of▁sentence｜>", // DeepSeek
];

/// Whether a special token of this name ends a text.
pub(crate) fn is_stop_name(name: &str) -> bool {
    STOP_NAMES.contains(&name)
}

/// The stop tokens among the special ones, ascending.
fn stops_by_name(special: &BTreeMap<u32, Box<str>>) -> Vec<TokenId> {
    // In gpt-oss an answer is several messages, each closed by <|end|>, and only the last by
    // <|return|>.
    let many_messages = special.values().any(|name| &**name == "<|return|>");
    let stops = |name: &str| is_stop_name(name) && !(many_messages && name == "<|end|>");
    special.iter().filter(|(_, name)| stops(name)).map(|(&id, _)| TokenId(id)).collect()
}

/// A token for a message: as text where it is text, shortened where it is long.
fn quote(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(40)];
    format!("\"{}\"{}", shown.escape_ascii(), if shown.len() < bytes.len() { "..." } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(tokens: &[&str]) -> Vocabulary {
        Vocabulary::from_tokens(tokens.iter().map(|t| t.as_bytes().to_vec())).unwrap()
    }

    #[test]
    fn a_list_keeps_ids_holes_and_duplicates() {
        let v = vocabulary(&["a", "", "ab", "a", ""]);
        assert_eq!((v.width(), v.len()), (5, 3));
        assert_eq!(v.bytes(TokenId(3)), Some(&b"a"[..]));
        assert_eq!(
            (v.bytes(TokenId(1)), v.bytes(TokenId(99)), v.bytes(TokenId(u32::MAX))),
            (None, None, None)
        );
        let a = v.trie().child(Trie::ROOT, b'a').unwrap();
        assert_eq!(v.trie().tokens(a), [0, 3]);
        assert!(!v.unspellable_bytes()[usize::from(b'a')] && v.unspellable_bytes()[usize::from(b'b')]);
    }

    #[test]
    fn a_special_token_has_no_bytes() {
        let v = vocabulary(&["</s>", "a"]).with_special(0, "</s>").unwrap();
        assert_eq!((v.bytes(TokenId(0)), v.special(TokenId(0))), (None, Some("</s>")));
        assert_eq!(v.stop_tokens(), [TokenId(0)]);
        assert_eq!(v.trie().child(Trie::ROOT, b'<'), None);
        let v = v.with_special(7, "<|im_end|>").unwrap();
        assert_eq!((v.width(), v.len(), v.stop_tokens().len()), (8, 3, 2));
    }

    #[test]
    fn stop_tokens_set_by_the_caller_stay() {
        let v = vocabulary(&["a", "b"]).with_stop_tokens(&[1, 1]).unwrap().with_special(2, "</s>").unwrap();
        assert_eq!(v.stop_tokens(), [TokenId(1)]);
        assert_eq!(v.clone().with_stop_tokens(&[3]).unwrap_err().kind(), VocabularyErrorKind::Argument);
        assert!(v.with_stop_tokens(&[]).unwrap().stop_tokens().is_empty());
    }

    #[test]
    fn the_end_of_a_message_is_no_stop_where_answers_have_several() {
        let v = vocabulary(&["a"]).with_special(1, "<|end|>").unwrap();
        assert_eq!(v.stop_tokens(), [TokenId(1)]);
        assert_eq!(v.with_special(2, "<|return|>").unwrap().stop_tokens(), [TokenId(2)]);
    }

    #[test]
    fn the_width_holds_every_token() {
        let v = vocabulary(&["a", "b", ""]);
        assert_eq!(v.clone().with_width(2).unwrap().width(), 2);
        assert_eq!(v.clone().with_width(64).unwrap().bytes(TokenId(63)), None);
        assert_eq!(v.clone().with_width(1).unwrap_err().kind(), VocabularyErrorKind::Argument);
        assert_eq!(v.with_width(MAX_WIDTH + 1).unwrap_err().kind(), VocabularyErrorKind::Limit);
    }

    #[test]
    fn limits_are_errors() {
        let long = Vocabulary::from_tokens([vec![b'a'; Trie::MAX_TOKEN_LENGTH + 1]]);
        assert_eq!(long.unwrap_err().kind(), VocabularyErrorKind::Limit);
        assert!(Vocabulary::from_tokens([vec![b'a'; Trie::MAX_TOKEN_LENGTH]]).is_ok());
        assert!(Vocabulary::from_tokens([]).is_err());
        assert!(Vocabulary::from_tokens([vec![]]).is_err());
        let mut builder = VocabularyBuilder::within(&Limits::default());
        assert_eq!(builder.token(u64::MAX, b"a").unwrap_err().kind(), VocabularyErrorKind::Limit);
        builder.token(3, b"a").unwrap();
        builder.token(3, b"a").unwrap();
        assert_eq!(builder.token(3, b"b").unwrap_err().kind(), VocabularyErrorKind::DuplicateId);
    }

    #[test]
    fn fingerprints_tell_vocabularies_apart() {
        let v = vocabulary(&["a", "b", ""]);
        let all = [
            v.clone(),
            vocabulary(&["a", "", "b"]),
            vocabulary(&["ab", "", ""]),
            v.clone().with_width(4).unwrap(),
            v.clone().with_special(2, "x").unwrap(),
            v.clone().with_stop_tokens(&[2]).unwrap(),
        ];
        let distinct: std::collections::BTreeSet<u64> = all.iter().map(Vocabulary::fingerprint).collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(v.fingerprint(), vocabulary(&["a", "b", ""]).fingerprint());
        // Pinned: whatever is stored under this number must be found again on other machines.
        assert_eq!(format!("{:016x}", vocabulary(&["a", "bc"]).fingerprint()), "6cd987b9936908cb");
    }
}

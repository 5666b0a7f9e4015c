//! A model's vocabulary: the bytes of each id, and the ids without bytes.
//!
//! An id below the width of the logits is exactly one of
//!
//! * an *ordinary* token: it has bytes, and is in the trie;
//! * a *special* token: it has a name and no bytes, so that no text of the grammar ever matches it;
//! * a *hole* or *padding*: neither; it is never allowed.
//!
//! Several ids may have the same bytes. *Stop tokens* are ids that end the text; in nearly all
//! vocabularies they are special or holes, but the caller decides.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::util::fingerprint::Fingerprint;
use crate::util::id::TokenId;

use super::bpe::{Tables, Tokenizer};
use super::error::{VocabularyError, VocabularyErrorKind};
use super::stops::stops_by_name;
use super::tokens::{MAX_WIDTH, Span, Tokens, check_id};
use super::trie::Trie;

/// The tokens of a language model, as bytes, with the ids that the model itself uses.
///
/// Immutable and cheap to clone: clones share the bytes and the trie. Created by one of the
/// loaders, each of which takes a file's content; [`Vocabulary::from_file_bytes`] detects the
/// format.
#[derive(Clone)]
pub struct Vocabulary {
    pub(super) tokens: Arc<Tokens>,
    pub(super) width: usize,
    pub(super) special: BTreeMap<u32, Box<str>>,
    pub(super) stops: Vec<TokenId>,
    /// Whether the caller set the stop tokens, so that they are no longer guessed from names.
    pub(super) stops_chosen: bool,
    pub(super) leading_space: bool,
    /// How the tokenizer cuts texts into tokens.
    pub(super) tokenizer: Tokenizer,
    /// What follows from that for sequences; computed on first use.
    pub(super) tables: Tables,
}

impl Vocabulary {
    /// Sets the width of the logits. It is often larger than the vocabulary: the ids beyond are
    /// padding. If it is smaller, the vocabulary is truncated: tokens past the width are removed,
    /// and the trie is rebuilt if any of them had bytes.
    ///
    /// # Errors
    ///
    /// If the width leaves no token, or is more than 2^24.
    pub fn with_width(mut self, width: usize) -> Result<Self, VocabularyError> {
        check_id(width.saturating_sub(1) as u64, MAX_WIDTH)?;
        let (spans, past) = self.tokens.spans.split_at(width.min(self.tokens.spans.len()));
        if past.iter().any(|span| span.start < span.end) {
            self.tokens = Arc::new(Tokens::new(self.tokens.bytes.to_vec(), spans.to_vec()));
        }
        self.special.retain(|&id, _| (id as usize) < width);
        self.stops.retain(|id| id.index() < width);
        self.width = width;
        self.tables = Tables::default();
        if self.is_empty() {
            return Err(VocabularyError::new(
                VocabularyErrorKind::Argument,
                format!("a width of {width} leaves no token; give the width of the logits"),
            ));
        }
        Ok(self)
    }

    /// Sets the ids that end the text, replacing those found by name. May be empty.
    ///
    /// # Errors
    ///
    /// If an id is not below the width.
    pub fn with_stop_tokens(
        mut self,
        ids: impl IntoIterator<Item: Into<TokenId>>,
    ) -> Result<Self, VocabularyError> {
        let mut ids: Vec<TokenId> = ids.into_iter().map(Into::into).collect();
        self.check_stops(&ids)?;
        ids.sort_unstable();
        ids.dedup();
        self.stops = ids;
        self.stops_chosen = true;
        Ok(self)
    }

    /// Makes `id` a special token called `name`: [`Vocabulary::with_special_tokens`] of one.
    ///
    /// # Errors
    ///
    /// If the id is 2^24 or more.
    pub fn with_special(self, id: impl Into<TokenId>, name: &str) -> Result<Self, VocabularyError> {
        self.with_special_tokens([(id, name)])
    }

    /// Makes these ids special tokens with these names: they lose their bytes, if they had any, and
    /// no text matches them. Widens the logits if needed. Names that are known to end texts make
    /// stop tokens, unless these were set by [`Vocabulary::with_stop_tokens`].
    ///
    /// The cost is negligible, but if any of them had bytes, the trie is rebuilt once.
    ///
    /// ```
    /// use lrmask::Vocabulary;
    ///
    /// let vocabulary = Vocabulary::from_tokens(["a", "b", "", ""])?
    ///     .with_special_tokens([(2, "<s>"), (3, "</s>")])?
    ///     .with_width(64)?;
    /// assert_eq!((vocabulary.len(), vocabulary.stop_tokens().len()), (4, 1));
    /// # Ok::<(), lrmask::VocabularyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If an id is 2^24 or more.
    pub fn with_special_tokens<N: AsRef<str>>(
        mut self,
        tokens: impl IntoIterator<Item = (impl Into<TokenId>, N)>,
    ) -> Result<Self, VocabularyError> {
        // The others were told by the vocabulary's file.
        let by_name = stops_by_name(&self.special);
        let mut spans = None;
        for (id, name) in tokens {
            let id = id.into().0;
            check_id(id.into(), MAX_WIDTH)?;
            if !self.tokens.get(id as usize).is_empty() {
                let spans = spans.get_or_insert_with(|| self.tokens.spans.to_vec());
                spans[id as usize] = Span::default();
            }
            self.width = self.width.max(id as usize + 1);
            self.special.insert(id, name.as_ref().into());
        }
        if let Some(spans) = spans {
            self.tokens = Arc::new(Tokens::new(self.tokens.bytes.to_vec(), spans));
        }
        self.tables = Tables::default();
        if !self.stops_chosen {
            self.stops.retain(|stop| !by_name.contains(stop));
            self.stops.extend(stops_by_name(&self.special));
            self.stops.sort_unstable();
            self.stops.dedup();
        }
        Ok(self)
    }

    /// Returns the width of the logits: all ids are below it.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of ids that have bytes or are special tokens.
    pub fn len(&self) -> usize {
        self.trie().ids().len() + self.special.len()
    }

    /// Returns whether no id has bytes or is special. No loader creates such a vocabulary.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of an ordinary token; `None` for a special one, a hole, and any id past
    /// the vocabulary.
    #[inline]
    pub fn bytes(&self, id: impl Into<TokenId>) -> Option<&[u8]> {
        Some(self.tokens.get(id.into().index())).filter(|bytes| !bytes.is_empty())
    }

    /// Returns the ordinary tokens that contain a quote or a bracket of JSON, ascending. Costs a
    /// pass over all bytes on first use.
    pub(crate) fn marked(&self) -> &[u32] {
        self.tokens.marked()
    }

    /// Returns the name of a special token; `None` for all other ids.
    pub fn special(&self, id: impl Into<TokenId>) -> Option<&str> {
        self.special.get(&id.into().0).map(|name| &**name)
    }

    /// Returns the special tokens with their names, by id.
    pub fn special_tokens(&self) -> impl Iterator<Item = (TokenId, &str)> {
        self.special.iter().map(|(&id, name)| (TokenId(id), &**name))
    }

    /// Returns the ids that end the text, ascending. Found by name among the special tokens, or
    /// given in the file, unless set by [`Vocabulary::with_stop_tokens`]; empty if none were found.
    #[inline]
    pub fn stop_tokens(&self) -> &[TokenId] {
        &self.stops
    }

    /// Returns whether the tokenizer puts a space before every text and removes it when it decodes,
    /// as SentencePiece does by default: at the very beginning of a text, that space is not part of
    /// it.
    pub fn has_leading_space(&self) -> bool {
        self.leading_space
    }

    /// Sets whether the tokenizer puts a space before every text: see
    /// [`Vocabulary::has_leading_space`]. The readers of files find it out.
    #[must_use]
    pub fn with_leading_space(mut self, leading_space: bool) -> Self {
        self.leading_space = leading_space;
        self
    }

    /// Returns a hash of the tokens, the special tokens, the stop tokens, the width and the leading
    /// space. The same on every machine.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fingerprint::from(self.tokens.fingerprint);
        hash.number(self.width as u64);
        hash.number(self.leading_space.into());
        for (&id, name) in &self.special {
            hash.number(id.into());
            hash.bytes(name.as_bytes());
        }
        // The count keeps a special token from being confused with a stop token.
        hash.number(self.stops.len() as u64);
        for stop in &self.stops {
            hash.number(stop.0.into());
        }
        hash.value()
    }

    /// Returns the trie of the ordinary tokens.
    #[inline]
    pub(crate) fn trie(&self) -> &Trie {
        &self.tokens.trie
    }

    /// Returns the same vocabulary with other bytes for its tokens, and this width.
    pub(super) fn with_bytes(&self, tokens: Arc<Tokens>, width: usize) -> Self {
        Self { tokens, width, tables: Tables::default(), ..self.clone() }
    }

    /// Returns the bytes that are no token by themselves. The model may be unable to produce a text
    /// with such a byte.
    pub(crate) fn unspellable_bytes(&self) -> [bool; 256] {
        std::array::from_fn(|byte| {
            self.trie()
                .child(Trie::ROOT, byte as u8)
                .is_none_or(|node| self.trie().tokens(node).is_empty())
        })
    }

    /// Returns an error if one of these ids is not below the width.
    pub(crate) fn check_stops(&self, stops: &[TokenId]) -> Result<(), VocabularyError> {
        let Some(id) = stops.iter().find(|id| id.index() >= self.width) else { return Ok(()) };
        Err(VocabularyError::new(
            VocabularyErrorKind::Argument,
            format!("stop token {id} is not below the width of the logits, {}", self.width),
        ))
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
        let distinct =
            (0..trie.node_count() as u32).filter(|&node| !trie.tokens(node).is_empty()).count();
        let missing: Vec<usize> = self
            .unspellable_bytes()
            .iter()
            .enumerate()
            .filter(|(_, m)| **m)
            .map(|(byte, _)| byte)
            .collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::limits::Limits;
    use crate::vocab::builder::VocabularyBuilder;

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
        assert!(
            !v.unspellable_bytes()[usize::from(b'a')] && v.unspellable_bytes()[usize::from(b'b')]
        );
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
        let v = vocabulary(&["a", "b"])
            .with_stop_tokens([1, 1])
            .unwrap()
            .with_special(2, "</s>")
            .unwrap();
        assert_eq!(v.stop_tokens(), [TokenId(1)]);
        assert_eq!(
            v.clone().with_stop_tokens([3]).unwrap_err().kind(),
            VocabularyErrorKind::Argument
        );
        assert!(v.with_stop_tokens([0; 0]).unwrap().stop_tokens().is_empty());
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
        let cut = v.clone().with_width(1).unwrap();
        assert_eq!((cut.len(), cut.bytes(TokenId(1)), cut.trie().ids().len()), (1, None, 1));
        assert_eq!(v.clone().with_width(0).unwrap_err().kind(), VocabularyErrorKind::Argument);
        assert_eq!(v.with_width(MAX_WIDTH + 1).unwrap_err().kind(), VocabularyErrorKind::Limit);
    }

    #[test]
    fn limits_are_errors() {
        let long = Vocabulary::from_tokens([vec![b'a'; Trie::MAX_TOKEN_LENGTH + 1]]);
        assert_eq!(long.unwrap_err().kind(), VocabularyErrorKind::Limit);
        assert!(Vocabulary::from_tokens([vec![b'a'; Trie::MAX_TOKEN_LENGTH]]).is_ok());
        assert!(Vocabulary::from_tokens([b""; 0]).is_err());
        assert!(Vocabulary::from_tokens([b""]).is_err());
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
            v.clone().with_stop_tokens([2]).unwrap(),
        ];
        let distinct: std::collections::BTreeSet<u64> =
            all.iter().map(Vocabulary::fingerprint).collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(v.fingerprint(), vocabulary(&["a", "b", ""]).fingerprint());
        // Pinned: data stored under this number must be found again on other machines.
        assert_eq!(format!("{:016x}", vocabulary(&["a", "bc"]).fingerprint()), "6cd987b9936908cb");
    }
}

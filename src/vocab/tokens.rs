//! The bytes of all tokens, and the limits of ids.

use std::sync::OnceLock;

use crate::util::fingerprint::Fingerprint;

use super::error::VocabularyError;
use super::trie::Trie;

/// Greatest width of the logits that a caller can set: sixteen million ids, about sixty times the
/// largest known vocabulary. The limit for files is smaller.
pub(crate) const MAX_WIDTH: usize = 1 << 24;

/// Refuses ids that no model uses, before memory is allocated for them.
pub(super) fn check_id(id: u64, most: usize) -> Result<(), VocabularyError> {
    if id < most as u64 {
        return Ok(());
    }
    Err(VocabularyError::limit(format!(
        "token id {id} is too large; ids up to {} are supported",
        most.saturating_sub(1)
    )))
}

/// The ordinary tokens: the large part of a vocabulary, immutable and shared.
pub(super) struct Tokens {
    pub(super) bytes: Box<[u8]>,
    /// By id: the position of its bytes; empty for ids without bytes.
    pub(super) spans: Box<[Span]>,
    pub(super) trie: Trie,
    /// Hash of all ids and bytes.
    pub(super) fingerprint: u64,
    /// The tokens that contain a JSON delimiter; computed on first use.
    marked: OnceLock<Box<[u32]>>,
}

/// The JSON delimiters: the first and last bytes of strings, arrays and objects.
const MARKS: [u8; 5] = *b"\"{}[]";

/// A range of bytes in the arena.
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
        let (fingerprint, marked) = (hash.value(), OnceLock::new());
        Self { fingerprint, trie, bytes: bytes.into(), spans: spans.into(), marked }
    }

    pub(super) fn marked(&self) -> &[u32] {
        self.marked.get_or_init(|| {
            let mut is_mark = [false; 256];
            MARKS.iter().for_each(|&byte| is_mark[usize::from(byte)] = true);
            let is_marked =
                |&id: &u32| self.get(id as usize).iter().any(|&byte| is_mark[usize::from(byte)]);
            (0..self.spans.len() as u32).filter(is_marked).collect()
        })
    }

    pub(super) fn get(&self, id: usize) -> &[u8] {
        self.spans.get(id).map_or(&[], |span| &self.bytes[span.start as usize..span.end as usize])
    }
}

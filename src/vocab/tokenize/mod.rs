//! Cutting a text into tokens as the model's own tokenizer does, to replay texts through masks.
//!
//! A tokenizer cuts in three steps: tokens that were added by hand are taken out whole; what lies
//! between is split into words by patterns; a word is merged by byte pair encoding ([`bpe`]) from
//! its bytes (byte-level models) or its characters (SentencePiece), of which those unknown to the
//! model fall back to bytes.
//!
//! Invariant: the bytes of the tokens, one behind the other, are the text. So what a tokenizer adds
//! to a text (special tokens around it, a space before it) is left out, and where it would change
//! the text (normal forms of Unicode), the answer is `None`.

mod bpe;
mod from_json;
mod from_ranks;
mod from_sentencepiece;

use std::fmt;

use fancy_regex::Regex;

use crate::util::id::TokenId;

use super::Vocabulary;
use super::error::VocabularyError;
use super::load::sniff::{Format, sniff};
use super::trie::Trie;
use bpe::{Merges, NO_TOKEN, Symbol};

/// Cuts texts into tokens exactly as a model's tokenizer does.
pub struct Tokenizer {
    /// Tokens that are taken out before all else, the longest that matches.
    atoms: Atoms,
    /// Applied one after the other, each to the words of the one before.
    splits: Vec<Regex>,
    /// Where a word that is a token is taken whole, though its merges might not lead there: the
    /// tokens.
    whole_words: Option<Vocabulary>,
    merges: Merges,
    units: Units,
    /// Whether the text is brought into Unicode's normal form C first.
    normal_form_c: bool,
    /// Whether spaces are written as U+2581, so that a U+2581 of the text would become a space.
    escapes_spaces: bool,
}

/// What merging begins with.
enum Units {
    /// Bytes: the token of each.
    Bytes([u32; 256]),
    /// Characters, the token of each; others become bytes.
    Characters { known: rustc_hash::FxHashMap<char, u32>, bytes: [u32; 256] },
}

/// Tokens that are cut out of the text whole.
struct Atoms {
    trie: Trie,
    tokens: Vec<u32>,
}

impl Atoms {
    /// Each token with its text.
    fn new(atoms: &[(u32, &[u8])]) -> Self {
        Self {
            trie: Trie::new(atoms.len(), |i| atoms[i as usize].1),
            tokens: atoms.iter().map(|&(token, _)| token).collect(),
        }
    }

    /// The longest token that `text` begins with, and its length.
    fn longest(&self, text: &[u8]) -> Option<(u32, usize)> {
        let mut node = Trie::ROOT;
        let mut found = None;
        for &byte in text {
            let Some(child) = self.trie.child(node, byte) else { break };
            node = child;
            if let Some(&atom) = self.trie.tokens(node).first() {
                found = Some((self.tokens[atom as usize], self.trie.depth(node) as usize));
            }
        }
        found
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer").field("splits", &self.splits).finish_non_exhaustive()
    }
}

impl Tokenizer {
    /// The tokenizer of a file of any format that says how to merge: `tokenizer.json` of a BPE, a
    /// SentencePiece `.model` of a BPE, `tekken.json`, and the tiktoken files of GPT-2, `cl100k`,
    /// `o200k` and Llama 3, whose splitting patterns are known though not in the file.
    ///
    /// # Errors
    ///
    /// [`crate::VocabularyErrorKind::Unsupported`] where the tokenizer has a step that is not known
    /// here exactly: then [`Vocabulary::cut_longest`] remains. All others as of
    /// [`Vocabulary::from_file_bytes`].
    pub fn from_file_bytes(bytes: &[u8]) -> Result<Self, VocabularyError> {
        match sniff(bytes)? {
            Format::TokenizerJson => Self::from_tokenizer_json(bytes),
            Format::Tekken => Self::from_tekken(bytes),
            Format::SentencePiece => Self::from_sentencepiece(bytes),
            Format::Tiktoken => Self::from_tiktoken(bytes),
            Format::VocabJson | Format::TokenList => Err(VocabularyError::unsupported(
                "the file lists tokens, but does not say how a text is cut into them; use the model's \
                 tokenizer.json",
            )),
        }
    }

    /// Cuts `text` into tokens whose bytes are exactly the text: no special tokens, no space put
    /// before it. `None` when the tokenizer would change the text, or cannot spell it. Time: that
    /// of the splitting pattern, and `n log n` for a word of `n` bytes.
    pub fn encode(&self, text: &str) -> Option<Vec<TokenId>> {
        if self.normal_form_c && !text.chars().all(is_inert_in_normal_form_c) {
            return None;
        }
        if self.escapes_spaces && text.contains('\u{2581}') {
            return None;
        }
        let mut tokens = Vec::new();
        let mut plain = 0;
        let mut at = 0;
        while at < text.len() {
            if let Some((token, length)) = self.atoms.longest(&text.as_bytes()[at..]) {
                self.encode_plain(&text[plain..at], &mut tokens)?;
                tokens.push(TokenId(token));
                at += length;
                plain = at;
            } else {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
            }
        }
        self.encode_plain(&text[plain..], &mut tokens)?;
        Some(tokens)
    }

    /// Cuts text that has no added tokens in it.
    fn encode_plain(&self, text: &str, tokens: &mut Vec<TokenId>) -> Option<()> {
        let mut words = vec![text];
        for split in &self.splits {
            let mut parts = Vec::new();
            for word in words {
                split_word(split, word, &mut parts)?;
            }
            words = parts;
        }
        for word in words {
            self.encode_word(word, tokens)?;
        }
        Some(())
    }

    fn encode_word(&self, word: &str, tokens: &mut Vec<TokenId>) -> Option<()> {
        if let Some(token) =
            self.whole_words.as_ref().and_then(|vocabulary| vocabulary.token(word.as_bytes()))
        {
            tokens.push(token);
            return Some(());
        }
        let mut symbols = self.units.symbols(word);
        self.merges.merge(word.as_bytes(), &mut symbols);
        for symbol in symbols {
            match (&self.units, symbol.token) {
                (Units::Characters { bytes, .. }, NO_TOKEN) => {
                    for &byte in &word.as_bytes()[symbol.start..symbol.end] {
                        tokens.push(known(bytes[usize::from(byte)])?);
                    }
                }
                (_, token) => tokens.push(known(token)?),
            }
        }
        Some(())
    }
}

impl Units {
    /// The symbols that merging begins with.
    fn symbols(&self, word: &str) -> Vec<Symbol> {
        let symbol = |start: usize, end: usize, token: u32| Symbol { start, end, token };
        match self {
            Units::Bytes(tokens) => word
                .bytes()
                .enumerate()
                .map(|(i, byte)| symbol(i, i + 1, tokens[usize::from(byte)]))
                .collect(),
            Units::Characters { known, .. } => word
                .char_indices()
                .map(|(i, c)| symbol(i, i + c.len_utf8(), known.get(&c).copied().unwrap_or(NO_TOKEN)))
                .collect(),
        }
    }
}

fn known(token: u32) -> Option<TokenId> {
    (token != NO_TOKEN).then_some(TokenId(token))
}

/// Splits `word` at the matches of `split`; what lies between them is a part as well. `None` when
/// matching takes too long.
fn split_word<'t>(split: &Regex, word: &'t str, parts: &mut Vec<&'t str>) -> Option<()> {
    let mut end = 0;
    for found in split.find_iter(word) {
        let found = found.ok()?;
        if found.start() > end {
            parts.push(&word[end..found.start()]);
        }
        if !found.as_str().is_empty() {
            parts.push(found.as_str());
        }
        end = found.end();
    }
    if end < word.len() {
        parts.push(&word[end..]);
    }
    Some(())
}

/// Whether a text of such characters is in normal form C: below U+0300 nothing composes, and the
/// unified ideographs are their own normal form. Others may be too; this is what can be said
/// without Unicode's tables.
fn is_inert_in_normal_form_c(c: char) -> bool {
    matches!(c, '\0'..='\u{2ff}' | '\u{4e00}'..='\u{9fff}')
}

/// Compiles a splitting pattern.
fn pattern(pattern: &str) -> Result<Regex, VocabularyError> {
    Regex::new(pattern).map_err(|error| {
        VocabularyError::unsupported(format!("the tokenizer's splitting pattern is not understood: {error}"))
    })
}

/// GPT-2's splitting pattern, which `ByteLevel` means where it splits.
const GPT2_PATTERN: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

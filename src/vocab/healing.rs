//! Token healing: the bytes to take back from the end of a prompt, and the tokens that write them
//! again.
//!
//! A prompt that ends within a word ends in tokens that the tokenizer would not have chosen had it
//! seen the whole word. The model has hardly met them there, so it continues badly. Taking some of
//! them back and letting the model write their bytes again, in whatever tokens it prefers, heals
//! that.

use std::sync::Arc;

use super::Vocabulary;
use super::tokens::{Span, Tokens};
use super::trie::Trie;
use crate::util::id::TokenId;

/// Most tokens that are taken back to reach the start of a word.
const MOST_TOKENS: usize = 16;

/// How much of the end of a prompt to take back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TakeBack {
    /// The last word, with the white space before it: back to a token that begins with white space,
    /// or follows some, or is the first. A prompt that ends in white space loses only that. At most
    /// sixteen tokens, so of a longer word its end.
    #[default]
    Word,
    /// This many tokens.
    Tokens(usize),
}

/// The end of a prompt that was taken back: see [`Vocabulary::take_back`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TakenBack {
    /// Number of tokens of the prompt that stay.
    pub kept: usize,
    /// The bytes of the others, which [`Matcher::heal`](crate::Matcher::heal) takes.
    pub bytes: Vec<u8>,
}

impl Vocabulary {
    /// Returns what to take back from the end of a prompt of these tokens before a model continues
    /// it. The bytes taken back begin at the first byte of a character where the tokens allow that.
    /// Special tokens and others without bytes are never taken back, nor are tokens before them.
    ///
    /// ```
    /// use lrmask::{TakeBack, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["see", " ht", "tp", ":", "://", " http"])?;
    /// let prompt = [0, 1, 2, 3].map(lrmask::TokenId::from); // see http:
    /// let taken = vocabulary.take_back(&prompt, TakeBack::Word);
    /// assert_eq!((taken.kept, &taken.bytes[..]), (1, &b" http:"[..]));
    /// let taken = vocabulary.take_back(&prompt, TakeBack::Tokens(1));
    /// assert_eq!((taken.kept, &taken.bytes[..]), (3, &b":"[..]));
    /// # Ok::<(), lrmask::VocabularyError>(())
    /// ```
    pub fn take_back(&self, prompt: &[TokenId], how: TakeBack) -> TakenBack {
        let most = match how {
            TakeBack::Word => MOST_TOKENS,
            TakeBack::Tokens(count) => count,
        };
        let bytes = |place: usize| prompt.get(place).and_then(|&token| self.bytes(token));
        let is_word = |kept: usize| {
            let is_blank = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
            let before = kept.checked_sub(1).and_then(bytes);
            is_blank(bytes(kept).and_then(<[u8]>::first)) || is_blank(before.and_then(<[u8]>::last))
        };
        let mut kept = prompt.len();
        let begins_inside =
            |kept: usize| bytes(kept).is_some_and(|bytes| matches!(bytes[0], 0x80..0xc0));
        while kept > 0 && bytes(kept - 1).is_some() {
            let taken = prompt.len() - kept;
            let is_enough = taken >= most || how == TakeBack::Word && taken > 0 && is_word(kept);
            // No character has more than four bytes.
            if is_enough && !(taken > 0 && taken < most.saturating_add(3) && begins_inside(kept)) {
                break;
            }
            kept -= 1;
        }
        let bytes = (kept..prompt.len()).filter_map(bytes).flatten().copied().collect();
        TakenBack { kept, bytes }
    }

    /// Returns the vocabulary of what the tokens write after `prefix`: a token that begins with it
    /// has its other bytes, if there are any and none of them is `mark`; all others have none. Ids
    /// and width stay; no token ends the text. Costs the tokens that begin with the prefix, and a
    /// pass over the width.
    pub(crate) fn after_prefix(&self, prefix: &[u8], mark: Option<u8>) -> Self {
        let (mut bytes, mut spans) = (Vec::new(), vec![Span::default(); self.width]);
        for &id in self.longer_than(prefix) {
            let rest = &self.tokens.get(id as usize)[prefix.len()..];
            if mark.is_none_or(|mark| !rest.contains(&mark)) {
                let start = bytes.len() as u32;
                bytes.extend_from_slice(rest);
                spans[id as usize] = Span { start, end: bytes.len() as u32 };
            }
        }
        let tokens = Arc::new(Tokens::new(bytes, spans));
        let mut rests = self.with_bytes(tokens, self.width);
        rests.special.clear();
        rests.stops.clear();
        rests
    }

    /// Returns the heap bytes of the tokens and their trie.
    pub(crate) fn size_bytes(&self) -> usize {
        let Tokens { bytes, spans, trie, .. } = &*self.tokens;
        bytes.len() + spans.len() * size_of::<Span>() + trie.size_bytes()
    }

    /// Returns the tokens that begin with `prefix` and are longer.
    pub(crate) fn longer_than(&self, prefix: &[u8]) -> &[u32] {
        let trie = self.trie();
        let node = prefix.iter().try_fold(Trie::ROOT, |node, &byte| trie.child(node, byte));
        node.map_or(&[], |node| &trie.subtree_tokens(node)[trie.tokens(node).len()..])
    }

    /// Returns the tokens that are prefixes of `text`, or all of it.
    pub(crate) fn prefixes_of<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = TokenId> + 't {
        let mut node = Trie::ROOT;
        let nodes = text.iter().map_while(move |&byte| {
            node = self.trie().child(node, byte)?;
            Some(node)
        });
        nodes.flat_map(|node| self.trie().tokens(node)).map(TokenId::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_taken_back_with_the_blank_before_it() {
        let tokens = ["", "a", " b", "cd", " ", "\n", "\u{e9}", "x\u{20ac}", "\"la", "st"];
        let mut tokens: Vec<Vec<u8>> = tokens.iter().map(|token| token.as_bytes().into()).collect();
        tokens.push(vec![0xe2, 0x82]);
        tokens.push(vec![0xac]);
        let vocabulary = Vocabulary::from_tokens(tokens).unwrap();
        let kept = |prompt: &[u32], how| {
            let prompt: Vec<TokenId> = prompt.iter().map(|&id| TokenId(id)).collect();
            let taken = vocabulary.take_back(&prompt, how);
            let text = prompt[taken.kept..].iter().flat_map(|&id| vocabulary.bytes(id).unwrap());
            assert_eq!(taken.bytes, text.copied().collect::<Vec<u8>>());
            taken.kept
        };
        for (prompt, word, one) in [
            (&[][..], 0, 0),
            (&[1], 0, 0),
            (&[1, 2, 3], 1, 2),
            (&[1, 2, 3, 3], 1, 3),
            // White space at the end is a token of its own.
            (&[1, 2, 4], 2, 2),
            (&[1, 5, 8, 9], 2, 3),
            // A token without bytes is a wall.
            (&[2, 0, 3, 3], 2, 3),
            (&[1, 0], 2, 2),
            // No character is cut.
            (&[1, 10, 11], 0, 1),
            (&[4, 10, 11], 1, 1),
            (&[11], 0, 0),
        ] {
            assert_eq!(kept(prompt, TakeBack::Word), word, "{prompt:?}");
            assert_eq!(kept(prompt, TakeBack::Tokens(1)), one, "{prompt:?}");
            assert_eq!(kept(prompt, TakeBack::Tokens(0)), prompt.len());
        }
        assert_eq!(kept(&[3; 40], TakeBack::Word), 24);
        assert_eq!(kept(&[11; 40], TakeBack::Word), 21, "stray bytes do not take all back");
    }
}

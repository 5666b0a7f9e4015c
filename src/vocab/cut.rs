//! Splits a text into tokens by bytes alone, without a model's own rules.
//!
//! Works from the end of the text to its beginning: the text from a position can be spelled if some
//! token matches there and the text after the token can be spelled. So a split never reaches a dead
//! end.

use crate::util::id::TokenId;

use super::Vocabulary;
use super::trie::Trie;

impl Vocabulary {
    /// Returns the token with exactly these bytes; the least id if there are several. Takes one
    /// step down the trie for each byte.
    pub fn token(&self, bytes: &[u8]) -> Option<TokenId> {
        let mut node = Trie::ROOT;
        for &byte in bytes {
            node = self.trie().child(node, byte)?;
        }
        self.trie().tokens(node).first().map(|&id| TokenId(id))
    }

    /// Whether a token is longer than `bytes` and begins with them. If none is, a token that ends
    /// where they end is final: later text does not change it in a tokenizer that prefers longer
    /// tokens.
    ///
    /// ```
    /// let vocabulary = lrmask::Vocabulary::from_tokens(["a", "ab", "c"])?;
    /// assert!(vocabulary.has_longer(b"a"));
    /// assert!(!vocabulary.has_longer(b"ab") && !vocabulary.has_longer(b"b"));
    /// # Ok::<(), lrmask::VocabularyError>(())
    /// ```
    pub fn has_longer(&self, bytes: &[u8]) -> bool {
        let trie = self.trie();
        let node = bytes.iter().try_fold(Trie::ROOT, |node, &byte| trie.child(node, byte));
        node.is_some_and(|node| trie.subtree_tokens(node).len() > trie.tokens(node).len())
    }

    /// Splits `text` into tokens, each the longest one after which the remaining text can still be
    /// spelled. A model's tokenizer splits *differently*. Of several ids with the same bytes the
    /// least is taken. `None` if the vocabulary cannot spell the text. The time is the length of
    /// the text times that of the longest matching token.
    pub fn cut_longest(&self, text: &[u8]) -> Option<Vec<TokenId>> {
        let length = |id: &TokenId| self.bytes(id).map(<[u8]>::len);
        self.cut(text, |choices| {
            let longest = choices.last().and_then(length);
            choices.partition_point(|id| length(id) < longest)
        })
    }

    /// Splits `text` into the fewest tokens. Of several ids with the same bytes the least is taken.
    /// `None` if the vocabulary cannot spell the text. Takes the same time as
    /// [`Vocabulary::cut_longest`].
    pub fn cut_fewest(&self, text: &[u8]) -> Option<Vec<TokenId>> {
        let trie = self.trie();
        // By position: the fewest tokens that spell the text from there, and the first of them.
        let mut fewest: Vec<Option<(usize, u32)>> = vec![None; text.len() + 1];
        fewest[text.len()] = Some((0, Trie::ROOT));
        for start in (0..text.len()).rev() {
            let counts = matches(trie, &text[start..]).filter_map(|node| {
                let (count, _) = fewest[start + trie.depth(node) as usize]?;
                Some((count + 1, node))
            });
            fewest[start] = counts.min_by_key(|&(count, _)| count);
        }
        let mut tokens = Vec::with_capacity(fewest[0]?.0);
        let mut start = 0;
        while start < text.len() {
            let (_, node) = fewest[start]?;
            tokens.push(TokenId(*trie.tokens(node).first()?));
            start += trie.depth(node) as usize;
        }
        Some(tokens)
    }

    /// Splits `text` into tokens from left to right. `pick` gets the tokens that match and leave a
    /// text that can be spelled, at least one: the shortest first, those with the same bytes by id.
    /// It returns the index of the one to take; an index past the last means the last. `None` if
    /// the vocabulary cannot spell the text. Takes the same time as [`Vocabulary::cut_longest`].
    ///
    /// ```
    /// use lrmask::{TokenId, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens([&b"a"[..], b"ab", b"b"].map(<[u8]>::to_vec))?;
    /// let shortest = vocabulary.cut(b"ab", |_| 0);
    /// assert_eq!(shortest, Some(vec![TokenId::from(0), TokenId::from(2)]));
    /// # Ok::<(), lrmask::VocabularyError>(())
    /// ```
    pub fn cut(
        &self,
        text: &[u8],
        mut pick: impl FnMut(&[TokenId]) -> usize,
    ) -> Option<Vec<TokenId>> {
        let trie = self.trie();
        let mut spellable = vec![false; text.len() + 1];
        spellable[text.len()] = true;
        for start in (0..text.len()).rev() {
            spellable[start] = matches(trie, &text[start..])
                .any(|node| spellable[start + trie.depth(node) as usize]);
        }
        if !spellable[0] {
            return None;
        }

        let mut tokens = Vec::new();
        let mut start = 0;
        let (mut nodes, mut choices) = (Vec::new(), Vec::new());
        while start < text.len() {
            nodes.clear();
            choices.clear();
            for node in matches(trie, &text[start..]) {
                if spellable[start + trie.depth(node) as usize] {
                    let ids = trie.tokens(node);
                    nodes.extend(ids.iter().map(|_| node));
                    choices.extend(ids.iter().map(TokenId::from));
                }
            }
            let picked = pick(&choices).min(choices.len() - 1);
            tokens.push(choices[picked]);
            start += trie.depth(nodes[picked]) as usize;
        }
        Some(tokens)
    }
}

/// Returns the nodes of the tokens that are prefixes of `text`, shortest first.
fn matches<'t>(trie: &'t Trie, text: &'t [u8]) -> impl Iterator<Item = u32> + 't {
    let mut bytes = text.iter();
    let mut node = Trie::ROOT;
    std::iter::from_fn(move || {
        loop {
            node = trie.child(node, *bytes.next()?)?;
            if !trie.tokens(node).is_empty() {
                return Some(node);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vocabulary(tokens: &[&str]) -> Vocabulary {
        Vocabulary::from_tokens(tokens.iter().map(|t| t.as_bytes().to_vec())).unwrap()
    }

    fn ids(cut: Option<Vec<TokenId>>) -> Option<Vec<u32>> {
        cut.map(|tokens| tokens.iter().map(|t| t.0).collect())
    }

    #[test]
    fn the_longest_cut_backs_off_where_it_must() {
        let v = vocabulary(&["a", "ab", "abc", "cd", "d", "ab"]);
        assert_eq!(ids(v.cut_longest(b"abcd")), Some(vec![2, 4]));
        let v = vocabulary(&["a", "ab", "abc", "cd", "", "ab"]);
        assert_eq!(ids(v.cut_longest(b"abcd")), Some(vec![1, 3]));
        assert_eq!(v.cut_longest(b"abx"), None);
        assert_eq!(ids(v.cut_longest(b"")), Some(vec![]));
    }

    #[test]
    fn a_token_is_found_by_its_bytes() {
        let v = vocabulary(&["ab", "abc", "ab"]);
        let found = |bytes: &[u8]| v.token(bytes).map(|t| t.0);
        assert_eq!(
            [found(b"ab"), found(b"abc"), found(b"a"), found(b"")],
            [Some(0), Some(1), None, None]
        );
        let longer = |bytes: &[u8]| v.has_longer(bytes);
        assert_eq!(
            [longer(b""), longer(b"ab"), longer(b"abc"), longer(b"b")],
            [true, true, false, false]
        );
    }

    #[test]
    fn every_cut_can_be_picked() {
        let v = vocabulary(&["a", "aa", "a"]);
        let picked = |first: usize, second: usize| {
            let mut picks = [first, second].into_iter();
            ids(v.cut(b"aa", |_| picks.next().unwrap()))
        };
        let all: std::collections::BTreeSet<_> =
            (0..3).flat_map(|first| (0..2).map(move |second| picked(first, second))).collect();
        // Either id of "a" at both positions, and "aa".
        assert_eq!(all.len(), 5);
        assert_eq!(v.cut(b"aa", |_| 9), v.cut(b"aa", |_| 2));
        assert_eq!(v.cut(b"ab", |_| 0), None);
    }

    proptest! {
        #[test]
        fn a_cut_spells_the_text(
            tokens in prop::collection::vec("[ab]{1,4}", 1..8),
            text in "[ab]{0,12}",
            picks in prop::collection::vec(any::<prop::sample::Index>(), 12),
        ) {
            let v = Vocabulary::from_tokens(tokens.iter().map(|t| t.clone().into_bytes())).unwrap();
            // A text can be spelled if some token is a prefix and the remaining text can be
            // spelled.
            fn spellable(tokens: &[String], text: &str) -> bool {
                text.is_empty()
                    || tokens.iter().any(|t| text.strip_prefix(&**t).is_some_and(|rest| spellable(tokens, rest)))
            }
            let mut picks = picks.iter();
            let picked = v.cut(text.as_bytes(), |choices| picks.next().unwrap().index(choices.len()));
            for cut in [v.cut_longest(text.as_bytes()), picked] {
                prop_assert_eq!(cut.is_some(), spellable(&tokens, &text));
                if let Some(cut) = cut {
                    let spelled: Vec<u8> = cut.iter().flat_map(|&t| v.bytes(t).unwrap().to_vec()).collect();
                    prop_assert_eq!(spelled, text.as_bytes());
                }
            }
        }
    }
}

//! A vocabulary with additional spellings of some tokens, by which a grammar names them.
//!
//! Special tokens have no bytes of their own, so their first spelling takes the place of these. A
//! grammar may refer to an ordinary token by its bytes or by its name, and to a token by several
//! names: each further spelling has its own id, past the width of the logits, and all bits of a
//! token are united when a mask is shown.

use std::sync::Arc;

use super::Vocabulary;
use super::tokens::{Span, Tokens};
use super::trie::Trie;
use crate::util::id::TokenId;

/// A vocabulary with spellings in addition to the tokens' bytes.
#[derive(Clone, Debug)]
pub(crate) struct Spelled {
    /// The vocabulary known to its owner.
    pub(crate) plain: Vocabulary,
    /// The vocabulary with the additional spellings.
    pub(crate) spelled: Vocabulary,
    /// Distance between the ids of a token, a multiple of 32: those of token `t` are `t`, `stride +
    /// t` and so on. `None` if no token has more than one.
    stride: Option<u32>,
    /// The first byte of the additional spellings, if there are any.
    mark: Option<u8>,
}

impl Spelled {
    /// Wraps a vocabulary without additional spellings. Costs nothing.
    pub(crate) fn plain(vocabulary: &Vocabulary) -> Self {
        Self { plain: vocabulary.clone(), spelled: vocabulary.clone(), stride: None, mark: None }
    }

    /// Creates the vocabulary in which tokens have these spellings in addition to their bytes;
    /// special tokens and others without bytes may have some too. Ordinary tokens that contain the
    /// byte `mark`, the first byte of all these spellings, lose their bytes.
    ///
    /// Costs the vocabulary times the greatest number of spellings of a token: the trie is rebuilt.
    pub(crate) fn new(
        vocabulary: &Vocabulary,
        mark: u8,
        spellings: impl Fn(TokenId) -> Vec<Vec<u8>>,
    ) -> Self {
        let width = vocabulary.width() as u32;
        let stride = width.next_multiple_of(32);
        let mut bytes = Vec::new();
        let mut spans = vec![Span::default(); width as usize];
        let mut layers = 1;
        for id in 0..width {
            let own = vocabulary.bytes(TokenId(id)).filter(|own| !own.contains(&mark));
            let others = spellings(TokenId(id));
            let others =
                others.iter().map(Vec::as_slice).filter(|one| one.len() <= Trie::MAX_TOKEN_LENGTH);
            for (layer, spelling) in (0..).zip(own.into_iter().chain(others)) {
                let at = (layer * stride + id) as usize;
                spans.resize(spans.len().max(at + 1), Span::default());
                let start = bytes.len() as u32;
                bytes.extend_from_slice(spelling);
                spans[at] = Span { start, end: bytes.len() as u32 };
                layers = layers.max(layer + 1);
            }
        }
        let inner_width = ((layers - 1) * stride + width) as usize;
        let spelled = vocabulary.with_bytes(Arc::new(Tokens::new(bytes, spans)), inner_width);
        let stride = (layers > 1).then_some(stride);
        Self { plain: vocabulary.clone(), spelled, stride, mark: Some(mark) }
    }

    /// Returns the spellings of a token: its bytes, if it has any, and the names that the grammar
    /// uses.
    pub(crate) fn spellings(&self, id: TokenId) -> impl Iterator<Item = &[u8]> {
        let is_within = id.index() < self.plain.width();
        let inner_width = self.spelled.width();
        let ids = std::iter::successors(Some(id), move |id| {
            Some(TokenId(id.0.checked_add(self.stride?)?))
        });
        ids.take_while(move |id| is_within && id.index() < inner_width)
            .filter_map(|id| self.spelled.bytes(id))
    }

    /// Returns the first byte of the additional spellings, which no text contains; `None` if there
    /// are none.
    pub(crate) fn mark(&self) -> Option<u8> {
        self.mark
    }

    /// Returns whether tokens have further ids, so that rows of [`Spelled::spelled`] are wider than
    /// those of [`Spelled::plain`].
    pub(crate) fn has_further(&self) -> bool {
        self.stride.is_some()
    }

    /// Returns the token with this id in [`Spelled::spelled`].
    pub(crate) fn plain_id(&self, id: TokenId) -> TokenId {
        self.stride.map_or(id, |stride| TokenId(id.0 % stride))
    }

    /// Splits `text` into the fewest tokens, by any of their spellings. `None` if the tokens cannot
    /// spell it.
    pub(crate) fn cut_fewest(&self, text: &[u8]) -> Option<Vec<TokenId>> {
        let tokens = self.spelled.cut_fewest(text)?.into_iter();
        Some(tokens.map(|id| self.plain_id(id)).collect())
    }

    /// Returns the token with the longest spelling that `text` begins with, and the length of that.
    pub(crate) fn longest(&self, text: &[u8]) -> Option<(TokenId, usize)> {
        let trie = self.spelled.trie();
        let step = |node: &mut u32, &byte: &u8| {
            *node = trie.child(*node, byte)?;
            Some(*node)
        };
        let nodes = text.iter().scan(Trie::ROOT, step).zip(1..);
        let tokens = nodes.filter_map(|(node, length)| Some((*trie.tokens(node).first()?, length)));
        tokens.last().map(|(id, length)| (self.plain_id(TokenId(id)), length))
    }

    /// Unites the bits of each token: `wide` is a row of [`Spelled::spelled`].
    pub(crate) fn fold(&self, wide: &[u32], row: &mut [u32]) {
        let words = self.stride.map_or(wide.len(), |stride| stride as usize / 32);
        row.fill(0);
        for layer in wide.chunks(words.max(1)) {
            row.iter_mut().zip(layer).for_each(|(word, more)| *word |= more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_spelled_by_its_bytes_its_name_and_its_id() {
        let tokens = ["a", "b", ""].map(|token| token.as_bytes().to_vec());
        let vocabulary = Vocabulary::from_tokens(tokens.into_iter().chain([b"\xffx".to_vec()]))
            .and_then(|vocabulary| vocabulary.with_special(2, "<|x|>"))
            .expect("sound");
        let named = |id: TokenId| match id.0 {
            0 => Vec::new(),
            2 => vec![b"\xff<|x|>".to_vec(), b"\xff2".to_vec(), b"\xff!".to_vec()],
            id => vec![format!("\u{1}{id}").into_bytes()],
        };
        let spelled = Spelled::new(&vocabulary, 0xff, named);
        let spellings =
            |id: u32| spelled.spellings(TokenId(id)).map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(spellings(0), [b"a".to_vec()]);
        assert_eq!(spellings(1), [b"b".to_vec(), b"\x011".to_vec()]);
        assert_eq!(spellings(2), [b"\xff<|x|>".to_vec(), b"\xff2".to_vec(), b"\xff!".to_vec()]);
        assert_eq!(spellings(3), [b"\x013".to_vec()]);
        assert_eq!(spellings(32), Vec::<Vec<u8>>::new());
        let mut row = [0];
        spelled.fold(&[0b0001, 0b1000, 0b0100], &mut row);
        assert_eq!(row, [0b1101]);
    }
}

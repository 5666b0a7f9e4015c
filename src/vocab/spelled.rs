//! A vocabulary some of whose tokens have a second spelling, by which a grammar names them.
//!
//! Special tokens have no bytes of their own, so their spelling stands in the place of these. An
//! ordinary token that is named by its id may be meant by its bytes or as itself: it has a second
//! id, past the width of the logits, of which whoever shows a mask makes one bit with the first.

use std::sync::Arc;

use super::trie::Trie;
use super::vocabulary::{Span, Tokens, Vocabulary};
use crate::util::id::TokenId;

/// A vocabulary with other spellings beside the tokens' bytes.
#[derive(Clone, Debug)]
pub(crate) struct Spelled {
    /// As its owner knows it.
    pub(crate) plain: Vocabulary,
    /// With the other spellings.
    pub(crate) spelled: Vocabulary,
    /// The first of the second ids, a multiple of 32: that of token `t` is `base + t`. `None` where
    /// no token has one.
    base: Option<u32>,
    /// The byte that begins the other spellings, where there are any.
    mark: Option<u8>,
}

impl Spelled {
    /// The vocabulary without other spellings. Costs nothing.
    pub(crate) fn plain(vocabulary: &Vocabulary) -> Self {
        Self { plain: vocabulary.clone(), spelled: vocabulary.clone(), base: None, mark: None }
    }

    /// The vocabulary in which special tokens are spelled as `by_name` says, and any token by its
    /// id as `by_id` says. Ordinary tokens that hold the byte `mark`, which begins all these
    /// spellings, lose their bytes.
    ///
    /// Costs the vocabulary: its trie is built anew.
    pub(crate) fn new(
        vocabulary: &Vocabulary,
        mark: u8,
        by_name: impl Fn(&str) -> Option<Vec<u8>>,
        by_id: impl Fn(u32) -> Option<Vec<u8>>,
    ) -> Self {
        let width = vocabulary.width() as u32;
        let base = width.next_multiple_of(32);
        let mut bytes = Vec::new();
        let mut spans = vec![Span::default(); width as usize];
        let mut spell = |spelling: &[u8]| {
            let start = bytes.len() as u32;
            bytes.extend_from_slice(spelling);
            Span { start, end: bytes.len() as u32 }
        };
        for id in 0..width {
            let own = vocabulary.bytes(TokenId(id)).filter(|own| !own.contains(&mark));
            if let Some(own) = own {
                spans[id as usize] = spell(own);
            } else if let Some(name) = vocabulary.special(TokenId(id)).and_then(&by_name) {
                spans[id as usize] = spell(&name);
            }
        }
        let stands =
            |id: u32| vocabulary.bytes(TokenId(id)).is_some() || vocabulary.special(TokenId(id)).is_some();
        let mut has_second = false;
        for id in (0..width).filter(|&id| stands(id)) {
            if let Some(spelling) = by_id(id).filter(|spelling| spelling.len() <= Trie::MAX_TOKEN_LENGTH) {
                spans.resize(spans.len().max((base + id) as usize + 1), Span::default());
                spans[(base + id) as usize] = spell(&spelling);
                has_second = true;
            }
        }
        let inner_width = if has_second { base as usize + width as usize } else { width as usize };
        let spelled = vocabulary.with_bytes(Arc::new(Tokens::new(bytes, spans)), inner_width);
        Self { plain: vocabulary.clone(), spelled, base: has_second.then_some(base), mark: Some(mark) }
    }

    /// The spellings of a token: its bytes or its name, and the one by its id.
    pub(crate) fn spellings(&self, id: TokenId) -> impl Iterator<Item = &[u8]> {
        let is_within = id.index() < self.plain.width();
        let second = self.base.map(|base| TokenId(base.saturating_add(id.0)));
        [Some(id), second]
            .into_iter()
            .flatten()
            .filter(move |_| is_within)
            .filter_map(|id| self.spelled.bytes(id))
    }

    /// The byte that begins the other spellings, and that no text holds; `None` where there are no
    /// other spellings.
    pub(crate) fn mark(&self) -> Option<u8> {
        self.mark
    }

    /// Whether tokens have second ids, so that rows of [`Spelled::spelled`] are wider than those of
    /// [`Spelled::plain`].
    pub(crate) fn has_seconds(&self) -> bool {
        self.base.is_some()
    }

    /// Makes one bit of the two of each token: `wide` is a row of [`Spelled::spelled`].
    pub(crate) fn fold(&self, wide: &[u32], row: &mut [u32]) {
        let seconds = self.base.map_or(wide.len(), |base| base as usize / 32);
        for (index, word) in row.iter_mut().enumerate() {
            *word = wide[index] | wide.get(seconds + index).copied().unwrap_or(0);
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
        let by_name = |name: &str| Some([b"\xff", name.as_bytes()].concat());
        let by_id = |id: u32| (id != 0).then(|| format!("\u{1}{id}").into_bytes());
        let spelled = Spelled::new(&vocabulary, 0xff, by_name, by_id);
        let spellings = |id: u32| spelled.spellings(TokenId(id)).map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(spellings(0), [b"a".to_vec()]);
        assert_eq!(spellings(1), [b"b".to_vec(), b"\x011".to_vec()]);
        assert_eq!(spellings(2), [b"\xff<|x|>".to_vec(), b"\x012".to_vec()]);
        assert_eq!(spellings(3), [b"\x013".to_vec()]);
        assert_eq!(spellings(32), Vec::<Vec<u8>>::new());
        let mut row = [0];
        spelled.fold(&[0b0001, 0b1010], &mut row);
        assert_eq!(row, [0b1011]);
    }
}

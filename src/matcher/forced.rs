//! Bytes and tokens that must come next, and whether the text may go on at all.

use super::{Matcher, Moment};
use crate::util::id::TokenId;
use crate::vocab::trie::Trie;

/// Upper bound on the bytes computed by one call.
const LIMIT: usize = 4096;

impl Matcher {
    /// Returns the bytes that must come next: as long as the text so far is not a sentence and
    /// exactly one byte can follow. Empty if there is a choice, or if a token without text must
    /// follow. At most 4,096 bytes.
    pub fn forced_bytes(&self) -> Vec<u8> {
        self.follow_forced(&self.now).0
    }

    /// Returns the tokens of the [forced bytes](Matcher::forced_bytes), as split by `tokenize`: the
    /// model's tokenizer, or [`Vocabulary::cut_longest`](crate::Vocabulary::cut_longest). Leaves
    /// out the tokens at the end that later text could change. That is so where the grammar allows
    /// a token that begins within the forced bytes and ends after them: then only those tokens are
    /// certain that `tokenize` also finds in the bytes before it. The list ends before a token that
    /// does not spell the bytes. The matcher does not change, and it accepts all of these tokens in
    /// order.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["{", "\"", "a", "\":", ":", "1", "12"])?;
    /// let grammar = Grammar::from_lark(r#"start: "{\"a\":" /[0-9]+/"#)?;
    /// let matcher = Constraint::new(&grammar, &vocabulary)?.matcher();
    /// assert_eq!(matcher.forced_bytes(), b"{\"a\":");
    /// let tokens = matcher.forced_tokens(|text| vocabulary.cut_longest(text).unwrap_or_default());
    /// assert_eq!(tokens.iter().map(|token| token.get()).collect::<Vec<_>>(), [0, 1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Costs the forced bytes, an advance for each token, and for each place near the end at which
    /// the vocabulary has a longer token, a mask and at most one call of `tokenize`.
    pub fn forced_tokens<T: Into<TokenId>>(
        &self,
        mut tokenize: impl FnMut(&[u8]) -> Vec<T>,
    ) -> Vec<TokenId> {
        let (bytes, end) = self.follow_forced(&self.now);
        if bytes.is_empty() {
            return Vec::new();
        }
        let vocabulary = self.index.vocabulary();
        let (mut tokens, mut now, mut length) = (Vec::new(), self.now.clone(), 0);
        for token in tokenize(&bytes).into_iter().map(Into::into) {
            let own = vocabulary.bytes(token).filter(|own| bytes[length..].starts_with(own));
            let Some(own) = own else { break };
            let Ok(next) = self.after_token(&now, token) else { break };
            tokens.push(token);
            length += own.len();
            now = next;
        }
        if !self.may_go_on(&end) && length == bytes.len() {
            return tokens;
        }
        // A tokenizer that merges pairs splits the text before a token as if nothing came after it
        // (Berglund et al. 2024). So if a token crosses the end, the tokens before it are those of
        // the text before it.
        for start in (0..bytes.len()).rev() {
            let Some(crossing) = self.longer_tokens(&bytes[start..]) else { continue };
            let Ok(before) = self.within_healing(&self.now, &bytes[..start]) else { continue };
            if self.allows_any(&before, crossing) {
                let sure = tokenize(&bytes[..start]).into_iter().map(Into::into);
                let common = tokens.iter().zip(sure).take_while(|&(one, other)| *one == other);
                let ends = common.scan(0, |end, (&token, _)| {
                    *end += vocabulary.bytes(token).map_or(0, <[u8]>::len);
                    Some(*end)
                });
                tokens.truncate(ends.take_while(|&end| end <= start).count());
            }
            if tokens.is_empty() {
                break;
            }
        }
        tokens
    }

    /// Whether a byte, or a token that does not end the text, may follow. If none may, the text is
    /// a sentence, and only stop tokens follow. Costs one step for each byte class of the scanner.
    pub fn can_continue(&self) -> bool {
        self.now.healing.is_some() || self.may_go_on(&self.now)
    }

    fn may_go_on(&self, from: &Moment) -> bool {
        let classes = self.index.scanner().states().classes();
        classes.representatives().iter().any(|&byte| self.within_token(from, &[byte]).is_ok())
    }

    /// Returns the tokens that are longer than `text` and begin with it; `None` if there are none.
    fn longer_tokens(&self, text: &[u8]) -> Option<&[u32]> {
        let trie = self.index.vocabulary().trie();
        let node = text.iter().try_fold(Trie::ROOT, |node, &byte| trie.child(node, byte))?;
        let longer = &trie.subtree_tokens(node)[trie.tokens(node).len()..];
        (!longer.is_empty()).then_some(longer)
    }

    /// Whether one of these tokens is allowed.
    fn allows_any(&self, from: &Moment, tokens: &[u32]) -> bool {
        let mut row = vec![0; self.index.words()];
        self.fill_row(from, &mut row);
        tokens.iter().any(|&token| row[token as usize / 32] >> (token % 32) & 1 == 1)
    }

    /// Whether each of these bytes is the only one that may follow those before it. False for no
    /// bytes.
    pub(crate) fn forces(&self, bytes: &[u8]) -> bool {
        let mut now = self.now.clone();
        let mut is_forced = |&byte: &u8| {
            let is_only = !self.may_end(&now) && self.only_byte(&now) == Some(byte);
            let next = if is_only { self.within_token(&now, &[byte]).ok() } else { None };
            next.is_some_and(|next| {
                now = next;
                true
            })
        };
        !bytes.is_empty() && bytes.iter().all(&mut is_forced)
    }

    /// Returns the forced bytes, and the state after them.
    fn follow_forced(&self, from: &Moment) -> (Vec<u8>, Moment) {
        let (mut forced, mut now) = (from.unwritten().to_vec(), from.healed());
        while forced.len() < LIMIT && !self.may_end(&now) {
            let only =
                self.only_byte(&now).filter(|&byte| self.index.spelled().mark() != Some(byte));
            let Some(byte) = only else { break };
            let Ok(next) = self.within_token(&now, &[byte]) else { break };
            now = next;
            forced.push(byte);
        }
        (forced, now)
    }

    /// Returns the byte that must follow, if there is exactly one.
    fn only_byte(&self, from: &Moment) -> Option<u8> {
        let classes = self.index.scanner().states().classes();
        let mut only = None;
        for &byte in classes.representatives() {
            if self.within_token(from, &[byte]).is_ok() {
                if only.is_some() {
                    return None;
                }
                only = Some(byte);
            }
        }
        only.filter(|&byte| classes.bytes(classes.get(byte)).count() == 1)
    }
}

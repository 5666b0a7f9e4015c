//! What must come next whatever the model says, and whether anything may.

use super::{Matcher, Moment};
use crate::util::id::TokenId;
use crate::vocab::trie::Trie;

/// Bytes that are looked for at once.
const LIMIT: usize = 4096;

impl Matcher {
    /// The bytes that must come next whatever the model says: as long as the text so far is not a
    /// sentence and exactly one byte can follow. Empty where there is a choice, and where a token
    /// must follow that is no text. At most 4,096 bytes.
    pub fn forced_bytes(&self) -> Vec<u8> {
        self.follow_forced(self.now.clone()).0
    }

    /// The tokens of the [forced bytes](Matcher::forced_bytes), as `tokenize` cuts them: the
    /// model's tokenizer, or [`Vocabulary::cut_longest`](crate::Vocabulary::cut_longest). Without
    /// those at the end that what follows could change: where the grammar allows a longer token
    /// that begins with them. A token that does not spell the bytes ends the list. None is taken;
    /// the matcher takes all of them one after the other.
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
    /// Costs the forced bytes, an advance for each token, and few masks.
    pub fn forced_tokens<T: Into<TokenId>>(
        &self,
        tokenize: impl FnOnce(&[u8]) -> Vec<T>,
    ) -> Vec<TokenId> {
        let (bytes, end) = self.follow_forced(self.now.clone());
        if bytes.is_empty() {
            return Vec::new();
        }
        let vocabulary = self.index.vocabulary();
        let (mut tokens, mut offsets, mut moments) = (Vec::new(), vec![0], vec![self.now.clone()]);
        for token in tokenize(&bytes).into_iter().map(Into::into) {
            let start = offsets[tokens.len()];
            let own = vocabulary.bytes(token).filter(|own| bytes[start..].starts_with(own));
            let Some(own) = own else { break };
            let Ok(next) = self.after_token(&moments[tokens.len()], token) else { break };
            tokens.push(token);
            offsets.push(start + own.len());
            moments.push(next);
        }
        if !self.may_go_on(&end) && offsets.last() == Some(&bytes.len()) {
            return tokens;
        }
        // The first token from which on a longer one could stand is in doubt, and all behind it.
        let is_open = |&place: &usize| self.has_longer(&moments[place], &bytes[offsets[place]..]);
        let certain = (0..tokens.len()).find(is_open).unwrap_or(tokens.len());
        tokens.truncate(certain);
        tokens
    }

    /// Whether a byte or a token may follow that does not end the text. Where none may, the text is
    /// a sentence, and only stop tokens follow. Costs a step for each byte that scan states tell
    /// apart.
    pub fn can_continue(&self) -> bool {
        self.may_go_on(&self.now)
    }

    fn may_go_on(&self, from: &Moment) -> bool {
        let classes = self.index.scanner().states().classes();
        classes.representatives().iter().any(|&byte| self.within_token(from, &[byte]).is_ok())
    }

    /// Whether a token is allowed that begins with `text` and goes on.
    fn has_longer(&self, from: &Moment, text: &[u8]) -> bool {
        let trie = self.index.vocabulary().trie();
        let node = text.iter().try_fold(Trie::ROOT, |node, &byte| trie.child(node, byte));
        let Some(node) = node else { return false };
        let longer = &trie.subtree_tokens(node)[trie.tokens(node).len()..];
        if longer.is_empty() {
            return false;
        }
        let mut row = vec![0; self.index.words()];
        self.fill_row(from, &mut row);
        longer.iter().any(|&token| row[token as usize / 32] >> (token % 32) & 1 == 1)
    }

    /// The forced bytes, and what holds after them.
    fn follow_forced(&self, mut now: Moment) -> (Vec<u8>, Moment) {
        let mut forced = Vec::new();
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

    /// The only byte that may follow, if there is just one.
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

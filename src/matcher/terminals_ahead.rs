//! A masker that looks only some terminals ahead (DOMINO, section 3.3 and table 4), to measure how
//! much a mask interferes with a model.
//!
//! With lookahead 0 a token may not begin within one lexeme and end in the next; each further one
//! lets it cross the end of one more lexeme. Engines that mask terminal by terminal are of that
//! kind. An exact mask has no such bound.

use super::side_state::NotedReading;
use super::{AdvanceError, AdvanceErrorKind, Matcher, Moment};
use crate::scanner::Reads;
use crate::util::id::TokenId;
use crate::vocab::trie::Trie;

/// Readings of a text, each with the number of lexemes that have ended within the token.
type Counted = Vec<(NotedReading, usize)>;

impl Matcher {
    /// Returns this matcher with a bound on the lexemes that end within a token.
    pub(crate) fn with_lookahead(self, lookahead: Option<usize>) -> Self {
        Self { lookahead, ..self }
    }

    /// Returns how many lexemes end within `token`: after its first byte and before its last one
    /// has been read. Ignored lexemes count; one that ends before the token does not. If the text
    /// has several readings, the least number counts. `None` if no sentence continues with the
    /// token.
    ///
    /// This is the lookahead k of DOMINO (section 3.3) that a masker needs to allow the token.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["(", "12", "3", "+", "+1", "1+(", "3)"])?;
    /// let grammar = Grammar::from_lark("start: \"(\" /[0-9]+/ (\"+\" start | \")\")")?;
    /// let mut matcher = Constraint::new(&grammar, &vocabulary)?.matcher();
    /// matcher.advance(0)?;
    /// matcher.advance(1)?; // (12
    /// let ended: Vec<_> = (2u32..7).map(|token| matcher.lexemes_ended(token)).collect();
    /// assert_eq!(ended, [Some(0), Some(0), None, Some(2), Some(1)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lexemes_ended(&self, token: impl Into<TokenId>) -> Option<usize> {
        let token = token.into();
        let is_text = self.after_spelled(&self.now, token).is_ok();
        is_text.then(|| self.least_ended(&self.now, token)).flatten()
    }

    fn least_ended(&self, from: &Moment, token: TokenId) -> Option<usize> {
        let spellings = self.index.spelled().spellings(token);
        spellings.filter_map(|spelling| self.least_ended_in(from, spelling)).min()
    }

    fn least_ended_in(&self, from: &Moment, spelling: &[u8]) -> Option<usize> {
        let mut now = counted(from);
        for (place, &byte) in spelling.iter().enumerate() {
            now = self.count_ended(&now, byte, place == 0);
        }
        now.into_iter().map(|(_, ended)| ended).min()
    }

    /// Returns the readings after `byte`.
    fn count_ended(&self, from: &Counted, byte: u8, is_first: bool) -> Counted {
        let scanner = self.index.scanner();
        let (mut next, mut viewed) = (Counted::new(), Reads::none());
        for ((at, note), count) in from {
            scanner.step_over(at, byte, &mut Reads::none(), |after, ended| {
                let count = count + usize::from(ended.is_some() && !is_first);
                let Some(note) = note.after(scanner, &after, byte, ended) else { return };
                let same = |((known, other), _): &&mut (NotedReading, usize)| {
                    known.same(&after) && other.same(&note)
                };
                if let Some((_, known)) = next.iter_mut().find(same) {
                    *known = count.min(*known);
                } else if scanner.is_viable(&after, &mut viewed) {
                    next.push(((after, note), count));
                }
            });
        }
        next.sort_by_key(|&(_, count)| count);
        next.truncate(scanner.bounds().readings);
        next
    }

    /// Returns an error if a token that the text allows crosses too many ends of lexemes.
    pub(super) fn check_lookahead(
        &self,
        from: &Moment,
        token: TokenId,
    ) -> Result<(), AdvanceError> {
        let Some(most) = self.lookahead else { return Ok(()) };
        let is_within = self.least_ended(from, token).is_none_or(|ended| ended <= most);
        let error = || AdvanceError::new(AdvanceErrorKind::Lookahead, Some(token), 0);
        if is_within { Ok(()) } else { Err(error()) }
    }

    /// Removes the tokens that cross more ends of lexemes than the lookahead from a mask.
    pub(super) fn take_out_far(&self, from: &Moment, most: usize, row: &mut [u32]) {
        let trie = self.index.vocabulary().trie();
        let mut pending = vec![(Trie::ROOT, counted(from))];
        while let Some((node, now)) = pending.pop() {
            for child in trie.children(node) {
                let is_set = |&token: &u32| row[token as usize / 32] >> (token % 32) & 1 == 1;
                if !trie.subtree_tokens(child).iter().any(is_set) {
                    continue;
                }
                let after = self.count_ended(&now, trie.byte(child), node == Trie::ROOT);
                let Some(least) = after.iter().map(|&(_, ended)| ended).min() else { continue };
                let far = match least > most {
                    true => trie.subtree_tokens(child),
                    false => &[],
                };
                for &token in far {
                    // A token that the grammar names may be meant as itself.
                    if self.least_ended(from, TokenId(token)).is_none_or(|ended| ended > most) {
                        row[token as usize / 32] &= !(1 << (token % 32));
                    }
                }
                if far.is_empty() {
                    pending.push((child, after));
                }
            }
        }
    }
}

fn counted(from: &Moment) -> Counted {
    from.noted().into_iter().map(|noted| (noted, 0)).collect()
}

//! A budget of tokens: masks that leave room for a completion.
//!
//! A moment of a text has the number of tokens left. A token is allowed if the text after it can be
//! ended within the others ([`Ending`]). The mask asks this once for each group of tokens after
//! which the configuration is the same ([`Matcher::next_tokens`]), and `advance` for the group of
//! its token, so both agree.
//!
//! Invariant: a text with a budget can be ended within the tokens left. An ending that was only
//! found by a search is kept, and its next token is allowed even if a search from there finds
//! none. So no mask is empty as long as the text is no sentence.

use std::fmt;
use std::sync::Arc;

use super::canonical::Sequence;
use super::endings::{CompletionsByLabel, Ending};
use super::limits::Followed;
use super::next_tokens::Tokens;
use super::side_state::Note;
use super::{AdvanceError, AdvanceErrorKind, Matcher, Moment, Progress};
use crate::index::MarginKey;
use crate::scanner::Reads;
use crate::util::id::TokenId;
use crate::vocab::trie::Trie;

/// The state of a text as tokens. It is kept if their number is limited, or if only canonical ones
/// are allowed.
#[derive(Clone, Debug)]
pub(super) struct TokenState {
    /// The number of tokens left, if it is limited.
    left: Option<usize>,
    /// A way to end the text within them; `None` if it was not needed: one can be found.
    ending: Option<Ending>,
    /// The tokens so far, if only canonical ones are allowed.
    sequence: Option<Sequence>,
}

impl TokenState {
    fn within(left: usize, ending: Option<Ending>) -> Arc<Self> {
        Arc::new(Self { left: Some(left), ending, sequence: None })
    }
}

impl Moment {
    /// Returns the tokens left, if their number is limited.
    pub(super) fn left(&self) -> Option<usize> {
        self.tokens.as_ref()?.left
    }

    /// Returns the tokens so far, if only canonical ones are allowed and there are some.
    pub(super) fn sequence(&self) -> Option<&Sequence> {
        self.tokens.as_ref()?.sequence.as_ref()
    }

    /// Returns this state after other tokens, with this number of tokens left.
    pub(super) fn with_sequence(self, sequence: Option<Sequence>, left: Option<usize>) -> Self {
        let is_some = sequence.is_some() || left.is_some();
        let tokens = is_some.then(|| Arc::new(TokenState { left, ending: None, sequence }));
        Self { tokens, ..self }
    }
}

/// The reason why a budget cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BudgetError {
    /// The text cannot be ended within this number of tokens; with `least` it can.
    TooSmall {
        /// The smallest number of tokens that can be set here.
        least: usize,
    },
    /// No completion of the text was found, in tokens of this vocabulary and within the steps of a
    /// decision.
    NoCompletion,
    /// The grammar has lists whose items must differ (`uniqueItems`).
    DistinctItems,
}

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSmall { least } => {
                write!(f, "the text cannot be ended within the budget; it needs {least} tokens")
            }
            Self::NoCompletion => f.write_str(
                "no completion of the text was found; check with `lrmask check` what the \
                 vocabulary cannot spell, or raise `decision_steps` of the limits",
            ),
            Self::DistinctItems => f.write_str(
                "masks keep no budget where items must differ; remove `uniqueItems`, or end the \
                 text with `Matcher::shortest_completion`",
            ),
        }
    }
}

impl std::error::Error for BudgetError {}

impl Matcher {
    /// Limits the rest of the text to this number of tokens, not counting the stop token. From now
    /// on a token is allowed only if the text after it can be ended within the tokens that are then
    /// left; so a text that follows the masks ends in time, and no mask is empty before it does.
    ///
    /// The budget belongs to the text so far: each token takes one from it, a rollback gives it
    /// back, and a rollback to before this call restores the budget of that time. Bytes
    /// ([`Matcher::advance_bytes`]) take nothing from it.
    ///
    /// Masks are never too wide. They are exact in grammars whose lexemes end where the next one
    /// begins (JSON and schemas are such), except that an ending in which a token spans lexemes may
    /// be missed where it is shorter than any other.
    ///
    /// # Errors
    ///
    /// If the text cannot be ended within `tokens`; the error says how many it needs. The budget is
    /// unchanged then.
    pub fn set_budget(&mut self, tokens: usize) -> Result<(), BudgetError> {
        if self.index.scanner().lexis().has_distinct() {
            return Err(BudgetError::DistinctItems);
        }
        let finished = self.now.progress == Progress::Finished;
        if let Some(tables) = self.canonical.clone().filter(|_| !finished) {
            self.now = self.within_canonical_budget(&tables, tokens).ok_or_else(|| {
                match self.ending_of(&tables, &self.now, None) {
                    Some(ending) => BudgetError::TooSmall { least: ending.len() },
                    None => BudgetError::NoCompletion,
                }
            })?;
            return Ok(());
        }
        let ending = match finished {
            true => Ending::Counted(0),
            false => self.ending_now(&self.now, tokens).map_or_else(|| self.too_small(), Ok)?,
        };
        self.now.tokens = Some(TokenState::within(tokens, Some(ending)));
        Ok(())
    }

    /// Removes the budget.
    pub fn clear_budget(&mut self) {
        let sequence = self.now.sequence().cloned();
        self.now = self.now.clone().with_sequence(sequence, None);
    }

    /// Returns the number of tokens left, if there is a budget.
    pub fn budget(&self) -> Option<usize> {
        self.now.left()
    }

    /// Returns the error for a budget that is too small.
    fn too_small(&self) -> Result<Ending, BudgetError> {
        let least = match self.has_notes() {
            true => self.counting_ending(&self.now, usize::MAX),
            false => {
                let readings = self.now.readings.iter().enumerate();
                let endings = readings
                    .filter_map(|(place, at)| self.least_ending(at, self.now.is_between(place)));
                endings.min_by_key(Ending::tokens)
            }
        };
        let least = least.ok_or(BudgetError::NoCompletion)?.tokens();
        Err(BudgetError::TooSmall { least })
    }

    /// Returns a way to end the text within `most` tokens.
    fn ending_now(&self, at: &Moment, most: usize) -> Option<Ending> {
        if self.has_notes() {
            return self.counting_ending(at, most);
        }
        let mut readings = at.readings.iter().enumerate();
        readings.find_map(|(place, reading)| {
            self.ending(reading, at.is_between(place), most, &mut CompletionsByLabel::default())
        })
    }

    /// Returns the state after `token` with what is left of the budget.
    ///
    /// # Errors
    ///
    /// If the text could not be ended in time.
    pub(super) fn within_budget(
        &self,
        from: &Moment,
        token: TokenId,
        after: Moment,
    ) -> Result<Moment, AdvanceError> {
        let Some(left) = from.left() else { return Ok(after) };
        let spellings: Vec<&[u8]> = self.index.spelled().spellings(token).collect();
        let length = spellings.first().map_or(0, |bytes| bytes.len());
        let error = || AdvanceError::new(AdvanceErrorKind::Budget, Some(token), length);
        let left = left.checked_sub(1).ok_or_else(error)?;
        if self.is_far(from, left) {
            return Ok(Moment { tokens: Some(TokenState::within(left, None)), ..after });
        }
        let trie = Trie::new(spellings.len(), |id| spellings[id as usize]);
        let mut found = None;
        self.endings_after(Tokens::Of(&trie), from, left, |_, ending| {
            found = ending;
            found.is_some()
        });
        let ending = match found {
            Some(found) => found,
            None => {
                let known = self.known_ending(from).filter(|known| known[0] == token);
                Ending::Spelled(known.ok_or_else(error)?[1..].into())
            }
        };
        Ok(Moment { tokens: Some(TokenState::within(left, Some(ending))), ..after })
    }

    /// Returns the state after bytes from elsewhere, with the same budget.
    ///
    /// # Errors
    ///
    /// If the text could not be ended in time.
    pub(super) fn with_same_budget(
        &self,
        from: &Moment,
        length: usize,
        after: Moment,
    ) -> Result<Moment, AdvanceError> {
        let Some(left) = from.left() else { return Ok(after) };
        let error = AdvanceError::new(AdvanceErrorKind::Budget, None, length);
        let ending = self.ending_now(&after, left).ok_or(error)?;
        Ok(Moment { tokens: Some(TokenState::within(left, Some(ending))), ..after })
    }

    /// Returns the tokens of the ending that was found last, at least one.
    fn known_ending(&self, at: &Moment) -> Option<Arc<[TokenId]>> {
        let known = at.tokens.as_ref().and_then(|tokens| tokens.ending.clone());
        let ending = known.or_else(|| self.ending_now(at, at.left()?))?;
        match ending {
            Ending::Spelled(tokens) if !tokens.is_empty() => Some(tokens),
            _ => None,
        }
    }

    /// Returns the key under which the margin of a text is stored, if it has one reading.
    fn margin_key(&self, at: &Moment) -> Option<MarginKey> {
        match &at.readings[..] {
            [only] if !self.has_notes() => MarginKey::new(only),
            _ => None,
        }
    }

    /// Returns whether the text is known to end in time after each token of the mask, with `left`
    /// tokens after it.
    fn is_far(&self, at: &Moment, left: usize) -> bool {
        let margin = self.margin_key(at).and_then(|key| self.index.margin(&key));
        margin.is_some_and(|margin| margin <= left)
    }

    /// Clears the bits of tokens after which the text could not be ended in time.
    pub(super) fn keep_within_budget(&self, at: &Moment, row: &mut [u32]) {
        let Some(left) = at.left().filter(|_| at.progress != Progress::Finished) else {
            return;
        };
        let Some(left) = left.checked_sub(1) else {
            row.fill(0);
            return self.allow_end(at, row);
        };
        if self.is_far(at, left) {
            return;
        }
        let ordinary = row.to_vec();
        let (mut in_time, mut late, mut longest) = (Vec::new(), Vec::new(), 0);
        let are_all = self.endings_after(Tokens::All, at, left, |tokens, ending| {
            longest = longest.max(ending.as_ref().map_or(0, Ending::tokens));
            if ending.is_some() { &mut in_time } else { &mut late }.extend_from_slice(tokens);
            false
        });
        let ids = self.index.spelled().spelled.trie().ids();
        let mut forbids = !are_all;
        if forbids {
            late.push((0, ids.len() as u32));
        }
        // A token that is late in one reading, or by one of its spellings, may be in time in
        // another.
        let in_time = united(in_time);
        let spelled = self.index.spelled();
        let mut by_others = vec![0u32; if spelled.has_further() { row.len() } else { 0 }];
        if spelled.has_further() {
            let places = in_time.iter().flat_map(|&(first, end)| first..end);
            let tokens = places.map(|place| spelled.plain_id(TokenId(ids[place as usize])));
            crate::index::allow(&tokens.collect::<Vec<_>>(), &mut by_others);
        }
        for place in late.into_iter().flat_map(|(first, end)| first..end) {
            let token = spelled.plain_id(TokenId(ids[place as usize]));
            let (word, bit) = (token.index() / 32, 1 << (token.get() % 32));
            let is_in_time = || {
                let after = in_time.partition_point(|&(first, _)| first <= place);
                let known = after.checked_sub(1).is_some_and(|at| place < in_time[at].1);
                known || by_others.get(word).is_some_and(|others| others & bit != 0)
            };
            if row[word] & bit != 0 && !is_in_time() {
                row[word] &= !bit;
                forbids = true;
            }
        }
        if !forbids {
            if let Some(key) = self.margin_key(at) {
                self.index.set_margin(key, longest);
            }
            return;
        }
        if let Some(tokens) = self.known_ending(at) {
            let (word, bit) = (tokens[0].index() / 32, 1 << (tokens[0].get() % 32));
            row[word] |= ordinary[word] & bit;
        }
        self.allow_end(at, row);
    }

    /// Sets the bits of the stop tokens if the text may end.
    pub(super) fn allow_end(&self, at: &Moment, row: &mut [u32]) {
        if self.may_end(at) {
            crate::index::allow(self.stop_tokens(), row);
        }
    }

    /// Passes the groups of tokens that the scanner can read to `each`, with a way to end the text
    /// within `left` tokens after them, until it returns true. Returns false if there are too many
    /// readings to pass all.
    fn endings_after(
        &self,
        tokens: Tokens<'_>,
        at: &Moment,
        left: usize,
        mut each: impl FnMut(&[(u32, u32)], Option<Ending>) -> bool,
    ) -> bool {
        let (mut stopped, mut are_all) = (false, true);
        for (place, reading) in at.readings.iter().enumerate() {
            let mut rests = CompletionsByLabel::default();
            are_all &= self.next_tokens(tokens, reading, |after, begins, tokens| {
                let ending = match at.notes.get(place) {
                    None => self.ending(&after, false, left, &mut rests),
                    before if self.index.scanner().is_viable(&after, &mut Reads::none()) => {
                        let note = Note::within_token(before, begins);
                        let after = self.end_token(at, &[(after, note)], Followed::default());
                        self.counting_ending(&after, left)
                    }
                    _ => None,
                };
                stopped = each(tokens, ending);
                stopped
            });
            if stopped {
                break;
            }
        }
        are_all
    }
}

/// Returns the union of these ranges, ascending and disjoint.
fn united(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut all: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
    for (first, end) in ranges {
        match all.last_mut() {
            Some(last) if first <= last.1 => last.1 = last.1.max(end),
            _ => all.push((first, end)),
        }
    }
    all
}

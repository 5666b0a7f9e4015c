//! Canonical tokens (Koo, section 4.3; Berglund et al. 2024): only sequences that the model's own
//! tokenizer makes.
//!
//! A token is allowed if the grammar allows it, the tokens so far with it are the first that the
//! tokenizer makes of some text (`vocab::bpe`), and some such text is also a sentence. The third
//! does not follow from the other two: where the grammar demands `true`, the token `tr` would be a
//! dead end. So a token needs a *way* on ([`canonical_ways`](super::canonical_ways)).
//!
//! As for budgets, a mask asks this once for the tokens after which the configuration and the state
//! of the tokenizer are the same. `advance` asks it for the groups of its token, so both agree.
//!
//! Invariant: the tokens so far have a way on. If the questions of a later step find none, that of
//! an earlier one is kept. So no mask is empty before the text ends.

use std::sync::Arc;

use super::canonical_ways::{Question, Way};
use super::next_tokens::Tokens;
use super::{AdvanceError, AdvanceErrorKind, Matcher, Moment, Progress};
use crate::util::id::TokenId;
use crate::vocab::{Canonical, CanonicalTokens};

/// The tokens so far, as far as they decide which may follow.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    at: Canonical,
    /// The tokens of a way on, if it took a search to find it.
    way: Option<Arc<[u32]>>,
}

impl Matcher {
    /// Returns this matcher with masks that allow canonical tokens only.
    pub(crate) fn with_canonical(self, tables: Option<Arc<CanonicalTokens>>) -> Self {
        Self { canonical: tables, ..self }
    }

    /// Tells the matcher the prompt's tokens, which the text follows: where only canonical tokens
    /// are allowed ([`Constraint::with_canonical_tokens`]), the first of them must be the ones that
    /// the tokenizer makes after the prompt. Without this, the text begins as after a special
    /// token. If the prompt itself is not canonical, its last tokens count that are. Call it before
    /// the first token.
    ///
    /// Returns false, and changes nothing, if no text of the grammar keeps the prompt's tokens as
    /// they are. Then take some of them back: [`Matcher::heal`]. Returns true without effect if all
    /// tokens are allowed.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["a", "b", "ab", "c"])?.with_merges([("a", "b")])?;
    /// let grammar = Grammar::from_lark("start: \"b\" | \"c\"")?;
    /// let constraint = Constraint::new(&grammar, &vocabulary)?.with_canonical_tokens()?;
    /// let mut matcher = constraint.matcher();
    /// assert!(matcher.follow_prompt([0]) && !matcher.allows(1) && matcher.allows(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`Constraint::with_canonical_tokens`]: crate::Constraint::with_canonical_tokens
    pub fn follow_prompt(&mut self, tokens: impl IntoIterator<Item: Into<TokenId>>) -> bool {
        let Some(tables) = self.canonical.clone() else { return true };
        let mut at = tables.start();
        for token in tokens.into_iter().map(Into::into) {
            let alone = || tables.after(&tables.start(), token.get());
            at = tables.after(&at, token.get()).or_else(alone).unwrap_or_else(|| tables.start());
        }
        let left = self.now.left();
        let now = self.now.clone().with_sequence(Some(Sequence { at, way: None }), left);
        let has_way = self.ending_of(&tables, &now, left).is_some();
        if has_way {
            self.now = now;
        }
        has_way
    }

    fn sequence_at(&self, tables: &CanonicalTokens, at: &Moment) -> Canonical {
        at.sequence().map_or_else(|| tables.start(), |sequence| sequence.at.clone())
    }

    /// Whether the tokenizer makes these tokens of the text so far.
    pub(super) fn is_canonical(&self, at: &Moment) -> bool {
        match (&self.canonical, at.sequence()) {
            (Some(tables), Some(sequence)) => tables.may_end(&sequence.at),
            _ => true,
        }
    }

    /// Returns this state with a budget, if a way to end the text within it is found.
    pub(super) fn within_canonical_budget(
        &self,
        tables: &CanonicalTokens,
        tokens: usize,
    ) -> Option<Moment> {
        // A way that was known may exceed the budget.
        let way = self.ending_of(tables, &self.now, Some(tokens))?;
        let sequence = Sequence { at: self.sequence_at(tables, &self.now), way: Some(way.into()) };
        Some(self.now.clone().with_sequence(Some(sequence), Some(tokens)))
    }

    /// Returns the state after bytes from elsewhere. Their tokens are not known: the next one is as
    /// after a special token.
    ///
    /// # Errors
    ///
    /// If no way on is found, or none within the budget.
    pub(super) fn canonically_after_text(
        &self,
        tables: &CanonicalTokens,
        from: &Moment,
        length: usize,
        after: Moment,
    ) -> Result<Moment, AdvanceError> {
        let after = after.with_sequence(None, from.left());
        let kind = match from.left() {
            None => AdvanceErrorKind::Canonical,
            Some(_) => AdvanceErrorKind::Budget,
        };
        let way = self.ending_of(tables, &after, from.left());
        way.map(|_| after).ok_or(AdvanceError::new(kind, None, length))
    }

    /// Whether some sentence has canonical tokens that begin with those so far.
    pub(crate) fn can_be_canonical(&self) -> bool {
        let tables = self.canonical.as_ref();
        tables.is_none_or(|tables| self.ending_of(tables, &self.now, self.now.left()).is_some())
    }

    /// Returns the tokens of a way to end the text within this many, if one is found.
    pub(super) fn ending_of(
        &self,
        tables: &CanonicalTokens,
        at: &Moment,
        left: Option<usize>,
    ) -> Option<Vec<u32>> {
        let sequence = self.sequence_at(tables, at);
        // A way with all its tokens, else one after which the text can go on anyhow.
        let within = Some(left.unwrap_or(usize::MAX));
        if let Some(way) = Question::new(self, tables, within).in_full().way(at, &sequence) {
            return Some(way.tokens);
        }
        let question = Question::new(self, tables, left).in_full();
        let Way { mut tokens, free } = question.way(at, &sequence)?;
        let (mut now, mut next) = (at.clone(), sequence);
        for &token in &tokens {
            now = question.after_plain(&now, token)?;
            next = tables.after(&next, token)?;
        }
        tokens.extend(question.ending_from(&now, &next, &free?)?);
        Some(tokens)
    }

    /// Returns the tokens of the way on that is known or found.
    fn known_way(&self, tables: &CanonicalTokens, at: &Moment) -> Option<Arc<[u32]>> {
        let known = at.sequence().and_then(|sequence| sequence.way.clone());
        known.or_else(|| self.ending_of(tables, at, at.left()).map(Into::into))
    }

    /// Returns the state after `token`, which the grammar allows, if it is canonical and has a way
    /// on. It is taken from the budget if `counts`.
    ///
    /// # Errors
    ///
    /// If it is not canonical, or no way on was found, or only one that exceeds the budget.
    pub(super) fn canonically(
        &self,
        tables: &CanonicalTokens,
        from: &Moment,
        token: TokenId,
        after: Moment,
        counts: bool,
    ) -> Result<Moment, AdvanceError> {
        let error = |kind| AdvanceError::new(kind, Some(token), 0);
        let before = self.sequence_at(tables, from);
        let at = tables.after(&before, token.get());
        let at = at.ok_or_else(|| error(AdvanceErrorKind::Canonical))?;
        let left = from.left().map(|left| left.checked_sub(counts.into()));
        let left =
            left.map(|left| left.ok_or_else(|| error(AdvanceErrorKind::Budget))).transpose()?;
        let way_within = |left| {
            let question = Question::new(self, tables, left);
            question.way_after_token(from, token, &after, &at)
        };
        let way = way_within(left).or_else(|| {
            let known = self.known_way(tables, from)?;
            (known.first() == Some(&token.get())).then(|| known[1..].to_vec())
        });
        let Some(way) = way else {
            let is_late = left.is_some() && way_within(None).is_some();
            let kind = if is_late { AdvanceErrorKind::Budget } else { AdvanceErrorKind::Canonical };
            return Err(error(kind));
        };
        let way = (!way.is_empty()).then(|| way.into());
        Ok(after.with_sequence(Some(Sequence { at, way }), left))
    }

    /// Clears the bits of tokens that are not canonical, or have no way on within the budget.
    pub(super) fn keep_canonical(&self, tables: &CanonicalTokens, at: &Moment, row: &mut [u32]) {
        if at.progress == Progress::Finished {
            return;
        }
        let left = match at.left().map(|left| left.checked_sub(1)) {
            Some(None) => {
                row.fill(0);
                return self.allow_end(at, row);
            }
            left => left.flatten(),
        };
        let before = self.sequence_at(tables, at);
        let followers = tables.followers(&before);
        row.iter_mut().zip(&followers.all).for_each(|(word, all)| *word &= all);
        let question = Question::new(self, tables, left);
        let spelled = self.index.spelled();
        let ids = spelled.spelled.trie().ids();
        let mut open = vec![0u32; row.len()];
        let are_all = question.each_group(Tokens::All, at, |group, tokens| {
            for place in tokens.iter().flat_map(|&(first, end)| first..end) {
                let token = spelled.plain_id(TokenId(ids[place as usize]));
                let (word, bit) = (token.index() / 32, 1 << (token.get() % 32));
                if row[word] & !open[word] & bit == 0 {
                    continue;
                }
                let states = followers.states(token.get());
                let next = || tables.after(&before, token.get());
                if question.way_after(group, token.get(), states, next).is_some() {
                    open[word] |= bit;
                }
            }
            false
        });
        let is_closed = |(row, open): (&u32, &u32)| row & !open != 0;
        if (!are_all || row.iter().zip(&open).any(is_closed))
            && let Some(&first) = self.known_way(tables, at).as_deref().and_then(<[u32]>::first)
        {
            let (word, bit) = (first as usize / 32, 1 << (first % 32));
            open[word] |= row[word] & bit;
        }
        row.copy_from_slice(&open);
        self.allow_end(at, row);
    }
}

//! The masks along a given sequence, for training and evaluation (Willard and Louf 2023, section
//! 5).

use std::fmt;
use std::sync::OnceLock;

use super::Constraint;
use crate::matcher::{Matcher, RowError};
use crate::util::id::TokenId;
use crate::util::threads;

/// Computes the masks of all positions of a sequence at once. Created by [`Constraint::trace`].
pub struct Trace<'c> {
    constraint: &'c Constraint,
    tokens: Vec<TokenId>,
    scores: &'c [f32],
    threads: usize,
}

/// A token of a sequence and the mask before it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TracedToken {
    /// The token.
    pub token: TokenId,
    /// Whether the mask allows it. All tokens before it must be allowed as well.
    pub is_allowed: bool,
    /// Number of tokens that the mask allows; 0 after the first token that is not allowed.
    pub allowed: usize,
    /// Whether the grammar leaves no choice: the token is the only one allowed, or each of its
    /// bytes is the only one that may come.
    pub is_forced: bool,
    /// With scores: the probability that the model gives to tokens outside the mask. `None` without
    /// scores, and after the first token that is not allowed.
    pub removed: Option<f64>,
}

impl Constraint {
    /// Returns a trace of these tokens, which computes the masks of all their positions. A loss or
    /// a reward needs the masks, and how much of the model's probability they take away.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["a", "b", "c"])?;
    /// let grammar = Grammar::from_lark("start: \"a\" (\"b\" | \"c\") \"a\"")?;
    /// let constraint = Constraint::new(&grammar, &vocabulary)?;
    /// let mut rows = [0u32; 3];
    /// let scores = [0.0; 9]; // all tokens are equally probable
    /// let trace = constraint.trace([0u32, 2, 2]).scores(&scores).fill(&mut rows, 1)?;
    /// assert_eq!(rows, [0b001, 0b110, 0b001]);
    /// assert_eq!(trace.iter().map(|step| step.is_allowed).collect::<Vec<_>>(), [true, true, false]);
    /// assert_eq!(trace.iter().map(|step| step.allowed).collect::<Vec<_>>(), [1, 2, 1]);
    /// assert!(trace[0].is_forced && !trace[1].is_forced);
    /// assert!(trace[1].removed.is_some_and(|mass| (mass - 1.0 / 3.0).abs() < 1e-6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn trace(&self, tokens: impl IntoIterator<Item: Into<TokenId>>) -> Trace<'_> {
        let tokens = tokens.into_iter().map(Into::into).collect();
        Trace { constraint: self, tokens, scores: &[], threads: 1 }
    }
}

impl<'c> Trace<'c> {
    /// Sets the number of threads, including the calling thread; the default is one.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the model's scores (logits): one row for each token, all equally long, with the scores
    /// at its position, before the token. Scores past the vocabulary's width are outside each mask.
    #[must_use]
    pub fn scores(mut self, scores: &'c [f32]) -> Self {
        self.scores = scores;
        self
    }

    /// Fills row `i`, `rows[i * stride..][..stride]`, with the mask before token `i`, as
    /// [`Matcher::fill_mask_into`] does, and says for each token how it stands to its mask. After
    /// the first token that is not allowed, the text has left the language: all further rows are
    /// cleared.
    ///
    /// Costs an advance and a mask for each token; the masks are shared among the threads. If the
    /// number of scores is no multiple of the number of tokens, the scores left over are not read.
    ///
    /// # Errors
    ///
    /// If rows are too short or too few. Nothing is written then.
    pub fn fill(&self, rows: &mut [u32], stride: usize) -> Result<Vec<TracedToken>, RowError> {
        let needed = self.constraint.vocabulary().width().div_ceil(32);
        if stride < needed {
            return Err(RowError::Short { words: stride, needed });
        }
        let count = rows.len() / stride.max(1);
        if count < self.tokens.len() {
            return Err(RowError::Missing { row: self.tokens.len() - 1, rows: count });
        }
        let mut matcher = self.constraint.matcher();
        let mut before: Vec<(Option<Matcher>, bool)> = Vec::with_capacity(self.tokens.len());
        let mut is_viable = true;
        for &token in &self.tokens {
            let at = is_viable.then(|| matcher.clone());
            is_viable = is_viable && matcher.advance(token).is_ok();
            before.push((at, is_viable));
        }
        let width = self.scores.len() / self.tokens.len().max(1);
        let traced: Vec<OnceLock<TracedToken>> =
            self.tokens.iter().map(|_| OnceLock::new()).collect();
        let work = self.tokens.iter().zip(&before).zip(rows.chunks_exact_mut(stride.max(1)));
        threads::each(
            work.zip(&traced).enumerate(),
            self.threads,
            |(place, (((&token, (at, is_allowed)), row), traced))| {
                let scores = self.scores.get(place * width..(place + 1) * width);
                let scores = scores.filter(|scores| !scores.is_empty());
                let step = trace_token(at.as_ref(), token, *is_allowed, row, scores);
                traced.get_or_init(|| step);
            },
        );
        Ok(traced.into_iter().filter_map(OnceLock::into_inner).collect())
    }
}

/// Fills the mask at one position.
fn trace_token(
    at: Option<&Matcher>,
    token: TokenId,
    is_allowed: bool,
    row: &mut [u32],
    scores: Option<&[f32]>,
) -> TracedToken {
    let Some(at) = at.filter(|at| at.fill_mask_into(row).is_ok()) else {
        row.fill(0);
        return TracedToken {
            token,
            is_allowed: false,
            allowed: 0,
            is_forced: false,
            removed: None,
        };
    };
    let allowed = row.iter().map(|word| word.count_ones() as usize).sum();
    let is_stop = at.is_accepting() && at.stop_tokens().contains(&token);
    let bytes = at.vocabulary().bytes(token).unwrap_or_default();
    let is_forced = is_allowed && (allowed == 1 || !is_stop && at.forces(bytes));
    let removed = scores.map(|scores| removed(row, scores));
    TracedToken { token, is_allowed, allowed, is_forced, removed }
}

/// Returns the probability of the tokens outside the mask, for scores that are logits.
fn removed(row: &[u32], scores: &[f32]) -> f64 {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let (mut all, mut outside) = (0.0, 0.0);
    for (token, &score) in scores.iter().enumerate() {
        let mass = f64::from(score - greatest).exp();
        all += mass;
        if row.get(token / 32).is_none_or(|word| word >> (token % 32) & 1 == 0) {
            outside += mass;
        }
    }
    outside / all
}

impl fmt::Debug for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

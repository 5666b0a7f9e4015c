//! Computes masks before sequences need them.

use std::fmt;

use super::Constraint;
use crate::util::id::TokenId;
use crate::util::threads;

/// Computes masks in advance, along samples or by exploring the grammar. Created by
/// [`Constraint::warmup`].
///
/// Warming up is optional: missing masks are computed on demand.
///
/// ```
/// use lrmask::{Constraint, Grammar, Vocabulary};
///
/// let vocabulary = Vocabulary::from_tokens(["a", "b", "ab"])?;
/// let constraint = Constraint::new(&Grammar::from_lark("start: (\"a\" \"b\")*")?, &vocabulary)?;
/// let sample = vocabulary.cut_longest(b"ababab").expect("every byte is a token");
/// assert_eq!(constraint.warmup().threads(2).samples(&[&sample]), 3);
/// // The state before the first byte, and those after further bytes until none is new.
/// assert_eq!(constraint.warmup().explore(1000), 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Warmup<'c> {
    pub(super) constraint: &'c Constraint,
    pub(super) threads: usize,
    pub(super) progress: &'c (dyn Fn(usize) + Sync),
}

impl Constraint {
    /// Returns a warm-up, which computes masks in advance. Sequences that reach equal states find
    /// their masks ready.
    pub fn warmup(&self) -> Warmup<'_> {
        Warmup { constraint: self, threads: 1, progress: &|_| () }
    }

    /// Takes the tokens of `sample` as far as allowed, computing a mask before each and after the
    /// last. Returns how many were taken.
    fn follow(&self, sample: &[TokenId]) -> usize {
        let mut matcher = self.matcher();
        let mut mask = self.new_mask();
        matcher.fill_mask(&mut mask);
        for &token in sample {
            if matcher.advance(token).is_err() {
                break;
            }
            matcher.fill_mask(&mut mask);
        }
        matcher.steps()
    }
}

impl<'c> Warmup<'c> {
    /// Sets the number of threads, including the calling thread; the default is one.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets a progress callback, called from any thread with the number of tokens of samples, or of
    /// configurations, processed since the last call.
    #[must_use]
    pub fn progress(mut self, progress: &'c (dyn Fn(usize) + Sync)) -> Self {
        self.progress = progress;
        self
    }

    /// Follows `samples`, each from the beginning of a text, and computes the mask before each
    /// token and after the last. A sample ends at the first token that is not allowed. Returns how
    /// many tokens were taken.
    pub fn samples(&self, samples: &[&[TokenId]]) -> usize {
        let follow = |sample: &&[TokenId]| {
            let taken = self.constraint.follow(sample);
            (self.progress)(taken);
            taken
        };
        threads::map(samples.iter(), self.threads, follow).into_iter().sum()
    }
}

impl fmt::Debug for Warmup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Warmup").field("threads", &self.threads).finish_non_exhaustive()
    }
}

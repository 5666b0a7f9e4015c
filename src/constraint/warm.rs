//! Computing ahead what sequences will ask for.

use std::fmt;

use super::Constraint;
use crate::util::id::TokenId;
use crate::util::threads;

/// Computes masks ahead: along samples, or in places found without any. Made by
/// [`Constraint::warmup`].
///
/// Nothing ever has to be warmed: masks that are not there are computed when they are asked for.
///
/// ```
/// use lrmask::{Constraint, Grammar, Vocabulary};
///
/// let vocabulary = Vocabulary::from_tokens(["a", "b", "ab"])?;
/// let constraint = Constraint::new(&Grammar::from_lark("start: (\"a\" \"b\")*")?, &vocabulary)?;
/// let sample = vocabulary.cut_longest(b"ababab").expect("every byte is a token");
/// assert_eq!(constraint.warmup().threads(2).samples(&[&sample]), 3);
/// // Before the first byte, and as many bytes behind it until nothing new comes.
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
    /// What computes masks ahead. Sequences that come to like places find them ready.
    pub fn warmup(&self) -> Warmup<'_> {
        Warmup { constraint: self, threads: 1, progress: &|_| () }
    }

    /// How many tokens of `sample` could be taken, with a mask before each and behind the last.
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
    /// How many threads work, the caller's among them; one unless set.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Whom to tell of progress, from whichever thread: how many tokens of samples, or places, have
    /// been dealt with since it was last told.
    #[must_use]
    pub fn progress(mut self, progress: &'c (dyn Fn(usize) + Sync)) -> Self {
        self.progress = progress;
        self
    }

    /// Follows `samples`, each from the beginning of a text on, and computes the mask before each
    /// token and behind the last. Where a token is not allowed the sample ends. Returns how many
    /// tokens were taken.
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

//! Computing ahead what sequences will ask for.

use super::Constraint;
use crate::util::id::TokenId;

impl Constraint {
    /// Follows `samples`, each from the beginning of a text on, and computes the mask before each
    /// token and behind the last: sequences that come to like places find them ready, and
    /// [`Constraint::save`] keeps them. Where a token is not allowed the sample ends. Returns how
    /// many tokens were taken.
    ///
    /// Nothing ever has to be warmed: masks that are not there are computed when they are asked
    /// for. With the feature `rayon` samples are followed on the threads of rayon's current pool.
    /// `progress` is told how many tokens have been taken since it was last told, from whichever
    /// thread: those of a sample as soon as it is through.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens([b"a".to_vec(), b"b".to_vec(), b"ab".to_vec()])?;
    /// let constraint = Constraint::new(&Grammar::from_lark("start: (\"a\" \"b\")*")?, &vocabulary)?;
    /// let sample = vocabulary.cut_longest(b"ababab").expect("every byte is a token");
    /// assert_eq!(constraint.warm(&[&sample], &|_| ()), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warm(&self, samples: &[&[TokenId]], progress: &(dyn Fn(usize) + Sync)) -> usize {
        let follow = |sample: &&[TokenId]| {
            let taken = self.follow(sample);
            progress(taken);
            taken
        };
        #[cfg(feature = "rayon")]
        {
            use rayon::prelude::*;
            samples.par_iter().map(follow).sum()
        }
        #[cfg(not(feature = "rayon"))]
        samples.iter().map(follow).sum()
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

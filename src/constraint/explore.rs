//! Computing ahead without samples: the texts of the language, breadth first.
//!
//! What makes a first visit slow is a walk over the vocabulary, and that depends on the scan state
//! alone, with the matches that are pending. So texts are followed byte by byte, and of places that
//! agree in these and in the top of the parse stack only the first is gone on from: a shortest text
//! that leads to such a place. What lies deeper on the stack tells masks apart, too, but there is
//! no end of stacks; samples show which of them matter.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::Constraint;
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;

/// Places that are gone on from before what they lead to is looked at: few, so that no more than
/// asked for is computed, but enough for all threads.
const STRIDE: usize = 64;

impl Constraint {
    /// Follows all texts from the beginning, the shortest first, and computes the masks at up to
    /// `places` places that are unlike each other, as [`Constraint::warm`] does along samples: the
    /// longest waits of later sequences are over then. Places are alike where the lexeme in
    /// progress has come as far and the top of the parse stack is the same. Returns how many there
    /// were: fewer than asked for when no others are left, or when the index takes half of what
    /// [`Limits::index_bytes`](super::Limits::index_bytes) allows.
    ///
    /// Which places these are depends on the grammar alone. Costs a fraction of a millisecond a
    /// place. With the feature `rayon` the threads of rayon's current pool help. `progress` is told
    /// how many places have been dealt with since it was last told, from whichever thread.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens([b"a".to_vec(), b"b".to_vec(), b"ab".to_vec()])?;
    /// let constraint = Constraint::new(&Grammar::from_lark("start: (\"a\" \"b\")*")?, &vocabulary)?;
    /// // Before the first byte, and as many bytes behind it until nothing new comes.
    /// assert_eq!(constraint.explore(1000, &|_| ()), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explore(&self, places: usize, progress: &(dyn Fn(usize) + Sync)) -> usize {
        let budget = self.compiled.limits.index_bytes / 2;
        let initial = self.index.scanner().initial();
        let mut met = HashSet::with_hasher(FxBuildHasher);
        let mut found: Vec<Configuration> = Vec::new();
        for first in initial {
            if found.len() < places && met.insert(key(&first)) {
                found.push(first);
            }
        }
        let begin = found.len();
        let mut done = 0;
        while done < found.len() && self.index.size().bytes < budget {
            let next = found.len().min(done + STRIDE);
            let after = self.each(&found[done..next], begin.saturating_sub(done));
            for after in after.into_iter().flatten() {
                if found.len() < places && met.insert(key(&after)) {
                    found.push(after);
                }
            }
            progress(next - done);
            done = next;
        }
        done
    }

    /// Computes the masks at these places, and what a byte leads to from each. The first `fresh` of
    /// them are before the first byte.
    fn each(&self, places: &[Configuration], fresh: usize) -> Vec<Vec<Configuration>> {
        let work = |(index, at): (usize, &Configuration)| {
            let mut row = vec![0; self.index.words()];
            self.index.write_mask(std::slice::from_ref(at), index < fresh, &mut row);
            self.after_a_byte(at)
        };
        #[cfg(feature = "rayon")]
        {
            use rayon::prelude::*;
            places.par_iter().enumerate().map(work).collect()
        }
        #[cfg(not(feature = "rayon"))]
        places.iter().enumerate().map(work).collect()
    }

    /// What the bytes that scan states tell apart lead to.
    fn after_a_byte(&self, at: &Configuration) -> Vec<Configuration> {
        let scanner = self.index.scanner();
        let mut viable = Vec::new();
        for &byte in scanner.states().classes().representatives() {
            scanner.step(at, byte, &mut Reads::none(), |after| {
                if scanner.is_viable(&after, &mut Reads::none()) {
                    viable.push(after);
                }
            });
        }
        viable
    }
}

/// Places with the same one are alike.
fn key(at: &Configuration) -> impl Eq + std::hash::Hash + use<> {
    (at.state, at.obligations, at.layout.is_counting(), at.stack.core())
}

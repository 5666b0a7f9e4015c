//! Computing ahead without samples: the texts of the language, breadth first.
//!
//! What makes a first visit slow is a walk over the vocabulary, and that depends on the scan state
//! alone, with the matches that are pending. So texts are followed byte by byte, and of places that
//! agree in these and in the top of the parse stack only the first is gone on from: a shortest text
//! that leads to such a place. What lies deeper on the stack tells masks apart, too, but there is
//! no end of stacks; samples show which of them matter.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::{Constraint, Warmup};
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;
use crate::util::threads;

/// Places that are gone on from before what they lead to is looked at: few, so that no more than
/// asked for is computed, but enough for all threads.
const STRIDE: usize = 64;

impl Warmup<'_> {
    /// Follows all texts from the beginning, the shortest first, and computes the masks at up to
    /// `places` places that are unlike each other: the longest waits of later sequences are over
    /// then. Places are alike where the lexeme in progress has come as far and the top of the parse
    /// stack is the same. Returns how many there were: fewer than asked for when no others are
    /// left, or when the index takes half of what [`Limits::index_bytes`](crate::Limits) allows.
    ///
    /// Which places these are depends on the grammar alone. Costs a fraction of a millisecond a
    /// place.
    pub fn explore(&self, places: usize) -> usize {
        let constraint = self.constraint;
        let budget = constraint.compiled.limits.index_bytes / 2;
        let initial = constraint.index.scanner().initial();
        let mut met = HashSet::with_hasher(FxBuildHasher);
        let mut found: Vec<Configuration> = Vec::new();
        for first in initial {
            if found.len() < places && met.insert(key(&first)) {
                found.push(first);
            }
        }
        let begin = found.len();
        let mut done = 0;
        while done < found.len() && constraint.index.size().bytes < budget {
            let next = found.len().min(done + STRIDE);
            let after =
                constraint.each(&found[done..next], begin.saturating_sub(done), self.threads);
            for after in after.into_iter().flatten() {
                if found.len() < places && met.insert(key(&after)) {
                    found.push(after);
                }
            }
            (self.progress)(next - done);
            done = next;
        }
        done
    }
}

impl Constraint {
    /// Computes the masks at these places, and what a byte leads to from each. The first `fresh` of
    /// them are before the first byte.
    fn each(
        &self,
        places: &[Configuration],
        fresh: usize,
        threads: usize,
    ) -> Vec<Vec<Configuration>> {
        threads::map(places.iter().enumerate(), threads, |(index, at)| {
            let mut row = vec![0; self.index.words()];
            self.index.write_mask(std::slice::from_ref(at), index < fresh, &mut row);
            self.after_a_byte(at)
        })
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

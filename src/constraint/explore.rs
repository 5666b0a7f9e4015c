//! Warm-up without samples: visits the texts of the language, breadth first.
//!
//! The slow part of a first visit is a walk over the vocabulary, which depends only on the scan
//! state and the pending matches. So texts are followed byte by byte, and of configurations that
//! agree in these and in the top of the parse stack only the first is expanded: it is reached by a
//! shortest text. Deeper stack states distinguish masks as well, but there are infinitely many
//! stacks; samples show which of them matter.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::{Constraint, Warmup};
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;
use crate::util::threads;

/// Number of configurations expanded before their successors are examined: small, so that no more
/// than requested is computed, but enough for all threads.
const STRIDE: usize = 64;

impl Warmup<'_> {
    /// Follows all texts from the beginning, the shortest first, and computes the masks of up to
    /// `places` different configurations, so that later sequences no longer wait for these. Two
    /// configurations count as equal if they agree in the lexeme in progress and in the top of the
    /// parse stack. Returns their number: fewer than requested if there are no others, or if the
    /// index reaches half of [`Limits::index_bytes`](crate::Limits).
    ///
    /// The choice depends on the grammar alone. Costs a fraction of a millisecond for each
    /// configuration.
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
    /// Computes the masks of these configurations, and returns the successors of each. The first
    /// `fresh` of them are before the first byte.
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

    /// Returns the successors for one byte of each byte class.
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

/// Returns the key under which configurations count as equal.
fn key(at: &Configuration) -> impl Eq + std::hash::Hash + use<> {
    (at.state, at.obligations, at.layout.is_counting(), at.stack.core())
}

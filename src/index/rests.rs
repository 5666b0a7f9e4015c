//! Indexes of what tokens write after a prefix: the same scanner, and a vocabulary in which the
//! tokens that begin with the prefix have only their other bytes.
//!
//! Prompts made from one template end alike, so a few of these indexes are kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::Index;
use crate::vocab::Spelled;

/// Number of indexes kept.
const KEPT: usize = 16;

/// The indexes used last.
#[derive(Debug, Default)]
pub(super) struct IndexesAfterPrefixes(Mutex<VecDeque<Kept>>);

/// An index, after its prefix.
type Kept = (Box<[u8]>, Arc<Index>);

impl IndexesAfterPrefixes {
    /// Returns the heap bytes.
    pub(super) fn bytes(&self) -> usize {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|(_, index)| index.size().bytes + index.vocabulary().size_bytes()).sum()
    }
}

impl Index {
    /// Returns the index of what tokens write after `prefix`. Each has a share of this index's
    /// budget. Costs the tokens that begin with the prefix, unless it is kept.
    pub(crate) fn after_prefix(&self, prefix: &[u8]) -> Arc<Self> {
        let kept = || self.rests.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(of, _): &Kept| **of == *prefix;
        if let Some((_, index)) = kept().iter().find(|kept| is_it(kept)) {
            return index.clone();
        }
        // Built without the lock: other threads may need other prefixes.
        let rests = self.vocabulary.plain.after_prefix(prefix, self.vocabulary.mark());
        let budget = self.cache.budget() / KEPT;
        let index = Self::new(self.scanner.clone(), Spelled::plain(&rests), budget, None);
        let index = Arc::new(index);
        let mut kept = kept();
        if !kept.iter().any(is_it) {
            kept.truncate(KEPT - 1);
            kept.push_front((prefix.into(), index.clone()));
        }
        index
    }
}

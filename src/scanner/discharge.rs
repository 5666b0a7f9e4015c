//! Obligations that can be dropped: whatever follows, no reading is left when they could be broken.
//!
//! Where `-` is a lexeme and `/-{800}b/` is another, each dash may be the first of a longer match,
//! and eight hundred of these are pending at once. None can complete: a lexeme that begins later
//! has read fewer dashes when the `b` comes, and dies. Such obligations distinguish readings with
//! the same future, so they only multiply the readings.
//!
//! Whether an obligation can be broken is a search through pairs of its scan state and the state of
//! a lexeme in progress, which may end wherever it accepts and be followed by any other lexeme.
//! That is an over-approximation of what the parser and the other obligations allow, so an
//! obligation that cannot be broken here cannot be broken at all.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::{Obligations, ObligationsId, Scanner};
use crate::util::append_map::AppendMap;
use crate::util::id::ScanStateId;

/// Results about obligations.
#[derive(Debug, Default)]
pub(super) struct Discharges {
    kept: AppendMap<(ObligationsId, ScanStateId), ObligationsId>,
    /// Pairs of an obligation and a lexeme in progress with which it cannot be broken.
    idle: Mutex<HashSet<Pair, FxBuildHasher>>,
    /// Number of pairs met by searches that found that an obligation can be broken.
    in_vain: AtomicUsize,
}

/// The state of an obligation, and that of a lexeme in progress.
type Pair = (ScanStateId, ScanStateId);

/// This many obligations are cheaper to keep than to search.
const FEW: usize = 4;

/// Limit on the pairs that one search may meet. Past it the obligation is kept.
const MAX_PAIRS: usize = 1 << 20;

/// Limit on the pairs met by all unsuccessful searches: about half a second. Past it obligations
/// are kept without a search.
const MAX_IN_VAIN: usize = 1 << 18;

impl Discharges {
    /// Returns the number of results.
    pub(super) fn len(&self) -> usize {
        self.kept.len() + self.idle.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Scanner {
    /// Returns the obligations that have to be kept while a lexeme is in `state`: all of them if
    /// they are few, or if the starts of lexemes depend on the past, which the search does not
    /// model.
    #[inline]
    pub(super) fn keep_obligations(&self, id: ObligationsId, state: ScanStateId) -> ObligationsId {
        if id == ObligationsId::NONE
            || self.obligations(id).len() <= FEW
            || self.states().has_past()
        {
            return id;
        }
        self.keep_many(id, state)
    }

    #[cold]
    fn keep_many(&self, id: ObligationsId, state: ScanStateId) -> ObligationsId {
        if let Some(&kept) = self.discharges.kept.get(&(id, state)) {
            return kept;
        }
        let can_be_broken = |&obligation: &ScanStateId| self.can_be_broken(obligation, state);
        let kept: Obligations =
            self.obligations(id).iter().copied().filter(can_be_broken).collect();
        let kept = self.intern_obligations(kept);
        *self.discharges.kept.get_or_insert_with((id, state), || kept)
    }

    fn can_be_broken(&self, obligation: ScanStateId, state: ScanStateId) -> bool {
        let in_vain = &self.discharges.in_vain;
        if in_vain.load(Ordering::Relaxed) > MAX_IN_VAIN {
            return true;
        }
        let mut idle = self.discharges.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.contains(&(obligation, state)) {
            return false;
        }
        let mut met: HashSet<Pair, FxBuildHasher> = HashSet::default();
        met.insert((obligation, state));
        let mut pending = vec![(obligation, state)];
        while let Some((obligation, state)) = pending.pop() {
            for (broken, classes) in self.states().moves(obligation) {
                let is_broken = self.states().label(broken).is_some();
                for class in classes.iter() {
                    let byte = self.states().classes().representatives()[usize::from(class)];
                    let goes_on = self.states().next(state, byte);
                    let ends = self.states().label(state).is_some()
                        && goes_on.is_none_or(|on| !self.states().accepts_surely(on));
                    let begun = self.lexis.starts().filter(|_| ends);
                    let begun = begun.filter_map(|start| self.states().next(start, byte));
                    for next in goes_on.into_iter().chain(begun) {
                        if is_broken || met.len() > MAX_PAIRS {
                            in_vain.fetch_add(met.len(), Ordering::Relaxed);
                            return true;
                        }
                        if !idle.contains(&(broken, next)) && met.insert((broken, next)) {
                            pending.push((broken, next));
                        }
                    }
                }
            }
        }
        idle.extend(met);
        false
    }
}

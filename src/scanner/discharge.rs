//! Obligations that need not be kept: whatever the rest of the text, nothing is left of it by the
//! time they could be broken.
//!
//! Where `-` is a lexeme and `/-{800}b/` is another, each dash may be the first of a longer match,
//! and eight hundred of these are pending at once. None can come true: a lexeme that begins later
//! has read fewer dashes when the `b` comes, and dies of it. Such obligations tell apart readings
//! that have the same future, so many of them are one too many.
//!
//! Whether an obligation can be broken is a search through pairs: its scan state, and the state of
//! a lexeme in progress, which may end wherever it accepts, and be followed by any other. That is
//! more than the parser and the other obligations allow, so what cannot be broken here cannot be
//! broken at all.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::{Obligations, ObligationsId, Scanner};
use crate::util::append_map::AppendMap;
use crate::util::id::ScanStateId;

/// What has been found out of obligations.
#[derive(Debug, Default)]
pub(super) struct Discharges {
    kept: AppendMap<(ObligationsId, ScanStateId), ObligationsId>,
    /// Pairs of an obligation and a lexeme in progress with which it cannot be broken.
    idle: Mutex<HashSet<Pair, FxBuildHasher>>,
    /// How many pairs were met by searches that found an obligation to be one that can be broken.
    in_vain: AtomicUsize,
}

/// The state of an obligation, and that of a lexeme in progress.
type Pair = (ScanStateId, ScanStateId);

/// So many obligations do no harm, and it would cost more to look through them than to keep them.
const FEW: usize = 4;

/// How many pairs one search may meet. Where that is not enough the obligation is kept.
const MAX_PAIRS: usize = 1 << 20;

/// How many pairs may be met in vain, by all searches: about half a second. Past them obligations
/// are kept unseen.
const MAX_IN_VAIN: usize = 1 << 18;

impl Discharges {
    /// How many have been found out.
    pub(super) fn len(&self) -> usize {
        self.kept.len() + self.idle.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Scanner {
    /// What has to be kept of `obligations` while a lexeme is in `state`. All, where lexemes start
    /// in more ways than are looked through here.
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

//! Obligations that others imply: every text that breaks them breaks one of the others.
//!
//! After several `a`s that may each begin a match of `/a{60}/`, the match that began first is the
//! first to complete, and dies with the others. So it implies the other obligations. If they were
//! kept, there would be a set for each choice of positions where lexemes ended, exponentially many.
//!
//! One scan state implies another if each text that leads the other to an accept has led this one
//! to an accept before, or does so with the same byte. That is language inclusion of deterministic
//! automata: a search through pairs of states finds a byte on which it fails, or completes. If it
//! completes, inclusion holds for all pairs that were met; if it fails, it fails for all pairs on
//! the path to the failure.

use std::cell::Cell;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::{Obligations, ObligationsId, Scanner};
use crate::util::id::ScanStateId;

/// A state, and one that it may imply.
type Pair = (ScanStateId, ScanStateId);

/// Limit on the pairs that one search may meet. Past it both obligations are kept, which is as
/// exact.
const MAX_PAIRS: usize = 1 << 12;

/// With more obligations than this, pairwise comparison costs more than it saves.
const MANY: usize = 16;

impl Scanner {
    /// Removes the states that others of `states` imply.
    #[inline]
    pub(super) fn drop_implied(&self, states: &mut Obligations) {
        if states.len() > 1 && states.len() <= MANY {
            self.drop_implied_of_few(states);
        }
    }

    #[cold]
    fn drop_implied_of_few(&self, states: &mut Obligations) {
        let mut at = 0;
        while let Some(&state) = states.get(at) {
            let implies =
                |&other: &ScanStateId| other != state && self.implies(other, state, &Cell::new(0));
            match states.iter().any(implies) {
                true => drop(states.remove(at)),
                false => at += 1,
            }
        }
    }

    /// Returns whether the obligations of `more` imply all those of `less`, with the same past.
    /// Adds each state that is looked at to `compared`.
    pub(super) fn is_within(
        &self,
        less: ObligationsId,
        more: ObligationsId,
        compared: &Cell<usize>,
    ) -> bool {
        compared.set(compared.get() + 1);
        if less == more {
            return true;
        }
        if self.past(less) != self.past(more) {
            return false;
        }
        match (self.obligations(less).as_slice(), self.obligations(more).as_slice()) {
            ([], _) => true,
            (_, []) => false,
            ([less], [more]) => self.implies(*more, *less, compared),
            _ => self.includes(less, more, compared),
        }
    }

    /// Does the same for sets of several.
    fn includes(&self, less: ObligationsId, more: ObligationsId, compared: &Cell<usize>) -> bool {
        let known = &self.obligations.inclusions;
        if let Some(&known) = known.get(&(less, more)) {
            return known;
        }
        let implying = self.obligations(more);
        let is_implied = |state: &ScanStateId| {
            compared.set(compared.get() + implying.len());
            let implies = |&other: &ScanStateId| self.implies(other, *state, compared);
            implying.contains(state) || implying.iter().any(implies)
        };
        let is_within = self.obligations(less).iter().all(is_implied);
        *known.get_or_insert_with((less, more), || is_within)
    }

    /// Returns whether every text that breaks `implied` breaks `state` no later.
    fn implies(&self, state: ScanStateId, implied: ScanStateId, compared: &Cell<usize>) -> bool {
        let implications = &self.obligations.implications;
        state == implied
            || implications
                .get(&(state, implied))
                .copied()
                .unwrap_or_else(|| self.find_implication((state, implied), compared))
    }

    #[cold]
    fn find_implication(&self, pair: Pair, compared: &Cell<usize>) -> bool {
        let known = &self.obligations.implications;
        // Each pair with the position of the one that led to it.
        let mut met: Vec<(Pair, usize)> = vec![(pair, 0)];
        let mut seen: HashSet<Pair, FxBuildHasher> = HashSet::from_iter([pair]);
        let mut at = 0;
        let bytes = self.states().classes().representatives().len();
        while let Some(&((state, implied), _)) = met.get(at) {
            compared.set(compared.get() + bytes);
            for next in self.implied_after(state, implied) {
                let fails = match next {
                    None => true,
                    Some(next) => known.get(&next) == Some(&false),
                };
                if fails || met.len() > MAX_PAIRS {
                    let mut way = at;
                    while way != met[way].1 {
                        known.get_or_insert_with(met[way].0, || false);
                        way = met[way].1;
                    }
                    known.get_or_insert_with(pair, || false);
                    return false;
                }
                let next = next.filter(|next| known.get(next).is_none() && seen.insert(*next));
                met.extend(next.map(|next| (next, at)));
            }
            at += 1;
        }
        for (pair, _) in met {
            known.get_or_insert_with(pair, || true);
        }
        true
    }

    /// Returns the pairs that must be in the relation after each byte for `state` to imply
    /// `implied`; `None` for failure.
    fn implied_after(
        &self,
        state: ScanStateId,
        implied: ScanStateId,
    ) -> SmallVec<[Option<Pair>; 8]> {
        let mut pairs: SmallVec<[Option<Pair>; 8]> = SmallVec::new();
        for &byte in self.states().classes().representatives() {
            let Some(implied) = self.states().next(implied, byte) else { continue };
            let pair = match self.states().next(state, byte) {
                Some(state) if self.states().accepts_surely(state) => continue,
                // A state that depends on the following text is compared only with itself.
                Some(next) if next == implied => continue,
                Some(state)
                    if [state, implied].iter().any(|&at| self.states().guarded(at).is_some()) =>
                {
                    None
                }
                Some(state) if self.states().label(implied).is_none() => Some((state, implied)),
                _ => None,
            };
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        pairs
    }
}

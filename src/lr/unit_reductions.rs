//! What reductions do as long as they do not reach below the state under the top.
//!
//! In a grammar with many levels of precedence an operand is reduced ten times and more, each time
//! by a production of one symbol, before anything else happens. None of it depends on more than the
//! top state and the one below. So for each such pair, an edge of the LR(0) automaton, it is worked
//! out once, for all look-aheads together: which terminals are shifted on the way, and by which
//! reductions the way leads further down.
//!
//! The tables keep their unit reductions, because rows and reductions of states have to be exact in
//! themselves.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rustc_hash::FxBuildHasher;

use super::closures::{Closure, Cores, Exit, Stop};
use super::table::ParseTable;
use crate::util::bitset::BitSet;
use crate::util::id::CoreId;

/// Rounds of one closure, and more for each state: a table that takes more is forged, or derives
/// nothing in ever so many ways, and shifts less then than it might.
const LONGEST: usize = 10_000;
const LONGEST_OF_A_STATE: usize = 16;

/// A round on so many states counts as two.
const MANY: usize = 128;

/// Rounds of all closures of a table, three to ten microseconds each. Twenty texts of Python take
/// 3,123, and no grammar of others that was tried took more than 20,000. Only rules that derive
/// nothing in ever so many ways come here: of each closure that is found from then on, no more than
/// its first [`SHORT`] rounds are followed. Which these are depends on the texts that were read, so
/// masks are not saved once a closure has been longer than that: where they are loaded, it might be
/// cut.
const MOST_ROUNDS: usize = 1 << 17;

/// Rounds of a closure that is found late. The longest one of the built-in grammars takes 31.
const SHORT: usize = 256;

impl ParseTable {
    /// How many closures were not followed to their ends: stacks that reduce by them shift less
    /// than they might.
    pub(crate) fn cut_closures(&self) -> usize {
        self.closures.cut.load(Ordering::Relaxed)
    }

    /// What `top` does on `below`; at the bottom of a stack there is nothing below.
    #[inline]
    pub(super) fn closure(&self, top: CoreId, below: Option<CoreId>) -> &Closure {
        let closures = self.closures.by_top.get_or_init(top.0, || self.new_closures(top));
        let place = match below {
            Some(below) if closures.len() > 1 => self.place_below(top, below),
            _ => 0,
        };
        // A stack of these tables has a place there; one of others must not make this panic.
        closures[place.min(closures.len() - 1)]
            .get_or_init(|| Box::new(self.find_closure(top, below)))
    }

    #[cold]
    fn new_closures(&self, top: CoreId) -> Box<[OnceLock<Box<Closure>>]> {
        let places = if self.reductions(top).is_empty() { 1 } else { self.count_below(top).max(1) };
        (0..places).map(|_| OnceLock::new()).collect()
    }

    #[cold]
    fn find_closure(&self, top: CoreId, below: Option<CoreId>) -> Closure {
        let mut all = BitSet::new(self.end().index() + 1);
        let (mut stops, mut exits) = (Vec::new(), Vec::new());
        let mut reads_below = false;
        let mut pending: Vec<(bool, Cores, Option<BitSet>)> = vec![(false, Cores::new(), None)];
        // Where there are conflicts, ways may meet again, and cyclic rules go round.
        let mut met: HashMap<(bool, Cores), BitSet, FxBuildHasher> = HashMap::default();
        let most = match self.closures.rounds.load(Ordering::Relaxed) < MOST_ROUNDS {
            true => LONGEST + LONGEST_OF_A_STATE * self.state_count(),
            false => SHORT,
        };
        let mut rounds = 0;
        while let Some((uncovers, states, mut filter)) = pending.pop() {
            rounds += 1 + states.len() / MANY;
            if rounds > most {
                self.closures.cut.fetch_add(1, Ordering::Relaxed);
                break;
            }
            let base = if uncovers { below } else { Some(top) };
            // No sound table goes round without shifting; a forged one may, and in as many ways as
            // there are stacks of its states.
            let sound = states.len() <= self.state_count();
            let Some(state) = states.last().copied().or(base).filter(|_| sound) else { continue };
            if let Some(filter) = filter.as_mut().filter(|_| self.has_conflicts()) {
                match met.entry((uncovers, states.clone())) {
                    Entry::Vacant(entry) => {
                        entry.insert(filter.clone());
                    }
                    Entry::Occupied(mut entry) => {
                        filter.subtract(entry.get());
                        if !entry.get_mut().union_with(filter) {
                            continue;
                        }
                    }
                }
            }
            let within = |set: &BitSet| {
                let mut set = set.clone();
                filter.iter().for_each(|filter| set.intersect_with(filter));
                set
            };
            let shifts = within(self.shifts(state));
            for reduction in self.reductions(state) {
                let lookaheads = within(self.lookaheads(reduction));
                if lookaheads.is_empty() {
                    continue;
                }
                // What the reduction takes off beyond the states that were pushed here.
                let rest = reduction.length.saturating_sub(states.len());
                let original = rest + usize::from(uncovers && rest > 0);
                reads_below |= original > 0;
                if original > 1 {
                    exits.push(Exit { pops: original, lhs: reduction.lhs, lookaheads });
                    continue;
                }
                let mut states = states[..states.len() - (reduction.length - rest)].to_vec();
                let uncovers = uncovers || rest == 1;
                let base = if uncovers { below } else { Some(top) };
                let Some(state) = states.last().copied().or(base) else { continue };
                if let Some(next) = self.goto(state, reduction.lhs) {
                    states.push(next);
                    pending.push((uncovers, states.into(), Some(lookaheads)));
                }
            }
            if !shifts.is_empty() {
                all.union_with(&shifts);
                stops.push(Stop { uncovers, cores: states, shifts });
            }
        }
        self.closures.rounds.fetch_add(rounds, Ordering::Relaxed);
        self.closures.has_long.fetch_or(rounds > SHORT, Ordering::Relaxed);
        let set = exits.is_empty().then(|| self.acceptable_sets().intern(all.clone()));
        let (stops, exits, lengths) = (stops.into(), exits.into(), AtomicU64::default());
        Closure { shifts: all, stops, exits, reads_below, set, lengths }
    }
}

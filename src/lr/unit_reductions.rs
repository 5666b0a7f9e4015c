//! The effect of reductions that read at most the state below the top.
//!
//! In a grammar with many levels of precedence, an operand is reduced ten times or more, each time
//! by a production of one symbol, before anything else happens. All of this depends only on the top
//! state and the state below. So it is computed once for each such pair, an edge of the LR(0)
//! automaton, for all look-aheads together: the terminals that are shifted on the way, and the
//! reductions that lead further down.
//!
//! The tables keep their unit reductions, because the rows and reductions of each state must be
//! exact on their own.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rustc_hash::FxBuildHasher;

use super::closures::{Closure, Cores, Exit, Stop};
use super::table::ParseTable;
use crate::util::bitset::BitSet;
use crate::util::id::CoreId;

/// Upper bounds on the rounds of one closure: a constant, and more for each state. A table that
/// needs more is forged, or derives the empty text in a huge number of ways; its stacks may then
/// shift less than they could.
const LONGEST: usize = 10_000;
const LONGEST_OF_A_STATE: usize = 16;

/// Number of states for which a round counts once more.
const MANY: usize = 128;

/// Upper bound on the rounds of all closures of a table, three to ten microseconds each. Twenty
/// texts of Python take 3,123, and no third-party grammar that was tried took more than 20,000.
/// Only rules that derive the empty text in a huge number of ways reach it: from then on only the
/// first [`SHORT`] rounds of each new closure are followed.
const MOST_ROUNDS: usize = 1 << 17;

/// Upper bound on the rounds of a closure found after [`MOST_ROUNDS`]. The longest one of the
/// built-in grammars takes 31.
const SHORT: usize = 256;

impl ParseTable {
    /// Returns the number of closures that were cut: stacks that reduce by them may shift less than
    /// they could.
    pub(crate) fn cut_closures(&self) -> usize {
        self.closures.cut.load(Ordering::Relaxed)
    }

    /// Returns the closure of `top` on `below`; nothing is below the bottom of a stack.
    #[inline]
    pub(super) fn closure(&self, top: CoreId, below: Option<CoreId>) -> &Closure {
        let closures = self.closures.by_top.get_or_init(top.0, || self.new_closures(top));
        let place = match below {
            Some(below) if closures.len() > 1 => self.place_below(top, below),
            _ => 0,
        };
        // A stack of this table always has an index here; a stack of another table must not cause a
        // panic.
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
        // With conflicts, paths may meet again, and cyclic rules loop.
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
            // A sound table does not loop without shifting; a forged one may, along as many paths
            // as there are stacks of its states.
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
                // Number of states popped below those pushed here.
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
        let set = exits.is_empty().then(|| self.acceptable_sets().intern(all.clone()));
        let (stops, exits) = (stops.into(), exits.into());
        Closure { shifts: all, stops, exits, reads_below, set }
    }
}

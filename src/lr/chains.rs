//! What reductions do as long as they do not reach below the state under the top.
//!
//! In a grammar with many levels of precedence an operand is reduced ten times and more, each time by a production of one
//! symbol, before anything else happens. None of it depends on more than the top state and the one below. So for each such
//! pair, an edge of the LR(0) automaton, it is worked out once, for all look-aheads together: which terminals are shifted on the
//! way, and by which reductions the way leads further down.
//!
//! The tables keep their unit reductions, because rows and reductions of states have to be exact in themselves.

use smallvec::SmallVec;

use super::table::ParseTable;
use crate::util::append::{Interner, Slots};
use crate::util::bitset::BitSet;
use crate::util::id::{NonterminalId, ParseStateId};
use crate::util::memo::Memo;

/// States on top of a stack.
pub(super) type States = SmallVec<[ParseStateId; 2]>;

/// What a state does on top of another.
#[derive(Debug)]
pub(super) struct Chain {
    /// All terminals that are shifted on the way, and `$` where it accepts.
    pub(super) shifts: BitSet,
    pub(super) stops: Box<[Stop]>,
    pub(super) exits: Box<[Exit]>,
    /// Whether any of it reads the state below the top.
    pub(super) reads_below: bool,
    /// Where no reduction leads further down: the number of `shifts` among the table's [`AcceptableSets`].
    pub(super) set: Option<u32>,
}

/// Where terminals are shifted.
#[derive(Debug)]
pub(super) struct Stop {
    /// Whether the top has been taken off.
    pub(super) uncovers: bool,
    /// What lies on the state below by then, or else on the top.
    pub(super) states: States,
    pub(super) shifts: BitSet,
}

/// A reduction that takes off the state below the top as well.
#[derive(Debug)]
pub(super) struct Exit {
    /// How many states it takes off, the top among them; at least 2.
    pub(super) pops: usize,
    pub(super) lhs: NonterminalId,
    /// The terminals (and `$`) before which it is done.
    pub(super) lookaheads: BitSet,
}

/// The sets of terminals that stacks can shift: few in number, however many stacks there are.
pub(crate) type AcceptableSets = Interner<BitSet>;

/// The chains found so far: of states that reduce by top and what lies below it, no more than the automaton has edges; of the
/// others, which do the same on whatever lies below, by top. And what whole stacks can shift.
#[derive(Debug, Default)]
pub(super) struct Chains {
    reducing: Memo<u64, Chain>,
    shifting: Slots<Box<Chain>>,
    sets: AcceptableSets,
}

impl Clone for Chains {
    /// They are found again.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl ParseTable {
    /// The sets of terminals (and `$`) that stacks can shift (accept).
    pub(crate) fn acceptable_sets(&self) -> &AcceptableSets {
        &self.chains.sets
    }

    /// What `top` does on `below`; at the bottom of a stack there is nothing below.
    #[inline]
    pub(super) fn chain(&self, top: ParseStateId, below: Option<ParseStateId>) -> &Chain {
        if self.reductions(top).is_empty() {
            return self.chains.shifting.get_or_init(top.0, || Box::new(self.find_chain(top, None)));
        }
        let key = u64::from(top.0) << 32 | below.map_or(0, |below| u64::from(below.0) + 1);
        self.chains.reducing.get_or_find(key, || self.find_chain(top, below))
    }

    #[cold]
    fn find_chain(&self, top: ParseStateId, below: Option<ParseStateId>) -> Chain {
        let mut all = BitSet::new(self.end().index() + 1);
        let (mut stops, mut exits) = (Vec::new(), Vec::new());
        let mut reads_below = false;
        let mut pending: Vec<(bool, States, Option<BitSet>)> = vec![(false, States::new(), None)];
        while let Some((uncovers, states, filter)) = pending.pop() {
            let base = if uncovers { below } else { Some(top) };
            // No sound table goes round without shifting.
            let sound = states.len() <= self.state_count();
            let Some(state) = states.last().copied().or(base).filter(|_| sound) else { continue };
            let within = |set: &BitSet| {
                let mut set = set.clone();
                filter.iter().for_each(|filter| set.intersect_with(filter));
                set
            };
            let shifts = within(self.shifts(state));
            for reduction in self.reductions(state) {
                let lookaheads = within(&reduction.lookaheads);
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
                stops.push(Stop { uncovers, states, shifts });
            }
        }
        let set = exits.is_empty().then(|| self.acceptable_sets().intern(all.clone()));
        Chain { shifts: all, stops: stops.into(), exits: exits.into(), reads_below, set }
    }
}

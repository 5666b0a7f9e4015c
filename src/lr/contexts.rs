//! Transitions between parse states, and the terminals that stacks with one on top can shift.

use smallvec::SmallVec;

use super::states::{AcceptableSets, Key, Return};
use super::table::ParseTable;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, NonterminalId, ParseStateId};

impl ParseTable {
    /// Returns the sets of terminals (and `$`) that stacks can shift (accept).
    pub(crate) fn acceptable_sets(&self) -> &AcceptableSets {
        &self.states.sets
    }

    /// Returns the number of parse states created so far, and the number of transitions between
    /// them.
    pub(crate) fn met(&self) -> (usize, usize) {
        (self.states.keys.len(), self.states.entered.len())
    }

    /// Returns the state of the empty stack.
    pub(crate) fn start_state(&self) -> ParseStateId {
        self.intern_state(self.start(), SmallVec::new())
    }

    /// Returns the core of a parse state.
    pub(super) fn core_of(&self, state: ParseStateId) -> CoreId {
        self.states.keys.get(state.0).core
    }

    /// Returns the number of the set of terminals that a stack with `state` on top can shift: the
    /// same set as [`Stack::acceptable`] computes from the stack itself.
    ///
    /// [`Stack::acceptable`]: super::stack::Stack::acceptable
    pub(crate) fn acceptable_in(&self, state: ParseStateId) -> u32 {
        *self.states.acceptable.get_or_init(state.0, || {
            let key = self.states.keys.get(state.0);
            let mut acceptable = self.shifts(key.core).clone();
            for reduction in self.reductions(key.core) {
                let (lhs, lookaheads) = (reduction.lhs, self.lookaheads(reduction));
                match reduction.length as u32 {
                    0 => acceptable.union_with_both(lookaheads, &self.follow(state, lhs)),
                    depth => {
                        let follow = self.follow_of(key, Return { lhs: lhs.0, depth });
                        acceptable.union_with_both(lookaheads, self.states.sets.get(follow));
                    }
                }
            }
            self.states.sets.intern(acceptable)
        })
    }

    fn intern_state(&self, core: CoreId, follows: SmallVec<[u32; 4]>) -> ParseStateId {
        ParseStateId(self.states.keys.intern(Key { core, follows }))
    }

    /// Returns the state of `core` on top of `below`.
    #[inline]
    pub(super) fn enter(&self, below: ParseStateId, core: CoreId) -> ParseStateId {
        match self.states.entered.get(&(below, core)) {
            Some(&state) => state,
            None => self.find_entered(below, core),
        }
    }

    #[cold]
    fn find_entered(&self, below: ParseStateId, core: CoreId) -> ParseStateId {
        let under = self.states.keys.get(below.0);
        let follow = |&Return { lhs, depth }: &Return| match depth {
            1 => self.states.sets.intern(self.follow(below, NonterminalId(lhs))),
            _ => self.follow_of(under, Return { lhs, depth: depth - 1 }),
        };
        let follows = self.returns.get(core.index()).iter().map(follow).collect();
        let state = self.intern_state(core, follows);
        *self.states.entered.get_or_insert_with((below, core), || state)
    }

    /// Returns the number of the set of terminals that can be shifted when an item of a state
    /// returns. An advanced item always comes from an item of the state below, except in a forged
    /// table: a missing item gets the empty set.
    fn follow_of(&self, key: &Key, back: Return) -> u32 {
        let returns = self.returns.get(key.core.index());
        let nothing = |_| self.states.sets.intern(BitSet::new(self.end().index() + 1));
        returns.binary_search(&back).map_or_else(nothing, |place| key.follows[place])
    }

    /// Returns the terminals that can be shifted on a stack with `state` on top once `nonterminal`
    /// is complete there.
    fn follow(&self, state: ParseStateId, nonterminal: NonterminalId) -> BitSet {
        let key = self.states.keys.get(state.0);
        let Some(top) = self.goto(key.core, nonterminal) else {
            return BitSet::new(self.end().index() + 1);
        };
        let closure = self.closure(top, Some(key.core));
        let mut follow = closure.shifts.clone();
        for exit in &closure.exits {
            let back = Return { lhs: exit.lhs.0, depth: exit.pops as u32 - 1 };
            follow
                .union_with_both(&exit.lookaheads, self.states.sets.get(self.follow_of(key, back)));
        }
        follow
    }
}

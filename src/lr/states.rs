//! Parse states: the states of the LALR(1) automaton in their context, made as stacks meet them.
//!
//! LALR(1) merges the states of the canonical LR(1) automaton (Knuth 1965) that have the same
//! items: the *core* remains, and what may follow an item is a union over all contexts. A stack
//! knows its context, though. So each of its states is a core together with what may really follow
//! each of its items when that item is complete: a state of canonical LR(1). There may be very many
//! of these, but a text meets few, and each is made once, in time that does not depend on the depth
//! of the stack.
//!
//! Invariant: what a stack can shift is known from its top alone.

use smallvec::SmallVec;

use super::lr0::Automaton;
use super::rules::Rules;
use super::table::{ParseTable, Reduction};
use crate::util::append::{Interner, Slots};
use crate::util::append_map::AppendMap;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, NonterminalId, ParseStateId};
use crate::util::lists::Lists;

/// What an item goes back to when it is complete: its nonterminal, above the state so far down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Return {
    pub(super) lhs: u32,
    /// How many states come off: the symbols before the dot; at least 1.
    pub(super) depth: u32,
}

/// By core: where its kernel items return to, ascending.
pub(super) fn returns(rules: &Rules, automaton: &Automaton) -> Lists<Return> {
    let mut returns = Lists::new();
    let mut own: Vec<Return> = Vec::new();
    for core in 0..automaton.state_count() {
        own.clear();
        for &item in automaton.kernels.get(core) {
            let production = rules.production(item);
            let depth = item - rules.first(production);
            if production != rules.accept() && depth > 0 {
                own.push(Return { lhs: rules.lhs(production) as u32, depth });
            }
        }
        own.sort_unstable();
        own.dedup();
        own.iter().for_each(|&back| returns.push(back));
        returns.close();
    }
    returns
}

/// A parse state by what it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) core: CoreId,
    /// Parallel to the core's returns: the number of the set of terminals that can be shifted from
    /// there.
    pub(super) follows: SmallVec<[u32; 4]>,
}

/// The sets of terminals that stacks can shift: few in number, however many stacks there are.
pub(crate) type AcceptableSets = Interner<BitSet>;

/// The parse states met so far.
#[derive(Debug, Default)]
pub(super) struct ParseStates {
    pub(super) keys: Interner<Key>,
    /// By the state below and the core on top of it.
    entered: AppendMap<(ParseStateId, CoreId), ParseStateId>,
    pub(super) sets: AcceptableSets,
    /// By state: the number of what it can shift.
    acceptable: Slots<u32>,
}

impl ParseTable {
    /// The sets of terminals (and `$`) that stacks can shift (accept).
    pub(crate) fn acceptable_sets(&self) -> &AcceptableSets {
        &self.states.sets
    }

    /// The state of the empty stack.
    pub(crate) fn start_state(&self) -> ParseStateId {
        self.intern_state(self.start(), SmallVec::new())
    }

    /// The core of a parse state.
    pub(super) fn core_of(&self, state: ParseStateId) -> CoreId {
        self.states.keys.get(state.0).core
    }

    /// The number of the set of terminals that a stack with `state` on top can shift: what
    /// [`Stack::acceptable`] finds on the stack itself.
    ///
    /// [`Stack::acceptable`]: super::stack::Stack::acceptable
    pub(crate) fn acceptable_in(&self, state: ParseStateId) -> u32 {
        *self.states.acceptable.get_or_init(state.0, || {
            let key = self.states.keys.get(state.0);
            let mut acceptable = self.shifts(key.core).clone();
            for Reduction { lhs, length, lookaheads } in self.reductions(key.core) {
                match *length as u32 {
                    0 => acceptable.union_with_both(lookaheads, &self.follow(state, *lhs)),
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

    /// The state of `core` on top of `below`.
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
        self.states.entered.get_or_insert_with((below, core), || state)
    }

    /// What can be shifted when an item of a state returns.
    fn follow_of(&self, key: &Key, back: Return) -> u32 {
        let returns = self.returns.get(key.core.index());
        let place = returns.binary_search(&back);
        debug_assert!(place.is_ok(), "an item that has come so far was there before");
        place.map_or(u32::MAX, |place| key.follows[place])
    }

    /// What can be shifted on a stack with `state` on top once `nonterminal` is complete there.
    fn follow(&self, state: ParseStateId, nonterminal: NonterminalId) -> BitSet {
        let key = self.states.keys.get(state.0);
        let Some(top) = self.goto(key.core, nonterminal) else { return BitSet::new(self.end().index() + 1) };
        let chain = self.chain(top, Some(key.core));
        let mut follow = chain.shifts.clone();
        for exit in &chain.exits {
            let back = Return { lhs: exit.lhs.0, depth: exit.pops as u32 - 1 };
            follow.union_with_both(&exit.lookaheads, self.states.sets.get(self.follow_of(key, back)));
        }
        follow
    }
}

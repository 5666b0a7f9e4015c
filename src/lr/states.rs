//! Parse states: the states of the LALR(1) automaton in their context, created as stacks reach
//! them.
//!
//! LALR(1) merges the states of the canonical LR(1) automaton (Knuth 1965) that have the same
//! items: the *core* remains, and the look-aheads of an item are a union over all contexts. But a
//! stack determines its context. So each of its states is a core together with the terminals that
//! can really follow each of its items when that item is complete: a state of canonical LR(1).
//! There may be very many of these, but a text reaches few, and each is created once, in time that
//! does not depend on the depth of the stack.
//!
//! Invariant: the top alone determines the terminals that a stack can shift.

use smallvec::SmallVec;

use super::lr0::Automaton;
use super::rules::Rules;
use crate::util::append::{Interner, Slots};
use crate::util::append_map::AppendMap;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, ParseStateId};
use crate::util::lists::Lists;

/// The goto taken when an item is complete: its nonterminal, from the state this many levels down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Return {
    pub(super) lhs: u32,
    /// Number of states popped: the symbols before the dot; at least 1.
    pub(super) depth: u32,
}

/// Computes, for each core, the returns of its kernel items, ascending.
pub(super) fn returns(rules: &Rules, automaton: &Automaton) -> Lists<Return> {
    let mut returns =
        Lists::with_capacity(automaton.state_count(), automaton.kernels.entries().len());
    let mut own: Vec<Return> = Vec::new();
    for core in 0..automaton.state_count() {
        own.clear();
        let kernel = automaton.kernels.get(core);
        for &item in kernel {
            let production = rules.production(item);
            let depth = item - rules.first(production);
            if production != rules.accept() && depth > 0 {
                own.push(Return { lhs: rules.lhs(production) as u32, depth });
            }
        }
        if kernel.len() > 1 {
            own.sort_unstable();
            own.dedup();
        }
        own.iter().for_each(|&back| returns.push(back));
        returns.close();
    }
    returns
}

/// Identity of a parse state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) core: CoreId,
    /// Parallel to the core's returns: the number of the set of terminals that can be shifted after
    /// each.
    pub(super) follows: SmallVec<[u32; 4]>,
}

/// The sets of terminals that stacks can shift: few, however many stacks there are.
pub(crate) type AcceptableSets = Interner<BitSet>;

/// The parse states created so far.
#[derive(Debug, Default)]
pub(super) struct ParseStates {
    pub(super) keys: Interner<Key>,
    /// By the state below and the core on top of it.
    pub(super) entered: AppendMap<(ParseStateId, CoreId), ParseStateId>,
    pub(super) sets: AcceptableSets,
    /// By state: the number of the set that it can shift.
    pub(super) acceptable: Slots<u32>,
}

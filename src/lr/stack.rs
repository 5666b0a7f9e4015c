//! The parse stack: persistent, shared, and with a memo of what it can shift.
//!
//! A stack is a linked list of nodes from the top down. Nodes are immutable, so forks, rollbacks and the
//! speculative stacks of mask computation share all that they have in common, and what is computed of a
//! node holds for ever.
//!
//! Whoever depends on a stack only through the states that it has *read* may keep its result for every stack
//! that looks the same so far down (Willard and Louf 2023, section 4.1). Hence every function here that reads
//! below the top reports the lowest depth it has read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::chains::Exit;
use super::table::{Action, ParseTable};
use crate::grammar::ir::Symbol;
use crate::util::bitset::BitSet;
use crate::util::id::{ParseStateId, TerminalId};

/// A parse stack. Cloning shares it.
#[derive(Clone, Debug)]
pub(crate) struct Stack(Arc<Node>);

#[derive(Debug)]
struct Node {
    state: ParseStateId,
    /// Distance from the bottom, which has depth 0.
    depth: u32,
    below: Option<Stack>,
    /// As [`Acceptable::pack`] says, or 0. Whoever finds it out finds the same, so it does not matter who.
    acceptable: AtomicU64,
}

/// What a stack can really shift, and how deep one had to look to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acceptable {
    /// Id of the set of terminals (and `$`) among [`ParseTable::acceptable_sets`].
    pub(crate) set: u32,
    /// The depth of the lowest state that was read.
    pub(crate) lowest: u32,
}

impl Acceptable {
    /// As one number, which is not 0.
    fn pack(self) -> u64 {
        u64::from(self.lowest) << 32 | (u64::from(self.set) + 1)
    }

    fn unpack(packed: u64) -> Option<Self> {
        Some(Self { set: (packed as u32).checked_sub(1)?, lowest: (packed >> 32) as u32 })
    }
}

impl Stack {
    /// The stack that holds only the start state.
    pub(crate) fn new(start: ParseStateId) -> Self {
        Self(Arc::new(Node { state: start, depth: 0, below: None, acceptable: AtomicU64::new(0) }))
    }

    /// The stack with `state` on top of this one.
    pub(crate) fn push(&self, state: ParseStateId) -> Self {
        let depth = self.0.depth + 1;
        Self(Arc::new(Node { state, depth, below: Some(self.clone()), acceptable: AtomicU64::new(0) }))
    }

    /// The state on top.
    #[inline]
    pub(crate) fn top(&self) -> ParseStateId {
        self.0.state
    }

    /// How many states lie below the top.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.0.depth
    }

    /// The stack below the top; `None` at the bottom.
    #[inline]
    pub(crate) fn below(&self) -> Option<&Stack> {
        self.0.below.as_ref()
    }

    /// The terminal that was shifted last; `None` before the first. Holds between lexemes: a stack's top is then
    /// what a shift pushed, and taking out an idle round keeps it.
    pub(crate) fn last_terminal(&self, table: &ParseTable) -> Option<TerminalId> {
        match table.accessing(self.top())? {
            Symbol::Terminal(terminal) => Some(terminal),
            Symbol::Nonterminal(_) => None,
        }
    }

    /// Whether what the stack shifts depends on its top alone.
    pub(crate) fn is_local(&self, table: &ParseTable) -> bool {
        let chain = table.chain(self.top(), self.below().map(Stack::top));
        chain.set.is_some() && !chain.reads_below
    }

    /// Whether the two stacks hold the same states. Stops at the first node that they share.
    pub(crate) fn same_states(&self, other: &Stack) -> bool {
        let (mut a, mut b) = (self, other);
        if a.depth() != b.depth() {
            return false;
        }
        loop {
            if Arc::ptr_eq(&a.0, &b.0) {
                return true;
            }
            if a.top() != b.top() {
                return false;
            }
            match (a.below(), b.below()) {
                (Some(next_a), Some(next_b)) => (a, b) = (next_a, next_b),
                _ => return true,
            }
        }
    }

    /// The stack after `terminal`: the reductions that it causes, then its shift. `None` when the stack cannot
    /// shift it, which the row of the top state alone does not tell: an LALR look-ahead set is a union over
    /// contexts. `$` never shifts; ask [`Stack::accepts`].
    ///
    /// `lowest` is lowered to the depth of the lowest state read. Costs the reductions that reach below the state under the
    /// top, and allocates only the states that remain.
    pub(crate) fn feed(&self, table: &ParseTable, terminal: TerminalId, lowest: &mut u32) -> Option<Stack> {
        let mut at = Place::new(self);
        loop {
            *lowest = (*lowest).min(at.read());
            let chain = table.chain(at.top, at.below.map(Stack::top));
            if let Some(stop) = chain.stops.iter().find(|stop| stop.shifts.contains(terminal.index())) {
                let shifting = stop.states.last().copied().unwrap_or(at.top);
                let Some(Action::Shift(target)) = table.actions(shifting, terminal).first() else {
                    return None;
                };
                let push = |stack: Stack, &state: &ParseStateId| stack.push(state).without_idle_round(table);
                let base = if stop.uncovers {
                    *lowest = (*lowest).min(at.depth - 1);
                    at.below?.clone()
                } else if at.is_real {
                    self.clone()
                } else {
                    push(at.below?.clone(), &at.top)
                };
                return Some(stop.states.iter().chain([target]).fold(base, push));
            }
            if chain.reads_below {
                *lowest = (*lowest).min(at.depth.saturating_sub(1));
            }
            let exit = chain.exits.iter().find(|exit| exit.lookaheads.contains(terminal.index()))?;
            at = at.after(table, exit)?;
        }
    }

    /// Whether the stack accepts `$` after `terminals`. `lowest` is lowered to the depth of the lowest state read. Costs
    /// the reductions, and makes no stacks.
    pub(crate) fn accepts(
        &self,
        table: &ParseTable,
        terminals: impl IntoIterator<Item = TerminalId>,
        lowest: &mut u32,
    ) -> bool {
        let mut overlay = Overlay::new(self);
        for terminal in terminals.into_iter().chain([table.end()]) {
            loop {
                *lowest = (*lowest).min(overlay.base.depth());
                match table.actions(overlay.top(), terminal).first() {
                    Some(Action::Reduce(production)) => {
                        let (lhs, length) = table.production(*production);
                        if overlay.pop(length).is_none() {
                            return false;
                        }
                        *lowest = (*lowest).min(overlay.base.depth());
                        let Some(state) = table.goto(overlay.top(), lhs) else { return false };
                        overlay.states.push(state);
                    }
                    Some(Action::Shift(state)) => {
                        overlay.states.push(*state);
                        break;
                    }
                    Some(Action::Accept) => return true,
                    None => return false,
                }
            }
        }
        false
    }

    /// The terminals (and `$`) that the stack can really shift (accept), computed once a node.
    ///
    /// Reductions are followed for all look-aheads at once: the sets that lead to different reductions are
    /// disjoint, so the work is bounded by the reductions that single terminals would cause.
    pub(crate) fn acceptable(&self, table: &ParseTable) -> Acceptable {
        let known = Acceptable::unpack(self.0.acceptable.load(Ordering::Acquire));
        known.unwrap_or_else(|| {
            let found = self.find_acceptable(table);
            self.0.acceptable.store(found.pack(), Ordering::Release);
            found
        })
    }

    fn find_acceptable(&self, table: &ParseTable) -> Acceptable {
        let at = Place::new(self);
        let chain = table.chain(at.top, at.below.map(Stack::top));
        let mut lowest = at.depth.saturating_sub(u32::from(chain.reads_below));
        if let Some(set) = chain.set {
            return Acceptable { set, lowest };
        }
        let mut found = chain.shifts.clone();
        let mut pending: SmallVec<[(Place<'_>, BitSet); 4]> = SmallVec::new();
        for exit in &chain.exits {
            if let Some(after) = at.after(table, exit) {
                pending.push((after, exit.lookaheads.clone()));
            }
        }
        while let Some((at, filter)) = pending.pop() {
            let chain = table.chain(at.top, at.below.map(Stack::top));
            lowest = lowest.min(at.read());
            if chain.reads_below {
                lowest = lowest.min(at.depth.saturating_sub(1));
            }
            found.union_with_both(&chain.shifts, &filter);
            for exit in chain.exits.iter().filter(|exit| exit.lookaheads.intersects(&filter)) {
                if let Some(after) = at.after(table, exit) {
                    let mut lookaheads = exit.lookaheads.clone();
                    lookaheads.intersect_with(&filter);
                    pending.push((after, lookaheads));
                }
            }
        }
        Acceptable { set: table.acceptable_sets().intern(found), lowest }
    }
}

/// A state on top of a stack that is not touched.
#[derive(Clone, Copy)]
struct Place<'s> {
    top: ParseStateId,
    below: Option<&'s Stack>,
    /// Of the top.
    depth: u32,
    /// Whether it is the stack's own, and has not been put there by a reduction.
    is_real: bool,
}

impl<'s> Place<'s> {
    fn new(stack: &'s Stack) -> Self {
        Self { top: stack.top(), below: stack.below(), depth: stack.depth(), is_real: true }
    }

    /// The depth of the lowest state that it took to come here.
    fn read(&self) -> u32 {
        if self.is_real { self.depth } else { self.depth - 1 }
    }

    /// The place after a reduction; `None` would mean that the tables do not belong to the stack.
    fn after(&self, table: &ParseTable, exit: &Exit) -> Option<Self> {
        let mut below = self.below?;
        for _ in 1..exit.pops {
            below = below.below()?;
        }
        let top = table.goto(below.top(), exit.lhs)?;
        Some(Self { top, below: Some(below), depth: below.depth() + 1, is_real: false })
    }
}

impl Drop for Node {
    /// Frees long chains in a loop: the derived drop would recurse once a state, and a document nested a
    /// million deep would overflow the thread's stack.
    fn drop(&mut self) {
        let mut below = self.below.take();
        while let Some(stack) = below {
            below = Arc::into_inner(stack.0).and_then(|mut node| node.below.take());
        }
    }
}

/// States pushed on a stack that is not touched.
#[derive(Debug)]
struct Overlay<'s> {
    base: &'s Stack,
    states: SmallVec<[ParseStateId; 8]>,
}

impl<'s> Overlay<'s> {
    fn new(base: &'s Stack) -> Self {
        Self { base, states: SmallVec::new() }
    }

    fn top(&self) -> ParseStateId {
        self.states.last().copied().unwrap_or_else(|| self.base.top())
    }

    /// Takes `length` states off; `None` would mean that the tables do not belong to the stack.
    fn pop(&mut self, length: usize) -> Option<()> {
        let pushed = self.states.len().min(length);
        self.states.truncate(self.states.len() - pushed);
        for _ in pushed..length {
            self.base = self.base.below()?;
        }
        Some(())
    }
}

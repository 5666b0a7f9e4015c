//! The parse stack: persistent, shared, and a graph where a text has several readings.
//!
//! A stack is a linked list of nodes from the top down. Nodes are immutable, so forks, rollbacks
//! and the speculative stacks of mask computation share their common parts.
//!
//! Stacks with the same state on top are kept as one node with several nodes below it: a
//! graph-structured stack (Tomita 1985). No two nodes below a node have the same state: read from
//! the top down, the graph is a deterministic automaton that accepts exactly the stacks it
//! represents ([`super::forks`]). So there are never more top nodes than parse states, and 2^n
//! stacks that differ at n positions by one of two states are 2n nodes. States are distinguished by
//! their cores; where the lexer depends on the terminals that a stack shifts, also by their
//! contexts ([`super::states`]), so that all stacks of a node shift the same terminals.
//!
//! A result that depends on a stack only through the states that were *read* holds for every stack
//! that is the same down to that depth (Willard and Louf 2023, section 4.1). Hence every function
//! here that reads below the top reports to [`Depths`] how deep it has read.

use std::sync::atomic::Ordering;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::closures::{Closure, Exit, Stop};
use super::forks::joined;
use super::node::{Below, STRAIGHT};
use super::table::ParseTable;
use super::virtual_top::{LookAhead, ReachedTops, VirtualTop};
use crate::grammar::ir::Symbol;
use crate::util::distinct::Distinct;
use crate::util::id::{CoreId, ParseStateId, TerminalId};

pub(super) use super::node::Address;
pub(crate) use super::node::{Stack, Stacks};

/// Receives the depths of the states of a stack that are read.
pub(crate) trait Depths {
    /// Reports that the core at this depth is read.
    fn read(&mut self, depth: u32);

    /// Reports that the state at this depth is read: the core and its context.
    fn read_state(&mut self, depth: u32);

    /// Reports that a reader reaches `fork`, below which there are several nodes, and returns
    /// whether it must stop there. If so, the result of the reader is not used.
    fn stops_at(&mut self, fork: &Stack) -> bool;

    /// Reports steps taken because stacks fork: virtual tops reached by several paths of
    /// reductions, and unions of stacks.
    fn spend(&mut self, steps: usize);
}

/// Ignores all reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unread;

impl Depths for Unread {
    #[inline]
    fn read(&mut self, _: u32) {}

    #[inline]
    fn read_state(&mut self, _: u32) {}

    #[inline]
    fn stops_at(&mut self, _: &Stack) -> bool {
        false
    }

    #[inline]
    fn spend(&mut self, _: usize) {}
}

impl Stack {
    /// Creates the stack that contains only the start state.
    pub(crate) fn new(table: &ParseTable) -> Self {
        Self::node(table.start(), (0, STRAIGHT), 0, Below::Bottom)
    }

    /// Returns the stack with `core` on top of this one.
    fn push(&self, core: CoreId, table: &ParseTable) -> Self {
        Self::over(core, 0, self.clone(), table)
    }

    fn over(core: CoreId, state: u32, below: Stack, table: &ParseTable) -> Self {
        if below.0.straight != STRAIGHT {
            return Self::over_fork(core, state, below, table);
        }
        let depth = below.0.depth + 1;
        Self::node(core, (depth, STRAIGHT), state, Below::One(below))
    }

    /// Does the same above a fork. A separate function, because stacks seldom fork and nodes are
    /// created all the time.
    #[cold]
    #[inline(never)]
    fn over_fork(core: CoreId, state: u32, below: Stack, table: &ParseTable) -> Self {
        let depth = below.0.depth + 1;
        let straight = below.0.straight + 1;
        let address = below.address();
        let node = || Self::node(core, (depth, straight), state, Below::One(below));
        table.forks.node(core, &[address], node)
    }

    /// Returns the same state above other nodes, at least one; if several, ascending by key.
    pub(super) fn over_all(&self, mut below: Vec<Stack>, table: &ParseTable) -> Self {
        let (core, state) = (self.0.core, self.0.state.load(Ordering::Relaxed));
        if below.len() == 1
            && let Some(below) = below.pop()
        {
            return Self::over(core, state, below, table);
        }
        let once = |stack: Stack| match stack.below() {
            [below] if stack.0.straight == STRAIGHT => {
                table.forks.node(stack.core(), &[below.address()], || stack.clone())
            }
            _ => stack,
        };
        let below: Vec<Stack> = below.into_iter().map(once).collect();
        let depth = below.iter().map(|below| below.0.depth + 1).min().unwrap_or(0);
        let addresses: SmallVec<[Address; 4]> = below.iter().map(Stack::address).collect();
        let node = || Self::node(core, (depth, 0), state, Below::Several(Box::new(below)));
        table.forks.node(core, &addresses, node)
    }

    /// Returns the state on top. Costs the nodes down to the first one with a known state, once.
    pub(crate) fn state(&self, table: &ParseTable) -> ParseStateId {
        let mut way: SmallVec<[&Stack; 8]> = SmallVec::new();
        let mut at = self;
        let mut state = loop {
            if let Some(state) = at.0.state.load(Ordering::Relaxed).checked_sub(1) {
                break ParseStateId(state);
            }
            match at.below() {
                [] => break table.start_state(),
                // All stacks of a node have the same state on top, so any path determines it.
                [below, ..] => {
                    way.push(at);
                    at = below;
                }
            }
        };
        while let Some(node) = way.pop() {
            state = table.enter(state, node.core());
            node.0.state.store(state.0 + 1, Ordering::Relaxed);
        }
        state
    }

    /// Returns the number by which nodes are distinguished.
    pub(super) fn key(&self, table: &ParseTable) -> u32 {
        if table.tells_contexts_apart() { self.state(table).0 } else { self.core().0 }
    }

    /// Returns whether both have the same state on top, compared by [`Stack::key`].
    pub(crate) fn same_top(&self, other: &Stack, table: &ParseTable) -> bool {
        self.core() == other.core()
            && (!table.tells_contexts_apart() || self.state(table) == other.state(table))
    }

    /// Returns the terminal that was shifted last; `None` before the first. Valid between lexemes:
    /// the top of a stack was then pushed by a shift, and removing an idle round keeps it.
    pub(crate) fn last_terminal(&self, table: &ParseTable) -> Option<TerminalId> {
        match table.accessing(self.core())? {
            Symbol::Terminal(terminal) => Some(terminal),
            Symbol::Nonterminal(_) => None,
        }
    }

    /// Returns whether the stack can really shift `terminal`, or accept if that is `$`.
    pub(crate) fn takes(
        &self,
        table: &ParseTable,
        terminal: TerminalId,
        depths: &mut impl Depths,
    ) -> bool {
        let mut takes = false;
        self.follow(table, terminal, depths, |at, closure, _, depths| {
            let stop = closure.stops.iter().find(|stop| stop.shifts.contains(terminal.index()));
            if let Some((_, below)) = stop.filter(|stop| stop.uncovers).zip(at.below) {
                depths.read(below.depth());
            }
            takes |= stop.is_some();
            stop.is_some()
        });
        takes
    }

    /// Returns the stacks after `terminal`: its reductions, then its shift. Empty if the stack
    /// cannot shift it, which the row of the core alone does not show: an LALR look-ahead set is a
    /// union over contexts. `$` is never shifted; see [`Stack::takes`].
    ///
    /// Costs the reductions that read deeper than the node below the top, and allocates only nodes
    /// that remain.
    pub(crate) fn feed(
        &self,
        table: &ParseTable,
        terminal: TerminalId,
        depths: &mut impl Depths,
    ) -> Stacks {
        let mut fed = Stacks::new();
        // In nearly half of the calls nothing is reduced, and nothing read.
        if !table.has_conflicts()
            && let Some(target) = table.shift(self.core(), terminal)
        {
            fed.push(self.push(target, table).without_idle_round(table));
            return fed;
        }
        self.follow(table, terminal, depths, |at, closure, _, depths| {
            let mut found = false;
            for stop in closure.stops.iter().filter(|stop| stop.shifts.contains(terminal.index())) {
                found = true;
                if let Some(stack) = self.shift(table, at, stop, terminal, depths) {
                    fed.push(stack);
                }
            }
            found
        });
        if fed.len() < 2 {
            return fed;
        }
        let mut steps = 0;
        let joined = joined(fed, table, &mut steps);
        depths.spend(steps);
        joined
    }

    /// Returns the stack after the shift of a stop.
    fn shift(
        &self,
        table: &ParseTable,
        at: &VirtualTop<'_>,
        stop: &Stop,
        terminal: TerminalId,
        depths: &mut impl Depths,
    ) -> Option<Stack> {
        let shifting = stop.cores.last().copied().unwrap_or(at.core);
        let target = table.shift(shifting, terminal)?;
        let stack = self.before_shift(table, at, stop, depths)?;
        Some(stack.push(target, table).without_idle_round(table))
    }

    /// Returns the stack before the shift of a stop.
    #[inline]
    pub(super) fn before_shift(
        &self,
        table: &ParseTable,
        at: &VirtualTop<'_>,
        stop: &Stop,
        depths: &mut impl Depths,
    ) -> Option<Stack> {
        let push = |stack: Stack, core: CoreId| stack.push(core, table).without_idle_round(table);
        let base = if stop.uncovers {
            let below = at.below?;
            depths.read(below.depth());
            below.clone()
        } else if at.is_real {
            self.clone()
        } else {
            push(at.below?.clone(), at.core)
        };
        Some(stop.cores.iter().fold(base, |stack, &core| push(stack, core)))
    }

    /// Follows the reductions for these look-aheads, by the closures of the top on the node below.
    /// `meet` is called with each virtual top and returns whether some of the look-aheads are
    /// shifted there: without conflicts nothing more can be found then.
    #[inline]
    pub(super) fn follow<'s, 't, L: LookAhead<'t>, D: Depths>(
        &'s self,
        table: &'t ParseTable,
        mut lookahead: L,
        depths: &mut D,
        mut meet: impl FnMut(&VirtualTop<'s>, &Closure, &L, &mut D) -> bool,
    ) {
        // Nearly always there is only one path.
        let is_straight = self.0.straight == STRAIGHT && !table.has_conflicts();
        if !L::IS_ONE || !is_straight {
            return self.follow_ways(table, lookahead, depths, &mut meet);
        }
        let mut at = VirtualTop { core: self.core(), below: self.below().first(), is_real: true };
        loop {
            let allowed = table.within_requirements(&at, lookahead, depths);
            let Some(allowed) = allowed else { return };
            lookahead = allowed;
            let closure = table.closure(at.core, at.below.map(Stack::core));
            if meet(&at, closure, &lookahead, depths) {
                return;
            }
            let Some(mut below) = at.below else { return };
            if closure.reads_below {
                depths.read(below.depth());
            }
            let applies = |exit: &'t Exit| lookahead.within(&exit.lookaheads).map(|_| exit);
            let Some(exit) = closure.exits.iter().find_map(applies) else { return };
            for _ in 1..exit.pops {
                let [next] = below.below() else { return };
                below = next;
            }
            depths.read(below.depth());
            let Some(core) = table.goto(below.core(), exit.lhs) else { return };
            at = VirtualTop { core, below: Some(below), is_real: false };
        }
    }

    /// Does the same for any stack, and for several look-aheads.
    #[inline(never)]
    fn follow_ways<'s, 't, L: LookAhead<'t>, D: Depths>(
        &'s self,
        table: &'t ParseTable,
        lookahead: L,
        depths: &mut D,
        meet: &mut impl FnMut(&VirtualTop<'s>, &Closure, &L, &mut D) -> bool,
    ) {
        let (core, below) = (self.core(), self.below());
        let mut alone = !table.has_conflicts();
        // Nearly always there is only one virtual top to continue from.
        let mut next = None;
        let mut pending: SmallVec<[(VirtualTop<'s>, L); 2]> = SmallVec::new();
        match below {
            // A top that does not read the nodes below treats them all alike.
            [first, _, ..] if table.closure(core, Some(first.core())).reads_below => {
                if depths.stops_at(self) {
                    return;
                }
                alone = false;
                for below in below.iter().map(Some) {
                    pending.push((VirtualTop { core, below, is_real: true }, lookahead.clone()));
                }
            }
            _ => next = Some((VirtualTop { core, below: below.first(), is_real: true }, lookahead)),
        }
        // After readings diverge, reductions may meet again, and cyclic rules loop.
        let mut met = ReachedTops::new();
        while let Some((at, mut lookahead)) = next.take().or_else(|| pending.pop()) {
            if !alone && !at.is_real {
                depths.spend(1);
                let Some(fresh) = met.note(&at, lookahead) else { continue };
                lookahead = fresh;
            }
            let allowed = table.within_requirements(&at, lookahead, depths);
            let Some(lookahead) = allowed else { continue };
            let closure = table.closure(at.core, at.below.map(Stack::core));
            if meet(&at, closure, &lookahead, depths) && alone {
                return;
            }
            let Some(below) = at.below else { continue };
            if closure.reads_below {
                depths.read(below.depth());
            }
            for exit in &closure.exits {
                let Some(lookahead) = lookahead.within(&exit.lookaheads) else { continue };
                let Some(uncovered) = below.descend(exit.pops - 1, depths) else { return };
                alone &= uncovered.len() == 1;
                let mut go_to = |below: &'s Stack, lookahead: L| {
                    depths.read(below.depth());
                    if let Some(core) = table.goto(below.core(), exit.lhs) {
                        let place = VirtualTop { core, below: Some(below), is_real: false };
                        pending.extend(next.replace((place, lookahead)));
                    }
                };
                if let Some((&last, others)) = uncovered.split_last() {
                    others.iter().for_each(|&below| go_to(below, lookahead.clone()));
                    go_to(last, lookahead);
                }
            }
        }
    }

    /// Removes an idle round from the top ([`tail`](super::tail)). Costs at most the nodes of one
    /// round.
    pub(super) fn without_idle_round(self, table: &ParseTable) -> Stack {
        let Some(mut tail) = table.tail(self.core()) else { return self };
        let mut at = &self;
        loop {
            for _ in 0..tail.pops {
                let [below] = at.below() else { return self };
                at = below;
            }
            match table.tail(at.core()) {
                Some(below) if below.expects == tail.completes => tail = below,
                _ => return self,
            }
            if at.core() == self.core() {
                return if table.met_a_member(tail, &self, at) { self } else { at.clone() };
            }
        }
    }

    /// Returns whether both represent the same stacks. Costs the part that they do not share.
    pub(crate) fn same_stacks(&self, other: &Stack) -> bool {
        let mut pending: SmallVec<[(&Stack, &Stack); 4]> =
            SmallVec::from_buf_and_len([(self, other); 4], 1);
        let mut seen: HashSet<(Address, Address), FxBuildHasher> = HashSet::default();
        while let Some((one, other)) = pending.pop() {
            if one.is(other) {
                continue;
            }
            let (below, others) = (one.below(), other.below());
            if one.core() != other.core()
                || one.depth() != other.depth()
                || below.len() != others.len()
            {
                return false;
            }
            if below.len() == 1 || seen.insert((one.address(), other.address())) {
                pending.extend(below.iter().zip(others));
            }
        }
        true
    }

    /// Splits the stack into one for each node below the first fork; returns it unchanged if there
    /// is no fork.
    pub(crate) fn split(&self, table: &ParseTable) -> SmallVec<[Stack; 4]> {
        let mut way: SmallVec<[&Stack; 8]> = SmallVec::new();
        let mut at = self;
        while let [below] = at.below() {
            way.push(at);
            at = below;
        }
        if at.below().is_empty() {
            return SmallVec::from_iter([self.clone()]);
        }
        let over = |node: &Stack, below| {
            Self::over(node.core(), node.0.state.load(Ordering::Relaxed), below, table)
        };
        let over = |below: &Stack| {
            way.iter().rev().fold(over(at, below.clone()), |below, node| over(node, below))
        };
        at.below().iter().map(over).collect()
    }

    /// Returns the nodes this many steps down; `None` if a fork stops the reader.
    #[inline]
    pub(super) fn descend(
        &self,
        steps: usize,
        depths: &mut impl Depths,
    ) -> Option<SmallVec<[&Stack; 1]>> {
        let (mut at, mut steps) = (self, steps);
        while steps > 0
            && let Below::One(below) = &at.0.below
        {
            at = below;
            steps -= 1;
        }
        if steps == 0 { Some(SmallVec::from_buf([at])) } else { at.descend_forks(steps, depths) }
    }

    #[cold]
    fn descend_forks(
        &self,
        steps: usize,
        depths: &mut impl Depths,
    ) -> Option<SmallVec<[&Stack; 1]>> {
        let mut level: SmallVec<[&Stack; 1]> = SmallVec::from_buf([self]);
        for _ in 0..steps {
            let mut next: SmallVec<[&Stack; 1]> = SmallVec::new();
            let mut met = Distinct::default();
            for node in level {
                let below = node.below();
                if below.len() > 1 && depths.stops_at(node) {
                    return None;
                }
                next.extend(below.iter().filter(|below| met.insert(below.address()).is_none()));
            }
            depths.spend(next.len());
            level = next;
        }
        Some(level)
    }
}

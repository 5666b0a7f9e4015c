//! What was read of a stack, for stacks that are alike as far down.

use std::sync::Weak;

use super::node::Node;
use super::stack::{Depths, Stack};
use super::table::ParseTable;
use crate::util::id::{CoreId, ParseStateId};

/// The cores from the top of a stack down to the lowest that was read, and the lowest state that
/// was read with its context.
#[derive(Debug)]
pub(crate) struct Trail {
    cores: Box<[CoreId]>,
    /// How many nodes below the top that state is.
    state: Option<(u32, ParseStateId)>,
}

/// Longer trails are not kept: to follow one again would cost more than it saves.
const MOST: u32 = 64;

impl Trail {
    /// Whether all that was read is the same in `stack`. If it is, `depths` is told what was read.
    pub(crate) fn fits(&self, stack: &Stack, table: &ParseTable, depths: &mut impl Depths) -> bool {
        let mut at = Some(stack);
        for (down, &core) in (0..).zip(&self.cores) {
            let Some(node) = at.filter(|node| node.core() == core) else { return false };
            if self
                .state
                .is_some_and(|(lowest, state)| lowest == down && node.state(table) != state)
            {
                return false;
            }
            at = match node.below() {
                [below] => Some(below),
                _ => None,
            };
        }
        if let Some((down, _)) = self.state {
            depths.read_state(stack.depth() - down);
        }
        depths.read(stack.depth() + 1 - self.cores.len() as u32);
        true
    }
}

/// What was read of one stack in memory, whose nodes over forks are made once: the way to know a
/// stack again where a [`Trail`] would have to follow each of its ways.
#[derive(Debug)]
pub(crate) struct Traversal {
    /// As long as this is held no other node is made at its address.
    _node: Weak<Node>,
    lowest: u32,
    lowest_state: Option<u32>,
}

impl Traversal {
    /// `depths` is told what was read.
    pub(crate) fn tell(&self, depths: &mut impl Depths) {
        if let Some(depth) = self.lowest_state {
            depths.read_state(depth);
        }
        depths.read(self.lowest);
    }
}

/// Where a stack is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StackAddress(usize);

impl Stack {
    /// Where the stack is. No other is there as long as a [`Traversal`] of it is held.
    pub(crate) fn stack_address(&self) -> StackAddress {
        StackAddress(self.address().addr())
    }
}

/// Notes how deep is read, and passes it on.
pub(crate) struct Trailing<'a, D> {
    depths: &'a mut D,
    lowest: u32,
    lowest_state: Option<u32>,
    /// Whether something was read that is no longer on one path.
    is_past_fork: bool,
}

impl<'a, D: Depths> Trailing<'a, D> {
    /// Nothing of `stack` has been read but its top.
    pub(crate) fn new(stack: &Stack, depths: &'a mut D) -> Self {
        Self { depths, lowest: stack.depth(), lowest_state: None, is_past_fork: false }
    }

    /// What was read of `stack`; `None` where that is too much, or not on one path.
    pub(crate) fn trail(&self, stack: &Stack, table: &ParseTable) -> Option<Trail> {
        let is_straight = stack.first_fork().is_none_or(|fork| self.lowest >= fork);
        let count = stack.depth() - self.lowest + 1;
        if self.is_past_fork || !is_straight || count > MOST {
            return None;
        }
        let nodes = std::iter::successors(Some(stack), |node| node.below().first());
        let nodes: Vec<&Stack> = nodes.take(count as usize).collect();
        let state = self.lowest_state.map(|lowest| stack.depth() - lowest);
        let state = state.and_then(|down| Some((down, nodes.get(down as usize)?.state(table))));
        Some(Trail { cores: nodes.iter().map(|node| node.core()).collect(), state })
    }

    /// What was read of `stack`, on whichever paths.
    pub(crate) fn traversal(&self, stack: &Stack) -> Traversal {
        let Self { lowest, lowest_state, .. } = *self;
        Traversal { _node: stack.downgrade(), lowest, lowest_state }
    }

    /// Whether the reading had to stop at a fork: then nothing can come of it.
    pub(crate) fn has_stopped(&self) -> bool {
        self.is_past_fork
    }
}

impl<D: Depths> Depths for Trailing<'_, D> {
    fn read(&mut self, depth: u32) {
        self.lowest = self.lowest.min(depth);
        self.depths.read(depth);
    }

    fn read_state(&mut self, depth: u32) {
        self.lowest = self.lowest.min(depth);
        self.lowest_state = Some(self.lowest_state.map_or(depth, |lowest| lowest.min(depth)));
        self.depths.read_state(depth);
    }

    fn stops_at(&mut self, fork: &Stack) -> bool {
        let stops = self.depths.stops_at(fork);
        self.is_past_fork |= stops;
        stops
    }

    fn spend(&mut self, steps: usize) {
        self.depths.spend(steps);
    }
}

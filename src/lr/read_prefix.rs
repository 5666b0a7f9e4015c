//! The part of a stack that was read, to recognize stacks that are the same down to that depth.

use std::sync::Weak;

use super::node::Node;
use super::stack::{Depths, Stack};
use super::table::ParseTable;
use crate::util::id::{CoreId, ParseStateId};

/// The cores from the top of a stack down to the lowest that was read, and the lowest state whose
/// context was read.
#[derive(Debug)]
pub(crate) struct Trail {
    cores: Box<[CoreId]>,
    /// Number of nodes from the top down to that state.
    state: Option<(u32, ParseStateId)>,
}

/// Upper bound on the length: following a longer trail again would cost more than it saves.
const MOST: u32 = 64;

impl Trail {
    /// Returns whether all that was read is the same in `stack`. If it is, reports to `depths` what
    /// was read.
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

/// The depths read of one stack, identified by its address, as nodes above forks are unique: a
/// replacement for a [`Trail`], which would have to follow each path of the stack.
#[derive(Debug)]
pub(crate) struct Traversal {
    /// Keeps the address of the node from being reused.
    _node: Weak<Node>,
    lowest: u32,
    lowest_state: Option<u32>,
}

impl Traversal {
    /// Reports to `depths` what was read.
    pub(crate) fn tell(&self, depths: &mut impl Depths) {
        if let Some(depth) = self.lowest_state {
            depths.read_state(depth);
        }
        depths.read(self.lowest);
    }
}

/// The address of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StackAddress(usize);

impl Stack {
    /// Returns the address of the stack. It is not reused while a [`Traversal`] of the stack is
    /// alive.
    pub(crate) fn stack_address(&self) -> StackAddress {
        StackAddress(self.address().addr())
    }
}

/// Records the depths read, and forwards them.
pub(crate) struct Trailing<'a, D> {
    depths: &'a mut D,
    lowest: u32,
    lowest_state: Option<u32>,
    /// Whether the reader stopped at a fork.
    is_past_fork: bool,
}

impl<'a, D: Depths> Trailing<'a, D> {
    /// Starts with only the top of `stack` read.
    pub(crate) fn new(stack: &Stack, depths: &'a mut D) -> Self {
        Self { depths, lowest: stack.depth(), lowest_state: None, is_past_fork: false }
    }

    /// Returns the trail read of `stack`; `None` if it is too long or not a single path.
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

    /// Returns the depths read of `stack`, on any paths.
    pub(crate) fn traversal(&self, stack: &Stack) -> Traversal {
        let Self { lowest, lowest_state, .. } = *self;
        Traversal { _node: stack.downgrade(), lowest, lowest_state }
    }

    /// Returns whether the reader had to stop at a fork: then it has no result.
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

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
    /// Returns the trail of a stack that was read down to the depth `lowest`, and the context of
    /// its state at the depth `lowest_state` if any; `None` if it is too long or not a single path.
    pub(crate) fn new(
        stack: &Stack,
        (lowest, lowest_state): (u32, Option<u32>),
        table: &ParseTable,
    ) -> Option<Self> {
        let is_straight = stack.first_fork().is_none_or(|fork| lowest >= fork);
        let count = stack.depth() - lowest + 1;
        if !is_straight || count > MOST {
            return None;
        }
        let nodes = std::iter::successors(Some(stack), |node| node.below().first());
        let nodes: Vec<&Stack> = nodes.take(count as usize).collect();
        let state = lowest_state.map(|lowest| stack.depth() - lowest);
        let state = state.and_then(|down| Some((down, nodes.get(down as usize)?.state(table))));
        Some(Self { cores: nodes.iter().map(|node| node.core()).collect(), state })
    }

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
    /// Returns the depths read of `stack`, on any paths.
    pub(crate) fn new(stack: &Stack, (lowest, lowest_state): (u32, Option<u32>)) -> Self {
        Self { _node: stack.downgrade(), lowest, lowest_state }
    }

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

//! Branches: what is below the nodes that begin with one byte, from one point.
//!
//! Lexemes begin in many scan states, one for each set of terminals that may come. They differ by
//! some of these, and mostly by none that begins with a given byte: then that byte leads to the
//! same point. So a walk of many nodes is put together from branches, each of which is walked once
//! for each point.

use std::ops::Range;

use super::nodes::{ByteNodes, NodesId};
use crate::index::tokens::TokensId;
use crate::scanner::points::{Point, PointId};

/// Where a branch begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'g, 'p> {
    pub(super) nodes: ByteNodes<'g>,
    /// Where the byte of the nodes leads.
    pub(super) point: &'p Point,
    /// Whether a lexeme may have ended before the byte.
    pub(super) is_open: bool,
}

/// What a branch depends on: the set of nodes, of which a single one is the same whatever its set,
/// and the first node with the byte; and where the base walk has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BranchKey {
    set: Option<NodesId>,
    first: u32,
    point: PointId,
    base: Option<PointId>,
    is_open: bool,
}

/// What is below the nodes of a set that begin with one byte.
#[derive(Debug)]
pub(super) struct Branch {
    /// By the first point met of each class.
    pub(super) ends: Box<[(PointId, TokensId)]>,
    /// By what has ended.
    pub(super) boundaries: Box<[(u32, Box<[u32]>)]>,
    /// Runs of tokens that the base walk meets just so, as indices among the trie's ids.
    pub(super) covered: Box<[Range<u32>]>,
    /// Whether the end of a lexeme before the branch, if there was one, stands for some token: no
    /// longer match comes before that token ends.
    pub(super) entry_survives: bool,
}

impl BranchKey {
    pub(super) fn new(set: NodesId, entry: Entry<'_, '_>, base: Option<PointId>) -> Self {
        let Entry { nodes, point, is_open } = entry;
        let set = Some(set).filter(|_| nodes.nodes.len() > 1);
        let (first, point) = (nodes.nodes[0], point.id);
        Self { set, first, point, base, is_open }
    }
}

impl Branch {
    /// Heap bytes, with the entry and its places, but for the sets of tokens.
    pub(super) fn bytes(&self) -> usize {
        let nodes =
            |(_, nodes): &(u32, Box<[u32]>)| size_of::<(u32, Box<[u32]>)>() + size_of_val(&**nodes);
        size_of::<(BranchKey, Self)>()
            + BRANCH_BYTES
            + size_of_val(&*self.ends)
            + self.boundaries.iter().map(nodes).sum::<usize>()
            + size_of_val(&*self.covered)
    }
}

/// What a branch costs beside itself: its number and its places.
const BRANCH_BYTES: usize = 32;

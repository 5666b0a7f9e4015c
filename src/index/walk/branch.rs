//! Branches: the nodes that begin with one byte, walked from one point.
//!
//! Lexemes begin in many scan states, one for each set of terminals that may come. These sets
//! differ in some terminals, but usually in none that begins with a given byte: then that byte
//! leads to the same point. So a walk of many nodes is composed from branches, each of which is
//! walked once for each point.

use std::ops::Range;

use super::nodes::{ByteNodes, NodesId};
use crate::index::tokens::TokensId;
use crate::scanner::product_state::{Point, PointId};

/// The entry of a branch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'g, 'p> {
    pub(super) nodes: ByteNodes<'g>,
    /// The point after the byte of the nodes.
    pub(super) point: &'p Point,
    /// Whether a lexeme may have ended before the byte.
    pub(super) is_open: bool,
}

/// The inputs of a branch: the set of nodes (ignored for a single node, which is the same in any
/// set), the first node with the byte, and the point of the base walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BranchKey {
    set: Option<NodesId>,
    first: u32,
    point: PointId,
    base: Option<PointId>,
    is_open: bool,
}

/// The result for the nodes of a set that begin with one byte.
#[derive(Debug)]
pub(super) struct Branch {
    /// Tokens by class, each class given by its first point.
    pub(super) ends: Box<[(PointId, TokensId)]>,
    /// Nodes by the set of lexemes that ended.
    pub(super) boundaries: Box<[(u32, Box<[u32]>)]>,
    /// Tokens that the base walk covers, as runs of indices into the trie's ids.
    pub(super) covered: Box<[Range<u32>]>,
    /// Whether an end of a lexeme before the branch would survive for some token: no longer match
    /// comes before that token ends.
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
    /// Returns the heap bytes, including the entry and its slots but not the sets of tokens.
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

/// Overhead of a branch: its number and its slots.
const BRANCH_BYTES: usize = 32;

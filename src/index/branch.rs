//! The parts of a walk that walks of the same nodes from other scan states share.
//!
//! Lexemes begin in many scan states, one for each set of terminals that may come. They differ by
//! some of these, and mostly by none that begins with a given byte: then that byte leads to the
//! same point. So a walk of many nodes is put together from *branches*, each of the nodes that
//! begin with one byte, which are walked once for each point.

use std::ops::Range;

use smallvec::SmallVec;

use super::generation::Generation;
use super::hub::Shadow;
use super::unions::TokensId;
use super::walk::NodesId;
use crate::scanner::points::{Point, PointId};
use crate::vocab::trie::Trie;

/// Those nodes of a set that begin with the same byte.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) byte: u8,
    /// How many tokens there are at and below them.
    pub(super) tokens: u32,
    /// Ascending; mostly a single one.
    pub(super) nodes: SmallVec<[u32; 4]>,
}

/// Where a branch begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'g, 'p> {
    pub(super) group: &'g Group,
    /// Where the byte of the group leads.
    pub(super) point: &'p Point,
    /// Whether a lexeme may have ended before the byte.
    pub(super) is_open: bool,
}

/// What a branch depends on: the set of nodes, of which a single one is the same whatever its set,
/// and the first node of the group; and where the walk of a hub has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BranchKey {
    set: Option<NodesId>,
    first: u32,
    point: PointId,
    shadow: Option<PointId>,
    is_open: bool,
}

/// What is below the nodes of a group.
#[derive(Debug)]
pub(super) struct Branch {
    /// By the first point met of each class.
    pub(super) ends: Box<[(PointId, TokensId)]>,
    /// By what has ended.
    pub(super) boundaries: Box<[(u32, Box<[u32]>)]>,
    /// Runs of tokens that the walk of the hub meets just so, as indices among the trie's ids.
    pub(super) covered: Box<[Range<u32>]>,
    /// Whether some token ends before a longer match comes than what has ended before the branch.
    pub(super) entry_survives: bool,
}

impl Group {
    /// The groups of these nodes, by ascending byte.
    pub(super) fn all(nodes: impl Iterator<Item = u32>, trie: &Trie) -> Box<[Group]> {
        let mut nodes: Vec<(u8, u32)> = nodes.map(|node| (trie.byte(node), node)).collect();
        nodes.sort_unstable();
        let groups = nodes.chunk_by(|a, b| a.0 == b.0).map(|group| Group {
            byte: group[0].0,
            tokens: group.iter().map(|&(_, node)| trie.count(node)).sum(),
            nodes: group.iter().map(|&(_, node)| node).collect(),
        });
        groups.collect()
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + if self.nodes.spilled() { size_of_val(&*self.nodes) } else { 0 }
    }
}

impl Generation {
    /// The branch of a group of `set`, found by `find` if it is not known.
    pub(super) fn branch(
        &self,
        set: NodesId,
        place: Place<'_, '_>,
        shadow: Option<Shadow<'_>>,
        find: impl FnOnce() -> Branch,
    ) -> &Branch {
        let Place { group, point, is_open } = place;
        let set = Some(set).filter(|_| group.nodes.len() > 1);
        let (first, point) = (group.nodes[0], point.id);
        let key = BranchKey { set, first, point, shadow: shadow.map(Shadow::point), is_open };
        self.branches.get_or_find(key, || {
            let branch = find();
            self.add_bytes(branch.bytes());
            branch
        })
    }
}

impl Branch {
    /// Heap bytes, with the entry and its places, but for the sets of tokens.
    fn bytes(&self) -> usize {
        let nodes = |(_, nodes): &(u32, Box<[u32]>)| size_of::<(u32, Box<[u32]>)>() + size_of_val(&**nodes);
        size_of::<(BranchKey, Self)>()
            + BRANCH_BYTES
            + size_of_val(&*self.ends)
            + self.boundaries.iter().map(nodes).sum::<usize>()
            + size_of_val(&*self.covered)
    }
}

/// What a branch costs beside itself: its number and its places.
const BRANCH_BYTES: usize = 32;

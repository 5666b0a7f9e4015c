//! The walks done so far, and what they are made of.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::branch::{Branch, BranchKey};
use super::classes::{Origin, Walk};
use super::nodes::{NodeSets, NodesId};
use crate::scanner::points::PointId;
use crate::util::memo::Memo;

/// The walks of an epoch.
#[derive(Debug, Default)]
pub(crate) struct WalkTables {
    pub(super) nodes: NodeSets,
    branches: Memo<BranchKey, Branch>,
    walks: Memo<(NodesId, Origin), Walk>,
    /// Of sets of nodes, and points that count blanks or do not: the nodes of base walks.
    base_nodes: Memo<(NodesId, PointId, bool), Option<NodesId>>,
    /// How many walks have been begun.
    begun: AtomicU32,
    /// Of branches and walks.
    bytes: AtomicUsize,
}

impl WalkTables {
    /// The number of a set of nodes, ascending.
    pub(crate) fn nodes_id(&self, nodes: &[u32]) -> NodesId {
        self.nodes.id(nodes)
    }

    /// A set of nodes by its number.
    pub(crate) fn nodes(&self, id: NodesId) -> &[u32] {
        self.nodes.get(id)
    }

    /// How many sets of nodes there are.
    pub(crate) fn node_sets(&self) -> usize {
        self.nodes.len()
    }

    /// A number for a walk.
    pub(crate) fn next_number(&self) -> u32 {
        self.begun.fetch_add(1, Ordering::Relaxed)
    }

    /// The walk of these nodes, done by `walk` if it is not known. Of several threads that want it,
    /// one does it.
    pub(crate) fn walk(&self, nodes: NodesId, from: Origin, walk: impl FnOnce() -> Walk) -> &Walk {
        self.walks.get_or_find((nodes, from), || {
            let walk = walk();
            self.bytes.fetch_add(walk.bytes() + WALK_BYTES, Ordering::Relaxed);
            walk
        })
    }

    /// A branch, found by `find` if it is not known.
    pub(super) fn branch(&self, key: BranchKey, find: impl FnOnce() -> Branch) -> &Branch {
        self.branches.get_or_find(key, || {
            let branch = find();
            self.bytes.fetch_add(branch.bytes(), Ordering::Relaxed);
            branch
        })
    }

    /// The nodes of the base walk from a point, found by `find` if they are not known.
    pub(super) fn base_nodes(
        &self,
        (nodes, from, counting): (NodesId, PointId, bool),
        find: impl FnOnce() -> Option<NodesId>,
    ) -> Option<NodesId> {
        *self.base_nodes.get_or_find((nodes, from, counting), || {
            self.bytes.fetch_add(BASE_BYTES, Ordering::Relaxed);
            find()
        })
    }

    /// Heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.nodes.bytes()
    }
}

/// What is known of the nodes of a base walk costs so much, with its places.
const BASE_BYTES: usize = 40;

/// What a walk costs beside itself: its key and its places.
const WALK_BYTES: usize = 48;

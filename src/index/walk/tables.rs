//! The walks done so far, and their parts.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::branch::{Branch, BranchKey};
use super::classes::{Origin, Walk};
use super::nodes::{NodeSets, NodesId};
use crate::scanner::product_state::PointId;
use crate::util::memo::Memo;

/// The walks of an epoch.
#[derive(Debug, Default)]
pub(crate) struct WalkTables {
    pub(super) nodes: NodeSets,
    branches: Memo<BranchKey, Branch>,
    walks: Memo<(NodesId, Origin), Walk>,
    /// The nodes of base walks, keyed by a set of nodes, a point, and whether it counts blanks.
    base_nodes: Memo<(NodesId, PointId, bool), Option<NodesId>>,
    /// Number of walks begun.
    begun: AtomicU32,
    /// Bytes of branches and walks.
    bytes: AtomicUsize,
}

impl WalkTables {
    /// Returns the number of a set of nodes, ascending.
    pub(crate) fn nodes_id(&self, nodes: &[u32]) -> NodesId {
        self.nodes.id(nodes)
    }

    /// Returns the set of nodes with this number.
    pub(crate) fn nodes(&self, id: NodesId) -> &[u32] {
        self.nodes.get(id)
    }

    /// Returns the number of sets of nodes.
    pub(crate) fn node_sets(&self) -> usize {
        self.nodes.len()
    }

    /// Returns a new number for a walk.
    pub(crate) fn next_number(&self) -> u32 {
        self.begun.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the walk of these nodes, done by `walk` if it is unknown. If several threads want
    /// it, one does it.
    pub(crate) fn walk(&self, nodes: NodesId, from: Origin, walk: impl FnOnce() -> Walk) -> &Walk {
        self.walks.get_or_find((nodes, from), || {
            let walk = walk();
            self.bytes.fetch_add(walk.bytes() + WALK_BYTES, Ordering::Relaxed);
            walk
        })
    }

    /// Returns a branch, computed by `find` if it is unknown.
    pub(super) fn branch(&self, key: BranchKey, find: impl FnOnce() -> Branch) -> &Branch {
        self.branches.get_or_find(key, || {
            let branch = find();
            self.bytes.fetch_add(branch.bytes(), Ordering::Relaxed);
            branch
        })
    }

    /// Returns the nodes of the base walk from a point, computed by `find` if they are unknown.
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

    /// Returns the heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.nodes.bytes()
    }
}

/// Size of an entry for the nodes of a base walk, with its slots.
const BASE_BYTES: usize = 40;

/// Overhead of a walk: its key and its slots.
const WALK_BYTES: usize = 48;

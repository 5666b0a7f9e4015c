//! What has been computed since the budget was last exhausted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::masks::Masks;
use super::stack_trie::StackTrie;
use super::walk::NodeSet;
use crate::vocab::trie::Trie;

/// Token classes, masks and the trie over stacks.
#[derive(Debug)]
pub(super) struct Generation {
    /// All of the vocabulary.
    pub(super) root: Arc<NodeSet>,
    node_sets: Mutex<HashSet<Arc<NodeSet>, FxBuildHasher>>,
    pub(super) stacks: StackTrie,
    pub(super) masks: Masks,
    /// Of node sets, walks and masks.
    bytes: AtomicUsize,
}

impl Generation {
    pub(super) fn new() -> Self {
        let root = Arc::new(NodeSet::new(vec![Trie::ROOT]));
        Self {
            bytes: AtomicUsize::new(root.bytes()),
            root,
            node_sets: Mutex::default(),
            stacks: StackTrie::default(),
            masks: Masks::default(),
        }
    }

    /// Gives equal node sets one address, so that they share their walks.
    pub(super) fn share(&self, nodes: NodeSet) -> Arc<NodeSet> {
        let mut known = self.node_sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nodes) = known.get(&nodes) {
            return nodes.clone();
        }
        self.add_bytes(nodes.bytes());
        let nodes = Arc::new(nodes);
        known.insert(nodes.clone());
        nodes
    }

    /// All node sets but the root.
    pub(super) fn all_node_sets(&self) -> Vec<Arc<NodeSet>> {
        self.node_sets.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// How many node sets there are.
    pub(super) fn node_sets(&self) -> usize {
        self.node_sets.lock().unwrap_or_else(PoisonError::into_inner).len() + 1
    }

    /// More bytes are held.
    pub(super) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.stacks.bytes()
    }
}

//! The nodes of parse stacks, and the table that makes nodes above forks unique.

use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::util::id::CoreId;

/// A parse stack, or several with the same state on top. Cloning shares it.
#[derive(Clone, Debug)]
pub(crate) struct Stack(pub(super) Arc<Node>);

/// Address of a node.
pub(super) type Address = *const Node;

/// Stacks with different states on top; nearly always just one.
pub(crate) type Stacks = SmallVec<[Stack; 1]>;

/// A state, and the nodes below it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) core: CoreId,
    /// Distance from the bottom, which has depth 0; the shortest distance if paths differ in
    /// length. Then no node of the represented stacks is lower than the depth that is reported as
    /// read.
    pub(super) depth: u32,
    /// Number of nodes down to the first fork; [`STRAIGHT`] if there is none.
    pub(super) straight: u32,
    /// 1 more than the number of the core's state in this context, or 0. This field and the next
    /// are caches: all threads compute the same values, so races do no harm.
    pub(super) state: AtomicU32,
    /// As encoded by [`Acceptable::pack`], or 0.
    pub(super) acceptable: AtomicU64,
    pub(super) below: Below,
}

/// The terminals that a stack can really shift, and the depth read to find them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acceptable {
    /// Id of the set of terminals (and `$`) among the table's
    /// [`AcceptableSets`](super::states::AcceptableSets).
    pub(crate) set: u32,
    /// The depth of the lowest state that was read.
    pub(crate) lowest: u32,
}

impl Acceptable {
    /// Encodes it as one number, which is not 0.
    pub(super) fn pack(self) -> u64 {
        u64::from(self.lowest) << 32 | (u64::from(self.set) + 1)
    }

    pub(super) fn unpack(packed: u64) -> Option<Self> {
        Some(Self { set: (packed as u32).checked_sub(1)?, lowest: (packed >> 32) as u32 })
    }
}

/// No node further down has more than one node below it.
pub(super) const STRAIGHT: u32 = u32::MAX;

/// The nodes below a node.
#[derive(Debug)]
pub(super) enum Below {
    Bottom,
    One(Stack),
    /// At least two, ascending by [`Stack::key`].
    #[expect(
        clippy::box_collection,
        reason = "fields that few nodes need must not enlarge all of them"
    )]
    Several(Box<Vec<Stack>>),
}

impl Below {
    fn nodes(&self) -> &[Stack] {
        match self {
            Self::Bottom => &[],
            Self::One(stack) => std::slice::from_ref(stack),
            Self::Several(stacks) => stacks,
        }
    }
}

impl Stack {
    #[inline]
    pub(super) fn node(
        core: CoreId,
        (depth, straight): (u32, u32),
        state: u32,
        below: Below,
    ) -> Self {
        let (state, acceptable) = (AtomicU32::new(state), AtomicU64::new(0));
        Self(Arc::new(Node { core, depth, straight, state, acceptable, below }))
    }

    /// Returns the core of the state on top.
    #[inline]
    pub(crate) fn core(&self) -> CoreId {
        self.0.core
    }

    /// Returns the number of states below the top.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.0.depth
    }

    /// Returns the nodes below the top: none at the bottom, several if stacks share only the top.
    #[inline]
    pub(crate) fn below(&self) -> &[Stack] {
        self.0.below.nodes()
    }

    /// Returns the depth of the first node that has several nodes below it.
    #[inline]
    pub(crate) fn first_fork(&self) -> Option<u32> {
        (self.0.straight != STRAIGHT).then(|| self.0.depth - self.0.straight)
    }

    /// Returns whether both are the same node in memory.
    #[inline]
    pub(crate) fn is(&self, other: &Stack) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns whether both are the same stack, judged by their top few nodes.
    pub(crate) fn is_like(&self, other: &Stack) -> bool {
        const FEW: usize = 4;
        let (mut one, mut other) = (self, other);
        for _ in 0..FEW {
            if one.is(other) {
                return true;
            }
            if one.core() != other.core() {
                return false;
            }
            match (one.below(), other.below()) {
                ([], []) => return true,
                ([below], [other_below]) => (one, other) = (below, other_below),
                _ => return false,
            }
        }
        false
    }

    /// Returns the address of the top node: equal for the same node, as long as it is alive.
    pub(super) fn address(&self) -> Address {
        Arc::as_ptr(&self.0)
    }

    /// Returns a weak reference to the node.
    pub(super) fn downgrade(&self) -> Weak<Node> {
        Arc::downgrade(&self.0)
    }

    /// Returns the stack with this node on top, if it is still alive.
    pub(super) fn upgrade(node: &Weak<Node>) -> Option<Self> {
        node.upgrade().map(Self)
    }
}

impl Drop for Node {
    /// Frees long chains in a loop: the derived drop would recurse for each state, and a document
    /// nested a million levels deep would overflow the thread's stack.
    fn drop(&mut self) {
        let mut at = std::mem::replace(&mut self.below, Below::Bottom);
        loop {
            at = match at {
                Below::Bottom => return,
                Below::One(stack) => match Arc::into_inner(stack.0) {
                    Some(mut node) => std::mem::replace(&mut node.below, Below::Bottom),
                    None => return,
                },
                Below::Several(stacks) => return free(*stacks),
            };
        }
    }
}

/// Frees the nodes below a fork, also in a loop.
#[cold]
fn free(mut pending: Vec<Stack>) {
    while let Some(stack) = pending.pop() {
        if let Some(mut node) = Arc::into_inner(stack.0) {
            match std::mem::replace(&mut node.below, Below::Bottom) {
                Below::Bottom => {}
                Below::One(stack) => pending.push(stack),
                Below::Several(stacks) => pending.extend(*stacks),
            }
        }
    }
}

/// The live nodes above forks.
#[derive(Debug, Default)]
pub(super) struct Forks(Mutex<ForkTable>);

#[derive(Debug, Default)]
struct ForkTable {
    nodes: HashMap<Key, Weak<Node>, FxBuildHasher>,
    /// Number of nodes after the dead ones were last removed.
    held: usize,
}

/// Identity of a node. The nodes below a live node are alive too, so their addresses are not
/// reused.
type Key = (CoreId, SmallVec<[usize; 4]>);

/// Up to this number of nodes, dead ones are not removed.
const FEW: usize = 1 << 10;

impl Forks {
    /// Returns the node of `core` above these, created by `make` if there is none.
    pub(super) fn node(
        &self,
        core: CoreId,
        below: &[Address],
        make: impl FnOnce() -> Stack,
    ) -> Stack {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (core, below.iter().map(|address| address.addr()).collect());
        if let Some(node) = known.nodes.get(&key).and_then(Stack::upgrade) {
            return node;
        }
        if known.nodes.len() > FEW && known.nodes.len() > 2 * known.held {
            known.nodes.retain(|_, node| node.strong_count() > 0);
            known.held = known.nodes.len();
        }
        let node = make();
        known.nodes.insert(key, node.downgrade());
        node
    }
}

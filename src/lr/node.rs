//! The nodes of parse stacks, and those over forks each once.

use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::util::id::CoreId;

/// A parse stack, or several with the same state on top. Cloning shares it.
#[derive(Clone, Debug)]
pub(crate) struct Stack(pub(super) Arc<Node>);

/// Where a node is.
pub(super) type Address = *const Node;

/// Stacks with different states on top; nearly always one.
pub(crate) type Stacks = SmallVec<[Stack; 1]>;

/// A state, and what lies below it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) core: CoreId,
    /// Distance from the bottom, which has depth 0; where ways differ in length, of the shortest.
    /// Of the nodes that another stands for, none is then lower than what is reported to have been
    /// read.
    pub(super) depth: u32,
    /// How many nodes down the way forks first; [`STRAIGHT`] where it never does.
    pub(super) straight: u32,
    /// 1 more than the number of the core's state in this context, or 0. Of this and what follows:
    /// whoever finds it out finds the same, so it does not matter who.
    pub(super) state: AtomicU32,
    /// As [`Acceptable::pack`] says, or 0.
    pub(super) acceptable: AtomicU64,
    pub(super) below: Below,
}

/// What a stack can really shift, and how deep one had to look to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acceptable {
    /// Id of the set of terminals (and `$`) among the table's
    /// [`AcceptableSets`](super::states::AcceptableSets).
    pub(crate) set: u32,
    /// The depth of the lowest state that was read.
    pub(crate) lowest: u32,
}

impl Acceptable {
    /// As one number, which is not 0.
    pub(super) fn pack(self) -> u64 {
        u64::from(self.lowest) << 32 | (u64::from(self.set) + 1)
    }

    pub(super) fn unpack(packed: u64) -> Option<Self> {
        Some(Self { set: (packed as u32).checked_sub(1)?, lowest: (packed >> 32) as u32 })
    }
}

/// No node further down has several below it.
pub(super) const STRAIGHT: u32 = u32::MAX;

/// What lies below a node.
#[derive(Debug)]
pub(super) enum Below {
    Bottom,
    One(Stack),
    /// At least two, by ascending [`Stack::key`].
    #[expect(
        clippy::box_collection,
        reason = "a node is to be no larger for what few of them have"
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

    /// The core of the state on top.
    #[inline]
    pub(crate) fn core(&self) -> CoreId {
        self.0.core
    }

    /// How many states lie below the top.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.0.depth
    }

    /// The nodes below the top: none at the bottom, several where stacks have nothing but the top
    /// in common.
    #[inline]
    pub(crate) fn below(&self) -> &[Stack] {
        self.0.below.nodes()
    }

    /// How deep the first node lies below which there are several.
    #[inline]
    pub(crate) fn first_fork(&self) -> Option<u32> {
        (self.0.straight != STRAIGHT).then(|| self.0.depth - self.0.straight)
    }

    /// Whether both are one in memory.
    #[inline]
    pub(crate) fn is(&self, other: &Stack) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether both are the same stack, as far as a look at a few nodes shows.
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

    /// Where the top node is: equal for equal nodes in memory, as long as they are.
    pub(super) fn address(&self) -> Address {
        Arc::as_ptr(&self.0)
    }

    /// The node, for as long as somebody else holds it.
    pub(super) fn downgrade(&self) -> Weak<Node> {
        Arc::downgrade(&self.0)
    }

    /// The stack with this node on top, if it is still there.
    pub(super) fn upgrade(node: &Weak<Node>) -> Option<Self> {
        node.upgrade().map(Self)
    }
}

impl Drop for Node {
    /// Frees long chains in a loop: the derived drop would recurse once a state, and a document
    /// nested a million deep would overflow the thread's stack.
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

/// Frees what lies below a fork, in a loop as well.
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

/// The nodes over forks that somebody holds.
#[derive(Debug, Default)]
pub(super) struct Forks(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    nodes: HashMap<Key, Weak<Node>, FxBuildHasher>,
    /// How many there were when those that nobody held were last taken out.
    held: usize,
}

/// A node by what it is. What lies below a node that is held is held too, so no other can come to
/// have its address.
type Key = (CoreId, SmallVec<[usize; 4]>);

/// Fewer nodes than these are not gone through.
const FEW: usize = 1 << 10;

impl Forks {
    /// The node of `core` over these, made by `make` where there is none.
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

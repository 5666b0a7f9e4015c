//! What has been computed since the budget was last exhausted.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use super::branch::{Branch, BranchKey, Group};
use super::masks::Masks;
use super::parts::Part;
use super::stack_trie::{Leaf, Root, StackTrie};
use super::token_set::TokenSet;
use super::unions::{TokensId, Unions};
use super::walk::{NodesId, Origin, Walk};
use super::ways::MaskUnions;
use crate::scanner::Scanner;
use crate::util::append::{Interner, Slots};
use crate::util::append_map::AppendMap;
use crate::util::memo::Memo;
use crate::vocab::trie::Trie;

/// Token classes, their unions, masks and the tries over stacks.
#[derive(Debug)]
pub(super) struct Generation {
    node_sets: Interner<Box<[u32]>>,
    /// By number of a set of nodes.
    groups: Slots<Box<[Group]>>,
    /// Whether a set of nodes has been walked, by its number.
    walked: Slots<AtomicBool>,
    pub(super) branches: Memo<BranchKey, Branch>,
    walks: Memo<(NodesId, Origin), Walk>,
    /// How many walks have been begun.
    begun: AtomicU32,
    pub(super) unions: Unions,
    /// By the numbers of a walk and of what stacks take.
    taken: Memo<(u32, u32), Taken>,
    /// What parts of masks came to.
    pub(super) parts: StackTrie<Part, TokensId>,
    pub(super) stacks: StackTrie<Root, Leaf>,
    pub(super) masks: Masks,
    /// By what they are unions of, and whether the text may end.
    pub(super) masks_of: AppendMap<(TokensId, bool), u32>,
    pub(super) mask_unions: MaskUnions,
    /// Of node sets, branches, walks and masks.
    bytes: AtomicUsize,
}

/// Which ends of a walk without obligations some stacks take.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) tokens: TokensId,
    /// Those of which it takes a search to say, by their places.
    pub(super) open: Box<[u32]>,
}

impl Generation {
    pub(super) fn new() -> Self {
        let node_sets = Interner::default();
        node_sets.intern(Box::from([Trie::ROOT]));
        Self {
            node_sets,
            groups: Slots::default(),
            walked: Slots::default(),
            branches: Memo::default(),
            walks: Memo::default(),
            begun: AtomicU32::new(0),
            unions: Unions::default(),
            taken: Memo::default(),
            parts: StackTrie::default(),
            stacks: StackTrie::default(),
            masks: Masks::default(),
            masks_of: AppendMap::default(),
            mask_unions: MaskUnions::default(),
            bytes: AtomicUsize::new(0),
        }
    }

    /// The number of a set of nodes, ascending.
    pub(super) fn nodes_id(&self, nodes: Vec<u32>) -> NodesId {
        let (before, bytes) = (self.node_sets.len(), NODE_SET_BYTES + nodes.len() * 4);
        let id = self.node_sets.intern(nodes.into());
        if id as usize >= before {
            self.add_bytes(bytes);
        }
        NodesId(id)
    }

    /// A set of nodes by its number.
    pub(super) fn nodes(&self, id: NodesId) -> &[u32] {
        self.node_sets.get(id.0)
    }

    /// The same by their bytes; for all of the vocabulary the children of the root.
    pub(super) fn groups(&self, id: NodesId, trie: &Trie) -> &[Group] {
        self.groups.get_or_init(id.0, || {
            let groups = match id {
                NodesId::ROOT => Group::all(trie.children(Trie::ROOT), trie),
                _ => Group::all(self.nodes(id).iter().copied(), trie),
            };
            self.add_bytes(groups.iter().map(Group::bytes).sum());
            groups
        })
    }

    /// Notes that the nodes are walked. Whether for the first time.
    pub(super) fn begin_walk(&self, id: NodesId) -> bool {
        !self.walked.get_or_init(id.0, || AtomicBool::new(false)).swap(true, Ordering::Relaxed)
    }

    /// How many sets of nodes there are.
    pub(super) fn node_sets(&self) -> usize {
        self.node_sets.len()
    }

    /// Adds a set of tokens.
    pub(super) fn add_set(&self, set: TokenSet) -> TokensId {
        self.unions.add_set(set)
    }

    /// The walk of these nodes from a scan state, done now or before. Of several threads that want
    /// it, one does it.
    pub(super) fn walk(
        &self,
        nodes: NodesId,
        from: Origin,
        scanner: &Scanner,
        trie: &Trie,
        words: usize,
    ) -> &Walk {
        self.walks.get_or_find((nodes, from), || {
            let walk = Walk::new(nodes, from, scanner, trie, words, self);
            self.add_bytes(walk.bytes() + WALK_BYTES);
            walk
        })
    }

    /// A number for a walk.
    pub(super) fn next_walk(&self) -> u32 {
        self.begun.fetch_add(1, Ordering::Relaxed)
    }

    /// Which ends of `walk` stacks take that take `what`, found by `find` if it is not known.
    pub(super) fn taken(&self, walk: &Walk, what: u32, find: impl FnOnce() -> Taken) -> &Taken {
        self.taken.get_or_find((walk.number, what), || {
            let taken = find();
            self.add_bytes(TAKEN_BYTES + size_of_val(&*taken.open));
            taken
        })
    }

    /// The walks done so far.
    pub(super) fn all_walks(&self) -> impl Iterator<Item = (NodesId, Origin, &Walk)> {
        self.walks.iter().map(|(&(nodes, from), walk)| (nodes, from, walk))
    }

    /// Adds a walk that was done before.
    pub(super) fn add_walk(&self, nodes: NodesId, from: Origin, walk: Walk) {
        self.walks.get_or_find((nodes, from), || {
            self.add_bytes(walk.bytes() + WALK_BYTES);
            walk
        });
    }

    /// More bytes are held.
    pub(super) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        let known = self.masks_of.len() * MASK_OF_BYTES;
        let unions = self.unions.bytes() + self.mask_unions.bytes();
        let tables = self.stacks.bytes() + self.parts.bytes() + unions + known;
        self.bytes.load(Ordering::Relaxed) + tables
    }
}

/// What a set of nodes costs beside its nodes.
const NODE_SET_BYTES: usize = 40;

/// What a walk costs beside itself: its key and its places.
const WALK_BYTES: usize = 48;

/// What it costs to know what is taken of a walk.
const TAKEN_BYTES: usize = 64;

/// What it costs to know a mask by what it is a union of.
const MASK_OF_BYTES: usize = 32;

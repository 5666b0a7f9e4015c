//! Interned sets of the trie's nodes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::util::append::{Interner, Slots};
use crate::vocab::trie::Trie;

/// The number of a set of the trie's nodes, ascending. The root is special: a walk from it
/// continues the lexeme in progress, which may end before the first byte. Any other node is
/// entered: its own byte is the first one of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodesId(pub(crate) u32);

impl NodesId {
    /// The root alone: the whole vocabulary.
    pub(crate) const ROOT: Self = Self(0);
}

/// The nodes of a set, grouped by their bytes.
#[derive(Debug)]
pub(super) struct ByByte {
    /// The bytes of the nodes, ascending.
    bytes: Box<[u8]>,
    /// For each of these bytes, the end of its nodes in `nodes`.
    ends: Box<[u32]>,
    /// Sorted by byte, then by number.
    nodes: Box<[u32]>,
    /// The bytes that begin many tokens, and the number of these.
    pub(super) many: Box<[(u8, u32)]>,
}

/// A byte begins many tokens if it begins at least one token in this many.
const TOKENS_FOR_MANY: usize = 1024;

/// The nodes of a set that begin with the same byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteNodes<'s> {
    pub(super) byte: u8,
    /// Ascending; usually a single one.
    pub(super) nodes: &'s [u32],
}

/// The sets met so far.
#[derive(Debug)]
pub(super) struct NodeSets {
    sets: Interner<Box<[u32]>>,
    /// By number of a set: its nodes, grouped by their bytes.
    by_byte: Slots<ByByte>,
    /// By number of a set: whether it has been walked.
    walked: Slots<AtomicBool>,
    bytes: AtomicUsize,
}

impl Default for NodeSets {
    fn default() -> Self {
        let sets = Interner::default();
        sets.intern(Box::from([Trie::ROOT]));
        Self {
            sets,
            by_byte: Slots::default(),
            walked: Slots::default(),
            bytes: AtomicUsize::new(0),
        }
    }
}

impl NodeSets {
    /// Returns the number of a set of nodes, ascending.
    pub(super) fn id(&self, nodes: &[u32]) -> NodesId {
        let (before, bytes) = (self.sets.len(), NODE_SET_BYTES + nodes.len() * 4);
        let id = self.sets.intern_ref(nodes);
        if id as usize >= before {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        NodesId(id)
    }

    /// Returns the set with this number.
    pub(super) fn get(&self, id: NodesId) -> &[u32] {
        self.sets.get(id.0)
    }

    /// Returns the nodes of a set, grouped by their bytes; for the root, its children.
    pub(super) fn by_byte(&self, id: NodesId, trie: &Trie) -> &ByByte {
        self.by_byte.get_or_init(id.0, || {
            let by_byte = match id {
                NodesId::ROOT => {
                    ByByte::new(&trie.children(Trie::ROOT).collect::<Vec<u32>>(), trie)
                }
                _ => ByByte::new(self.get(id), trie),
            };
            self.bytes.fetch_add(by_byte.bytes(), Ordering::Relaxed);
            by_byte
        })
    }

    /// Records that a set is walked. Returns whether this is the first time.
    pub(super) fn begin_walk(&self, id: NodesId) -> bool {
        !self.walked.get_or_init(id.0, || AtomicBool::new(false)).swap(true, Ordering::Relaxed)
    }

    /// Returns the number of sets.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Returns the heap bytes, as counted against the budget.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl ByByte {
    /// Groups these nodes, ascending, by their bytes.
    fn new(nodes: &[u32], trie: &Trie) -> Self {
        let mut counts = [0u32; 256];
        nodes.iter().for_each(|&node| counts[usize::from(trie.byte(node))] += 1);
        let bytes: Box<[u8]> =
            (0..=u8::MAX).filter(|&byte| counts[usize::from(byte)] > 0).collect();
        // The index of the next node of each byte.
        let mut places = [0; 256];
        let mut place = 0;
        let end = |&byte: &u8| {
            places[usize::from(byte)] = place;
            place += counts[usize::from(byte)];
            place
        };
        let ends: Box<[u32]> = bytes.iter().map(end).collect();
        let mut by_byte = Self { bytes, ends, nodes: nodes.into(), many: [].into() };
        for &node in nodes {
            let place = &mut places[usize::from(trie.byte(node))];
            by_byte.nodes[*place as usize] = node;
            *place += 1;
        }
        let count = |ByteNodes { byte, nodes }: ByteNodes<'_>| {
            (byte, nodes.iter().map(|&node| trie.count(node)).sum::<u32>())
        };
        let are_many =
            |&(_, tokens): &(u8, u32)| tokens as usize * TOKENS_FOR_MANY >= trie.ids().len();
        by_byte.many = by_byte.of(|_| true).map(count).filter(are_many).collect();
        by_byte
    }

    /// Returns the groups of the wanted bytes.
    #[inline]
    pub(super) fn of(&self, is_wanted: impl Fn(u8) -> bool) -> impl Iterator<Item = ByteNodes<'_>> {
        let all = self.bytes.iter().enumerate();
        all.filter(move |&(_, &byte)| is_wanted(byte)).map(|(at, &byte)| {
            let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
            ByteNodes { byte, nodes: &self.nodes[begin as usize..self.ends[at] as usize] }
        })
    }

    /// Returns the heap bytes.
    fn bytes(&self) -> usize {
        self.bytes.len()
            + size_of_val(&*self.ends)
            + size_of_val(&*self.nodes)
            + size_of_val(&*self.many)
    }
}

/// Overhead of a set besides its nodes.
const NODE_SET_BYTES: usize = 40;

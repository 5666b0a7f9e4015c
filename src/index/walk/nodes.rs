//! Sets of the trie's nodes, each once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use smallvec::SmallVec;

use crate::util::append::{Interner, Slots};
use crate::vocab::trie::Trie;

/// The number of a set of the trie's nodes, ascending. The root stands for itself: a walk of it
/// goes on with the lexeme in progress, which may end before its first byte. Any other node is
/// entered: its own byte is the first of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodesId(pub(crate) u32);

impl NodesId {
    /// The root alone: all of the vocabulary.
    pub(crate) const ROOT: Self = Self(0);
}

/// The nodes of a set by their bytes.
#[derive(Debug)]
pub(super) struct ByByte {
    /// Ascending.
    nodes: Box<[ByteNodes]>,
    /// The byte of each: to choose by takes a fraction of the memory.
    bytes: Box<[u8]>,
    /// Those that begin many tokens, and how many.
    pub(super) many: Box<[(u8, u32)]>,
}

/// Where a byte begins fewer than one token in so many, these are not many.
const TOKENS_FOR_MANY: usize = 1024;

/// Those nodes of a set that begin with the same byte.
#[derive(Debug)]
pub(super) struct ByteNodes {
    pub(super) byte: u8,
    /// Ascending; mostly a single one.
    pub(super) nodes: SmallVec<[u32; 4]>,
}

/// The sets met so far.
#[derive(Debug)]
pub(super) struct NodeSets {
    sets: Interner<Box<[u32]>>,
    /// By number of a set: its nodes by their bytes.
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
    /// The number of a set of nodes, ascending.
    pub(super) fn id(&self, nodes: Vec<u32>) -> NodesId {
        let (before, bytes) = (self.sets.len(), NODE_SET_BYTES + nodes.len() * 4);
        let id = self.sets.intern(nodes.into());
        if id as usize >= before {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        NodesId(id)
    }

    /// A set of nodes by its number.
    pub(super) fn get(&self, id: NodesId) -> &[u32] {
        self.sets.get(id.0)
    }

    /// The same by their bytes; for all of the vocabulary the children of the root.
    pub(super) fn by_byte(&self, id: NodesId, trie: &Trie) -> &ByByte {
        self.by_byte.get_or_init(id.0, || {
            let by_byte = match id {
                NodesId::ROOT => ByByte::new(trie.children(Trie::ROOT), trie),
                _ => ByByte::new(self.get(id).iter().copied(), trie),
            };
            self.bytes.fetch_add(by_byte.bytes(), Ordering::Relaxed);
            by_byte
        })
    }

    /// Notes that a set is walked. Whether for the first time.
    pub(super) fn begin_walk(&self, id: NodesId) -> bool {
        !self.walked.get_or_init(id.0, || AtomicBool::new(false)).swap(true, Ordering::Relaxed)
    }

    /// How many sets there are.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Heap bytes, as counted against the budget.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl ByByte {
    /// These nodes, ascending, by their bytes.
    fn new(nodes: impl Iterator<Item = u32>, trie: &Trie) -> Self {
        // By byte, 1 and its place among those met, or 0.
        let mut places = [0u16; 256];
        let mut met: Vec<ByteNodes> = Vec::new();
        for node in nodes {
            let byte = trie.byte(node);
            let place = &mut places[usize::from(byte)];
            if *place == 0 {
                met.push(ByteNodes { byte, nodes: SmallVec::new() });
                *place = met.len() as u16;
            }
            met[usize::from(*place) - 1].nodes.push(node);
        }
        met.sort_unstable_by_key(|alike| alike.byte);
        let count = |alike: &ByteNodes| {
            (alike.byte, alike.nodes.iter().map(|&node| trie.count(node)).sum::<u32>())
        };
        let are_many =
            |&(_, tokens): &(u8, u32)| tokens as usize * TOKENS_FOR_MANY >= trie.ids().len();
        let bytes = met.iter().map(|alike| alike.byte).collect();
        Self { bytes, many: met.iter().map(count).filter(are_many).collect(), nodes: met.into() }
    }

    /// The nodes of each byte that is wanted.
    #[inline]
    pub(super) fn of(&self, is_wanted: impl Fn(u8) -> bool) -> impl Iterator<Item = &ByteNodes> {
        let all = self.bytes.iter().zip(&*self.nodes);
        all.filter(move |&(&byte, _)| is_wanted(byte)).map(|(_, nodes)| nodes)
    }

    /// Heap bytes.
    fn bytes(&self) -> usize {
        self.nodes.iter().map(ByteNodes::bytes).sum::<usize>()
            + self.bytes.len()
            + size_of_val(&*self.many)
    }
}

impl ByteNodes {
    /// Heap bytes.
    fn bytes(&self) -> usize {
        size_of::<Self>() + if self.nodes.spilled() { size_of_val(&*self.nodes) } else { 0 }
    }
}

/// What a set of nodes costs beside its nodes.
const NODE_SET_BYTES: usize = 40;

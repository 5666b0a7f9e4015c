//! The children of nodes that have many, side by side.
//!
//! A walk goes from a node to its sibling over all that is below, so each costs it a load from
//! afar. Of a hundred children most lead nowhere, as amid a key word, or where another walk has
//! been. Here their bytes lie side by side, so that the walk finds the next one that is of
//! interest.

use super::nodes::Node;

/// The children of all nodes that have many.
#[derive(Clone, Debug)]
pub(super) struct Families {
    /// By node, a bit: whether it has a family.
    parents: Box<[u64]>,
    /// By word of `parents`: how many families there are in the words before.
    before: Box<[u32]>,
    /// By family: the place of its first child; and one place more.
    begins: Box<[u32]>,
    /// By place: the child's byte and the child.
    bytes: Box<[u8]>,
    children: Box<[u32]>,
}

/// The children of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    begin: u32,
    end: u32,
}

impl Family {
    /// That of a node with few children, of whom nothing is known here.
    pub(crate) const FEW: Self = Self { begin: 0, end: 0 };

    /// Whether nothing is known of the children.
    #[inline]
    pub(crate) fn are_few(self) -> bool {
        self.begin == self.end
    }
}

/// From so many children on they are a family. Unit tests have small tries, and are to meet some
/// all the same.
const MANY: u16 = if cfg!(test) { 2 } else { 8 };

impl Families {
    /// Those of a trie's nodes, of which each has so many children.
    pub(super) fn new(nodes: &[Node], counts: &[u16]) -> Self {
        let mut parents = vec![0; nodes.len().div_ceil(64)];
        let (mut begins, mut bytes, mut children) = (vec![0], Vec::new(), Vec::new());
        let many = (0u32..).zip(counts).filter(|&(_, &count)| count >= MANY);
        for (parent, _) in many {
            parents[parent as usize / 64] |= 1 << (parent % 64);
            let mut child = parent + 1;
            while child < nodes[parent as usize].end {
                let node = nodes[child as usize];
                bytes.push(node.byte);
                children.push(child);
                child = node.end;
            }
            begins.push(bytes.len() as u32);
        }
        let count = |before: &mut u32, word: &u64| {
            let here = *before;
            *before += word.count_ones();
            Some(here)
        };
        let before = parents.iter().scan(0, count).collect();
        let (bytes, children) = (bytes.into(), children.into());
        Self { parents: parents.into(), before, begins: begins.into(), bytes, children }
    }

    /// The children of `node`.
    #[inline]
    pub(super) fn of(&self, node: u32) -> Family {
        let (word, bit) = (node as usize / 64, node % 64);
        let parents = self.parents[word];
        if parents >> bit & 1 == 0 {
            return Family::FEW;
        }
        let below = parents & ((1 << bit) - 1);
        let family = (self.before[word] + below.count_ones()) as usize;
        Family { begin: self.begins[family], end: self.begins[family + 1] }
    }

    /// The child with this byte.
    #[inline]
    pub(super) fn child(&self, Family { begin, end }: Family, byte: u8) -> Option<u32> {
        let place = self.bytes[begin as usize..end as usize].binary_search(&byte).ok()?;
        Some(self.children[begin as usize + place])
    }

    /// The first of the siblings behind `child` whose byte is of interest, if there is one.
    #[inline]
    pub(super) fn next(
        &self,
        Family { begin, end }: Family,
        child: u8,
        is_of_interest: impl Fn(u8) -> bool,
    ) -> Option<u32> {
        let bytes = &self.bytes[begin as usize..end as usize];
        let behind = bytes.partition_point(|&byte| byte <= child);
        let found = bytes[behind..].iter().position(|&byte| is_of_interest(byte))?;
        Some(self.children[begin as usize + behind + found])
    }

    /// The last child of a family.
    #[inline]
    pub(super) fn last(&self, family: Family) -> u32 {
        self.children[family.end as usize - 1]
    }

    /// Memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.parents)
            + size_of_val(&*self.before)
            + size_of_val(&*self.begins)
            + size_of_val(&*self.bytes)
            + size_of_val(&*self.children)
    }
}

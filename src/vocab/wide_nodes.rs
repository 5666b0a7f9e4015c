//! Index of the children of nodes with many children.
//!
//! A walk gets from a node to its sibling by skipping the whole subtree, so each sibling costs a
//! load from distant memory. Of a hundred children most are irrelevant, as in the middle of a
//! keyword, or were visited by another walk. Here their bytes are adjacent, so that the walk finds
//! the next relevant one quickly.

use super::nodes::Node;

/// The children of all nodes that have many.
#[derive(Clone, Debug)]
pub(super) struct Families {
    /// One bit for each node: whether it has a family.
    parents: Box<[u64]>,
    /// By word of `parents`: the number of families in the words before.
    before: Box<[u32]>,
    /// By family: the index of its first child; one more entry ends the last.
    begins: Box<[u32]>,
    /// By index: the child's byte, and the child.
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
    /// The family of a node with few children, which are not indexed.
    pub(crate) const FEW: Self = Self { begin: 0, end: 0 };

    /// Returns whether the children are not indexed.
    #[inline]
    pub(crate) fn are_few(self) -> bool {
        self.begin == self.end
    }
}

/// Least number of children that are indexed. Unit tests have small tries, so their threshold is
/// lower.
const MANY: u16 = if cfg!(test) { 2 } else { 8 };

impl Families {
    /// Indexes a trie's nodes, given the number of children of each.
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

    /// Returns the children of `node`.
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

    /// Returns the child with this byte, if any.
    #[inline]
    pub(super) fn child(&self, Family { begin, end }: Family, byte: u8) -> Option<u32> {
        let place = self.bytes[begin as usize..end as usize].binary_search(&byte).ok()?;
        Some(self.children[begin as usize + place])
    }

    /// Returns the first sibling after `child` whose byte is of interest, if any.
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

    /// Returns the last child of a family.
    #[inline]
    pub(super) fn last(&self, family: Family) -> u32 {
        self.children[family.end as usize - 1]
    }

    /// Returns the memory used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.parents)
            + size_of_val(&*self.before)
            + size_of_val(&*self.begins)
            + size_of_val(&*self.bytes)
            + size_of_val(&*self.children)
    }
}

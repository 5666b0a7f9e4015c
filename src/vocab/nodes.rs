//! The nodes of the byte trie, and the groups of the bytes below them.
//!
//! The trie's side of the contract of [`self_loops`](crate::util::self_loops).

use crate::util::self_loops::{
    BETWEEN, CHARACTERS, CUT_CHARACTERS, Groups, STRAY_BYTES, WITHINS, Within, characters_of,
    group, step_utf8,
};

/// A prefix of some token's bytes, with all that a walk needs in one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The first node after the subtree: the next sibling, if the parent has one more child.
    pub(crate) end: u32,
    /// Index in the array of ids of the first token at or below the node.
    pub(crate) first: u32,
    /// The groups of the bytes below the node, without its own, read as if a character began there.
    pub(crate) below: Groups,
    /// The length of the prefix.
    pub(crate) depth: u16,
    /// The label of the edge into the node; 0 for the root.
    pub(crate) byte: u8,
    /// Number of pieces of the longest text below the node, as in `below`, or 255 if there are
    /// more.
    pub(crate) height: u8,
}
const _: () = assert!(size_of::<Node>() == 16);

/// The groups of the nodes' own bytes, in separate arrays, so that a walk that stays in its state
/// finds the next node of another group sixteen nodes at a time.
#[derive(Clone, Debug)]
pub(super) struct NodeGroups {
    /// By node: the number of its byte's group. For the first byte of a character past ASCII, the
    /// worst group that the character can have: stray bytes, a cut one, a whole one; for the bytes
    /// after it, [`WITHIN_CHARACTER`] or [`ENDS_CHARACTER`].
    numbers: Box<[u8]>,
    /// The union of the groups of each [`BLOCK`] nodes.
    blocks: Box<[Groups]>,
}

/// Number of nodes whose groups are united.
const BLOCK: usize = 16;

/// The last byte of a character.
const ENDS_CHARACTER: u8 = STRAY_BYTES.ilog2() as u8 + 1;

/// A byte between the first and the last of a character.
const WITHIN_CHARACTER: u8 = ENDS_CHARACTER + 1;

impl NodeGroups {
    /// Computes the groups of these nodes, and sets in each the groups below it.
    pub(super) fn find(nodes: &mut [Node], max_depth: usize) -> Self {
        let numbers = find_numbers(nodes, max_depth);
        let union = |block: &[u8]| block.iter().fold(0, |all, group| all | 1 << group);
        let blocks = numbers.chunks(BLOCK).map(union).collect();
        Self { numbers, blocks }
    }

    /// Returns the group of the byte of `node`.
    #[inline]
    pub(super) fn get(&self, node: u32) -> Groups {
        1 << self.numbers[node as usize]
    }

    /// Returns whether the byte of `node` is the last of a whole character past ASCII.
    #[inline]
    pub(super) fn ends_character(&self, node: u32) -> bool {
        self.numbers[node as usize] == ENDS_CHARACTER
    }

    /// Returns the first node from `node` to before `end` whose byte is not in these groups; `end`
    /// if there is none.
    #[inline]
    pub(super) fn next_outside(&self, groups: Groups, node: u32, end: u32) -> u32 {
        // Characters that begin with a byte of the groups are passed over to their end.
        let groups = groups | 1 << ENDS_CHARACTER | 1 << WITHIN_CHARACTER;
        let (mut at, end) = (node as usize, end as usize);
        while at < end {
            if at.is_multiple_of(BLOCK) && self.blocks[at / BLOCK] & !groups == 0 {
                at += BLOCK;
            } else if groups >> self.numbers[at] & 1 == 0 {
                return at as u32;
            } else {
                at += 1;
            }
        }
        end as u32
    }

    /// Returns the memory used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.numbers.len() + self.blocks.len() * size_of::<Groups>()
    }
}

/// Sets the groups below each node and its height; returns the number of each node's own group.
fn find_numbers(nodes: &mut [Node], max_depth: usize) -> Box<[u8]> {
    let mut numbers = vec![0; nodes.len()].into_boxed_slice();
    // By depth: the content of the visited nodes whose parent has not been visited; by position
    // within a character where they are entered: the groups that this character, of any kind, can
    // have, and the groups after it.
    let mut met = vec![[(0, 0); WITHINS]; max_depth + 2];
    // By depth and position likewise: the maximum number of pieces that begin in them.
    let mut heights = vec![[0u8; WITHINS]; max_depth + 2];
    // From last to first, so that all nodes below a node are visited before it.
    for index in (0..nodes.len()).rev() {
        let next_first = nodes.get(index + 1).map(|next| next.first);
        let node = &mut nodes[index];
        let depth = usize::from(node.depth);
        let below = std::mem::take(&mut met[depth + 1]);
        node.below = below[BETWEEN].1;
        let height = std::mem::take(&mut heights[depth + 1]);
        node.height = height[BETWEEN];
        for (within, most) in heights[depth].iter_mut().enumerate() {
            let next = step_utf8(within, node.byte);
            let begins = within == BETWEEN || next.is_none();
            *most = height[next.unwrap_or(BETWEEN)].saturating_add(u8::from(begins)).max(*most);
        }
        let ends_token = next_first != Some(node.first);
        let becomes = |within: Within| match step_utf8(within, node.byte) {
            None => (STRAY_BYTES, below[BETWEEN].1),
            Some(BETWEEN) => (CHARACTERS, below[BETWEEN].1),
            Some(next) if ends_token => (below[next].0 | CUT_CHARACTERS, below[next].1),
            Some(next) => below[next],
        };
        let own = match node.byte {
            0..0x80 => group(node.byte),
            first => becomes(BETWEEN).0 & (characters_of(first) | STRAY_BYTES),
        };
        numbers[index] = own.ilog2() as u8;
        let begun = own | becomes(BETWEEN).1;
        let from = &mut met[depth];
        from[BETWEEN].1 |= begun;
        for (within, (character, rest)) in from.iter_mut().enumerate().skip(BETWEEN + 1) {
            let (becomes, behind) = match step_utf8(within, node.byte) {
                // A new piece begins with this byte.
                None => (STRAY_BYTES, begun),
                Some(_) => becomes(within),
            };
            *character |= becomes;
            *rest |= behind;
        }
    }
    // By depth: the position within a character that began above.
    let mut path = vec![BETWEEN; max_depth + 1];
    for (node, number) in nodes.iter().zip(&mut numbers).skip(1) {
        let depth = usize::from(node.depth);
        let within = path[depth - 1];
        let next = step_utf8(within, node.byte);
        if within != BETWEEN && node.byte >= 0x80 {
            *number = match next {
                None => STRAY_BYTES.ilog2() as u8,
                Some(BETWEEN) => ENDS_CHARACTER,
                Some(_) => WITHIN_CHARACTER,
            };
        }
        path[depth] = next.unwrap_or(BETWEEN);
    }
    numbers
}

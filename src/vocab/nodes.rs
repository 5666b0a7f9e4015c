//! The nodes of the byte trie, and the groups of the bytes below them.
//!
//! The trie's side of the contract of [`self_loops`](crate::util::self_loops).

use crate::util::self_loops::{
    BETWEEN, CHARACTERS, CUT_CHARACTERS, Groups, STRAY_BYTES, WITHINS, Within, characters_of,
    group, step_utf8,
};

/// A prefix of some token's bytes. What a walk asks of it lies together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The first node after the subtree: the next sibling, if the parent has one more child.
    pub(crate) end: u32,
    /// Index among the ids of the first token at or below the node.
    pub(crate) first: u32,
    /// The groups of what is below the node, its own byte not counted, read as if a character began
    /// there.
    pub(crate) below: Groups,
    /// The length of the prefix.
    pub(crate) depth: u16,
    /// The label of the edge into the node; 0 for the root.
    pub(crate) byte: u8,
    /// How many pieces the longest text below the node has, as in `below`, or 255 where they are
    /// more.
    pub(crate) height: u8,
}
const _: () = assert!(size_of::<Node>() == 16);

/// The groups of the nodes' own bytes, beside the nodes once more, so that a walk which stays where
/// it is finds the next node of another group sixteen at a time.
#[derive(Clone, Debug)]
pub(super) struct NodeGroups {
    /// By node: the number of its byte's group. Past ASCII, of a byte that begins a character, the
    /// worst that becomes of the character: stray bytes, a cut one, a whole one; of the bytes
    /// behind it [`WITHIN_CHARACTER`] or [`ENDS_CHARACTER`].
    numbers: Box<[u8]>,
    /// The groups of [`BLOCK`] nodes each.
    blocks: Box<[Groups]>,
}

/// Nodes whose groups are known together.
const BLOCK: usize = 16;

/// The last byte of a character.
const ENDS_CHARACTER: u8 = STRAY_BYTES.ilog2() as u8 + 1;

/// A byte between the first and the last of a character.
const WITHIN_CHARACTER: u8 = ENDS_CHARACTER + 1;

impl NodeGroups {
    /// Finds the groups of these nodes, and notes with each those below it.
    pub(super) fn find(nodes: &mut [Node], max_depth: usize) -> Self {
        let numbers = find_numbers(nodes, max_depth);
        let union = |block: &[u8]| block.iter().fold(0, |all, group| all | 1 << group);
        let blocks = numbers.chunks(BLOCK).map(union).collect();
        Self { numbers, blocks }
    }

    /// The group of the byte of `node`.
    #[inline]
    pub(super) fn get(&self, node: u32) -> Groups {
        1 << self.numbers[node as usize]
    }

    /// Whether the byte of `node` is the last of a whole character past ASCII.
    #[inline]
    pub(super) fn ends_character(&self, node: u32) -> bool {
        self.numbers[node as usize] == ENDS_CHARACTER
    }

    /// The first node from `node` to before `end` whose byte is not of these groups; `end` where
    /// there is none.
    #[inline]
    pub(super) fn next_outside(&self, groups: Groups, node: u32, end: u32) -> u32 {
        // What begins with a byte of the groups is gone through to its end.
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

    /// Memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.numbers.len() + self.blocks.len() * size_of::<Groups>()
    }
}

/// Finds the groups below each node and how far the texts there go; the number of each node's own
/// group.
fn find_numbers(nodes: &mut [Node], max_depth: usize) -> Box<[u8]> {
    let mut numbers = vec![0; nodes.len()].into_boxed_slice();
    // By depth: what the nodes met so far hold, whose parent has not been met; as read from each
    // place in a character: what becomes of that character, of whichever kind it is, and what comes
    // behind it.
    let mut met = vec![[(0, 0); WITHINS]; max_depth + 2];
    // By depth and place, the same: how many pieces begin in them at most.
    let mut heights = vec![[0u8; WITHINS]; max_depth + 2];
    // From the last to the first: what lies below a node is met before it.
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
                // With the byte another piece begins.
                None => (STRAY_BYTES, begun),
                Some(_) => becomes(within),
            };
            *character |= becomes;
            *rest |= behind;
        }
    }
    // By depth: where a character stands that began above.
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

//! The nodes of the byte trie, and the groups of the bytes below them.
//!
//! The trie's side of the contract of [`self_loops`](crate::util::self_loops).

use crate::util::self_loops::{
    BETWEEN, CHARACTERS, CUT_CHARACTERS, Groups, STRAY_BYTES, WITHINS, group, step_utf8,
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
    /// How many bytes the longest text below the node has, or 255 where they are more.
    pub(crate) height: u8,
}
const _: () = assert!(size_of::<Node>() == 16);

/// The groups of the nodes' own bytes, beside the nodes once more, so that a walk which stays where
/// it is finds the next node of another group sixteen at a time.
#[derive(Clone, Debug)]
pub(super) struct NodeGroups {
    /// By node: the number of its byte's group. Past ASCII, of a byte that begins a character, the
    /// worst that becomes of the character: stray bytes, a cut one, a whole one; of the bytes
    /// behind it, that they are of a whole one, or [`ENDS_CHARACTER`].
    numbers: Box<[u8]>,
    /// The groups of [`BLOCK`] nodes each.
    blocks: Box<[Groups]>,
    /// By node: how many pieces begin on the way to it, modulo 256.
    pieces: Box<[u8]>,
}

/// Nodes whose groups are known together.
const BLOCK: usize = 16;

/// The last byte of a character.
const ENDS_CHARACTER: u8 = 18;
const _: () = assert!(STRAY_BYTES.ilog2() + 1 == ENDS_CHARACTER as u32);

impl NodeGroups {
    /// Finds the groups of these nodes, and notes with each those below it.
    pub(super) fn find(nodes: &mut [Node], max_depth: usize) -> Self {
        let (numbers, pieces) = find_numbers(nodes, max_depth);
        let union = |block: &[u8]| block.iter().fold(0, |all, group| all | 1 << group);
        let blocks = numbers.chunks(BLOCK).map(union).collect();
        Self { numbers, blocks, pieces }
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

    /// How many pieces begin behind `above`, a node on the way to `node`, with the last byte of
    /// `node`; modulo 256.
    #[inline]
    pub(super) fn pieces_between(&self, above: u32, node: u32) -> u8 {
        self.pieces[node as usize].wrapping_sub(self.pieces[above as usize])
    }

    /// The first node from `node` to before `end` whose byte is not of these groups; `end` where
    /// there is none.
    #[inline]
    pub(super) fn next_outside(&self, groups: Groups, node: u32, end: u32) -> u32 {
        let groups = if groups & CHARACTERS == 0 { groups } else { groups | 1 << ENDS_CHARACTER };
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
        self.numbers.len() + self.pieces.len() + self.blocks.len() * size_of::<Groups>()
    }
}

/// Finds the groups below each node and how far the texts there go; the number of each node's own
/// group, and of the pieces on the way to it.
fn find_numbers(nodes: &mut [Node], max_depth: usize) -> (Box<[u8]>, Box<[u8]>) {
    let mut numbers = vec![0; nodes.len()].into_boxed_slice();
    // By depth: what the nodes met so far hold, whose parent has not been met; as read from each
    // place in a character. And the same up to the end of that character.
    let mut met = vec![[(0, 0); WITHINS]; max_depth + 2];
    // By depth, the same: how many bytes they have.
    let mut heights = vec![0u8; max_depth + 2];
    // From the last to the first: what lies below a node is met before it.
    for index in (0..nodes.len()).rev() {
        let next_first = nodes.get(index + 1).map(|next| next.first);
        let node = &mut nodes[index];
        let depth = usize::from(node.depth);
        let below = std::mem::take(&mut met[depth + 1]);
        node.below = below[BETWEEN].0;
        node.height = std::mem::take(&mut heights[depth + 1]);
        heights[depth] = heights[depth].max(node.height.saturating_add(1));
        let ends_token = next_first != Some(node.first);
        let from = &mut met[depth];
        if node.byte < 0x80 {
            numbers[index] = group(node.byte).ilog2() as u8;
            from[BETWEEN].0 |= group(node.byte) | below[BETWEEN].0;
            for (groups, character) in &mut from[BETWEEN + 1..] {
                *groups |= STRAY_BYTES;
                *character |= STRAY_BYTES;
            }
            continue;
        }
        for (within, (groups, character)) in from.iter_mut().enumerate() {
            let found = match step_utf8(within, node.byte) {
                None => (STRAY_BYTES, STRAY_BYTES),
                Some(BETWEEN) => (CHARACTERS | below[BETWEEN].0, CHARACTERS),
                Some(within) if ends_token => {
                    (CUT_CHARACTERS | below[within].0, CUT_CHARACTERS | below[within].1)
                }
                Some(within) => below[within],
            };
            if within == BETWEEN {
                numbers[index] = found.1.ilog2() as u8;
            }
            *groups |= found.0;
            *character |= found.1;
        }
    }
    // By depth: where a character stands that began above, and how many pieces have.
    let mut path = vec![(BETWEEN, 0u8); max_depth + 1];
    let mut pieces = vec![0; nodes.len()].into_boxed_slice();
    for (index, (node, number)) in nodes.iter().zip(&mut numbers).enumerate().skip(1) {
        let depth = usize::from(node.depth);
        let (within, above) = path[depth - 1];
        let next = step_utf8(within, node.byte);
        if within != BETWEEN && node.byte >= 0x80 {
            *number = match next {
                None => STRAY_BYTES.ilog2() as u8,
                Some(BETWEEN) => ENDS_CHARACTER,
                Some(_) => CHARACTERS.ilog2() as u8,
            };
        }
        // A byte that does not go on with a character is a piece of its own.
        pieces[index] = above.wrapping_add(u8::from(within == BETWEEN || next.is_none()));
        path[depth] = (next.unwrap_or(BETWEEN), pieces[index]);
    }
    (numbers, pieces)
}

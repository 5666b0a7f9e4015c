//! The byte trie of a vocabulary: flat arrays in depth-first order.
//!
//! A node is a prefix of some token's bytes. Nodes are numbered depth first, children by ascending
//! byte, so that
//!
//! * the subtree of node `n` is the range `n..end(n)`: a walk skips a subtree by one jump, and
//!   never needs a stack to find the next sibling;
//! * the ids, sorted by their bytes, are in the same order: the tokens at `n` and those below `n`
//!   are each one slice of one array, and need two numbers of which the next node already holds
//!   one.
//!
//! The groups of the bytes are also stored in separate arrays: a walk that stays in its state looks
//! there for the next node of another group, sixteen nodes at a time.
//!
//! Eighteen bytes per node. Built in one pass over the sorted tokens by their common prefixes,
//! without recursion, so depth costs nothing.

use super::nodes::{Node, NodeGroups};
use crate::util::self_loops::{Groups, STRAY_BYTES};

/// The trie over all tokens that have bytes. The root is the empty prefix.
#[derive(Clone, Debug)]
pub(crate) struct Trie {
    /// All nodes, and a sentinel after the last.
    nodes: Box<[Node]>,
    /// The groups of the nodes' bytes.
    groups: NodeGroups,
    /// All ids with bytes, sorted by bytes, then by id.
    ids: Box<[u32]>,
    /// The same as bits: bit `t % 32` of word `t / 32`.
    row: Box<[u32]>,
    /// The child of the root for each byte; 0, the root itself, where there is none.
    root_children: Box<[u32; 256]>,
    max_depth: usize,
}

impl Trie {
    /// The node of the empty prefix.
    pub(crate) const ROOT: u32 = 0;

    /// Upper bound on the length of a token, given by the type of the depths.
    pub(crate) const MAX_TOKEN_LENGTH: usize = u16::MAX as usize;

    /// Builds the trie of the tokens `0..count`, where `bytes_of` returns a token's bytes; tokens
    /// without bytes are left out. The total number of bytes, and so of nodes, must be below 2^32,
    /// and no token may be longer than [`Trie::MAX_TOKEN_LENGTH`]. The time is that of sorting the
    /// tokens.
    pub(crate) fn new<'a>(count: usize, bytes_of: impl Fn(u32) -> &'a [u8]) -> Self {
        let ids = sorted_ids(count, &bytes_of);

        let node = |first, depth, byte| Node { end: 0, first, below: 0, depth, byte, height: 0 };
        let mut nodes = vec![node(0, 0, 0)];
        // The nodes on the path to the last token inserted; their subtrees are still open.
        let mut path = vec![Self::ROOT];
        let mut previous: &[u8] = &[];
        for (i, &id) in ids.iter().enumerate() {
            let token = bytes_of(id);
            let common = previous.iter().zip(token).take_while(|(a, b)| a == b).count();
            for closed in path.drain(common + 1..) {
                nodes[closed as usize].end = nodes.len() as u32;
            }
            for (k, &byte) in token.iter().enumerate().skip(common) {
                path.push(nodes.len() as u32);
                nodes.push(node(i as u32, (k + 1) as u16, byte));
            }
            previous = token;
        }
        let count = nodes.len() as u32;
        for closed in path {
            nodes[closed as usize].end = count;
        }
        let max_depth = nodes.iter().map(|node| node.depth).max().unwrap_or(0).into();
        let groups = NodeGroups::find(&mut nodes, max_depth);
        nodes.push(node(ids.len() as u32, 0, 0));

        let (nodes, ids) = (nodes.into_boxed_slice(), ids.into_boxed_slice());
        let mut row =
            vec![0; ids.iter().max().map_or(0, |&id| id as usize / 32 + 1)].into_boxed_slice();
        for &id in &ids {
            row[id as usize / 32] |= 1 << (id % 32);
        }
        let root_children = Box::new([Self::ROOT; 256]);
        let mut trie = Self { nodes, groups, ids, row, root_children, max_depth };
        let mut root_children = [Self::ROOT; 256];
        for child in trie.children(Self::ROOT) {
            root_children[usize::from(trie.byte(child))] = child;
        }
        *trie.root_children = root_children;
        trie
    }

    /// Returns the number of nodes, including the root.
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Returns the data of `node`.
    #[inline]
    pub(crate) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// Returns the label of the edge into `node`; 0 for the root.
    #[inline]
    pub(crate) fn byte(&self, node: u32) -> u8 {
        self.node(node).byte
    }

    /// Returns the length of the prefix of `node`.
    #[inline]
    pub(crate) fn depth(&self, node: u32) -> u32 {
        self.node(node).depth.into()
    }

    /// Returns the first node after the subtree of `node`: its next sibling, if its parent has one
    /// more child.
    #[inline]
    pub(crate) fn end(&self, node: u32) -> u32 {
        self.node(node).end
    }

    /// Returns the first node from `node` to before `end` whose byte is not in these groups; `end`
    /// if there is none. For nodes below one after whose byte a character begins: past ASCII the
    /// groups are those of characters, as in [`Node::below`].
    #[inline]
    pub(crate) fn next_outside(&self, groups: Groups, node: u32, end: u32) -> u32 {
        self.groups.next_outside(groups, node, end)
    }

    /// Returns the group of the byte of `node`; past ASCII that of the character it begins, as in
    /// [`Node::below`].
    #[inline]
    pub(crate) fn group(&self, node: u32) -> Groups {
        match self.byte(node) {
            0x80..0xc0 => STRAY_BYTES,
            _ => self.groups.get(node),
        }
    }

    /// Returns whether a character begins after the byte of `node`, unless the bytes before the
    /// node show otherwise.
    #[inline]
    pub(crate) fn ends_character(&self, node: u32) -> bool {
        self.groups.ends_character(node) || self.byte(node) < 0x80
    }

    /// Returns the number of tokens at and below `node`.
    #[inline]
    pub(crate) fn count(&self, node: u32) -> u32 {
        self.node(self.end(node)).first - self.node(node).first
    }

    /// Returns the children of `node`, by ascending byte.
    #[inline]
    pub(crate) fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.end(node);
        let mut next = node + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next = self.end(child);
                child
            })
        })
    }

    /// Returns the child of `node` by `byte`. Constant time at the root; elsewhere linear in the
    /// number of children.
    #[inline]
    pub(crate) fn child(&self, node: u32, byte: u8) -> Option<u32> {
        if node == Self::ROOT {
            let child = self.root_children[usize::from(byte)];
            return (child != Self::ROOT).then_some(child);
        }
        self.children(node)
            .find(|&child| self.byte(child) >= byte)
            .filter(|&child| self.byte(child) == byte)
    }

    /// Returns all ids with bytes, sorted by bytes: those at and below a node are adjacent.
    #[inline]
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Returns all ids with bytes, as bits; as long as the greatest of them requires.
    pub(crate) fn row(&self) -> &[u32] {
        &self.row
    }

    /// Returns the ids whose bytes are the prefix of `node`, ascending; several if the vocabulary
    /// has duplicates.
    #[inline]
    pub(crate) fn tokens(&self, node: u32) -> &[u32] {
        &self.ids[self.node(node).first as usize..self.node(node + 1).first as usize]
    }

    /// Returns the ids whose bytes begin with the prefix of `node`, in the order of their bytes.
    pub(crate) fn subtree_tokens(&self, node: u32) -> &[u32] {
        &self.ids[self.node(node).first as usize..self.node(self.end(node)).first as usize]
    }

    /// Returns the length of the longest token.
    pub(crate) fn max_depth(&self) -> usize {
        self.max_depth
    }

    /// Returns the memory used, in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        let words = self.ids.len() + self.row.len() + 256;
        self.nodes.len() * size_of::<Node>() + self.groups.bytes() + words * 4
    }
}

/// Returns the ids with bytes, sorted by bytes, equal bytes by id.
///
/// Most tokens differ in their first eight bytes. They are sorted by these as numbers, digit by
/// digit from the last, each pass keeping the order of the one before (Knuth, volume 3, 5.2.5); the
/// bytes themselves, which are scattered in memory, are compared only for tokens that agree so far.
fn sorted_ids<'a>(count: usize, bytes_of: &impl Fn(u32) -> &'a [u8]) -> Vec<u32> {
    let mut keyed: Vec<(u64, u32)> = (0..count as u32)
        .filter_map(|id| {
            let bytes = bytes_of(id);
            let mut head = [0; 8];
            let known = bytes.len().min(8);
            head[..known].copy_from_slice(&bytes[..known]);
            (known > 0).then_some((u64::from_be_bytes(head), id))
        })
        .collect();
    let mut sorted = vec![(0, 0); keyed.len()];
    for shift in (0..64).step_by(DIGIT) {
        let digit = |key: u64| (key >> shift) as usize & ((1 << DIGIT) - 1);
        let mut places = [0; 1 << DIGIT];
        for &(key, _) in &keyed {
            places[digit(key)] += 1;
        }
        let mut next = 0;
        for place in &mut places {
            next += std::mem::replace(place, next);
        }
        for &(key, id) in &keyed {
            let place = &mut places[digit(key)];
            sorted[*place] = (key, id);
            *place += 1;
        }
        std::mem::swap(&mut keyed, &mut sorted);
    }
    // A short token has the same key as the same token followed by zero bytes, so the whole tokens
    // are compared.
    for same in keyed.chunk_by_mut(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
        same.sort_unstable_by(|a, b| bytes_of(a.1).cmp(bytes_of(b.1)).then(a.1.cmp(&b.1)));
    }
    keyed.into_iter().map(|(_, id)| id).collect()
}

/// Number of bits of the keys that one sorting pass uses.
const DIGIT: usize = 11;

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::util::self_loops::{
        BETWEEN, CHARACTERS, CUT_CHARACTERS, characters_of, group, step_utf8,
    };

    fn trie(tokens: &[Vec<u8>]) -> Trie {
        Trie::new(tokens.len(), |id| &tokens[id as usize])
    }

    /// Returns the node of every prefix, found by walking `children`.
    fn prefixes(trie: &Trie) -> BTreeMap<Vec<u8>, u32> {
        let mut found = BTreeMap::new();
        let mut open = vec![(Vec::new(), Trie::ROOT)];
        while let Some((prefix, node)) = open.pop() {
            for child in trie.children(node) {
                let mut longer = prefix.clone();
                longer.push(trie.byte(child));
                assert_eq!(trie.child(node, trie.byte(child)), Some(child));
                open.push((longer, child));
            }
            found.insert(prefix, node);
        }
        found
    }

    #[test]
    fn numbering_is_depth_first() {
        let trie = trie(&[
            b"ab".to_vec(),
            b"b".to_vec(),
            b"a".to_vec(),
            vec![],
            b"abc".to_vec(),
            b"a".to_vec(),
        ]);
        // root, a, ab, abc, b
        assert_eq!((0..5).map(|n| trie.byte(n)).collect::<Vec<_>>(), [0, b'a', b'b', b'c', b'b']);
        assert_eq!((0..5).map(|n| trie.end(n)).collect::<Vec<_>>(), [5, 4, 4, 4, 5]);
        assert_eq!((0..5).map(|n| trie.depth(n)).collect::<Vec<_>>(), [0, 1, 2, 3, 1]);
        assert_eq!(trie.tokens(1), [2, 5]);
        assert_eq!(trie.subtree_tokens(1), [2, 5, 0, 4]);
        assert_eq!(trie.subtree_tokens(Trie::ROOT), [2, 5, 0, 4, 1]);
        assert_eq!(trie.child(1, b'c'), None);
        assert_eq!(trie.max_depth(), 3);
    }

    #[test]
    fn an_empty_vocabulary_is_a_root_alone() {
        let trie = trie(&[vec![], vec![]]);
        assert_eq!((trie.node_count(), trie.end(0), trie.tokens(0).len()), (1, 1, 0));
        assert_eq!(trie.children(0).count(), 0);
    }

    #[test]
    fn zero_bytes_do_not_confuse_the_order() {
        let tokens = [
            vec![0, 0],
            vec![0],
            b"abcdefgh\0".to_vec(),
            b"abcdefgh".to_vec(),
            b"abcdefg".to_vec(),
        ];
        assert_eq!(trie(&tokens).subtree_tokens(0), [1, 0, 4, 3, 2]);
    }

    #[test]
    fn a_token_of_the_greatest_length_is_a_chain() {
        let trie = trie(&[vec![7; Trie::MAX_TOKEN_LENGTH]]);
        assert_eq!(trie.node_count(), Trie::MAX_TOKEN_LENGTH + 1);
        assert_eq!(trie.tokens(Trie::MAX_TOKEN_LENGTH as u32), [0]);
    }

    #[test]
    fn what_follows_a_stray_byte_is_below_as_well() {
        let trie = trie(&[b"(\xe4a\"".to_vec()]);
        assert_eq!(trie.node(1).below, STRAY_BYTES | group(b'a') | group(b'"'));
    }

    /// Returns the groups of the characters and stray bytes of a text that begins between
    /// characters; whether it ends between two.
    fn characters(mut bytes: &[u8]) -> (Groups, bool) {
        let mut groups = 0;
        while let Some(&byte) = bytes.first() {
            let mut within = BETWEEN;
            let whole = bytes.iter().position(|&byte| match step_utf8(within, byte) {
                Some(next) => {
                    within = next;
                    next == BETWEEN
                }
                None => {
                    within = usize::MAX;
                    true
                }
            });
            let length = match whole {
                None => return (groups | CUT_CHARACTERS & characters_of(byte), false),
                Some(last) if within == BETWEEN => last + 1,
                Some(_) => 1,
            };
            groups |= match byte {
                _ if within != BETWEEN => STRAY_BYTES,
                0..0x80 => group(byte),
                _ => CHARACTERS & characters_of(byte),
            };
            bytes = &bytes[length..];
        }
        (groups, true)
    }

    /// Parts of tokens, some of which cut characters.
    fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let pieces: Vec<&[u8]> = vec![
            b"a",
            b"1",
            b"\"",
            b" ",
            "é".as_bytes(),
            "中".as_bytes(),
            "😀".as_bytes(),
            "\u{2028}".as_bytes(),
            b"\xe2\x80",
            b"\xc3",
            b"\xe4\xb8",
            b"\xb8",
            b"\xf0\x9f",
            b"\xed\xa0",
            b"\xff",
        ];
        let token = prop::collection::vec(prop::sample::select(pieces), 0..5);
        prop::collection::vec(token.prop_map(|pieces| pieces.concat()), 1..60)
    }

    proptest! {
        #[test]
        fn runs_of_groups_end_where_a_byte_of_another_begins(
            tokens in pieces(),
            groups in 0..STRAY_BYTES << 1,
        ) {
            // Cut characters stay in a state only if whole ones of their kind do, stray bytes only
            // if all characters do.
            let groups = groups & (!CUT_CHARACTERS | (groups & CHARACTERS) << 2);
            let all = CHARACTERS | CUT_CHARACTERS;
            let groups = if groups & all == all { groups } else { groups & !STRAY_BYTES };
            let trie = trie(&tokens);
            for (prefix, node) in prefixes(&trie) {
                if !trie.ends_character(node) && node != Trie::ROOT {
                    continue;
                }
                let rests = tokens.iter().filter_map(|token| token.strip_prefix(&prefix[..]));
                let below = rests.fold(0, |all, rest| all | characters(rest).0);
                prop_assert_eq!(trie.node(node).below, below);
                let end = trie.end(node);
                let next = trie.next_outside(groups, node + 1, end);
                for (id, token) in (0..).zip(&tokens).filter(|(_, token)| token.starts_with(&prefix)) {
                    let at = trie.ids().iter().position(|&other| other == id).map(|at| at as u32);
                    // All that is skipped is in these groups.
                    if at.is_some_and(|at| at < trie.node(next).first) {
                        prop_assert_eq!(characters(&token[prefix.len()..]).0 & !groups, 0);
                    }
                }
                // The first byte that is not skipped is not.
                if next < end {
                    let below = trie.subtree_tokens(next).iter().map(|&id| &tokens[id as usize]);
                    let all = below.fold(0, |all, token| all | characters(&token[prefix.len()..]).0);
                    prop_assert_ne!(all & !groups, 0);
                }
            }
        }

        #[test]
        fn nodes_are_the_prefixes_and_slices_the_tokens(
            tokens in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0u8, 1, 97, 255]), 0..12), 0..40)
        ) {
            let trie = trie(&tokens);
            let found = prefixes(&trie);
            let mut expected: BTreeSet<Vec<u8>> =
                tokens.iter().flat_map(|t| (0..=t.len()).map(|n| t[..n].to_vec())).collect();
            expected.insert(vec![]);
            prop_assert_eq!(found.keys().cloned().collect::<BTreeSet<_>>(), expected);
            // Ascending prefixes have ascending nodes: nodes are numbered in the order of bytes.
            prop_assert!(found.values().copied().eq(0..trie.node_count() as u32));
            for (prefix, node) in found {
                let exact: Vec<u32> = (0..tokens.len() as u32)
                    .filter(|&id| !tokens[id as usize].is_empty() && tokens[id as usize] == prefix)
                    .collect();
                prop_assert_eq!(trie.tokens(node), exact);
                let mut below: Vec<u32> = (0..tokens.len() as u32)
                    .filter(|&id| !tokens[id as usize].is_empty() && tokens[id as usize].starts_with(&prefix))
                    .collect();
                below.sort_by_key(|&id| (&tokens[id as usize], id));
                prop_assert_eq!(trie.subtree_tokens(node), below);
                prop_assert_eq!(trie.depth(node) as usize, prefix.len());
            }
        }
    }
}

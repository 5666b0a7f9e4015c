//! The texts of a trie by the number of their pieces.
//!
//! A scan state that counts characters leads from piece to piece through states of one class. The
//! result of a token there depends on the number of its pieces, and on the first one of another
//! group. Both are the same for all such states, so they are computed once for a set of groups and
//! serve every string of bounded length, of every grammar. Pieces and groups are those of
//! [`self_loops`](crate::util::self_loops).

use std::ops::{Range, RangeInclusive};

use super::nodes::Node;
use crate::util::self_loops::{BETWEEN, Groups, step_utf8};

/// The nodes and tokens of a trie by number of pieces, as long as all pieces are in a set of
/// groups.
#[derive(Clone, Debug)]
pub(crate) struct PieceCounts {
    groups: Groups,
    /// The nodes at which a piece begins, with all pieces before it in the groups.
    nodes: ByCount,
    /// Those of these nodes whose piece is not in the groups.
    outside: Box<[Outside]>,
    /// By the first of the nodes after some number of pieces: that number. Ascending.
    firsts: Box<[(u32, u8)]>,
    /// All ids with bytes: first those whose pieces are all in the groups, then the others.
    ids: ByCount,
    /// The former as bits; as long as the greatest of them requires.
    row: Box<[u32]>,
}

/// Numbers sorted by count of pieces, ascending within each count.
#[derive(Clone, Debug)]
struct ByCount {
    numbers: Box<[u32]>,
    /// By count of pieces: the index where greater counts begin.
    ends: Box<[u32]>,
}

/// A node at which a piece outside the groups begins, with all pieces before it in the groups.
/// Ordered by these fields in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Outside {
    /// Number of pieces before it.
    pub(crate) before: u8,
    pub(crate) byte: u8,
    pub(crate) node: u32,
}

/// More pieces than are counted, or not all of them in the groups.
pub(crate) const MANY: u8 = u8::MAX;

/// State of the path to a node.
#[derive(Clone, Copy, Default)]
struct Way {
    /// Number of pieces begun.
    begun: u8,
    /// Position within the last piece.
    within: usize,
    /// Whether one of them is not in the groups.
    is_outside: bool,
}

impl PieceCounts {
    /// Sorts the texts of a trie by their pieces of these groups. `nodes` are all of its nodes and
    /// a sentinel after the last, `ids` those of its tokens, and `group` returns the group of the
    /// piece that begins at a node. No text may have [`MANY`] pieces. Takes one pass.
    pub(super) fn new(
        nodes: &[Node],
        ids: &[u32],
        group: impl Fn(u32) -> Groups,
        groups: Groups,
    ) -> Self {
        // By node: the number of pieces before it.
        let mut before = vec![MANY; nodes.len() - 1];
        // By token, in the order of the trie: the number of its pieces.
        let mut counts = vec![MANY; ids.len()];
        let mut outside = Vec::new();
        let mut path = vec![Way::default()];
        for (node, (own, next)) in (1..).zip(nodes[1..].iter().zip(&nodes[2..])) {
            let Node { byte, depth, .. } = *own;
            path.truncate(depth.into());
            let mut way = path[usize::from(depth) - 1];
            if !way.is_outside && way.within == BETWEEN {
                before[node as usize] = way.begun;
                way.is_outside = group(node) & !groups != 0;
                if way.is_outside {
                    outside.push(Outside { before: way.begun, byte, node });
                }
                way.begun += 1;
            }
            if !way.is_outside {
                // Groups that contain the character contain all texts that begin with its first
                // byte.
                way.within = step_utf8(way.within, byte).unwrap_or(BETWEEN);
                counts[own.first as usize..next.first as usize].fill(way.begun);
            }
            path.push(way);
        }
        outside.sort_unstable();
        let height = nodes[0].height;
        let begins: Vec<_> = (0..).zip(before).filter(|&(_, before)| before != MANY).collect();
        let ids: Vec<_> = ids.iter().copied().zip(counts).collect();
        let nodes = ByCount::new(&begins, height);
        let first = |count: u8| {
            let run = nodes.run(count.into());
            (!run.is_empty()).then(|| (nodes.numbers[run.start as usize], count))
        };
        let mut firsts: Vec<(u32, u8)> = (0..=height).filter_map(first).collect();
        firsts.sort_unstable();
        let ids = ByCount::new(&ids, height);
        Self {
            groups,
            firsts: firsts.into(),
            nodes,
            outside: outside.into(),
            row: row_of(&ids.numbers[..ids.run(height.into()).end as usize]),
            ids,
        }
    }

    /// Returns the groups of the pieces.
    pub(crate) fn groups(&self) -> Groups {
        self.groups
    }

    /// Returns all ids with bytes; those with the same number of pieces are adjacent.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids.numbers
    }

    /// Returns the range among them of the tokens with this many pieces, all in the groups.
    pub(crate) fn tokens(&self, pieces: RangeInclusive<usize>) -> Range<u32> {
        self.ids.run(*pieces.start()).start..self.ids.run(*pieces.end()).end
    }

    /// Returns the tokens with any number of pieces, all in the groups, as bits.
    pub(crate) fn row(&self) -> &[u32] {
        &self.row
    }

    /// Returns the nodes after this many pieces at which a piece outside the groups begins.
    pub(crate) fn outside(&self, before: Range<usize>) -> &[Outside] {
        let first =
            |pieces| self.outside.partition_point(|outside| usize::from(outside.before) < pieces);
        &self.outside[first(before.start)..first(before.end)]
    }

    /// Returns the nodes, ascending, at which a piece begins after this many pieces of the groups.
    pub(crate) fn nodes_behind(&self, pieces: usize) -> &[u32] {
        let Range { start, end } = self.nodes.run(pieces);
        &self.nodes.numbers[start as usize..end as usize]
    }

    /// Returns the number of pieces for which [`PieceCounts::nodes_behind`] returns exactly these
    /// nodes.
    pub(crate) fn behind_which(&self, nodes: &[u32]) -> Option<usize> {
        let first = nodes.first()?;
        let found = self.firsts.binary_search_by_key(first, |&(first, _)| first).ok()?;
        let pieces = self.firsts[found].1.into();
        (self.nodes_behind(pieces) == nodes).then_some(pieces)
    }

    /// Returns the memory used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let by_count = |by: &ByCount| (by.numbers.len() + by.ends.len()) * 4;
        by_count(&self.nodes)
            + size_of_val(&*self.outside)
            + size_of_val(&*self.firsts)
            + by_count(&self.ids)
            + size_of_val(&*self.row)
    }
}

/// Returns the ids as bits.
fn row_of(ids: &[u32]) -> Box<[u32]> {
    let words = ids.iter().max().map_or(0, |&id| id as usize / 32 + 1);
    let mut row = vec![0; words];
    ids.iter().for_each(|&id| row[id as usize / 32] |= 1 << (id % 32));
    row.into()
}

impl ByCount {
    /// Sorts these numbers by their counts; `most` is the greatest count apart from [`MANY`].
    fn new(numbers: &[(u32, u8)], most: u8) -> Self {
        let mut ends = vec![0; usize::from(most) + 1].into_boxed_slice();
        for &(_, count) in numbers {
            if let Some(end) = ends.get_mut(usize::from(count)) {
                *end += 1;
            }
        }
        // By count: the index for the next number.
        let mut places = [0; MANY as usize + 1];
        let mut next = 0;
        for (end, place) in ends.iter_mut().zip(&mut places) {
            *place = next;
            next += *end;
            *end = next;
        }
        places[usize::from(MANY)] = next;
        let mut sorted = vec![0; numbers.len()].into_boxed_slice();
        for &(number, count) in numbers {
            let place = &mut places[usize::from(count)];
            sorted[*place as usize] = number;
            *place += 1;
        }
        Self { numbers: sorted, ends }
    }

    /// Returns the range of the numbers with this count.
    fn run(&self, pieces: usize) -> Range<u32> {
        let end = |count: usize| match count {
            0 => 0,
            _ => self.ends[count.min(self.ends.len()) - 1],
        };
        end(pieces)..end(pieces + 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::util::self_loops::{CHARACTERS, CUT_CHARACTERS, STRAY_BYTES, characters_of, group};
    use crate::vocab::trie::Trie;

    /// Returns the start positions of the pieces of a text, and their groups.
    fn pieces(text: &[u8]) -> Vec<(usize, Groups)> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let mut within = BETWEEN;
            let last = text[at..].iter().position(|&byte| {
                let next = step_utf8(within, byte);
                within = next.unwrap_or(usize::MAX);
                next.is_none_or(|next| next == BETWEEN)
            });
            let (length, groups) = match last {
                None => (text.len() - at, CUT_CHARACTERS & characters_of(text[at])),
                Some(_) if within == usize::MAX => (1, STRAY_BYTES),
                Some(0) => (1, group(text[at])),
                Some(last) => (last + 1, CHARACTERS & characters_of(text[at])),
            };
            found.push((at, groups));
            at += length;
        }
        found
    }

    /// Returns the node of a text.
    fn node(trie: &Trie, text: &[u8]) -> u32 {
        let child = |node, &byte: &u8| trie.child(node, byte).expect("the beginning of a token");
        text.iter().fold(Trie::ROOT, child)
    }

    fn tokens() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let pieces: [&[u8]; 9] = [
            b"a",
            b"bc",
            b"\"",
            b" ",
            "é".as_bytes(),
            "中".as_bytes(),
            b"\xc3",
            b"\xe4\xb8",
            b"\xff",
        ];
        let token = prop::collection::vec(prop::sample::select(pieces.to_vec()), 1..6);
        prop::collection::vec(token.prop_map(|pieces| pieces.concat()), 1..40)
    }

    proptest! {
        #[test]
        fn a_token_is_counted_or_below_a_node_outside(
            tokens in tokens(),
            groups in 0..STRAY_BYTES,
        ) {
            // Groups contain cut characters only along with whole ones of the same kind.
            let groups = groups & (!CUT_CHARACTERS | (groups & CHARACTERS) << 2);
            let trie = Trie::new(tokens.len(), |id| &tokens[id as usize]);
            let counts = trie.piece_counts(groups).expect("short tokens");
            let run = |pieces: usize| {
                let run = counts.tokens(pieces..=pieces);
                &counts.ids()[run.start as usize..run.end as usize]
            };
            for (id, token) in (0..).zip(&tokens) {
                let pieces = pieces(token);
                let are_counted = |count: usize| pieces[..count].iter().all(|piece| piece.1 & !groups == 0);
                let numbers: Vec<usize> = (0..=8 * 6).filter(|&count| run(count).contains(&id)).collect();
                let outside: Vec<_> = counts
                    .outside(0..usize::from(MANY))
                    .iter()
                    .filter(|outside| (1..=token.len()).any(|end| node(&trie, &token[..end]) == outside.node))
                    .collect();
                let before = match (&*numbers, &*outside) {
                    (&[count], []) => {
                        prop_assert_eq!(count, pieces.len());
                        prop_assert!(are_counted(count));
                        count
                    }
                    ([], &[&Outside { before, byte, node: at }]) => {
                        let before = usize::from(before);
                        let begin = pieces[before].0;
                        prop_assert!(are_counted(before));
                        prop_assert_eq!(at, node(&trie, &token[..=begin]));
                        prop_assert_eq!(byte, token[begin]);
                        before + 1
                    }
                    found => return Err(TestCaseError::fail(format!("{token:?}: {found:?}"))),
                };
                for (count, &(begin, _)) in pieces.iter().enumerate() {
                    let begins = counts.nodes_behind(count).contains(&node(&trie, &token[..=begin]));
                    prop_assert_eq!(begins, count < before);
                }
            }
            for count in 0..8 * 6 {
                let nodes = counts.nodes_behind(count);
                prop_assert!(nodes.is_sorted());
                prop_assert!(nodes.is_empty() || counts.behind_which(nodes) == Some(count));
                prop_assert_eq!(counts.behind_which(&nodes[..nodes.len() / 2]), None);
            }
        }
    }
}

//! The texts of a trie by how many pieces they have.
//!
//! A scan state that counts characters leads from piece to piece through states of one class. What
//! a token comes to there depends on how many pieces it has, and on the first one that is of
//! another group. Both are the same for all such states, so they are found once for a set of groups
//! and serve every string of bounded length, of every grammar. Pieces and groups are those of
//! [`self_loops`](crate::util::self_loops).

use std::ops::{Range, RangeInclusive};

use super::nodes::Node;
use crate::util::self_loops::{BETWEEN, Groups, step_utf8};

/// The nodes and tokens of a trie by the number of pieces, as far as all pieces are of some groups.
#[derive(Clone, Debug)]
pub(crate) struct PieceCounts {
    groups: Groups,
    /// The nodes with whose bytes a piece begins, behind none but pieces of the groups.
    nodes: ByCount,
    /// The nodes of these whose pieces are of none of the groups.
    outside: Box<[Outside]>,
    /// By the first of the nodes behind so many pieces: how many. Ascending.
    firsts: Box<[(u32, u8)]>,
    /// All ids with bytes: those all of whose pieces are of the groups, and behind them the others.
    ids: ByCount,
    /// The former, as bits; as long as the greatest of them asks.
    row: Box<[u32]>,
}

/// Numbers by how many pieces there are, ascending where these are as many.
#[derive(Clone, Debug)]
struct ByCount {
    numbers: Box<[u32]>,
    /// By number of pieces: where those with more begin.
    ends: Box<[u32]>,
}

/// A node with whose byte a piece begins that is of none of the groups, behind some that are. In
/// the order of these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Outside {
    /// How many pieces are before it.
    pub(crate) before: u8,
    pub(crate) byte: u8,
    pub(crate) node: u32,
}

/// More pieces than are counted; or not all are of the groups.
pub(crate) const MANY: u8 = u8::MAX;

/// What is known of the way to a node.
#[derive(Clone, Copy, Default)]
struct Way {
    /// How many pieces have begun.
    begun: u8,
    /// Where the last one stands.
    within: usize,
    /// Whether one of them is of none of the groups.
    is_outside: bool,
}

impl PieceCounts {
    /// The texts of a trie by their pieces of these groups. `nodes` are all of its nodes, with one
    /// that closes the last, `ids` those of its tokens, and `group` tells the group of the piece
    /// that begins with a node's byte. No text may have [`MANY`] pieces. Takes one pass.
    pub(super) fn new(
        nodes: &[Node],
        ids: &[u32],
        group: impl Fn(u32) -> Groups,
        groups: Groups,
    ) -> Self {
        // By node: how many pieces are before it.
        let mut before = vec![MANY; nodes.len() - 1];
        // By token, in the order of the trie: how many pieces it has.
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
                // Groups that have the character have all texts that begin with its first byte.
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

    /// Of which groups the pieces are.
    pub(crate) fn groups(&self) -> Groups {
        self.groups
    }

    /// All ids with bytes, so that those with a certain number of pieces are a run.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids.numbers
    }

    /// Where among them those are that have so many pieces, all of the groups.
    pub(crate) fn tokens(&self, pieces: RangeInclusive<usize>) -> Range<u32> {
        self.ids.run(*pieces.start()).start..self.ids.run(*pieces.end()).end
    }

    /// Those that have any number of pieces, all of the groups, as bits.
    pub(crate) fn row(&self) -> &[u32] {
        &self.row
    }

    /// The nodes behind so many pieces with whose bytes one of none of the groups begins.
    pub(crate) fn outside(&self, before: Range<usize>) -> &[Outside] {
        let first =
            |pieces| self.outside.partition_point(|outside| usize::from(outside.before) < pieces);
        &self.outside[first(before.start)..first(before.end)]
    }

    /// The nodes, ascending, with whose bytes a piece begins behind so many of the groups.
    pub(crate) fn nodes_behind(&self, pieces: usize) -> &[u32] {
        let Range { start, end } = self.nodes.run(pieces);
        &self.nodes.numbers[start as usize..end as usize]
    }

    /// Behind how many pieces these nodes are all that [`PieceCounts::nodes_behind`] has.
    pub(crate) fn behind_which(&self, nodes: &[u32]) -> Option<usize> {
        let first = nodes.first()?;
        let found = self.firsts.binary_search_by_key(first, |&(first, _)| first).ok()?;
        let pieces = self.firsts[found].1.into();
        (self.nodes_behind(pieces) == nodes).then_some(pieces)
    }

    /// Memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let by_count = |by: &ByCount| (by.numbers.len() + by.ends.len()) * 4;
        by_count(&self.nodes)
            + size_of_val(&*self.outside)
            + size_of_val(&*self.firsts)
            + by_count(&self.ids)
            + size_of_val(&*self.row)
    }
}

/// These ids as bits.
fn row_of(ids: &[u32]) -> Box<[u32]> {
    let words = ids.iter().max().map_or(0, |&id| id as usize / 32 + 1);
    let mut row = vec![0; words];
    ids.iter().for_each(|&id| row[id as usize / 32] |= 1 << (id % 32));
    row.into()
}

impl ByCount {
    /// These numbers by their counts, of which `most` is the greatest but for [`MANY`].
    fn new(numbers: &[(u32, u8)], most: u8) -> Self {
        let mut ends = vec![0; usize::from(most) + 1].into_boxed_slice();
        for &(_, count) in numbers {
            if let Some(end) = ends.get_mut(usize::from(count)) {
                *end += 1;
            }
        }
        // By count: where the next one goes.
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

    /// Where those with so many pieces are.
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

    /// Where the pieces of a text begin, and their groups.
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

    /// The node of a text.
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
            // Cut characters are among the groups only where whole ones of their kind are.
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

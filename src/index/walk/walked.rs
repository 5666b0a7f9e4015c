//! Walks and the sets of tokens that they name; and what of them is in use.

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::classes::{Base, Boundary, End, Origin, Walk};
use super::nodes::NodesId;
use super::tables::WalkTables;
use crate::index::tokens::{StoredTokensId, TokenSetGraph, TokensId};
use crate::util::uses::Aging;
use crate::vocab::rests::{Found, Rests};

/// What has been walked.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) tokens: TokenSetGraph,
    pub(crate) walks: WalkTables,
}

/// What is kept of what has been walked.
#[derive(Debug, Default)]
pub(crate) struct WalkedInUse {
    pub(crate) walked: Walked,
    /// The numbers of the walks that were kept, by those that they had.
    pub(crate) numbers: FxHashMap<u32, u32>,
    /// By the numbers of sets of nodes, those that they have here, as far as they were met: to find
    /// one by its nodes takes longer.
    nodes: Vec<Option<NodesId>>,
}

/// A walk takes as long as looking at so many nodes, beside those that it does look at: one of a
/// single node was measured to take 0.7 µs, one that looks at 800 nodes 150 µs.
const NODES_OF_A_WALK: u64 = 4;

impl Walked {
    /// Heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        self.tokens.bytes() + self.walks.bytes()
    }

    /// Copies of the walks that are in use, as far as they have room for masks of `words` words:
    /// those that save the most time for each byte before others. To copy a walk takes a hundredth
    /// of the time of doing it. Rows that `rests` has are not copied.
    pub(crate) fn in_use(&self, room: usize, words: usize, rests: &Rests) -> WalkedInUse {
        // Read once: others go on counting.
        let saves = |(nodes, from, walk): (NodesId, Origin, &'_ Walk)| {
            let time = u64::from(walk.uses.get()) * (NODES_OF_A_WALK + u64::from(walk.looked));
            let saves = time * 1024 / (self.bytes_of(nodes, walk) as u64);
            (Reverse(saves), nodes, from)
        };
        let mut walks: Vec<_> = (self.walks.walks())
            .filter(|(.., walk)| walk.uses.get() > 0)
            .map(|known| (saves(known), known.2))
            .collect();
        walks.sort_unstable_by_key(|&(order, _)| order);
        let mut kept = WalkedInUse::default();
        let found = rests.rows(words);
        for ((_, nodes, from), walk) in walks {
            if kept.walked.bytes() > room {
                break;
            }
            kept.copy(self, (nodes, from, walk), words, &found);
        }
        kept
    }

    /// What a walk takes with what it is made of, as far as that is stored for it alone.
    fn bytes_of(&self, nodes: NodesId, walk: &Walk) -> usize {
        let sets = walk.ends.iter().map(|end| self.tokens.stored_bytes(end.tokens));
        walk.bytes() + size_of_val(self.walks.nodes(nodes)) + sets.sum::<usize>()
    }
}

impl WalkedInUse {
    fn copy(
        &mut self,
        of: &Walked,
        (nodes, from, walk): (NodesId, Origin, &Walk),
        words: usize,
        found: &[Arc<Found>],
    ) {
        let ends = walk.ends.iter().map(|end| End {
            leading: end.leading.clone(),
            tokens: self.copy_tokens(of, end.tokens, words, found).into(),
            ..*end
        });
        let ends = ends.collect();
        let boundaries = walk.boundaries.iter().map(|boundary| Boundary {
            leading: boundary.leading.clone(),
            nodes: self.copy_nodes(of, boundary.nodes),
            ..*boundary
        });
        let boundaries = boundaries.collect();
        let bases = walk.bases.iter().map(|base| Base {
            nodes: self.copy_nodes(of, base.nodes),
            leading: base.leading.clone(),
            except: base.except.map(|except| self.copy_tokens(of, except.into(), words, found)),
            ..*base
        });
        let bases = bases.collect();
        let nodes = self.copy_nodes(of, nodes);
        let walks = &self.walked.walks;
        let copy = walks.walk(nodes, from, || {
            let copy = Walk::new(walks.next_number(), ends, boundaries, bases);
            Walk { uses: walk.uses.aged(Aging::QUARTER), looked: walk.looked, ..copy }
        });
        self.numbers.insert(walk.number, copy.number);
    }

    fn copy_tokens(
        &mut self,
        of: &Walked,
        tokens: TokensId,
        words: usize,
        found: &[Arc<Found>],
    ) -> StoredTokensId {
        self.walked.tokens.copy(tokens, &of.tokens, words, found)
    }

    /// What was copied.
    pub(crate) fn finish(mut self) -> Walked {
        self.walked.tokens.end_copying();
        self.walked
    }

    /// The number here of a set of nodes there.
    pub(crate) fn copy_nodes(&mut self, of: &Walked, nodes: NodesId) -> NodesId {
        let place = nodes.0 as usize;
        if let Some(&Some(known)) = self.nodes.get(place) {
            return known;
        }
        let own = self.walked.walks.nodes_id(of.walks.nodes(nodes));
        if place >= self.nodes.len() {
            self.nodes.resize(of.walks.node_sets().max(place + 1), None);
        }
        self.nodes[place] = Some(own);
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::id::ScanStateId;

    #[test]
    fn walks_that_save_most_stay_and_are_known_by_their_new_numbers() {
        let walked = Walked::default();
        let walk = |looked: u32| {
            let nodes = walked.walks.nodes_id(&[looked, looked + 1]);
            let done = walked.walks.walk(nodes, Origin::base(ScanStateId(0)), || {
                let number = walked.walks.next_number();
                let none = Walk::new(number, Box::default(), Box::default(), Box::default());
                Walk { looked, ..none }
            });
            done.uses.note();
            done.number
        };
        let numbers: Vec<(u32, u32)> = (1..=40).map(|looked| (looked, walk(looked))).collect();
        let kept = walked.in_use(walked.bytes() / 2, 1, &Rests::default());
        let stay = kept.numbers.len() as u32;
        assert!(0 < stay && stay < 40);
        for (looked, number) in numbers {
            let copy = kept.walked.walks.walks().find(|(.., walk)| walk.looked == looked);
            assert_eq!(copy.is_some(), looked > 40 - stay);
            assert_eq!(kept.numbers.get(&number), copy.map(|(.., walk)| &walk.number));
        }
    }
}

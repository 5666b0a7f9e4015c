//! Walks and the sets of tokens that they name; and what of them is in use.

use std::cmp::Reverse;

use super::classes::{Base, Boundary, End, Origin, Walk};
use super::nodes::NodesId;
use super::tables::WalkTables;
use crate::index::tokens::{StoredTokensId, TokenSetGraph, TokensId};

/// What has been walked.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) tokens: TokenSetGraph,
    pub(crate) walks: WalkTables,
}

impl Walked {
    /// Heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        self.tokens.bytes() + self.walks.bytes()
    }

    /// Copies of the walks that were asked for more than once since they came here, those asked for
    /// most before others, as far as they have room for masks of `words` words. To copy a walk
    /// takes a hundredth of the time of doing it.
    pub(crate) fn in_use<'w>(&'w self, room: usize, words: usize) -> Self {
        // Read once: others go on counting.
        let uses = |(nodes, from, walk): (NodesId, Origin, &'w Walk)| {
            (Reverse(walk.uses.get()), nodes, from, walk)
        };
        let mut walks: Vec<_> = self.walks.walks().map(uses).collect();
        walks.retain(|&(Reverse(uses), ..)| uses > 1);
        walks.sort_unstable_by_key(|&(uses, nodes, from, _)| (uses, nodes, from));
        let used = Self::default();
        for (_, nodes, from, walk) in walks {
            if used.bytes() > room {
                break;
            }
            let nodes = used.copy_nodes(self, nodes);
            used.walks.walk(nodes, from, || used.copy(self, walk, words));
        }
        used
    }

    fn copy(&self, of: &Self, walk: &Walk, words: usize) -> Walk {
        let tokens = |tokens: TokensId| -> StoredTokensId {
            self.tokens.add_set(of.tokens.collect(tokens, words).into_owned())
        };
        let end = |end: &End| End {
            leading: end.leading.clone(),
            tokens: tokens(end.tokens).into(),
            ..*end
        };
        let boundary = |boundary: &Boundary| Boundary {
            leading: boundary.leading.clone(),
            nodes: self.copy_nodes(of, boundary.nodes),
            ..*boundary
        };
        let base = |base: &Base| Base {
            nodes: self.copy_nodes(of, base.nodes),
            leading: base.leading.clone(),
            except: base.except.map(|except| tokens(except.into())),
            ..*base
        };
        let ends = walk.ends.iter().map(end).collect();
        let boundaries = walk.boundaries.iter().map(boundary).collect();
        let bases = walk.bases.iter().map(base).collect();
        let copy = Walk::new(self.walks.next_number(), ends, boundaries, bases);
        Walk { uses: walk.uses.aged(), ..copy }
    }

    fn copy_nodes(&self, of: &Self, nodes: NodesId) -> NodesId {
        self.walks.nodes_id(of.walks.nodes(nodes).to_vec())
    }
}

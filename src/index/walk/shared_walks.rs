//! Base walks shared between grammars.
//!
//! If a walk depends only on the residual automaton of one terminal, as inside strings, it is the
//! same for all grammars with an equal residual: the tokens within are one class, and the nodes
//! after it one boundary. The vocabulary caches a few such walks
//! ([`vocab::shared_walks`](crate::vocab::shared_walks)), for all its users.

use super::classes::{Boundary, End, Walk};
use super::context::Walker;
use super::line_blanks::LeadingBytes;
use super::nodes::NodesId;
use crate::index::tokens::TokenSet;
use crate::scanner::ObligationsId;
use crate::scanner::product_state::Point;
use crate::util::id::TerminalId;
use crate::vocab::shared_walks::{SharedWalk, Within};

impl Walker<'_> {
    /// Returns the label and the residual that determine a walk from `at`, if it can be shared.
    pub(super) fn rest(self, at: &Point) -> Option<(TerminalId, Box<[u64]>)> {
        if self.shortcuts.rests { self.scanner.rest(at) } else { None }
    }

    /// Returns the walk of these nodes from `at`, if another grammar has done it.
    pub(super) fn known_walk(
        self,
        id: NodesId,
        at: &Point,
        (label, rest): &(TerminalId, Box<[u64]>),
    ) -> Option<Walk> {
        let found = self.trie.rests().find(rest, self.tables.nodes(id))?;
        let SharedWalk { within, behind, .. } = &*found;
        let (leading, obligations) = (LeadingBytes::default(), ObligationsId::NONE);
        let within = match within {
            Within::Few(ids) => TokenSet::List(ids.to_vec().into()),
            Within::Row(row) => {
                TokenSet::from_all_but(row, self.trie.ids(), std::iter::empty(), self.words)
            }
        };
        let tokens = self.tokens.add_set(within).into();
        let end = End { state: at.state, obligations, leading: leading.clone(), tokens };
        let boundary = || {
            let tokens = behind.iter().map(|&node| self.trie.count(node)).sum();
            let nodes = self.tables.nodes_id(behind);
            Boundary { label: *label, obligations, leading, nodes, tokens }
        };
        let boundaries = (!behind.is_empty()).then(boundary).into_iter().collect();
        Some(Walk::new(self.tables.next_number(), [end].into(), boundaries, [].into()))
    }

    /// Stores a walk for other grammars, if its result is one class and at most one boundary.
    pub(super) fn keep_walk(self, id: NodesId, walk: &Walk, (_, rest): (TerminalId, Box<[u64]>)) {
        let ([end], boundaries @ ([] | [_])) = (&*walk.ends, &*walk.boundaries) else { return };
        let tokens = self.tokens.collect(end.tokens, self.words);
        let within = match &*tokens {
            TokenSet::List(ids) => Within::Few(ids.clone()),
            TokenSet::Words(row) => Within::Row(row.clone()),
        };
        let behind = boundaries.iter().flat_map(|boundary| self.tables.nodes(boundary.nodes));
        self.trie.rests().keep(SharedWalk {
            rest,
            nodes: self.tables.nodes(id).into(),
            within,
            behind: behind.copied().collect(),
        });
    }
}

//! The tokens that may come next, grouped by the configuration after them.
//!
//! Masks do not tell apart tokens that can become the same labels; a budget must. So tokens are
//! walked lexeme by lexeme ([`PointWalk`]): those that end in the same state of the same lexeme are
//! one group, and the number of questions is that of the states, not of the tokens. Where a lexeme
//! ends within tokens, the rest of them is walked from each configuration that begins there; each
//! node is walked once for each of these. The smallest nodes come first, so that readings which
//! differ only below the top of their stacks meet and go on as one.

use std::sync::Arc;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::Matcher;
use crate::index::{Nodes, PointWalk, Ranges};
use crate::scanner::ObligationsId;
use crate::scanner::configuration::Configuration;
use crate::scanner::{Layout, Reads};
use crate::util::id::TerminalId;
use crate::vocab::trie::Trie;

/// The tokens that are looked at.
#[derive(Clone, Copy)]
pub(super) enum Tokens<'t> {
    /// All tokens of the vocabulary.
    All,
    /// Those of this trie.
    Of(&'t Trie),
}

/// A walk that is still to be done.
struct Entry {
    from: Configuration,
    /// Whether the nodes' bytes begin the lexeme; else they may also end it.
    begins: bool,
    nodes: Nodes,
}

/// Upper bound on the walks of one mask.
const MOST_WALKS: usize = 1 << 14;

/// Configurations in which a lexeme begins, each with the nodes that were walked from it.
#[derive(Default)]
struct Begun(Vec<Beginning>);

struct Beginning {
    at: Configuration,
    /// The nodes that came first.
    first: Nodes,
    /// All nodes, if others came later.
    all: HashSet<u32, FxBuildHasher>,
}

impl Begun {
    /// Returns those of these nodes that were not walked from this configuration.
    fn new_nodes(&mut self, from: &Configuration, nodes: &Nodes) -> Nodes {
        let Some(known) = self.0.iter_mut().find(|known| known.at.same(from)) else {
            let (at, first, all) = (from.clone(), nodes.clone(), HashSet::default());
            self.0.push(Beginning { at, first, all });
            return nodes.clone();
        };
        if known.all.is_empty() {
            known.all.extend(known.first.iter());
        }
        nodes.iter().copied().filter(|&node| known.all.insert(node)).collect()
    }
}

impl Matcher {
    /// Passes the tokens that the scanner can read in this configuration to `each`, with the
    /// configuration after them and whether the lexeme in progress there began in them; not all of
    /// these can be completed. Several groups may have the same configuration. Stops when `each`
    /// returns true. Returns false if there are too many readings to pass all tokens.
    pub(super) fn next_tokens(
        &self,
        tokens: Tokens<'_>,
        from: &Configuration,
        mut each: impl FnMut(Configuration, bool, &Ranges) -> bool,
    ) -> bool {
        let scanner = self.index.scanner();
        let trie = match tokens {
            Tokens::All => self.index.spelled().spelled.trie(),
            Tokens::Of(trie) => trie,
        };
        let mut begun = Begun::default();
        let children: Nodes = trie.children(Trie::ROOT).collect();
        let mut agenda = vec![Entry { from: from.clone(), begins: false, nodes: children }];
        let mut walks = 0;
        while let Some(Entry { from, begins, nodes }) = agenda.pop() {
            walks += 1;
            if walks > MOST_WALKS {
                return false;
            }
            let walk = match tokens {
                Tokens::All => self.index.point_walk(&from, begins, &nodes),
                Tokens::Of(trie) => Arc::new(PointWalk::new(scanner, trie, &from, begins, &nodes)),
            };
            // A kept walk is of another configuration at the same point.
            let layout = |laid: usize| match from.layout.is_counting() {
                true => walk.layouts[laid].clone(),
                false => from.layout.clone(),
            };
            for &(point, laid, ref tokens) in &walk.ends {
                let point = scanner.at_point(point);
                let (state, obligations) = (point.state, point.obligations);
                let (layout, from) = (layout(laid), from.clone());
                let after = Configuration { state, obligations, layout, ..from };
                if each(after, begins, tokens) {
                    return true;
                }
            }
            for &(ended, laid, ref nodes) in &walk.ended {
                for &(label, left) in scanner.ended(ended) {
                    for next in self.begin_after(&from, &layout(laid), label, left) {
                        let nodes = begun.new_nodes(&next, nodes);
                        if !nodes.is_empty() {
                            let entry = Entry { from: next, begins: true, nodes };
                            self.add_entry(&mut agenda, entry);
                        }
                    }
                }
            }
        }
        true
    }

    /// Adds a walk, those of the smallest nodes last.
    fn add_entry(&self, agenda: &mut Vec<Entry>, entry: Entry) {
        let table = self.index.scanner().table();
        let is_alike = |known: &&mut Entry| {
            known.begins
                && known.nodes == entry.nodes
                && known.from.differs_by_stack(&entry.from)
                && known.from.stack.same_top(&entry.from.stack, table)
        };
        if let Some(known) = agenda.iter_mut().find(is_alike) {
            known.from.stack = known.from.stack.union(&entry.from.stack, table, &mut 0);
            return;
        }
        let first = |entry: &Entry| entry.nodes.first().copied();
        let place = agenda.partition_point(|known| first(known) >= first(&entry));
        agenda.insert(place, entry);
    }

    /// Returns the configurations in which a lexeme begins after one of this label.
    fn begin_after(
        &self,
        from: &Configuration,
        layout: &Layout,
        label: TerminalId,
        left: ObligationsId,
    ) -> Vec<Configuration> {
        let scanner = self.index.scanner();
        let Configuration { stack, expectations, .. } = from;
        let mut next = Vec::new();
        let emit = &mut |after, reads: &mut Reads| {
            scanner.begin_lexeme(after, left, reads, |begun, _| next.push(begun));
        };
        scanner.after_lexeme(stack, layout, *expectations, label, &mut Reads::none(), emit);
        next
    }
}

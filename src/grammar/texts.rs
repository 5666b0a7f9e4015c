//! Grammars whose texts are those of automata: of a regex, or of fixed choices.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};

use crate::grammar::Grammar;
use crate::grammar::ir::{Conflicts, Nonterminal, Production, Symbol, Symbols, Terminal};
use crate::grammar::pattern::{Automaton, Pattern, State};
use crate::util::diagnostic::Place;
use crate::util::id::{NonterminalId, ProductionId, TerminalId};

/// Maximum number of states of one automaton of choices.
const MAX_STATES: usize = 100_000;

impl Grammar {
    /// Creates the grammar of the texts of `automata`, none of which accepts the empty text, and of
    /// the empty text if `with_empty`. Messages call the texts `description`.
    ///
    /// Nothing follows these texts, so the longest match is always the whole.
    pub(crate) fn of_texts(
        automata: Vec<Automaton>,
        with_empty: bool,
        description: &str,
        place: Option<&Place>,
    ) -> Self {
        let name = |number| if number == 0 { "TEXT".to_owned() } else { format!("TEXT_{number}") };
        let terminal = |(rank, automaton)| {
            let pattern = Some(Pattern::Automaton(automaton));
            let plain = Terminal::plain(name(rank), pattern, rank).described(description);
            Terminal { place: place.cloned(), ..plain }
        };
        let terminals: Vec<Terminal> = (0..).zip(automata).map(terminal).collect();
        let texts =
            (0..terminals.len()).map(|number| smallvec![Symbol::Terminal(TerminalId::new(number))]);
        let productions: Vec<Production> = texts
            .chain(with_empty.then(Symbols::new))
            .map(|rhs| Production {
                lhs: NonterminalId::new(0),
                rhs,
                precedence: None,
                priority: 0,
                place: place.cloned(),
            })
            .collect();
        let start = Nonterminal {
            name: "start".into(),
            productions: (0..productions.len()).map(ProductionId::new).collect(),
            marks: None,
            place: place.cloned(),
        };
        Grammar::plain(terminals, vec![start], productions, Conflicts::Silent)
    }
}

/// Returns minimal automata of `texts`, which are ascending, distinct and not empty: as many as
/// needed to keep each within the limit. Built incrementally (Daciuk, Mihov, Watson and Watson,
/// *Incremental Construction of Minimal Acyclic Finite-State Automata*, Computational Linguistics
/// 26:1, 2000). Linear in the bytes of all texts.
pub(crate) fn of_choices<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Vec<Automaton> {
    let mut automata = Vec::new();
    let mut words = Words::default();
    for text in texts {
        if words.kept.len() + text.len() > MAX_STATES && !words.before.is_empty() {
            automata.push(std::mem::take(&mut words).finish());
        }
        words.add(text);
    }
    if !words.before.is_empty() {
        automata.push(words.finish());
    }
    automata
}

/// A state while words are added; its moves ascend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    moves: SmallVec<[(u8, u32); 2]>,
    accepts: bool,
}

impl Node {
    fn hash(&self) -> u64 {
        let mut hasher = FxBuildHasher.build_hasher();
        hasher.write_u64((self.moves.len() as u64) << 1 | u64::from(self.accepts));
        for &(byte, to) in &self.moves {
            hasher.write_u64(u64::from(byte) << 32 | u64::from(to));
        }
        hasher.finish()
    }
}

/// Builder of the minimal automaton of some texts.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// States that later words do not change.
    kept: Vec<Node>,
    ids: HashTable<u32>,
    /// States along the last word, beginning with the start; the move to the next one is not in
    /// them yet.
    path: Vec<Node>,
    before: Vec<u8>,
}

impl Words {
    /// Adds a text, which is not empty and greater than all earlier ones in byte order.
    pub(crate) fn add(&mut self, word: &[u8]) {
        let shared = self.before.iter().zip(word).take_while(|(one, other)| one == other).count();
        self.close(shared);
        self.path.resize_with(word.len() + 1, Node::default);
        self.path[word.len()].accepts = true;
        self.before.clear();
        self.before.extend_from_slice(word);
    }

    /// Fixes the states of the last word that are deeper than `depth`.
    fn close(&mut self, depth: usize) {
        while self.path.len() > depth + 1 {
            let Some(node) = self.path.pop() else { return };
            let kept = &mut self.kept;
            let hash = node.hash();
            let id = match self.ids.find(hash, |&id| kept[id as usize] == node) {
                Some(&known) => known,
                None => {
                    let id = kept.len() as u32;
                    kept.push(node);
                    self.ids.insert_unique(hash, id, |&id| kept[id as usize].hash());
                    id
                }
            };
            let above = self.path.len() - 1;
            self.path[above].moves.push((self.before[above], id));
        }
    }

    /// Returns the automaton. No move leads back to its start.
    pub(crate) fn finish(mut self) -> Automaton {
        self.close(0);
        let start = self.path.pop().unwrap_or_default();
        // State 0 is the start.
        let state = |node: Node| State {
            moves: node.moves.into_iter().map(|(byte, to)| (byte, byte, to + 1)).collect(),
            accepts: node.accepts,
        };
        let states: Vec<State> = std::iter::once(start).chain(self.kept).map(state).collect();
        // The start accepts longer suffixes than all other states, and no two of those are equal.
        if self.before.is_empty() { Automaton::new(states) } else { Automaton::minimal(states) }
    }
}

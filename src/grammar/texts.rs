//! Grammars whose texts are those of automata: a regex, or fixed choices.

use smallvec::smallvec;

use crate::grammar::Grammar;
use crate::grammar::ir::{Conflicts, Nonterminal, Production, Symbol, Symbols, Terminal};
use crate::grammar::pattern::{Automaton, Pattern, State};
use crate::util::diagnostic::Place;
use crate::util::id::{NonterminalId, ProductionId, TerminalId};

/// States of one automaton of choices.
const MAX_STATES: usize = 100_000;

impl Grammar {
    /// The grammar of the texts that one of `automata` has, none of which has the empty text; and
    /// of that, if `with_empty`.
    ///
    /// Nothing follows these texts, so the longest match is always the whole.
    pub(crate) fn of_texts(
        automata: Vec<Automaton>,
        with_empty: bool,
        place: Option<&Place>,
    ) -> Self {
        let name = |number| if number == 0 { "TEXT".to_owned() } else { format!("TEXT_{number}") };
        let terminal = |(rank, automaton)| {
            let pattern = Some(Pattern::Automaton(automaton));
            Terminal { place: place.cloned(), ..Terminal::plain(name(rank), pattern, rank) }
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

/// The smallest automata of `texts`, which are ascending, different and not empty: as many as it
/// takes for none to be too large. Built incrementally (Daciuk, Mihov, Watson and Watson,
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

/// A state while words are added: its moves ascend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Node {
    moves: Vec<(u8, u32)>,
    accepts: bool,
}

/// The smallest automaton of some texts, in the making.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// States that no further word changes.
    kept: Vec<Node>,
    ids: hashbrown::HashMap<Node, u32>,
    /// The states along the last word, from the start on; the move to the next one is not in them
    /// yet.
    path: Vec<Node>,
    before: Vec<u8>,
}

impl Words {
    /// Adds a text, which is not empty and stands behind all that were added, in the order of
    /// bytes.
    pub(crate) fn add(&mut self, word: &[u8]) {
        let shared = self.before.iter().zip(word).take_while(|(one, other)| one == other).count();
        self.close(shared);
        self.path.resize_with(word.len() + 1, Node::default);
        self.path[word.len()].accepts = true;
        self.before = word.to_vec();
    }

    /// Keeps the states of the last word that are deeper than `depth`.
    fn close(&mut self, depth: usize) {
        while self.path.len() > depth + 1 {
            let Some(node) = self.path.pop() else { return };
            let kept = &mut self.kept;
            let id = *self.ids.entry(node).or_insert_with_key(|node| {
                kept.push(node.clone());
                kept.len() as u32 - 1
            });
            let above = self.path.len() - 1;
            self.path[above].moves.push((self.before[above], id));
        }
    }

    /// The automaton. Nothing leads back to its start.
    pub(crate) fn finish(mut self) -> Automaton {
        self.close(0);
        let start = self.path.pop().unwrap_or_default();
        // State 0 is the start.
        let state = |node: Node| State {
            moves: node.moves.into_iter().map(|(byte, to)| (byte, byte, to + 1)).collect(),
            accepts: node.accepts,
        };
        let states: Vec<State> = std::iter::once(start).chain(self.kept).map(state).collect();
        // The start has longer rests than all others, of which no two are equal.
        if self.before.is_empty() { Automaton::new(states) } else { Automaton::minimal(states) }
    }
}

//! The fewest tokens that finish lexemes and stacks, if no token goes past the end of a lexeme.
//!
//! A shortest path over the states of a terminal's automaton whose edges are tokens: the trie of
//! the vocabulary is walked from one state after the other, breadth first. With the fewest tokens
//! of a lexeme as the cost of each terminal, the cheapest completion of a stack
//! ([`MinimalCompletion`]) is the one of fewest tokens.
//!
//! Invariant: from a state of cost `n > 0` some token leads to a state of cost `n - 1`, because the
//! costs of a path are stored together, and a path ends at a state whose cost is stored. If a
//! search takes too long, another path is stored: that of a shortest lexeme, in tokens as long as
//! possible. Its cost is an upper bound.

use std::sync::{Mutex, OnceLock, PoisonError};

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::Index;
use crate::lr::minimal_completion::MinimalCompletion;
use crate::lr::stack::Stack;
use crate::scanner::ScanStates;
use crate::util::append_map::AppendMap;
use crate::util::id::{TerminalId, TokenId};
use crate::vocab::Vocabulary;
use crate::vocab::trie::Trie;

/// The costs found so far.
#[derive(Debug, Default)]
pub(super) struct TokenCosts {
    /// By terminal and state of its automaton.
    lexemes: AppendMap<(TerminalId, u32), u64>,
    /// Held during a search, so that the costs of a path are stored together.
    searching: Mutex<()>,
    /// Computed when a stack is first to be finished.
    completions: OnceLock<MinimalCompletion>,
}

/// Cost of what no tokens spell.
pub(crate) const NEVER: u64 = 1 << 32;

/// Upper bound on the trie nodes visited by one search: some milliseconds.
const NODES_OF_A_SEARCH: usize = 1 << 21;

impl Index {
    /// Returns the fewest tokens that complete the text of `stack`, between two lexemes. `None` if
    /// that takes more than `steps`.
    pub(crate) fn tokens_to_complete(&self, stack: &Stack, steps: &mut usize) -> Option<u64> {
        let completions = self.token_costs.completions.get_or_init(|| {
            self.scanner.completions(|terminal| {
                let starts = self.scanner.states().starts_of(terminal).into_iter();
                let costs = starts.map(|start| self.tokens_to_end(terminal, start));
                costs.min().filter(|&cost| cost < NEVER)
            })
        });
        completions.cost(self.scanner.table(), stack, steps)
    }

    /// Returns the fewest tokens that finish a lexeme of `terminal` from this state of its
    /// automaton; 0 if it may end there, [`NEVER`] if no tokens finish it. A look-up, or a search
    /// through the trie.
    pub(crate) fn tokens_to_end(&self, terminal: TerminalId, state: u32) -> u64 {
        let states = self.scanner.states();
        if states.distance_of(terminal, state) == 0 {
            return 0;
        }
        let key = (terminal, state);
        if let Some(&known) = self.token_costs.lexemes.get(&key) {
            return known;
        }
        let _searching = self.token_costs.searching.lock().unwrap_or_else(PoisonError::into_inner);
        let vocabulary = &self.vocabulary.spelled;
        let (trie, known) = (vocabulary.trie(), &self.token_costs.lexemes);
        let left = NODES_OF_A_SEARCH;
        let mut search = Search { states, trie, vocabulary, terminal, known, left };
        let is_far = states.distance_of(terminal, state) as usize > LEVELS * trie.max_depth();
        let fewest = if is_far { None } else { search.fewest(state) };
        let path = fewest.unwrap_or_else(|| search.nearer(state));
        if path.cost < NEVER {
            for (place, state) in path.states.iter().enumerate() {
                let cost = path.cost.saturating_sub(place as u64);
                known.get_or_insert_with((terminal, *state), || cost);
            }
        }
        *known.get_or_insert_with(key, || NEVER)
    }
}

/// Where more of the longest tokens than this are needed, the search is not tried: each level of it
/// has as many states as the one before has tokens.
const LEVELS: usize = 4;

/// A search for the tokens of one lexeme.
struct Search<'i> {
    states: &'i ScanStates,
    trie: &'i Trie,
    vocabulary: &'i Vocabulary,
    terminal: TerminalId,
    known: &'i AppendMap<(TerminalId, u32), u64>,
    /// Number of nodes that may still be visited.
    left: usize,
}

/// The states before each token of a path, and its cost from the first one.
struct Path {
    states: Vec<u32>,
    cost: u64,
}

impl Search<'_> {
    /// Returns a path of the fewest tokens; `None` if that takes too long.
    fn fewest(&mut self, state: u32) -> Option<Path> {
        // The states met, each with the index of the one before it.
        let mut met: Vec<(u32, usize)> = vec![(state, 0)];
        let mut seen: HashSet<u32, FxBuildHasher> = HashSet::default();
        seen.insert(state);
        let path = |met: &[(u32, usize)], mut at: usize, cost| {
            let mut states = vec![met[at].0];
            while at > 0 {
                at = met[at].1;
                states.push(met[at].0);
            }
            states.reverse();
            Path { states, cost }
        };
        let (mut first, mut length) = (0, 0);
        let mut best: Option<(u64, usize)> = None;
        while first < met.len() {
            length += 1;
            if let Some((cost, at)) = best.filter(|&(cost, _)| cost <= length) {
                return Some(path(&met, at, cost));
            }
            let mut level: Vec<usize> = (first..met.len()).collect();
            level.sort_by_key(|&at| self.states.distance_of(self.terminal, met[at].0));
            first = met.len();
            for at in level {
                let mut ends = false;
                let (states, terminal, known) = (self.states, self.terminal, self.known);
                self.tokens(met[at].0, |_, target| {
                    ends = states.distance_of(terminal, target) == 0;
                    match known.get(&(terminal, target)) {
                        Some(&more) if best.is_none_or(|(cost, _)| length + more < cost) => {
                            best = Some((length + more, at));
                        }
                        None if seen.insert(target) => met.push((target, at)),
                        _ => {}
                    }
                    ends
                })?;
                if ends {
                    return Some(path(&met, at, length));
                }
            }
        }
        let (cost, at) = best.unwrap_or((NEVER, 0));
        Some(path(&met, at, cost))
    }

    /// Returns the path of a shortest lexeme in tokens as long as possible. A token that brings as
    /// much nearer as it has bytes is taken again as long as it does.
    fn nearer(&mut self, state: u32) -> Path {
        let (states, terminal, vocabulary) = (self.states, self.terminal, self.vocabulary);
        let distance = |state| states.distance_of(terminal, state);
        let mut path = vec![state];
        let mut last: &[u8] = &[];
        loop {
            let at = path[path.len() - 1];
            let far = distance(at);
            let known = if far == 0 { Some(&0) } else { self.known.get(&(terminal, at)) };
            if let Some(&more) = known {
                path.pop();
                return Path { cost: (path.len() as u64 + more).min(NEVER), states: path };
            }
            let step = |state, &byte: &u8| states.step_of(terminal, state, byte);
            let again = last.iter().try_fold(at, step).filter(|&next| {
                let nearer = far.checked_sub(distance(next));
                !last.is_empty() && nearer.is_some_and(|nearer| nearer as usize >= last.len())
            });
            if let Some(next) = again {
                path.push(next);
                continue;
            }
            let mut nearest = (far, at, Trie::ROOT);
            self.left = NODES_OF_A_SEARCH;
            // Those found until the limit are near enough.
            let _ = self.tokens(at, |node, target| {
                nearest = nearest.min((distance(target), target, node));
                nearest.0 == 0
            });
            let (near, next, node) = nearest;
            if near == far {
                return Path { states: Vec::new(), cost: NEVER };
            }
            let token = self.trie.tokens(node).first().map(|&id| TokenId(id));
            last = token.and_then(|token| vocabulary.bytes(token)).unwrap_or_default();
            path.push(next);
        }
    }

    /// Passes each token that a lexeme in this state can take as a whole to `met`, as a node and
    /// the state after it, until `met` returns true. `None` if too many nodes are visited.
    fn tokens(&mut self, state: u32, mut met: impl FnMut(u32, u32) -> bool) -> Option<()> {
        let (trie, mut path) = (self.trie, vec![state]);
        let (mut index, last) = (Trie::ROOT + 1, trie.end(Trie::ROOT));
        while index < last {
            self.left = self.left.checked_sub(1)?;
            let node = trie.node(index);
            let read = usize::from(node.depth);
            match self.states.step_of(self.terminal, path[read - 1], node.byte) {
                None => index = node.end,
                Some(next) => {
                    path.truncate(read);
                    path.push(next);
                    if !trie.tokens(index).is_empty() && met(index, next) {
                        return Some(());
                    }
                    index += 1;
                }
            }
        }
        Some(())
    }
}

//! A shortest sentence of every nonterminal, as the production to choose.
//!
//! Knuth, "A generalization of Dijkstra's algorithm" (1977): nonterminals are settled in the order of the length
//! of their shortest sentence. The sentences themselves may be exponentially long (`a: b b`, `b: c c`, ...), so
//! only choices and lengths are given; expanding the choices always ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::grammar::Grammar;
use crate::grammar::ir::Symbol;
use crate::util::id::{NonterminalId, ProductionId};

/// For each nonterminal of a grammar, its shortest sentence.
#[derive(Clone, Debug)]
pub(crate) struct Shortest {
    choices: Vec<Option<(ProductionId, u64)>>,
}

impl Shortest {
    /// The production that begins a shortest derivation. `None` only for grammars that were not trimmed.
    pub(crate) fn production(&self, nonterminal: NonterminalId) -> Option<ProductionId> {
        self.choices[nonterminal.index()].map(|(production, _)| production)
    }

    /// The number of terminals in the shortest sentence, `u64::MAX` when there is none or it is longer still.
    pub(crate) fn length(&self, nonterminal: NonterminalId) -> u64 {
        self.choices[nonterminal.index()].map_or(u64::MAX, |(_, length)| length)
    }
}

/// The shortest sentence of every nonterminal, by number of terminals; ties go to the first production. Takes
/// time in the size of the grammar, times its logarithm.
pub(crate) fn shortest_expansions(grammar: &Grammar) -> Shortest {
    let mut choices: Vec<Option<(ProductionId, u64)>> = vec![None; grammar.nonterminals.len()];
    let mut uses: Vec<Vec<usize>> = vec![Vec::new(); grammar.nonterminals.len()];
    let mut missing = vec![0u32; grammar.productions.len()];
    let mut lengths = vec![0u64; grammar.productions.len()];
    let mut heap = BinaryHeap::new();
    for (i, production) in grammar.productions.iter().enumerate() {
        for symbol in &production.rhs {
            match symbol {
                Symbol::Terminal(terminal) => {
                    let declared = grammar.terminals[terminal.index()].pattern.is_none();
                    lengths[i] = if declared { u64::MAX } else { lengths[i].saturating_add(1) };
                }
                Symbol::Nonterminal(nonterminal) => {
                    uses[nonterminal.index()].push(i);
                    missing[i] += 1;
                }
            }
        }
        if missing[i] == 0 && lengths[i] < u64::MAX {
            heap.push(Reverse((lengths[i], i)));
        }
    }
    while let Some(Reverse((length, production))) = heap.pop() {
        let lhs = grammar.productions[production].lhs.index();
        if choices[lhs].is_some() {
            continue;
        }
        choices[lhs] = Some((ProductionId::new(production), length));
        for &used in &uses[lhs] {
            missing[used] -= 1;
            // One below the maximum at most: too long to count is still better than none.
            if lengths[used] < u64::MAX {
                lengths[used] = lengths[used].saturating_add(length).min(u64::MAX - 1);
                if missing[used] == 0 {
                    heap.push(Reverse((lengths[used], used)));
                }
            }
        }
    }
    Shortest { choices }
}

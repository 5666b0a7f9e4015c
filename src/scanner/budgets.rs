//! How many tokens lexemes may take, by terminal; [`budget`](super::budget) says what becomes of
//! them then.

use crate::grammar::ir::{Budget, Grammar};
use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// How many tokens the lexemes of terminals may take.
#[derive(Debug)]
pub(crate) struct Budgets {
    /// By terminal; empty where none has one.
    pub(super) of: Vec<Option<Budget>>,
    /// Terminals that stand for lexemes that were cut off.
    pub(super) cuts: BitSet,
    pub(super) greatest: u32,
}

impl Budgets {
    /// Those of a grammar.
    pub(super) fn new(grammar: &Grammar) -> Self {
        let mut cuts = BitSet::new(grammar.terminals.len());
        let mut greatest = 0;
        let mut of: Vec<Option<Budget>> = Vec::new();
        for (index, terminal) in grammar.terminals.iter().enumerate() {
            if let Some(budget) = &terminal.budget {
                of.resize(grammar.terminals.len(), None);
                of[index] = Some(budget.clone());
                greatest = greatest.max(budget.tokens);
                for cut in &budget.cuts {
                    cuts.insert(cut.index());
                }
            }
        }
        Self { of, cuts, greatest }
    }

    pub(super) fn get(&self, terminal: TerminalId) -> Option<&Budget> {
        self.of.get(terminal.index())?.as_ref()
    }
}

//! Limits on the tokens of lexemes, by terminal; [`budget`](super::budget) describes what happens
//! at a limit.

use crate::grammar::ir::{Budget, Grammar};
use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// Limits on the tokens of lexemes.
#[derive(Debug)]
pub(crate) struct Budgets {
    /// By terminal; empty if none has a limit.
    pub(super) of: Vec<Option<Budget>>,
    /// Terminals of lexemes that were cut off.
    pub(super) cuts: BitSet,
    pub(super) greatest: u32,
}

impl Budgets {
    /// Collects the limits of a grammar.
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

    /// Returns the terminals of lexemes of `terminal` that were cut off.
    pub(super) fn cuts_of(&self, terminal: TerminalId) -> &[TerminalId] {
        self.get(terminal).map_or(&[], |budget| &budget.cuts)
    }
}

//! A human-readable table: for each state its kernel items and actions, in the style of lemon's
//! `.out` files.

use std::fmt;

use super::table::{Action, ParseTable};
use crate::util::id::{CoreId, TerminalId};

/// Stable: equal grammars print the same text.
impl fmt::Display for ParseTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for state in 0..self.state_count() {
            if state > 0 {
                writeln!(f)?;
            }
            self.print_state(f, CoreId::new(state))?;
        }
        Ok(())
    }
}

impl ParseTable {
    fn print_state(&self, f: &mut fmt::Formatter<'_>, state: CoreId) -> fmt::Result {
        writeln!(f, "state {state}")?;
        for &item in self.automaton.kernels.get(state.index()) {
            writeln!(f, "  {}", self.names.item(&self.rules, item))?;
        }
        let row: Vec<(TerminalId, Action)> = self
            .row(state)
            .iter()
            .map(TerminalId::new)
            .flat_map(|terminal| {
                self.actions(state, terminal).iter().map(move |&action| (terminal, action))
            })
            .collect();
        for &(terminal, action) in &row {
            let name = self.names.symbol(terminal.0);
            match action {
                Action::Shift(target) => writeln!(f, "    {name:<20} shift {target}")?,
                Action::Accept => writeln!(f, "    {name:<20} accept")?,
                Action::Reduce(_) => {}
            }
        }
        for &production in self.automaton.complete.get(state.index()) {
            let terminals: Vec<&str> = row
                .iter()
                .filter(|(_, action)| matches!(action, Action::Reduce(p) if p.0 == production))
                .map(|(terminal, _)| self.names.symbol(terminal.0))
                .collect();
            if !terminals.is_empty() {
                let production = self.names.production(&self.rules, production);
                writeln!(f, "    {:<20} reduce {production}", terminals.join(" "))?;
            }
        }
        for edge in self.automaton.by_terminals(state.index()) {
            if !self.row(state).contains(edge.symbol as usize) {
                writeln!(f, "    {:<20} error (nonassoc)", self.names.symbol(edge.symbol))?;
            }
        }
        for edge in self.automaton.by_nonterminals(state.index()) {
            writeln!(f, "    {:<20} goto {}", self.names.symbol(edge.symbol), edge.target)?;
        }
        Ok(())
    }
}

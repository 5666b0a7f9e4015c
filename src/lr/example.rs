//! What a conflict looks like to the grammar's author.

use super::conflict::Conflict;
use super::lr0::Automaton;
use super::names::Names;
use super::rules::Rules;
use crate::grammar::Grammar;
use crate::util::diagnostic::Diagnostic;

/// One error a conflict.
pub(super) fn explain(
    _grammar: &Grammar,
    rules: &Rules,
    _automaton: &Automaton,
    names: &Names,
    conflicts: &[Conflict],
) -> Vec<Diagnostic> {
    let one = |conflict: &Conflict| {
        let items: Vec<String> =
            conflict.reductions.iter().map(|&p| names.item(rules, rules.last(p))).collect();
        let next = names.symbol(conflict.terminals[0] as u32);
        Diagnostic::error("conflict", format!("before {next}: {}", items.join(" or ")))
    };
    conflicts.iter().map(one).collect()
}

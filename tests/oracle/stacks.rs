//! Parse stacks, each for itself: what the parser makes of one before a terminal.
//!
//! A stack is the cores from the bottom up. A generalised parser without any sharing (Lang 1974):
//! every action of every cell is followed, on a copy.

use super::automaton::{Action, Automaton};
use std::collections::HashSet;

/// The cores of a stack, from the bottom up.
pub type Stack = Vec<usize>;

/// The stack before the first terminal.
pub fn bottom() -> Stack {
    vec![0]
}

/// The stacks after `terminal`: all that reductions and then its shift make of `stack`.
pub fn after(automaton: &Automaton, stack: &Stack, terminal: usize) -> Vec<Stack> {
    let reduced = reduced(automaton, stack, terminal);
    let shifted = reduced.iter().flat_map(|stack| {
        automaton.actions(stack[stack.len() - 1], terminal).iter().filter_map(|action| match action
        {
            Action::Shift(core) => Some([stack.as_slice(), &[*core]].concat()),
            _ => None,
        })
    });
    let mut after: Vec<Stack> = shifted.collect();
    after.sort();
    after.dedup();
    after
}

/// Whether the text may end on `stack`.
pub fn is_sentence(automaton: &Automaton, stack: &Stack) -> bool {
    let accepts = |stack: &Stack| {
        automaton.actions(stack[stack.len() - 1], automaton.end()).contains(&Action::Accept)
    };
    reduced(automaton, stack, automaton.end()).iter().any(accepts)
}

/// All that reductions before `terminal` make of `stack`, itself among them.
///
/// A rule that derives itself alone leads back to a stack that was there before, which is dropped.
/// Where precedence or the order of rules has settled a conflict, the parser may also reduce empty
/// rules for ever: then some core comes twice above what was there, all of it goes round, and no
/// shift ever comes.
fn reduced(automaton: &Automaton, stack: &Stack, terminal: usize) -> HashSet<Stack> {
    let highest = stack.len() + automaton.core_count();
    let mut seen = HashSet::from([stack.clone()]);
    let mut todo = vec![stack.clone()];
    while let Some(stack) = todo.pop() {
        for action in automaton.actions(stack[stack.len() - 1], terminal) {
            let Action::Reduce(production) = *action else { continue };
            let (nonterminal, length) = automaton.production(production);
            let mut next = stack[..stack.len() - length].to_vec();
            next.push(automaton.goto(next[next.len() - 1], nonterminal));
            if next.len() > highest {
                assert!(!automaton.has_conflicts(), "infinitely many stacks");
            } else if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    seen
}

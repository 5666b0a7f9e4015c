//! Parse stacks, kept separately: the effect of a terminal on one of them.
//!
//! A stack is the list of its cores from the bottom up. A generalised parser without any sharing
//! (Lang 1974): every action of every cell is followed, on a copy.

use super::automaton::{Action, Automaton};
use std::collections::HashSet;

/// The cores of a stack, from the bottom up.
pub type Stack = Vec<usize>;

/// Returns the stack before the first terminal.
pub fn bottom() -> Stack {
    vec![0]
}

/// Returns the stacks after `terminal`: the results of reductions and then its shift on `stack`.
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

/// Returns all stacks that result from `stack` by reductions before `terminal`, including itself.
///
/// A rule that derives itself alone leads back to an earlier stack, which is dropped. If precedence
/// or the order of rules has settled a conflict, the parser may also reduce empty rules forever:
/// then some core is repeated above the original stack, the reductions form a cycle, and no shift
/// ever follows.
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

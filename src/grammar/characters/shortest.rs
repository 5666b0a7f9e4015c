//! Lazy rules: the texts of a regular language without a proper prefix in it.

use crate::grammar::characters::MAX_INTERVALS;
use crate::grammar::characters::alphabet::Alphabet;
use crate::grammar::characters::automaton::{Automaton, DEAD, START};
use crate::grammar::characters::charset::CharSet;
use crate::grammar::characters::equations::{Equation, right_linear};
use crate::grammar::characters::expr::{ExprId, Exprs};

/// Maximum number of states of an automaton that is written as an expression.
const MAX_STATES: usize = 64;

/// A state, and the characters that lead to it, as ranges.
type Move = (u32, Vec<(u32, u32)>);

/// Returns the texts of `expr`, which is regular, that have no other of its texts as a prefix, or
/// `None` if that would be too large.
pub(super) fn shortest(exprs: &mut Exprs, expr: ExprId) -> Option<ExprId> {
    if exprs.is_nullable(expr) {
        return Some(exprs.empty());
    }
    let alphabet = Alphabet::new(exprs, MAX_INTERVALS)?;
    let automaton = Automaton::new(exprs, &alphabet, expr, &[])?;
    let width = automaton.width();
    let mut classes = vec![Vec::new(); width];
    for (letter, ranges) in alphabet.ranges().into_iter().enumerate() {
        classes[automaton.column(letter) as usize].extend(ranges);
    }
    // The last states are the farthest from the start, and are solved first.
    let mut states = vec![START];
    let mut moves: Vec<Vec<Move>> = Vec::new();
    let mut at = 0;
    while let Some(&state) = states.get(at) {
        let mut next: Vec<Move> = Vec::new();
        for column in (0..width as u32).filter(|_| !automaton.accepts(state)) {
            let to = automaton.next(state, column);
            if to == DEAD {
                continue;
            }
            let ranges = classes[column as usize].clone();
            match next.iter_mut().find(|(known, _)| *known == to) {
                Some((_, all)) => all.extend(ranges),
                None => next.push((to, ranges)),
            }
            if !states.contains(&to) {
                states.push(to);
            }
        }
        moves.push(next);
        at += 1;
        if states.len() > MAX_STATES {
            return None;
        }
    }
    let count = states.len();
    let place = |state: u32| states.iter().position(|&known| known == state);
    let mut system = Vec::with_capacity(count);
    for (state, moves) in states.iter().zip(moves).rev() {
        let mut coefficients = vec![None; count];
        for (to, ranges) in moves {
            let class = exprs.class(CharSet::new(&ranges));
            coefficients[count - 1 - place(to)?] = Some(class);
        }
        let constant = if automaton.accepts(*state) { exprs.empty() } else { exprs.nothing() };
        system.push(Equation { coefficients, constant });
    }
    right_linear(exprs, system)?.pop()
}

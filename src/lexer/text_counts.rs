//! The number of texts of an automaton.

use super::Dfa;
use crate::util::lists::Lists;

/// Returns, by state, the number of texts that lead from it to an end; `u64::MAX` if they are
/// infinitely many or too many to count. Costs the number of moves.
pub(crate) fn text_counts(dfa: &Dfa) -> Vec<u64> {
    let count = dfa.state_count();
    let runs = dfa.classes().runs();
    // By state: its predecessors, each with the number of bytes that lead from there.
    let mut moves: Vec<(u32, (u32, u64))> = Vec::new();
    let mut left = vec![0u32; count];
    for state in (0..count as u32).filter(|&state| dfa.distance(state) < u32::MAX) {
        for &(first, last, class) in &runs {
            let (next, bytes) = (dfa.next_class(state, class), u64::from(last - first) + 1);
            match moves.last_mut() {
                Some((to, (from, known))) if (*to, *from) == (next, state) => *known += bytes,
                _ if dfa.distance(next) == u32::MAX => {}
                _ => {
                    moves.push((next, (state, bytes)));
                    left[state as usize] += 1;
                }
            }
        }
    }
    let before = Lists::from_pairs(count, &moves);
    let mut counts = vec![u64::MAX; count];
    // A state whose successors all have known counts has a known count.
    let mut sums: Vec<u64> =
        (0..count as u32).map(|state| u64::from(dfa.distance(state) == 0)).collect();
    let mut pending: Vec<u32> = (0..count as u32).filter(|&at| left[at as usize] == 0).collect();
    while let Some(state) = pending.pop() {
        counts[state as usize] = sums[state as usize];
        for &(earlier, bytes) in before.get(state as usize) {
            let earlier = earlier as usize;
            let more = counts[state as usize].saturating_mul(bytes);
            sums[earlier] = sums[earlier].saturating_add(more);
            left[earlier] -= 1;
            if left[earlier] == 0 {
                pending.push(earlier as u32);
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::pattern::{Pattern, RegexFlags};
    use crate::lexer::Compiler;
    use crate::util::limits::Limits;
    use crate::util::meter::Meter;

    #[test]
    fn texts_are_counted_by_state() {
        let of = |pattern: &str| {
            let (pattern, flags) = (pattern.to_owned(), RegexFlags::default());
            let meter = Meter::new(&Limits::default());
            let pattern = Pattern::Regex { pattern, flags, place: None };
            text_counts(&Compiler::new(&meter).compile(&pattern).expect("a regex"))[0]
        };
        assert_eq!(of("ab|ac|b"), 3);
        assert_eq!(of("[0-9]{1,3}"), 1110);
        assert_eq!(of("\"[a-z]*\""), u64::MAX);
    }
}

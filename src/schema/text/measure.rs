//! Number of characters of the texts of an automaton.

use crate::lexer::Dfa;
use crate::util::lists::Lists;
use crate::util::self_loops::{BETWEEN, WITHINS, Within, step_utf8};

/// Bounds on the number of characters of some texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    /// By state, whether the texts that lead to it end between two characters.
    pub(super) is_between: Vec<bool>,
    pub(super) shortest: u64,
    /// `None` if the texts have no bound.
    pub(super) longest: Option<u64>,
}

/// A move, and whether it ends a character.
#[derive(Clone, Copy, Default)]
struct Move {
    to: u32,
    ends: bool,
}

impl Lengths {
    /// Returns the lengths of the texts of a non-empty automaton, or `None` if not all texts are
    /// UTF-8. Costs the number of moves.
    pub(super) fn of(texts: &Dfa) -> Option<Self> {
        let count = texts.state_count();
        let runs = texts.classes().runs();
        // By range of bytes, the position within a character after all bytes of the range.
        let leads: Vec<[Option<Within>; WITHINS]> = runs
            .iter()
            .map(|&(first, last, _)| std::array::from_fn(|place| together(place, first, last)))
            .collect();
        let mut places: Vec<Option<Within>> = vec![None; count];
        *places.first_mut()? = Some(BETWEEN);
        let mut met = vec![0u32];
        let mut moves: Vec<(u32, Move)> = Vec::new();
        let mut at = 0;
        while let Some(&state) = met.get(at) {
            at += 1;
            let place = places[state as usize]?;
            let row = texts.row(state);
            let mut before = Dfa::DEAD;
            for (leads, &(_, _, class)) in leads.iter().zip(&runs) {
                let next = row[usize::from(class)];
                if next == Dfa::DEAD {
                    continue;
                }
                let behind = leads[place]?;
                match places[next as usize] {
                    None => {
                        places[next as usize] = Some(behind);
                        met.push(next);
                    }
                    Some(known) if known != behind => return None,
                    Some(_) => {}
                }
                if before != next {
                    moves.push((state, Move { to: next, ends: behind == BETWEEN }));
                }
                before = next;
            }
        }
        let moves = Lists::from_pairs(count, &moves);
        let shortest = shortest(texts, &moves)?;
        let is_between = places.into_iter().map(|place| place == Some(BETWEEN)).collect();
        Some(Self { is_between, shortest, longest: longest(&moves) })
    }

    /// Returns the number of pairs of a state between characters and the number of characters read,
    /// for up to `max` characters, or `None` if there are more than `limit`. Costs the limit times
    /// the moves of a character.
    pub(super) fn places(&self, texts: &Dfa, max: u64, limit: usize) -> Option<usize> {
        let mut count = 0;
        let mut level = vec![texts.start()];
        // By state, the number of characters read when it was last met.
        let mut seen = vec![u64::MAX; texts.state_count()];
        for read in 0..=max {
            count += level.len();
            if level.is_empty() || count > limit {
                break;
            }
            let (mut behind, mut pending) = (Vec::new(), std::mem::take(&mut level));
            while let Some(state) = pending.pop() {
                for &next in &*texts.row(state) {
                    if next != Dfa::DEAD
                        && std::mem::replace(&mut seen[next as usize], read) != read
                    {
                        let ends = self.is_between[next as usize];
                        if ends { behind.push(next) } else { pending.push(next) }
                    }
                }
            }
            level = behind;
        }
        (count <= limit).then_some(count)
    }
}

/// Returns the position within a character after every byte of a range, if all have the same.
fn together(place: Within, first: u8, last: u8) -> Option<Within> {
    let behind = step_utf8(place, first)?;
    (first..=last).all(|byte| step_utf8(place, byte) == Some(behind)).then_some(behind)
}

/// Returns the minimum number of characters of a text.
fn shortest(texts: &Dfa, moves: &Lists<Move>) -> Option<u64> {
    let mut seen = vec![false; moves.len()];
    let mut level = vec![0u32];
    let mut count = 0;
    while !level.is_empty() {
        let mut behind = Vec::new();
        while let Some(state) = level.pop() {
            if texts.is_accept(state) {
                return Some(count);
            }
            if !std::mem::replace(&mut seen[state as usize], true) {
                for &Move { to, ends } in moves.get(state as usize) {
                    if ends { behind.push(to) } else { level.push(to) }
                }
            }
        }
        level = behind;
        count += 1;
    }
    None
}

/// Returns the maximum number of characters of a text, if there is one: the moves have no cycle, as
/// every state leads to an accepted text.
fn longest(moves: &Lists<Move>) -> Option<u64> {
    let mut entries = vec![0u32; moves.len()];
    moves.entries().iter().for_each(|&Move { to, .. }| entries[to as usize] += 1);
    let mut lengths = vec![0u64; moves.len()];
    let mut free: Vec<usize> = (0..moves.len()).filter(|&state| entries[state] == 0).collect();
    let mut at = 0;
    while let Some(&state) = free.get(at) {
        at += 1;
        for &Move { to, ends } in moves.get(state) {
            let to = to as usize;
            lengths[to] = lengths[to].max(lengths[state] + u64::from(ends));
            entries[to] -= 1;
            if entries[to] == 0 {
                free.push(to);
            }
        }
    }
    (free.len() == moves.len()).then(|| lengths.into_iter().max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::Compiler;
    use crate::schema::text::regex;
    use crate::util::limits::Limits;
    use crate::util::meter::Meter;

    fn lengths(pattern: &str) -> Option<(u64, Option<u64>)> {
        let meter = Meter::new(&Limits::default());
        let texts = Compiler::new(&meter).compile(&regex(pattern)).expect("a regex");
        Lengths::of(&texts).map(|lengths| (lengths.shortest, lengths.longest))
    }

    #[test]
    fn texts_are_measured_in_characters() {
        assert_eq!(lengths("a|été"), Some((1, Some(3))));
        assert_eq!(lengths(".{2,5}"), Some((2, Some(5))));
        assert_eq!(lengths("[0-9]{3}(,[0-9]{3})*"), Some((3, None)));
        assert_eq!(lengths("(?:|😀)"), Some((0, Some(1))));
    }
}

//! The parts of a terminal that ends lines, other than the line end: as usually written for Lark's
//! `Indenter`, one lexeme includes blank lines, comments, and the indentation of the next line.

use std::collections::HashSet;

use crate::lexer::dfa::Dfa;

/// Maximum number of pairs of states that are visited.
const MAX_PAIRS: usize = 20_000;

/// Returns the line ends that `newline` matches by themselves, if every text of `newline` consists
/// of these and of texts of `beside`. Returns `None` if it contains anything else, or if the
/// decision would take too long.
pub(crate) fn line_ends(newline: &Dfa, beside: &[&Dfa]) -> Option<Vec<&'static str>> {
    let ends: Vec<&'static str> =
        ["\r\n", "\r", "\n"].into_iter().filter(|end| newline.matches(end.as_bytes())).collect();
    if ends.is_empty() {
        return None;
    }
    let parts = Parts { ends: &ends, beside };
    let mut met: HashSet<(u32, Vec<PartPosition>)> = HashSet::new();
    let mut queue = vec![(newline.start(), parts.begun())];
    while let Some((state, places)) = queue.pop() {
        // A text may end only where its last part ends.
        if newline.is_accept(state) && !places.contains(&PartPosition::End(0, 0)) {
            return None;
        }
        for byte in 0..=255u8 {
            let next = newline.next(state, byte);
            if next == Dfa::DEAD {
                continue;
            }
            let pair = (next, parts.step(&places, byte));
            if met.len() < MAX_PAIRS && !met.contains(&pair) {
                met.insert(pair.clone());
                queue.push(pair);
            }
        }
    }
    (met.len() < MAX_PAIRS).then_some(ends)
}

/// A position within a part of a text: in a line end, by number and bytes read, or in a text of
/// `beside`, by automaton and state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum PartPosition {
    End(usize, usize),
    Beside(usize, u32),
}

struct Parts<'a> {
    ends: &'a [&'static str],
    beside: &'a [&'a Dfa],
}

impl Parts<'_> {
    /// Returns the positions where parts begin. The first of them, in the first line end, says that
    /// a part may begin here.
    fn begun(&self) -> Vec<PartPosition> {
        let ends = (0..self.ends.len()).map(|end| PartPosition::End(end, 0));
        let beside =
            (0..self.beside.len()).map(|dfa| PartPosition::Beside(dfa, self.beside[dfa].start()));
        ends.chain(beside).collect()
    }

    /// Returns the positions after `byte`, ascending.
    fn step(&self, places: &[PartPosition], byte: u8) -> Vec<PartPosition> {
        let mut next = Vec::new();
        let mut ended = false;
        for &place in places {
            match place {
                PartPosition::End(end, read) if self.ends[end].as_bytes()[read] == byte => {
                    if read + 1 == self.ends[end].len() {
                        ended = true;
                    } else {
                        next.push(PartPosition::End(end, read + 1));
                    }
                }
                PartPosition::Beside(dfa, state) => match self.beside[dfa].next(state, byte) {
                    Dfa::DEAD => {}
                    state => {
                        ended |= self.beside[dfa].is_accept(state);
                        next.push(PartPosition::Beside(dfa, state));
                    }
                },
                PartPosition::End(..) => {}
            }
        }
        if ended {
            next.extend(self.begun());
        }
        next.sort_unstable();
        next.dedup();
        next
    }
}

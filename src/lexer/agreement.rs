//! Bounded equivalence of two states of a table: the length up to which no text tells them apart.
//!
//! A pattern that counts words has one state for the first word and another for the tenth, and
//! neither leads to the other. But as long as the last word is far away, both behave the same. The
//! pairs of states reached by the same texts form a graph. A pair that disagrees at once has the
//! distance 0; a breadth-first search backwards from these gives every other pair the length of the
//! shortest text that tells its states apart.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::lexer::dfa::Dfa;
use crate::util::lists::Lists;

/// Maximum number of pairs visited, and of pieces of the texts that lead to them; pairs beyond
/// count as disagreeing. Few tokens are longer.
const MOST_PAIRS: usize = 4096;
const MOST_PIECES: u32 = 24;

/// Number of pieces for states that agree on all texts.
pub(crate) const ALWAYS: u8 = u8::MAX;

/// Two states of a table.
type Pair = (u32, u32);

impl Dfa {
    /// Returns the two states of the table and all pairs that texts lead them to, each with a
    /// number of pieces. After a text of at most that many pieces, the two states are both dead or
    /// both live, and both accept or both do not; where they accept, nothing follows. A piece is a
    /// byte that begins a character, so a text has at least as many as
    /// [`self_loops`](crate::util::self_loops) finds in it.
    ///
    /// Costs the number of pairs, at most some thousand, times the classes.
    pub(crate) fn agreement(&self, one: u32, other: u32) -> Vec<(Pair, u8)> {
        let table = self.table();
        let begins = |class: usize| {
            let continues = |byte: u8| usize::from(self.classes.get(byte)) == class;
            u8::from(!(0x80..=0xbf).any(continues))
        };
        let begins: Vec<u8> = (0..self.classes.count()).map(begins).collect();
        // The pairs, each with the length of a text that leads to it.
        let mut pairs: Vec<(Pair, u32)> = vec![((one, other), 0)];
        let mut ids: HashMap<Pair, u32, FxBuildHasher> = HashMap::default();
        ids.insert((one, other), 0);
        let mut moves: Vec<(u32, (u32, u8))> = Vec::new();
        // By pair, the length of the shortest known text that tells its states apart.
        let mut apart: Vec<u32> = Vec::new();
        while let Some(&((one, other), read)) = pairs.get(apart.len()) {
            let from = apart.len() as u32;
            if one == other {
                apart.push(u32::MAX);
                continue;
            }
            let ends = [table.ends(one), table.ends(other)];
            let mut length = if ends[0] == ends[1] { u32::MAX } else { 0 };
            for (class, &begins) in begins.iter().enumerate() {
                let next = (table.row(one)[class], table.row(other)[class]);
                if next == (Dfa::DEAD, Dfa::DEAD) {
                    continue;
                }
                if ends == [true; 2] {
                    length = 0;
                } else if next.0 == Dfa::DEAD || next.1 == Dfa::DEAD {
                    length = length.min(begins.into());
                } else if next.0 != next.1 {
                    let fresh = pairs.len() as u32;
                    let known = ids.get(&next).copied();
                    let is_near = pairs.len() < MOST_PAIRS && read < MOST_PIECES;
                    match known.or_else(|| is_near.then_some(fresh)) {
                        None => length = length.min(begins.into()),
                        Some(to) => {
                            if to == fresh {
                                ids.insert(next, fresh);
                                pairs.push((next, read + u32::from(begins)));
                            }
                            moves.push((to, (from, begins)));
                        }
                    }
                }
            }
            apart.push(length);
        }
        spread(&mut apart, &Lists::from_pairs(pairs.len(), &moves));
        let agreed = apart.into_iter().map(|length| match length {
            u32::MAX => ALWAYS,
            _ => length.saturating_sub(1).min(u32::from(ALWAYS) - 1) as u8,
        });
        pairs.into_iter().map(|(pair, _)| pair).zip(agreed).collect()
    }
}

/// Propagates lengths backwards along the moves, each of which adds 0 or 1, the shortest first.
fn spread(lengths: &mut [u32], before: &Lists<(u32, u8)>) {
    let mut length = 0;
    let at_once = |length: u32, lengths: &[u32]| -> Vec<u32> {
        (0..lengths.len() as u32).filter(|&at| lengths[at as usize] == length).collect()
    };
    let mut level = at_once(0, lengths);
    level.extend(at_once(1, lengths));
    while !level.is_empty() {
        let mut next = Vec::new();
        while let Some(at) = level.pop() {
            if lengths[at as usize] > length {
                next.push(at);
                continue;
            }
            for &(from, more) in before.get(at as usize) {
                let reached = length + u32::from(more);
                if reached < lengths[from as usize] {
                    lengths[from as usize] = reached;
                    if more == 0 { level.push(from) } else { next.push(from) }
                }
            }
        }
        level = next;
        length += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::pattern::{Pattern, RegexFlags};
    use crate::lexer::Compiler;
    use crate::util::limits::Limits;
    use crate::util::meter::Meter;

    fn compiled(regex: &str) -> Dfa {
        let (pattern, flags) = (regex.to_owned(), RegexFlags::default());
        let pattern = Pattern::Regex { pattern, flags, place: None };
        Compiler::new(&Meter::new(&Limits::default())).compile(&pattern).expect("a regex")
    }

    /// Returns how far the states after two texts agree.
    fn agreed(regex: &str, one: &str, other: &str) -> u8 {
        let dfa = compiled(regex);
        let [one, other] = [one, other]
            .map(|text| text.bytes().fold(dfa.start(), |state, byte| dfa.next(state, byte)));
        dfa.agreement(one, other)[0].1
    }

    #[test]
    fn words_agree_as_long_as_the_last_one_is_far() {
        let words = r#"([a-zé]+ ){0,9}[a-zé]+!"#;
        // Ten words at most: after the first, `a b ... j k` is too long; after the third, texts two
        // words shorter are.
        assert_eq!(agreed(words, "a", "a"), ALWAYS);
        assert_eq!(agreed(words, "a", "a b c"), 14);
        assert_eq!(agreed(words, "a", "a b c d e f g h i"), 2);
        assert_eq!(agreed(words, "a", "a b c d e f g h i j"), 0);
        assert_eq!(agreed(words, "a \u{e9}", "a b c \u{e9}"), 12);
    }

    #[test]
    fn what_goes_on_behind_a_match_disagrees() {
        assert_eq!(agreed("a*", "", "a"), ALWAYS);
        assert_eq!(agreed("a|bbb*", "a", "bb"), 0);
        assert_eq!(agreed("xa{3}b*|ya{3}c*", "x", "y"), 2);
    }
}

//! What an automaton accepts from a state on, written down: the same for automata that accept the
//! same.
//!
//! Most grammars have strings, and what may follow inside of one is the same in nearly all. From
//! there on their automata are one: what is left of a minimal automaton behind a state is the
//! minimal automaton of the texts that are left, and there is but one.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::dfa::Dfa;

/// Rests of more numbers are not written down: that takes as long as some walks do, and a
/// vocabulary would keep more than 32 KB of each.
const MOST: usize = 1 << 12;

/// The bytes that lead to one state, a bit each.
type Bytes = [u64; 4];

impl Dfa {
    /// What is accepted from `state` on, as numbers: equal exactly where that is. `None` where an
    /// accepted text leads on to one that is not, or not the table alone decides, and where there
    /// is much to write. Costs its states times the classes.
    pub(crate) fn rest(&self, state: u32) -> Option<Box<[u64]>> {
        if self.count.is_some() || self.trailing.is_some() || self.leading || state == Self::DEAD {
            return None;
        }
        let mut bytes_of = vec![Bytes::default(); self.classes.count()];
        for byte in 0..=u8::MAX {
            bytes_of[usize::from(self.classes.get(byte))][usize::from(byte / 64)] |=
                1 << (byte % 64);
        }
        // Numbered as they are come to, and what a state does in the order of the smallest bytes.
        let mut states = vec![state];
        let mut numbers: HashMap<u32, usize, FxBuildHasher> = HashMap::from_iter([(state, 0)]);
        let mut written = Vec::new();
        let mut next = 0;
        while let Some(&state) = states.get(next) {
            next += 1;
            let accepts = self.is_accept(state);
            let mut moves: Vec<(usize, Bytes)> = Vec::new();
            for (&target, bytes) in self.row(state).iter().zip(&bytes_of) {
                if target == Self::DEAD {
                    continue;
                }
                if accepts && !self.is_accept(target) {
                    return None;
                }
                let number = *numbers.entry(target).or_insert_with(|| {
                    states.push(target);
                    states.len() - 1
                });
                // Neighbouring classes mostly lead to one state.
                match moves.iter_mut().rfind(|(known, _)| *known == number) {
                    Some((_, all)) => all.iter_mut().zip(bytes).for_each(|(all, own)| *all |= own),
                    None => moves.push((number, *bytes)),
                }
            }
            written.push((moves.len() as u64) << 1 | u64::from(accepts));
            for (number, bytes) in moves {
                written.push(number as u64);
                written.extend(bytes);
            }
            if written.len() > MOST {
                return None;
            }
        }
        Some(written.into())
    }
}

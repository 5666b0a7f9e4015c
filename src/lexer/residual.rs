//! Canonical residual languages: the texts that an automaton accepts from a state on, with the same
//! representation for automata that accept the same.
//!
//! Most grammars have strings, and the continuations from inside a string are the same in nearly
//! all of them. From there on their automata are identical: the part of a minimal automaton
//! reachable from a state is the minimal automaton of the residual language, which is unique.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::dfa::Dfa;

/// Maximum length of a representation: longer ones take as long as some walks do, and a vocabulary
/// would keep more than 32 KB of each.
const MOST: usize = 1 << 12;

/// The bytes that lead to one state, a bit each.
type Bytes = [u64; 4];

impl Dfa {
    /// Returns the residual language of `state` as numbers, equal exactly if the languages are.
    /// Returns `None` if an accepted text leads on to one that is not accepted, if the table alone
    /// does not decide, or if the representation is too long. Costs the number of states times the
    /// classes.
    pub(crate) fn rest(&self, state: u32) -> Option<Box<[u64]>> {
        if self.count.is_some() || self.trailing.is_some() || self.leading || state == Self::DEAD {
            return None;
        }
        let mut bytes_of = vec![Bytes::default(); self.classes.count()];
        for byte in 0..=u8::MAX {
            bytes_of[usize::from(self.classes.get(byte))][usize::from(byte / 64)] |=
                1 << (byte % 64);
        }
        // States are numbered in the order of discovery, and the moves of a state are in the order
        // of the smallest bytes.
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
                // Adjacent classes mostly lead to one state.
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

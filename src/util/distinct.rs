//! Distinct keys in the order of first insertion.

use std::hash::Hash;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

/// Number of keys up to which they are searched linearly; more are hashed.
const FEW: usize = 12;

/// A set that numbers its keys. It nearly always has few, which need no allocation.
#[derive(Debug)]
pub(crate) struct Distinct<K> {
    keys: SmallVec<[K; 4]>,
    /// Number of each key, once there are many.
    numbers: HashMap<K, usize, FxBuildHasher>,
}

impl<K> Default for Distinct<K> {
    fn default() -> Self {
        Self { keys: SmallVec::new(), numbers: HashMap::default() }
    }
}

impl<K: Copy + Eq + Hash> Distinct<K> {
    /// Returns the number of a key if it has one; otherwise assigns the next number and returns
    /// `None`.
    pub(crate) fn insert(&mut self, key: K) -> Option<usize> {
        let next = self.keys.len();
        let known = match next <= FEW {
            true => self.keys.iter().position(|known| *known == key),
            false => {
                if self.numbers.is_empty() {
                    self.numbers.extend(self.keys.iter().copied().zip(0..));
                }
                let number = *self.numbers.entry(key).or_insert(next);
                (number < next).then_some(number)
            }
        };
        if known.is_none() {
            self.keys.push(key);
        }
        known
    }

    /// Removes all keys.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.numbers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_numbered_by_their_first_arrival_whether_few_or_many() {
        let mut distinct = Distinct::default();
        for round in 0..3 {
            for key in 0..100 {
                let expected = (round > 0).then_some(key);
                assert_eq!(distinct.insert(7 * key), expected, "key {key} in round {round}");
            }
        }
    }
}

//! Sets of small ids, as words of 64 bits.

use smallvec::{SmallVec, smallvec};

/// A set of ids below a bound that is fixed when the set is made.
///
/// Equality and hashing compare the words, so compared sets must have the same bound.
#[derive(Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct BitSet {
    /// Inline up to 256 ids: sets of terminals are created by the thousand and need no heap.
    words: SmallVec<[u64; 4]>,
}

impl Clone for BitSet {
    /// Copies the words all at once; the list's own `clone` copies one by one.
    #[inline]
    fn clone(&self) -> Self {
        Self { words: SmallVec::from_slice(&self.words) }
    }
}

impl BitSet {
    /// Creates the empty set of ids below `bound`.
    pub(crate) fn new(bound: usize) -> Self {
        Self { words: smallvec![0; bound.div_ceil(64)] }
    }

    /// Returns the words, lowest ids first.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Replaces the ids from `64 * word` on by `bits`; they must be below the bound.
    pub(crate) fn set_word(&mut self, word: usize, bits: u64) {
        self.words[word] = bits;
    }

    /// Adds `id`; returns `true` if it is new. `id` must be below the bound.
    pub(crate) fn insert(&mut self, id: usize) -> bool {
        let (word, bit) = (id / 64, 1u64 << (id % 64));
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        fresh
    }

    /// Removes `id`.
    pub(crate) fn remove(&mut self, id: usize) {
        if let Some(word) = self.words.get_mut(id / 64) {
            *word &= !(1 << (id % 64));
        }
    }

    /// Returns whether `id` is in the set; `false` for ids past the bound.
    #[inline]
    pub(crate) fn contains(&self, id: usize) -> bool {
        self.words.get(id / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    /// Adds all of `other`; returns `true` if that changed anything. Both must have the same bound.
    pub(crate) fn union_with(&mut self, other: &BitSet) -> bool {
        let mut changed = false;
        for (a, &b) in self.words.iter_mut().zip(&other.words) {
            changed |= b & !*a != 0;
            *a |= b;
        }
        changed
    }

    /// Adds the intersection of both sets. All must have the same bound.
    pub(crate) fn union_with_both(&mut self, one: &BitSet, other: &BitSet) {
        for ((word, &a), &b) in self.words.iter_mut().zip(&one.words).zip(&other.words) {
            *word |= a & b;
        }
    }

    /// Keeps only the ids that are also in `other`.
    pub(crate) fn intersect_with(&mut self, other: &BitSet) {
        for (a, &b) in self.words.iter_mut().zip(&other.words) {
            *a &= b;
        }
    }

    /// Removes the ids of `other`.
    pub(crate) fn subtract(&mut self, other: &BitSet) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
    }

    /// Returns whether every id in the set is also in `other`.
    pub(crate) fn is_subset(&self, other: &BitSet) -> bool {
        self.words.iter().zip(&other.words).all(|(&a, &b)| a & !b == 0)
    }

    /// Returns whether the two sets share an id.
    #[inline]
    pub(crate) fn intersects(&self, other: &BitSet) -> bool {
        self.words.iter().zip(&other.words).any(|(&a, &b)| a & b != 0)
    }

    /// Returns whether some id is in all three sets.
    #[inline]
    pub(crate) fn intersects_both(&self, second: &BitSet, third: &BitSet) -> bool {
        let both = second.words.iter().zip(&third.words).map(|(&a, &b)| a & b);
        self.words.iter().zip(both).any(|(&a, b)| a & b != 0)
    }

    /// Returns whether some id is in this set and in all of the others.
    #[inline]
    pub(crate) fn intersects_all<const N: usize>(&self, others: [&BitSet; N]) -> bool {
        let in_all = |(at, &word): (usize, &u64)| {
            others.iter().fold(word, |word, other| word & other.words.get(at).copied().unwrap_or(0))
                != 0
        };
        self.words.iter().enumerate().any(in_all)
    }

    /// Returns whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Returns the number of ids in the set.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the ids in the set, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            std::iter::successors((word != 0).then_some(word), |&w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| i * 64 + w.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_in_order() {
        let mut set = BitSet::new(200);
        for id in [199, 0, 64, 63, 128] {
            assert!(set.insert(id));
            assert!(!set.insert(id));
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 128, 199]);
        assert_eq!(set.len(), 5);
        set.remove(64);
        assert!(!set.contains(64) && !set.contains(10_000));
    }
}

//! Sets of small ids, as words of 64 bits.

use smallvec::{SmallVec, smallvec};

/// A set of ids below a bound that is fixed when the set is made.
///
/// Equality and hashing look at the words, so sets to be compared must have the same bound.
#[derive(Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct BitSet {
    /// Sets of terminals, which are made and thrown away by the thousand, need no heap.
    words: SmallVec<[u64; 4]>,
}

impl Clone for BitSet {
    /// Copies the words all at once; the list's own `clone` goes one by one.
    #[inline]
    fn clone(&self) -> Self {
        Self { words: SmallVec::from_slice(&self.words) }
    }
}

impl BitSet {
    /// The empty set of ids below `bound`.
    pub(crate) fn new(bound: usize) -> Self {
        Self { words: smallvec![0; bound.div_ceil(64)] }
    }

    /// The words, lowest ids first.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Puts `bits` in the place of the ids from `64 * word` on, which must be below the bound.
    pub(crate) fn set_word(&mut self, word: usize, bits: u64) {
        self.words[word] = bits;
    }

    /// Adds `id`; true when it was not there. `id` must be below the bound.
    pub(crate) fn insert(&mut self, id: usize) -> bool {
        let (word, bit) = (id / 64, 1u64 << (id % 64));
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        fresh
    }

    /// Takes `id` out.
    pub(crate) fn remove(&mut self, id: usize) {
        if let Some(word) = self.words.get_mut(id / 64) {
            *word &= !(1 << (id % 64));
        }
    }

    /// Whether `id` is in the set; false for ids past the bound.
    #[inline]
    pub(crate) fn contains(&self, id: usize) -> bool {
        self.words.get(id / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    /// Adds all of `other`; true when that changed anything. Same bound on both.
    pub(crate) fn union_with(&mut self, other: &BitSet) -> bool {
        let mut changed = false;
        for (a, &b) in self.words.iter_mut().zip(&other.words) {
            changed |= b & !*a != 0;
            *a |= b;
        }
        changed
    }

    /// Adds what is in both sets. Same bound on all.
    pub(crate) fn union_with_both(&mut self, one: &BitSet, other: &BitSet) {
        for ((word, &a), &b) in self.words.iter_mut().zip(&one.words).zip(&other.words) {
            *word |= a & b;
        }
    }

    /// Keeps only what is in `other` too.
    pub(crate) fn intersect_with(&mut self, other: &BitSet) {
        for (a, &b) in self.words.iter_mut().zip(&other.words) {
            *a &= b;
        }
    }

    /// Takes out what is in `other`.
    pub(crate) fn subtract(&mut self, other: &BitSet) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
    }

    /// Whether every id in the set is in `other` too.
    pub(crate) fn is_subset(&self, other: &BitSet) -> bool {
        self.words.iter().zip(&other.words).all(|(&a, &b)| a & !b == 0)
    }

    /// Whether the two sets share an id.
    #[inline]
    pub(crate) fn intersects(&self, other: &BitSet) -> bool {
        self.words.iter().zip(&other.words).any(|(&a, &b)| a & b != 0)
    }

    /// Whether some id is in all three sets.
    #[inline]
    pub(crate) fn intersects_both(&self, second: &BitSet, third: &BitSet) -> bool {
        let both = second.words.iter().zip(&third.words).map(|(&a, &b)| a & b);
        self.words.iter().zip(both).any(|(&a, b)| a & b != 0)
    }

    /// Whether some id is in this set and in all of the others.
    #[inline]
    pub(crate) fn intersects_all<const N: usize>(&self, others: [&BitSet; N]) -> bool {
        let in_all = |(at, &word): (usize, &u64)| {
            others.iter().fold(word, |word, other| word & other.words.get(at).copied().unwrap_or(0))
                != 0
        };
        self.words.iter().enumerate().any(in_all)
    }

    /// Whether nothing is in the set.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// How many ids are in the set.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The ids in the set, ascending.
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

//! Sketches of mask rows, which give a lower bound on the distance of two rows without reading
//! them.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

/// Number of words of a sketch.
const WORDS: usize = 128;

/// Number of words compared at once.
const PART: usize = 32;

/// A row folded into a few words by exclusive or. The difference of two folded rows is the folded
/// difference of the rows, so the rows differ in at least as many bits.
#[derive(Debug)]
pub(super) struct Folded(Box<[u32; WORDS]>);

impl Folded {
    /// Heap bytes.
    pub(super) const BYTES: usize = size_of::<[u32; WORDS]>();

    /// Folds a row.
    pub(super) fn new(row: &[u32]) -> Self {
        let mut folded = Box::new([0; WORDS]);
        let (parts, last) = row.as_chunks::<WORDS>();
        for part in parts.iter().map(|part| &part[..]).chain([last]) {
            folded.iter_mut().zip(part).for_each(|(folded, word)| *folded ^= word);
        }
        Self(folded)
    }

    /// Returns a hash of the row. Rows whose differences cancel out have the same hash; these are
    /// rare.
    pub(super) fn hash(&self) -> u64 {
        FxBuildHasher.hash_one(&self.0[..])
    }

    /// Returns a lower bound on the number of differing bits, if it is at most `limit`. Most rows
    /// are further apart, which the first few words show.
    #[inline]
    pub(super) fn distance(&self, other: &Self, limit: usize) -> Option<usize> {
        let (parts, other_parts) = (self.0.as_chunks::<PART>().0, other.0.as_chunks::<PART>().0);
        let mut distance = 0;
        for (part, other) in parts.iter().zip(other_parts) {
            let differing = part.iter().zip(other).map(|(word, other)| word ^ other);
            distance += differing.map(u32::count_ones).sum::<u32>() as usize;
            if distance > limit {
                return None;
            }
        }
        Some(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_rows_are_no_further_apart() {
        let mut random = fastrand::Rng::with_seed(11);
        for length in [0, 1, 127, 128, 129, 255, 400] {
            let row: Vec<u32> = (0..length).map(|_| random.u32(..)).collect();
            let mut other = row.clone();
            for flips in 0..100 {
                let (own, others) = (Folded::new(&row), Folded::new(&other));
                let distance = own.distance(&others, flips).expect("no more than the flips");
                // A single flipped bit stays a single one.
                assert!(flips != 1 || length == 0 || distance == 1);
                assert_eq!(own.distance(&others, distance), Some(distance));
                assert!(distance == 0 || own.distance(&others, distance - 1).is_none());
                if length > 0 {
                    other[random.usize(..length)] ^= 1 << random.usize(..32);
                }
            }
        }
    }
}

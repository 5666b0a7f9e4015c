//! Sets of few tokens in little room: their gaps, those of one set behind those of another.
//!
//! A walk that looked at hundreds of nodes has met some eighty classes of tokens, most of a dozen
//! tokens each. Stored one by one these take more than the walk, and most of it is not the tokens.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::gaps;

/// Sets under numbers, each once.
#[derive(Debug, Default)]
pub(super) struct PackedSets {
    bytes: Vec<u8>,
    /// By number: where a set ends.
    ends: Vec<u32>,
    /// The numbers by hash, while sets are added.
    known: HashTable<u32>,
}

impl PackedSets {
    /// The number of the set of these tokens, ascending.
    pub(super) fn add(&mut self, ids: &[u32]) -> u32 {
        let begin = self.bytes.len();
        gaps::write(ids, &mut self.bytes);
        self.number_from(begin)
    }

    /// The number of a set that `of` has.
    pub(super) fn copy(&mut self, number: u32, of: &Self) -> u32 {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(of.get(number));
        self.number_from(begin)
    }

    /// The number of the set whose bytes were just written, which go again if it was known.
    fn number_from(&mut self, begin: usize) -> u32 {
        let Self { bytes, ends, known } = self;
        let hash = FxBuildHasher.hash_one(&bytes[begin..]);
        if let Some(&number) =
            known.find(hash, |&known| bytes_of(bytes, ends, known) == &bytes[begin..])
        {
            bytes.truncate(begin);
            return number;
        }
        let number = ends.len() as u32;
        ends.push(bytes.len() as u32);
        let hash_of = |&known: &u32| FxBuildHasher.hash_one(bytes_of(bytes, ends, known));
        known.insert_unique(hash, number, hash_of);
        number
    }

    /// No more will be added.
    pub(super) fn finish(&mut self) {
        self.known = HashTable::default();
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Calls `take` with each token of a set.
    #[inline]
    pub(super) fn each(&self, number: u32, take: impl FnMut(u32)) {
        gaps::each(self.get(number), take);
    }

    /// How many tokens a set has.
    pub(super) fn count(&self, number: u32) -> usize {
        gaps::count(self.get(number))
    }

    /// What a set takes by itself.
    pub(super) fn bytes_of(&self, number: u32) -> usize {
        self.get(number).len()
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&self.ends[..])
    }

    fn get(&self, number: u32) -> &[u8] {
        bytes_of(&self.bytes, &self.ends, number)
    }
}

/// The bytes of a set; none for a number that there is not.
fn bytes_of<'b>(bytes: &'b [u8], ends: &[u32], number: u32) -> &'b [u8] {
    let number = number as usize;
    let begin = number.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(number).copied().unwrap_or(begin);
    bytes.get(begin as usize..end as usize).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_back_each_once() {
        let (mut sets, mut copies) = (PackedSets::default(), PackedSets::default());
        let all = [&[][..], &[0], &[7, 8, 9], &[1, 200, 40_000], &[7, 8, 9], &[]];
        let numbers = all.map(|ids| sets.add(ids));
        assert_eq!(numbers, [0, 1, 2, 3, 2, 0]);
        assert_eq!(sets.bytes(), (1 + 3 + 1 + 2 + 3) + 4 * 4);
        sets.finish();
        for (ids, number) in all.into_iter().zip(numbers).rev() {
            let copy = copies.copy(number, &sets);
            for (sets, number) in [(&sets, number), (&copies, copy)] {
                let mut back = Vec::new();
                sets.each(number, |id| back.push(id));
                assert_eq!(back, ids);
                assert_eq!(sets.count(number), ids.len());
            }
        }
        assert_eq!(copies.bytes(), sets.bytes());
        assert_eq!(sets.count(4), 0);
    }
}

//! The alphabet: characters that no class of the grammar distinguishes are one letter.

use hashbrown::HashMap;

use crate::grammar::characters::charset::CharSet;
use crate::grammar::characters::expr::{Expr, Exprs};
use crate::util::bitset::BitSet;

/// The letters of a grammar: the coarsest partition of the characters of which each class is a
/// union (the minterms of the classes).
#[derive(Debug)]
pub(super) struct Alphabet {
    /// First characters of the intervals, ascending; each extends to the next one.
    starts: Vec<u32>,
    /// By interval: its letter.
    letters: Vec<u32>,
    count: usize,
}

impl Alphabet {
    /// Creates the letters of all classes in `exprs`, or returns `None` if all classes together
    /// have more than `most` intervals.
    pub(super) fn new(exprs: &Exprs, most: usize) -> Option<Self> {
        let classes: Vec<&CharSet> = exprs.classes().collect();
        let mut starts: Vec<u32> = vec![0];
        for &(first, last) in classes.iter().flat_map(|set| set.ranges()) {
            starts.extend([first, last + 1]);
        }
        starts.sort_unstable();
        starts.dedup();
        let mut alphabet = Self { letters: vec![0; starts.len()], starts, count: 1 };
        // Each class splits the letters that it partly contains.
        let mut steps = 0;
        for set in classes {
            let mut divided: HashMap<u32, u32> = HashMap::new();
            for &(first, last) in set.ranges() {
                for interval in alphabet.intervals(first, last) {
                    steps += 1;
                    let count = &mut alphabet.count;
                    let letter = &mut alphabet.letters[interval];
                    *letter = *divided.entry(*letter).or_insert_with(|| {
                        *count += 1;
                        *count as u32 - 1
                    });
                }
            }
            if steps > most {
                return None;
            }
        }
        alphabet.renumber();
        Some(alphabet)
    }

    /// Removes the numbers of letters that were split.
    fn renumber(&mut self) {
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for letter in &mut self.letters {
            let next = numbers.len() as u32;
            *letter = *numbers.entry(*letter).or_insert(next);
        }
        self.count = numbers.len();
    }

    /// Returns the number of letters.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Returns the characters of each letter, as ranges of code points.
    pub(super) fn ranges(&self) -> Vec<Vec<(u32, u32)>> {
        let mut ranges = vec![Vec::new(); self.count];
        let ends = self.starts[1..].iter().map(|&next| next - 1).chain([u32::MAX]);
        for ((&letter, &start), end) in self.letters.iter().zip(&self.starts).zip(ends) {
            let end = end.min(char::MAX.into());
            if start <= end {
                ranges[letter as usize].push((start, end));
            }
        }
        ranges
    }

    fn intervals(&self, first: u32, last: u32) -> std::ops::Range<usize> {
        let from = self.starts.partition_point(|&start| start < first);
        let to = self.starts.partition_point(|&start| start <= last);
        from..to
    }

    /// Returns the letters of a class of the grammar.
    pub(super) fn letters(&self, set: &CharSet) -> BitSet {
        let mut letters = BitSet::new(self.count);
        for &(first, last) in set.ranges() {
            for interval in self.intervals(first, last) {
                letters.insert(self.letters[interval] as usize);
            }
        }
        letters
    }
}

impl Exprs {
    /// Returns all classes.
    fn classes(&self) -> impl Iterator<Item = &CharSet> {
        self.iter().filter_map(|expr| match expr {
            Expr::Class(set) => Some(set),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_what_classes_tell_apart() {
        let mut exprs = Exprs::default();
        let sets =
            [&[(0x61, 0x7a)][..], &[(0x69, 0x69), (0x66, 0x66)], &[(0x30, 0x39), (0x61, 0x66)]];
        let sets = sets.map(CharSet::new);
        for set in &sets {
            exprs.class(set.clone());
        }
        let alphabet = Alphabet::new(&exprs, 1000).expect("small");
        // The other characters, 0-9, a-e, f, i, and g-z without i.
        assert_eq!(alphabet.len(), 6);
        let letters = |set: &CharSet| alphabet.letters(set);
        let counts = sets.each_ref().map(|set| letters(set).iter().count());
        assert_eq!(counts, [4, 2, 3]);
        let f = letters(&CharSet::of('f'));
        assert!(sets.iter().all(|set| f.is_subset(&letters(set))));
        assert!(Alphabet::new(&exprs, 1).is_none());
    }
}

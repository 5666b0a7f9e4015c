//! The alphabet: characters that no class of the grammar tells apart are one letter.

use hashbrown::HashMap;

use crate::grammar::characters::charset::CharSet;
use crate::grammar::characters::expr::{Expr, Exprs};
use crate::util::bitset::BitSet;

/// The letters of a grammar: the coarsest partition of the characters of which each class is a
/// union (the minterms of the classes).
#[derive(Debug)]
pub(super) struct Alphabet {
    /// Where an interval begins, ascending; it goes on to the next one.
    starts: Vec<u32>,
    /// By interval: its letter.
    letters: Vec<u32>,
    count: usize,
}

impl Alphabet {
    /// The letters of all classes in `exprs`. `None` when there are more than `most` intervals in
    /// all classes together.
    pub(super) fn new(exprs: &Exprs, most: usize) -> Option<Self> {
        let classes: Vec<&CharSet> = exprs.classes().collect();
        let mut starts: Vec<u32> = vec![0];
        for &(first, last) in classes.iter().flat_map(|set| set.ranges()) {
            starts.extend([first, last + 1]);
        }
        starts.sort_unstable();
        starts.dedup();
        let mut alphabet = Self { letters: vec![0; starts.len()], starts, count: 1 };
        // Each class divides the letters that it holds a part of.
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

    /// Leaves out the numbers of letters that were divided up.
    fn renumber(&mut self) {
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for letter in &mut self.letters {
            let next = numbers.len() as u32;
            *letter = *numbers.entry(*letter).or_insert(next);
        }
        self.count = numbers.len();
    }

    /// How many letters there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// By letter: the characters that it stands for, as ranges of code points.
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

    /// The letters of a class of the grammar.
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
    /// All classes.
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
        // The rest, 0-9, a-e, f, i, and g-z without i.
        assert_eq!(alphabet.len(), 6);
        let letters = |set: &CharSet| alphabet.letters(set);
        let counts = sets.each_ref().map(|set| letters(set).iter().count());
        assert_eq!(counts, [4, 2, 3]);
        let f = letters(&CharSet::of('f'));
        assert!(sets.iter().all(|set| f.is_subset(&letters(set))));
        assert!(Alphabet::new(&exprs, 1).is_none());
    }
}

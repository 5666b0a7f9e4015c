//! Sets of terminals during table construction: each stored once, with its non-zero words only.
//!
//! A grammar of ten thousand terminals has a hundred thousand positions with a follow set, but few
//! distinct sets. With a row of bits for each position, such a grammar used most of its memory for
//! zeros.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::util::bitset::BitSet;
use crate::util::lists::Lists;

/// Sixty-four terminals, starting at `64 * at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    at: u32,
    bits: u64,
}

/// A set of terminals: its non-zero words, ascending. Equal sets are equal slices.
pub(super) type Terminals = [Word];

/// Distinct sets, by number.
#[derive(Clone, Debug)]
pub(super) struct TerminalSets {
    sets: Lists<Word>,
    ids: HashTable<u32>,
}

impl TerminalSets {
    /// The number of the empty set.
    pub(super) const EMPTY: u32 = 0;

    pub(super) fn new() -> Self {
        let mut sets = Self { sets: Lists::new(), ids: HashTable::new() };
        sets.id(&[]);
        sets
    }

    pub(super) fn get(&self, set: u32) -> &Terminals {
        self.sets.get(set as usize)
    }

    /// Returns the number of the set, adding it if it is new.
    pub(super) fn id(&mut self, words: &Terminals) -> u32 {
        let sets = &mut self.sets;
        let hashed = hash(words);
        if let Some(&known) = self.ids.find(hashed, |&id| sets.get(id as usize) == words) {
            return known;
        }
        sets.extend(words);
        let id = sets.close() as u32;
        self.ids.insert_unique(hashed, id, |&id| hash(sets.get(id as usize)));
        id
    }

    /// Returns the sets by their numbers; no more can be added.
    pub(super) fn into_lists(self) -> Lists<Word> {
        self.sets
    }

    /// Returns the number of sets.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Returns the approximate heap size in bytes.
    pub(super) fn bytes(&self) -> usize {
        // Growing lists have capacity for up to twice their length.
        2 * (size_of_val(self.sets.entries()) + self.sets.len() * 2 * size_of::<u32>())
    }
}

fn hash(words: &Terminals) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    for word in words {
        hasher.write_u32(word.at);
        hasher.write_u64(word.bits);
    }
    hasher.finish()
}

/// Returns whether `terminal` is in the set. Logarithmic in the words.
pub(super) fn contains(set: &Terminals, terminal: u32) -> bool {
    let found = set.binary_search_by_key(&(terminal / 64), |word| word.at);
    found.is_ok_and(|at| set[at].bits >> (terminal % 64) & 1 == 1)
}

/// Returns the set as a bit set of terminals below `bound`.
pub(super) fn bits(set: &Terminals, bound: usize) -> BitSet {
    let mut bits = BitSet::new(bound);
    set.iter().for_each(|word| bits.set_word(word.at as usize, word.bits));
    bits
}

/// Returns the number of terminals in the set.
pub(super) fn size(set: &Terminals) -> usize {
    set.iter().map(|word| word.bits.count_ones() as usize).sum()
}

/// Returns the terminals of the set, ascending.
pub(super) fn terminals(set: &Terminals) -> impl Iterator<Item = u32> + '_ {
    set.iter().flat_map(|&Word { at, bits }| {
        let rest = |rest: u64| (rest != 0).then_some(rest);
        let rests = std::iter::successors(rest(bits), move |&bits| rest(bits & (bits - 1)));
        rests.map(move |rest| at * 64 + rest.trailing_zeros())
    })
}

/// Returns whether `set` is a subset of `of`.
pub(super) fn is_subset(set: &Terminals, of: &Terminals) -> bool {
    set.iter().all(|word| {
        let found = of.binary_search_by_key(&word.at, |other| other.at);
        found.is_ok_and(|at| word.bits & !of[at].bits == 0)
    })
}

/// Returns the set without `terminal`.
pub(super) fn without(set: &Terminals, terminal: u32) -> Vec<Word> {
    let taken = |word: &Word| Word {
        bits: if word.at == terminal / 64 {
            word.bits & !(1 << (terminal % 64))
        } else {
            word.bits
        },
        ..*word
    };
    set.iter().map(taken).filter(|word| word.bits != 0).collect()
}

/// A set under construction: a buffer for all terminals that is reused.
#[derive(Debug)]
pub(super) struct Gathered {
    bits: Vec<u64>,
    /// Indices of the non-zero words.
    used: Vec<u32>,
    words: Vec<Word>,
}

impl Gathered {
    /// Creates an empty set, with room for terminals below `bound`.
    pub(super) fn new(bound: usize) -> Self {
        Self { bits: vec![0; bound.div_ceil(64)], used: Vec::new(), words: Vec::new() }
    }

    pub(super) fn insert(&mut self, terminal: u32) {
        self.add_word(Word { at: terminal / 64, bits: 1 << (terminal % 64) });
    }

    pub(super) fn add(&mut self, set: &Terminals) {
        set.iter().for_each(|&word| self.add_word(word));
    }

    /// Adds a set, and adds to `twice` the terminals that were already in.
    pub(super) fn add_again(&mut self, set: &Terminals, twice: &mut Self) {
        for &Word { at, bits } in set {
            twice.add_word(Word { at, bits: bits & self.bits[at as usize] });
            self.add_word(Word { at, bits });
        }
    }

    fn add_word(&mut self, Word { at, bits }: Word) {
        let own = &mut self.bits[at as usize];
        if *own == 0 && bits != 0 {
            self.used.push(at);
        }
        *own |= bits;
    }

    /// Returns the set and clears the buffer.
    pub(super) fn take(&mut self) -> &Terminals {
        self.used.sort_unstable();
        self.words.clear();
        for at in self.used.drain(..) {
            let bits = std::mem::take(&mut self.bits[at as usize]);
            self.words.push(Word { at, bits });
        }
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_what_was_gathered() {
        let (mut sets, mut gathered) = (TerminalSets::new(), Gathered::new(1_000));
        for terminal in [999, 3, 64, 3, 128] {
            gathered.insert(terminal);
        }
        let some = sets.id(gathered.take());
        assert_eq!(terminals(sets.get(some)).collect::<Vec<_>>(), [3, 64, 128, 999]);
        assert!(contains(sets.get(some), 999) && !contains(sets.get(some), 4));
        assert_eq!(sets.id(gathered.take()), TerminalSets::EMPTY);
        let fewer = sets.id(&without(sets.get(some), 64));
        assert!(is_subset(sets.get(fewer), sets.get(some)));
        assert!(!is_subset(sets.get(some), sets.get(fewer)));
        gathered.add(sets.get(fewer));
        let mut twice = Gathered::new(1_000);
        gathered.add_again(sets.get(some), &mut twice);
        assert_eq!(sets.id(twice.take()), fewer);
        assert_eq!(sets.id(gathered.take()), some);
        assert_eq!(sets.len(), 3);
    }
}

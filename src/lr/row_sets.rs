//! The sets of terminals of a table. Bits are computed on first use: with ten thousand terminals a
//! row of bits takes a kilobyte, most of it zeros.

use std::sync::OnceLock;

use super::terminal_sets::{TerminalSets, Word, bits, terminals};
use crate::util::bitset::BitSet;
use crate::util::lists::Lists;

/// Distinct sets of terminals, by number.
#[derive(Debug)]
pub(super) struct RowSets {
    sets: Lists<Word>,
    /// Exclusive upper bound on the terminals.
    bound: usize,
    /// By set: its bits, computed on first use.
    bits: Box<[OnceLock<BitSet>]>,
}

impl RowSets {
    /// Takes these sets, whose terminals are below `bound`.
    pub(super) fn new(sets: TerminalSets, bound: usize) -> Self {
        let bits = (0..sets.len()).map(|_| OnceLock::new()).collect();
        Self { sets: sets.into_lists(), bound, bits }
    }

    /// Returns the bits of a set.
    #[inline]
    pub(super) fn get(&self, set: u32) -> &BitSet {
        self.bits[set as usize].get_or_init(|| bits(self.sets.get(set as usize), self.bound))
    }

    /// Returns the terminals of a set, ascending.
    pub(super) fn terminals(&self, set: u32) -> impl Iterator<Item = u32> + '_ {
        terminals(self.sets.get(set as usize))
    }

    /// Returns the number of sets.
    pub(super) fn len(&self) -> usize {
        self.bits.len()
    }
}

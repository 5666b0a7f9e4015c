//! The sets of terminals of a table. Rows that nobody asks for need no bits: of ten thousand
//! terminals these take a kilobyte each, most of it zeros.

use std::sync::OnceLock;

use super::terminal_sets::{TerminalSets, Word, bits, terminals};
use crate::util::bitset::BitSet;
use crate::util::lists::Lists;

/// Distinct sets of terminals, by number.
#[derive(Debug)]
pub(super) struct RowSets {
    sets: Lists<Word>,
    /// Terminals are below this.
    bound: usize,
    /// By set, its bits as soon as these were asked for.
    bits: Box<[OnceLock<BitSet>]>,
}

impl RowSets {
    /// These sets, whose terminals are below `bound`.
    pub(super) fn new(sets: TerminalSets, bound: usize) -> Self {
        let bits = (0..sets.len()).map(|_| OnceLock::new()).collect();
        Self { sets: sets.into_lists(), bound, bits }
    }

    /// The bits of a set.
    #[inline]
    pub(super) fn get(&self, set: u32) -> &BitSet {
        self.bits[set as usize].get_or_init(|| bits(self.sets.get(set as usize), self.bound))
    }

    /// The terminals of a set, ascending.
    pub(super) fn terminals(&self, set: u32) -> impl Iterator<Item = u32> + '_ {
        terminals(self.sets.get(set as usize))
    }

    /// How many sets there are.
    pub(super) fn len(&self) -> usize {
        self.bits.len()
    }
}

//! The terminals that whole stacks can shift.
//!
//! If reductions reach far down, finding these takes a walk. Stacks that are the same as far down
//! as the walk has read shift the same terminals, so its result is cached by the cores that it has
//! read: an operand after one operator or another is followed through its levels of precedence
//! once.

use std::sync::atomic::Ordering;

use super::closures::{Closure, ReadCores};
use super::node::{Acceptable, Stack};
use super::stack::Depths;
use super::table::ParseTable;
use super::virtual_top::Any;
use crate::util::bitset::BitSet;

/// Upper bound on the cores of an entry: computing longer ones again costs less.
const LONGEST: usize = 32;

/// Upper bound on the number of entries, of some hundred bytes each.
const MOST: usize = 1 << 16;

/// Bytes of an entry apart from the cores, including unused slots of the tables.
const ENTRY_BYTES: usize = 24;

/// The lowest depth read, and whether a fork was passed.
struct Lowest {
    depth: u32,
    is_past_fork: bool,
}

impl Depths for Lowest {
    #[inline]
    fn read(&mut self, depth: u32) {
        self.depth = self.depth.min(depth);
    }

    fn read_state(&mut self, _: u32) {
        // The context of a state depends on all states below it.
        self.depth = 0;
    }

    #[inline]
    fn stops_at(&mut self, _: &Stack) -> bool {
        self.is_past_fork = true;
        false
    }

    #[inline]
    fn spend(&mut self, _: usize) {}
}

impl Stack {
    /// Returns the terminals (and `$`) that the stack can really shift (accept), computed once for
    /// each node.
    ///
    /// Reductions are followed for all look-aheads at once: the sets that lead to different
    /// reductions are disjoint except for conflicts, so the work is bounded by the reductions that
    /// the terminals would cause one by one.
    #[inline]
    pub(crate) fn acceptable(&self, table: &ParseTable) -> Acceptable {
        let known = Acceptable::unpack(self.0.acceptable.load(Ordering::Acquire));
        known.unwrap_or_else(|| self.find_acceptable(table))
    }

    fn find_acceptable(&self, table: &ParseTable) -> Acceptable {
        let first = self.below().first();
        let closure = table.closure(self.core(), first.map(Stack::core));
        let found = match closure.set {
            // Nearly always only these two states are read.
            Some(set) if !closure.reads_below || self.below().len() < 2 => {
                let read = first.filter(|_| closure.reads_below);
                Acceptable { set, lowest: read.map_or(self.depth(), Stack::depth) }
            }
            _ => self.find_further(table, closure),
        };
        self.0.acceptable.store(found.pack(), Ordering::Release);
        found
    }

    /// Does the same if more than the two states on top must be read.
    fn find_further(&self, table: &ParseTable, closure: &Closure) -> Acceptable {
        let known = &table.closures.shiftable;
        let mut lengths = closure.lengths.load(Ordering::Relaxed);
        let (mut read, mut at) = (ReadCores::new(), self);
        read.push(self.core());
        while lengths != 0 && self.read_on(&mut read, &mut at, lengths.trailing_zeros() as usize) {
            if let Some(&set) = known.get(&read) {
                return Acceptable { set, lowest: at.depth() };
            }
            lengths &= lengths - 1;
        }
        let mut lowest = Lowest { depth: self.depth(), is_past_fork: false };
        let mut found = BitSet::new(table.end().index() + 1);
        self.follow(table, Any(None), &mut lowest, |_, closure, lookahead, _| {
            lookahead.add_to(&mut found, &closure.shifts);
            false
        });
        let set = table.acceptable_sets().intern(found);
        let length = (self.depth() - lowest.depth) as usize + 1;
        let (mut read, mut at) = (ReadCores::from_iter([self.core()]), self);
        if !lowest.is_past_fork
            && length <= LONGEST
            && known.len() < MOST
            && self.read_on(&mut read, &mut at, length)
        {
            known.get_or_insert_with(read, || set);
            closure.lengths.fetch_or(1 << length, Ordering::Relaxed);
        }
        Acceptable { set, lowest: lowest.depth }
    }

    /// Reads on until `length` cores are read. Returns whether there is a single path down to them.
    fn read_on<'s>(&'s self, read: &mut ReadCores, at: &mut &'s Stack, length: usize) -> bool {
        while read.len() < length {
            let [below] = at.below() else { return false };
            read.push(below.core());
            *at = below;
        }
        true
    }

    /// Returns whether the terminals that the stack shifts depend on its top alone.
    pub(crate) fn is_local(&self, table: &ParseTable) -> bool {
        self.acceptable(table).lowest == self.depth()
    }
}

impl ParseTable {
    /// Returns the bytes of the cached sets of stacks.
    pub(crate) fn bytes_of_shiftable(&self) -> usize {
        self.closures.shiftable.len() * (size_of::<ReadCores>() + ENTRY_BYTES)
    }
}

//! The terminals that whole stacks can shift.

use std::sync::atomic::Ordering;

use super::node::{Acceptable, Stack};
use super::stack::Depths;
use super::table::ParseTable;
use super::virtual_top::Any;
use crate::util::bitset::BitSet;

/// The lowest depth read.
struct Lowest(u32);

impl Depths for Lowest {
    #[inline]
    fn read(&mut self, depth: u32) {
        self.0 = self.0.min(depth);
    }

    fn read_state(&mut self, _: u32) {
        // The context of a state depends on all states below it.
        self.0 = 0;
    }

    #[inline]
    fn stops_at(&mut self, _: &Stack) -> bool {
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
            _ => self.find_further(table),
        };
        self.0.acceptable.store(found.pack(), Ordering::Release);
        found
    }

    /// Does the same if more than the two states on top must be read.
    fn find_further(&self, table: &ParseTable) -> Acceptable {
        let mut lowest = Lowest(self.depth());
        let mut found = BitSet::new(table.end().index() + 1);
        self.follow(table, Any(None), &mut lowest, |_, closure, lookahead, _| {
            lookahead.add_to(&mut found, &closure.shifts);
            false
        });
        let set = table.acceptable_sets().intern(found);
        Acceptable { set, lowest: lowest.0 }
    }

    /// Returns whether the terminals that the stack shifts depend on its top alone.
    pub(crate) fn is_local(&self, table: &ParseTable) -> bool {
        self.acceptable(table).lowest == self.depth()
    }
}

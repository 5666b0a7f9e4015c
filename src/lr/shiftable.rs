//! What whole stacks can shift.
//!
//! Where reductions reach far down, it takes a walk to say. Stacks that look alike as far down as
//! the walk has read shift the same, so what it came to is kept by the cores that it has read: an
//! operand behind one operator or another is followed through its levels of precedence once.

use std::sync::atomic::Ordering;

use super::closures::{Closure, Read};
use super::node::{Acceptable, Stack};
use super::places::Any;
use super::stack::Depths;
use super::table::ParseTable;
use crate::util::bitset::BitSet;

/// More are not kept: to follow them again would cost less.
const LONGEST: usize = 32;

/// So many are kept, at some hundred bytes each.
const MOST: usize = 1 << 16;

/// What an entry takes beside what was read, with its places in tables that are never full.
const ENTRY_BYTES: usize = 24;

/// How deep one looks, and whether past forks.
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
        // The context of a state is what lies below it.
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
    /// The terminals (and `$`) that the stack can really shift (accept), found out once a node.
    ///
    /// Reductions are followed for all look-aheads at once: the sets that lead to different
    /// reductions are disjoint but for conflicts, so the work is bounded by the reductions that
    /// single terminals would cause.
    #[inline]
    pub(crate) fn acceptable(&self, table: &ParseTable) -> Acceptable {
        let known = Acceptable::unpack(self.0.acceptable.load(Ordering::Acquire));
        known.unwrap_or_else(|| self.find_acceptable(table))
    }

    fn find_acceptable(&self, table: &ParseTable) -> Acceptable {
        let first = self.below().first();
        let closure = table.closure(self.core(), first.map(Stack::core));
        let found = match closure.set {
            // Nearly always nothing but the two is looked at.
            Some(set) if !closure.reads_below || self.below().len() < 2 => {
                let read = first.filter(|_| closure.reads_below);
                Acceptable { set, lowest: read.map_or(self.depth(), Stack::depth) }
            }
            _ => self.find_further(table, closure),
        };
        self.0.acceptable.store(found.pack(), Ordering::Release);
        found
    }

    /// The same where more is looked at than the two states on top.
    fn find_further(&self, table: &ParseTable, closure: &Closure) -> Acceptable {
        let known = &table.closures.shiftable;
        let mut lengths = closure.lengths.load(Ordering::Relaxed);
        let (mut read, mut at) = (Read::new(), self);
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
        let (mut read, mut at) = (Read::from_iter([self.core()]), self);
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

    /// Goes on down to so many nodes. Whether there is one way down to them.
    fn read_on<'s>(&'s self, read: &mut Read, at: &mut &'s Stack, length: usize) -> bool {
        while read.len() < length {
            let [below] = at.below() else { return false };
            read.push(below.core());
            *at = below;
        }
        true
    }

    /// Whether what the stack shifts depends on its top alone.
    pub(crate) fn is_local(&self, table: &ParseTable) -> bool {
        self.acceptable(table).lowest == self.depth()
    }
}

impl ParseTable {
    /// Bytes of what is kept of stacks.
    pub(crate) fn bytes_of_shiftable(&self) -> usize {
        self.closures.shiftable.len() * (size_of::<Read>() + ENTRY_BYTES)
    }
}

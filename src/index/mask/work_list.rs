//! A work list that merges equal entries.
//!
//! A text of eighty bars can be split into `|` and `||` in as many ways as the eightieth Fibonacci
//! number, but these ways meet at each of its bytes. Every way into a node comes from nodes above
//! it, which have smaller numbers. So if the smallest node is always processed first, each is
//! processed once, for all readings of the text before it.

use smallvec::SmallVec;

use super::submask::Wanted;
use crate::index::tokens::StoredTokensId;
use crate::lr::table::ParseTable;
use crate::scanner::Line;
use crate::scanner::configuration::Configuration;

/// Number of compared items that are charged as one step.
const ITEMS_OF_A_STEP: usize = 8;

/// Readings that differ only in their stacks.
pub(super) type Readings = SmallVec<[Configuration; 1]>;

/// The work list of one frame.
#[derive(Default)]
pub(super) struct WorkList {
    /// Keys in ascending order, the next one last, each with its index into `slots`.
    order: SmallVec<[(u64, u32); 4]>,
    slots: SmallVec<[Option<Entry>; 1]>,
    free: SmallVec<[u32; 4]>,
}

/// An entry of the work list.
pub(super) struct Entry {
    pub(super) wanted: Wanted,
    /// Tokens to remove from those of a base walk.
    pub(super) except: Option<StoredTokensId>,
    pub(super) line: Line,
    pub(super) readings: Readings,
}

impl WorkList {
    /// Adds a reading to an entry whose first node is `first`.
    pub(super) fn add(
        &mut self,
        first: u32,
        (wanted, except, line): (Wanted, Option<StoredTokensId>, &Line),
        reading: Configuration,
        (table, steps): (&ParseTable, &mut usize),
    ) {
        // Greater nodes are processed later.
        let key =
            u64::from(u32::MAX - first) << 1 | u64::from(!matches!(wanted, Wanted::Walk { .. }));
        let at = self.order.partition_point(|&(other, _)| other < key);
        let alike = self.order[at..].partition_point(|&(other, _)| other == key);
        *steps += alike / ITEMS_OF_A_STEP;
        for &(_, slot) in &self.order[at..at + alike] {
            if let Some(item) = &mut self.slots[slot as usize]
                && item.wanted == wanted
                && item.except == except
                && item.line == *line
            {
                return add_reading(&mut item.readings, reading, table, steps);
            }
        }
        let item = Some(Entry {
            wanted,
            except,
            line: line.clone(),
            readings: Readings::from_buf([reading]),
        });
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = item;
                slot
            }
            None => {
                self.slots.push(item);
                self.slots.len() as u32 - 1
            }
        };
        self.order.insert(at, (key, slot));
    }

    /// Removes and returns the next entry.
    pub(super) fn next(&mut self) -> Option<Entry> {
        let (_, slot) = self.order.pop()?;
        self.free.push(slot);
        self.slots[slot as usize].take()
    }
}

/// Adds a reading to others. If it differs from one of them only below the top of the stack, their
/// stacks are merged.
fn add_reading(
    readings: &mut Readings,
    reading: Configuration,
    table: &ParseTable,
    steps: &mut usize,
) {
    let is_same = |known: &&mut Configuration| {
        known.differs_by_stack(&reading) && known.stack.same_top(&reading.stack, table)
    };
    match readings.iter_mut().find(is_same) {
        Some(known) => known.stack = known.stack.union(&reading.stack, table, steps),
        None => readings.push(reading),
    }
}

/// Groups of readings that differ only in their stacks, and whether the line of each group goes on.
pub(super) type Apart = SmallVec<[(Readings, bool); 1]>;

/// Adds a reading to the group from which it differs only in its stack.
pub(super) fn add_apart(
    apart: &mut Apart,
    (from, goes_on): (Configuration, bool),
    table: &ParseTable,
    steps: &mut usize,
) {
    let is_like = |(alike, other): &&mut (Readings, bool)| {
        *other == goes_on && alike[0].differs_by_stack(&from)
    };
    match apart.iter_mut().find(is_like) {
        Some((alike, _)) => add_reading(alike, from, table, steps),
        None => apart.push((Readings::from_buf([from]), goes_on)),
    }
}

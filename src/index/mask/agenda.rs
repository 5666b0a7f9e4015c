//! What is to be looked for together with whatever else comes to it.
//!
//! A text of eighty bars has as many ways to be made of `|` and `||` as the eightieth Fibonacci
//! number, but they meet at each of its bytes. All that leads to a node comes from nodes above,
//! which have smaller numbers. So where the smallest is taken first, each is taken once, for all
//! readings of the text before it.

use smallvec::SmallVec;

use super::submask::Wanted;
use crate::index::tokens::StoredTokensId;
use crate::lr::table::ParseTable;
use crate::scanner::Line;
use crate::scanner::configuration::Configuration;

/// To compare so many items counts as a step.
const ITEMS_OF_A_STEP: usize = 8;

/// Readings that differ by their stacks only.
pub(super) type Readings = SmallVec<[Configuration; 1]>;

/// What one task is still to look for.
#[derive(Default)]
pub(super) struct Agenda {
    /// By ascending key, the next one last; and its place among `slots`.
    order: SmallVec<[(u64, u32); 4]>,
    slots: SmallVec<[Option<Item>; 1]>,
    free: SmallVec<[u32; 4]>,
}

/// One thing of an agenda.
pub(super) struct Item {
    pub(super) wanted: Wanted,
    /// What is to be left out of a base walk's tokens.
    pub(super) except: Option<StoredTokensId>,
    pub(super) line: Line,
    pub(super) readings: Readings,
}

impl Agenda {
    /// Adds a reading to what is to be looked for at some nodes, the first of which is `first`.
    pub(super) fn add(
        &mut self,
        first: u32,
        (wanted, except, line): (Wanted, Option<StoredTokensId>, &Line),
        reading: Configuration,
        (table, steps): (&ParseTable, &mut usize),
    ) {
        // Greater nodes come later.
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
        let item = Some(Item {
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

    /// Takes off what is next.
    pub(super) fn next(&mut self) -> Option<Item> {
        let (_, slot) = self.order.pop()?;
        self.free.push(slot);
        self.slots[slot as usize].take()
    }
}

/// Adds a reading to others; where it differs from one of them only by what lies below the top of
/// its stack, to that one.
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

/// Readings apart by more than their stacks, and whether the line of each goes on.
pub(super) type Apart = SmallVec<[(Readings, bool); 1]>;

/// Adds a reading to those from which it differs by its stack only.
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

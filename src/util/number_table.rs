//! Lock-free look-up of numbered entries by hash, while other threads add more.
//!
//! Open-addressed tables of numbers, each twice as large as the one before. When a table is nearly
//! full, the next is filled and takes its place. A reader of the old table may miss new entries; it
//! then takes the lock to add the entry, looks again, and finds it. The old tables are kept:
//! together they are no larger than the newest.
//!
//! Each number is stored with half of its hash, so that few entries are compared except the wanted
//! one, and none is read to fill the next table: entries are far apart in memory.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Slots in the first table, as a power of two.
const FIRST: u32 = 6;
/// Number of tables: the last has room for all of `u32`.
const TABLES: usize = (33 - FIRST) as usize;

/// The numbers of entries, ascending from 0 in the order in which they were added.
#[derive(Debug)]
pub(super) struct NumberTable {
    /// Tables of [`entry`] values. Zero is an empty slot.
    tables: [OnceLock<Box<[AtomicU64]>>; TABLES],
    /// The table in use.
    current: AtomicU32,
    /// Number of entries that can be found.
    count: AtomicU32,
    adding: Mutex<()>,
}

/// Exclusive right to add a number.
pub(super) struct Adding<'t> {
    numbers: &'t NumberTable,
    _lock: MutexGuard<'t, ()>,
}

impl Default for NumberTable {
    fn default() -> Self {
        Self {
            tables: std::array::from_fn(|_| OnceLock::new()),
            current: AtomicU32::new(0),
            count: AtomicU32::new(0),
            adding: Mutex::default(),
        }
    }
}

impl NumberTable {
    /// Calls `wanted` with the numbers of entries with this hash and returns the first result that
    /// is not `None`. Takes no lock.
    #[inline]
    pub(super) fn find<T>(&self, hash: u64, wanted: impl Fn(u32) -> Option<T>) -> Option<T> {
        let table = self.tables[self.current.load(Ordering::Acquire) as usize].get()?;
        let mut from = hash as usize;
        loop {
            let (number, place) = candidate(table, hash as u32, from);
            let found = wanted(number.checked_sub(1)?);
            if found.is_some() {
                return found;
            }
            from = place + 1;
        }
    }

    /// Returns how many numbers can be found: all numbers below this.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    /// Locks out other threads that add. If there are more numbers than at an earlier look-up, an
    /// entry that was missing then may exist now.
    pub(super) fn begin_adding(&self) -> Adding<'_> {
        // A poisoned lock only says that another thread panicked elsewhere: an entry is complete
        // before it is numbered.
        let _lock = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        Adding { numbers: self, _lock }
    }

    fn table(&self, at: u32) -> &[AtomicU64] {
        self.tables[at as usize]
            .get_or_init(|| (0..1u64 << (at + FIRST)).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Adding<'_> {
    /// Adds the number of the last entry that was pushed, which has this hash.
    pub(super) fn add(self, hash: u64, number: u32) {
        let current = self.numbers.current.load(Ordering::Acquire);
        let table = self.numbers.table(current);
        if (number as usize) < most(table.len()) {
            place(table, entry(hash, number));
        } else {
            let next = self.numbers.table(current + 1);
            let known = table.iter().map(|place| place.load(Ordering::Relaxed));
            known.filter(|&known| known != 0).for_each(|known| place(next, known));
            place(next, entry(hash, number));
            self.numbers.current.store(current + 1, Ordering::Release);
        }
        self.numbers.count.store(number + 1, Ordering::Release);
    }
}

/// Returns the maximum number of entries in a table with this many slots.
fn most(places: usize) -> usize {
    places / 4 * 3
}

/// Returns the first entry at or after a slot with this lower half of a hash, as its number plus 1
/// and its slot; the number is 0 if there is none. There are many kinds of tables, and computing a
/// mask uses most of them, so they share this code.
#[inline(never)]
fn candidate(table: &[AtomicU64], half: u32, from: usize) -> (u32, usize) {
    let mask = table.len() - 1;
    let mut place = from & mask;
    loop {
        let entry = table[place].load(Ordering::Acquire);
        if entry == 0 || (entry >> 32) as u32 == half {
            return (entry as u32, place);
        }
        place = (place + 1) & mask;
    }
}

/// Returns the lower half of a hash in the upper 32 bits, and the number plus 1 in the lower.
fn entry(hash: u64, number: u32) -> u64 {
    hash << 32 | (u64::from(number) + 1)
}

/// Puts an entry into a table that has an empty slot.
fn place(table: &[AtomicU64], entry: u64) {
    let mask = table.len() - 1;
    let mut place = (entry >> 32) as usize & mask;
    while table[place].load(Ordering::Relaxed) != 0 {
        place = (place + 1) & mask;
    }
    table[place].store(entry, Ordering::Release);
}

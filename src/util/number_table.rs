//! By hash, the numbers of entries that lie elsewhere: what finds an entry, whoever adds others.
//!
//! Open-addressed tables of numbers, each twice as large as the one before. When one is nearly full
//! the next is filled and takes its place. Whoever still reads the old one misses new entries at
//! worst, takes the lock to add what is already there, and finds it. The old tables are kept:
//! together they are no larger than the newest.
//!
//! Beside each number stands half of the hash, so that hardly any entry is looked at but the one
//! that is wanted, and none to fill the next table: entries lie far apart in memory.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Places in the first table, as a power of two.
const FIRST: u32 = 6;
/// Tables: the last has room for all of `u32`.
const TABLES: usize = (33 - FIRST) as usize;

/// The numbers of entries, ascending from 0 in the order in which they were added.
#[derive(Debug)]
pub(super) struct NumberTable {
    /// As [`entry`] makes them. Zero is an empty place.
    tables: [OnceLock<Box<[AtomicU64]>>; TABLES],
    /// The table in use.
    current: AtomicU32,
    /// How many numbers can be found.
    count: AtomicU32,
    adding: Mutex<()>,
}

/// The right to add a number.
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
    /// What `wanted` makes of the number of an entry with this hash: the first that is not `None`.
    /// Takes no lock.
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

    /// How many numbers can be found: from 0 on, all less than this.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    /// Keeps all others from adding. What was not found before may be there by now, if there are
    /// more numbers than before.
    pub(super) fn begin_adding(&self) -> Adding<'_> {
        // A poisoned lock only says that another thread panicked elsewhere: an entry is whole
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
    /// Adds the number of the entry that was added last, which has this hash.
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

/// How many numbers a table of so many places takes.
fn most(places: usize) -> usize {
    places / 4 * 3
}

/// From a place on, the first entry with this lower half of a hash: 1 more than its number, or 0
/// where there is none, and its place. There are many kinds of tables, and what is looked up for a
/// mask is looked up in most of them: this much of their code they share.
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

/// The lower half of a hash in the upper half, and 1 more than the number in the lower.
fn entry(hash: u64, number: u32) -> u64 {
    hash << 32 | (u64::from(number) + 1)
}

/// Puts an entry into a table that has an empty place.
fn place(table: &[AtomicU64], entry: u64) {
    let mask = table.len() - 1;
    let mut place = (entry >> 32) as usize & mask;
    while table[place].load(Ordering::Relaxed) != 0 {
        place = (place + 1) & mask;
    }
    table[place].store(entry, Ordering::Release);
}

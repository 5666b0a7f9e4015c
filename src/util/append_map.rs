//! A hash map that grows while others read it: append-only, read without a lock.
//!
//! Entries lie in an append-only table; beside it lie open-addressed tables of their numbers, each
//! twice as large as the one before. When one is half full the next is filled and takes its place.
//! Whoever still reads the old one misses new entries at worst, takes the lock to add what is
//! already there, and finds it. The old tables are kept: together they are no larger than the
//! newest.

use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::FxBuildHasher;

use super::append::AppendVec;

/// Places in the first table, as a power of two.
const FIRST: u32 = 6;
/// Tables: the last has room for all of `u32`.
const TABLES: usize = (33 - FIRST) as usize;

/// Values by key; each is entered once and stays.
#[derive(Debug)]
pub(crate) struct AppendMap<K, V> {
    entries: AppendVec<(K, V)>,
    /// Numbers of entries, each one too large: zero is an empty place.
    tables: [OnceLock<Box<[AtomicU32]>>; TABLES],
    /// The table in use.
    current: AtomicU32,
    adding: Mutex<()>,
}

impl<K, V> Default for AppendMap<K, V> {
    fn default() -> Self {
        Self {
            entries: AppendVec::default(),
            tables: std::array::from_fn(|_| OnceLock::new()),
            current: AtomicU32::new(0),
            adding: Mutex::default(),
        }
    }
}

impl<K: Hash + Eq, V: Clone> AppendMap<K, V> {
    /// The entries in the order in which they were entered. Those that other threads add meanwhile
    /// may be among them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        (0..self.len() as u32).map_while(|number| self.entries.get(number))
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The value of `key`.
    #[inline]
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let table = self.tables[self.current.load(Ordering::Acquire) as usize].get()?;
        let mask = table.len() - 1;
        let mut place = FxBuildHasher.hash_one(key) as usize & mask;
        loop {
            let number = table[place].load(Ordering::Acquire).checked_sub(1)?;
            if let Some((known, value)) = self.entries.get(number)
                && known == key
            {
                return Some(value);
            }
            place = (place + 1) & mask;
        }
    }

    /// The value of `key`, made by `make` when there is none yet. No other entry is made meanwhile.
    pub(crate) fn get_or_insert_with(&self, key: K, make: impl FnOnce() -> V) -> V {
        if let Some(value) = self.get(&key) {
            return value.clone();
        }
        // A poisoned lock only says that another thread panicked elsewhere: an entry is whole
        // before it is numbered.
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.get(&key) {
            return value.clone();
        }
        let value = make();
        let hash = FxBuildHasher.hash_one(&key);
        let number = self.entries.push((key, value.clone()));
        let current = self.current.load(Ordering::Acquire);
        let table = self.table(current);
        if 2 * (number as usize + 1) <= table.len() {
            place(table, hash, number);
        } else {
            let next = self.table(current + 1);
            for number in 0..=number {
                if let Some((key, _)) = self.entries.get(number) {
                    place(next, FxBuildHasher.hash_one(key), number);
                }
            }
            self.current.store(current + 1, Ordering::Release);
        }
        value
    }

    /// These entries, in this order, each key once: should one come again, the first is found.
    pub(crate) fn restore(entries: impl ExactSizeIterator<Item = (K, V)>) -> Self {
        let places = (2 * entries.len()).next_power_of_two().max(1 << FIRST);
        let current = places.trailing_zeros() - FIRST;
        let map = Self {
            entries: AppendVec::restore(entries),
            current: AtomicU32::new(current),
            ..Self::default()
        };
        let table = map.table(current);
        for (number, (key, _)) in map.iter().enumerate() {
            place(table, FxBuildHasher.hash_one(key), number as u32);
        }
        map
    }

    fn table(&self, at: u32) -> &[AtomicU32] {
        self.tables[at as usize]
            .get_or_init(|| (0..1u64 << (at + FIRST)).map(|_| AtomicU32::new(0)).collect())
    }
}

/// Enters `number` in a table with an empty place.
fn place(table: &[AtomicU32], hash: u64, number: u32) {
    let mask = table.len() - 1;
    let mut place = hash as usize & mask;
    while table[place].load(Ordering::Relaxed) != 0 {
        place = (place + 1) & mask;
    }
    table[place].store(number + 1, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_entered_stays() {
        let map = AppendMap::default();
        assert_eq!(map.get(&0), None);
        for key in 0..1000u32 {
            assert_eq!(map.get_or_insert_with(key * 7, || key), key);
            assert_eq!(map.get_or_insert_with(key * 7, || key + 1), key);
        }
        assert_eq!(map.len(), 1000);
        assert!((0..7000).all(|key| map.get(&key).copied() == (key % 7 == 0).then_some(key / 7)));
    }

    #[test]
    fn restored_entries_are_found_and_more_can_be_entered() {
        for count in [0u32, 1, 31, 32, 33, 1000] {
            let map = AppendMap::restore((0..count).map(|key| (key * 7, key)));
            assert_eq!(map.len(), count as usize);
            for key in 0..2 * count + 1 {
                assert_eq!(map.get_or_insert_with(key * 7, || key), key);
            }
            assert!((0..2 * count + 1).all(|key| map.get(&(key * 7)) == Some(&key)));
            assert_eq!(map.iter().count(), 2 * count as usize + 1);
        }
    }

    /// An interpreter takes a thousand times as long.
    const KEYS: u32 = if cfg!(miri) { 200 } else { 5_000 };

    #[test]
    fn threads_agree() {
        let map = AppendMap::default();
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let map = &map;
                scope.spawn(move || {
                    for key in 0..KEYS {
                        let value = map.get_or_insert_with(key, || key << 2 | thread);
                        assert_eq!(value >> 2, key);
                        assert_eq!(map.get(&key), Some(&value));
                    }
                });
            }
        });
        assert_eq!(map.len(), KEYS as usize);
    }
}

//! A hash map that grows while others read it: append-only, read without a lock.
//!
//! The entries are in an append-only table; [`number_table`](super::number_table) finds them.

use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

use super::append::AppendVec;
use super::number_table::NumberTable;

/// Values by key; each is inserted once and stays.
#[derive(Debug)]
pub(crate) struct AppendMap<K, V> {
    entries: AppendVec<(K, V)>,
    numbers: NumberTable,
}

impl<K, V> Default for AppendMap<K, V> {
    fn default() -> Self {
        Self { entries: AppendVec::default(), numbers: NumberTable::default() }
    }
}

impl<K: Hash + Eq, V> AppendMap<K, V> {
    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the value of `key`.
    #[inline]
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.find(FxBuildHasher.hash_one(key), key)
    }

    /// The same for a known hash of `key`. Separate from its caller, so that a key is hashed from
    /// the values it was made of: a value just written in halves is slow to read as a whole.
    #[inline]
    fn find(&self, hash: u64, key: &K) -> Option<&V> {
        self.numbers.find(hash, |number| {
            let (known, value) = self.entries.get(number)?;
            (known == key).then_some(value)
        })
    }

    /// Returns the value of `key`, created by `make` if there is none. No other entry is created
    /// meanwhile.
    pub(crate) fn get_or_insert_with(&self, key: K, make: impl FnOnce() -> V) -> &V {
        let (count, hash) = (self.numbers.count(), FxBuildHasher.hash_one(&key));
        if let Some(value) = self.find(hash, &key) {
            return value;
        }
        let adding = self.numbers.begin_adding();
        if self.numbers.count() != count
            && let Some(value) = self.find(hash, &key)
        {
            return value;
        }
        let (number, (_, value)) = self.entries.place((key, make()));
        adding.add(hash, number);
        value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn what_was_entered_stays() {
        let map = AppendMap::default();
        assert_eq!(map.get(&0), None);
        for key in 0..1000u32 {
            assert_eq!(*map.get_or_insert_with(key * 7, || key), key);
            assert_eq!(*map.get_or_insert_with(key * 7, || key + 1), key);
        }
        assert_eq!(map.len(), 1000);
        assert!((0..7000).all(|key| map.get(&key).copied() == (key % 7 == 0).then_some(key / 7)));
    }

    /// Fewer under an interpreter, which is a thousand times slower.
    const KEYS: u32 = if cfg!(miri) { 200 } else { 5_000 };

    #[test]
    fn threads_agree() {
        let (map, together) = (AppendMap::default(), Barrier::new(4));
        let values: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let enter = |thread: u32| {
                let (map, together) = (&map, &together);
                move || {
                    let enter = |key: u32| {
                        // Makes the threads use the same keys at the same time.
                        if key.is_multiple_of(10) {
                            together.wait();
                        }
                        *map.get_or_insert_with(key, || key << 2 | thread)
                    };
                    (0..KEYS).map(enter).collect()
                }
            };
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(enter(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
        });
        assert!(values.iter().all(|known| *known == values[0]));
        assert!((0..KEYS).zip(&values[0]).all(|(key, value)| value >> 2 == key));
        assert!((0..KEYS).zip(&values[0]).all(|(key, value)| map.get(&key) == Some(value)));
        assert_eq!(map.len(), KEYS as usize);
    }
}

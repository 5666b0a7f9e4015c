//! Facts by key, each found once by whoever needs it first, and read without a lock.
//!
//! A key gets its place at once, and the fact is found for that place: so finding one takes no lock
//! that others wait for, may take long, and may need other facts. Of several threads that want the
//! same one, one finds it.

use std::hash::Hash;
use std::sync::OnceLock;

use super::append_map::AppendMap;

/// Facts of type `V` by keys of type `K`. Append-only.
#[derive(Debug)]
pub(crate) struct Memo<K, V>(AppendMap<K, OnceLock<V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(AppendMap::default())
    }
}

impl<K: Hash + Eq, V> Memo<K, V> {
    /// The fact of `key`, found by `find` when it is not known. One look-up once it is. `find` may
    /// ask for other keys, not for this one.
    #[inline]
    pub(crate) fn get_or_find(&self, key: K, find: impl FnOnce() -> V) -> &V {
        let place = match self.0.get(&key) {
            Some(place) => place,
            None => self.0.get_or_insert_with(key, OnceLock::new),
        };
        place.get_or_init(find)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// An interpreter takes a thousand times as long.
    const KEYS: u32 = if cfg!(miri) { 100 } else { 2_000 };

    #[test]
    fn a_fact_is_found_once_whoever_asks() {
        let (memo, found) = (Memo::default(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for key in 0..KEYS {
                        let fact = memo.get_or_find(key, || {
                            found.fetch_add(1, Ordering::Relaxed);
                            key * 3
                        });
                        assert_eq!(*fact, key * 3);
                    }
                });
            }
        });
        assert_eq!(found.into_inner(), KEYS as usize);
    }
}

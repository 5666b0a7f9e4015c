//! A memo table: values by key, each computed once by the first thread that needs it, and read
//! without a lock.
//!
//! A key gets its slot at once, and the value is computed in that slot. So the computation holds no
//! lock that blocks other keys, may take long, and may need other values. Among several threads
//! that need the same value, one computes it.

use std::hash::Hash;
use std::sync::OnceLock;

use super::append_map::AppendMap;

/// Values of type `V` by keys of type `K`. Append-only.
#[derive(Debug)]
pub(crate) struct Memo<K, V>(AppendMap<K, OnceLock<V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(AppendMap::default())
    }
}

impl<K: Hash + Eq, V> Memo<K, V> {
    /// Returns the value of `key`, computed by `find` if it is not known. One look-up once it is.
    /// `find` may ask for other keys, but not for this one.
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

    /// Fewer under an interpreter, which is a thousand times slower.
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

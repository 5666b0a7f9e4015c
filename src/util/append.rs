//! Tables that grow while others read them: append-only, read without a lock.
//!
//! Everything that the engine builds lazily (scan states, terminal sets, masks) is stored in a
//! table of this kind, so that the warm path never waits. Entries never move: they are in chunks of
//! doubling size, each allocated once. The alternative, a `RwLock<Vec<_>>`, would add an atomic
//! read-modify-write to the path of every byte.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rustc_hash::FxBuildHasher;

use super::number_table::NumberTable;

/// Entries in the first chunk, as a power of two.
const FIRST: u32 = 5;
/// Number of chunks: enough for all of `u32`.
const CHUNKS: usize = (32 - FIRST) as usize;

/// Returns the number of entries for which a table of `count` entries has memory: chunks are
/// allocated whole.
pub(crate) fn room(count: usize) -> usize {
    let chunks = (count.div_ceil(1 << FIRST) + 1).next_power_of_two();
    (chunks - 1) << FIRST
}

/// One allocation of the table.
type Chunk<T> = OnceLock<Box<[OnceLock<T>]>>;

/// Values by id, each computed once by the first thread that needs it. Memory is proportional to
/// the largest id in use.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    chunks: [Chunk<T>; CHUNKS],
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { chunks: std::array::from_fn(|_| OnceLock::new()) }
    }
}

impl<T> Slots<T> {
    /// Returns the chunk and the position in it.
    #[inline]
    fn locate(id: u32) -> (usize, usize) {
        let shifted = u64::from(id) + (1 << FIRST);
        let chunk = 63 - shifted.leading_zeros() - FIRST;
        (chunk as usize, (shifted - (1 << (chunk + FIRST))) as usize)
    }

    /// Returns the entry `id`, if it exists. One addition, one count of zeros, two loads.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        let (chunk, offset) = Self::locate(id);
        self.chunks.get(chunk)?.get()?.get(offset)?.get()
    }

    /// Returns the entry `id`, created by `init` if it does not exist yet. Among several threads,
    /// one creates it.
    #[inline]
    pub(crate) fn get_or_init(&self, id: u32, init: impl FnOnce() -> T) -> &T {
        match self.get(id) {
            Some(value) => value,
            None => self.init(id, init),
        }
    }

    /// Returns the number of entries for which there is memory.
    pub(crate) fn room(&self) -> usize {
        let chunks = self.chunks.iter().filter_map(OnceLock::get);
        chunks.map(|chunk| chunk.len()).sum()
    }

    #[cold]
    fn init(&self, id: u32, init: impl FnOnce() -> T) -> &T {
        let (chunk, offset) = Self::locate(id);
        let chunk_len = 1usize << (chunk as u32 + FIRST);
        let chunk =
            self.chunks[chunk].get_or_init(|| (0..chunk_len).map(|_| OnceLock::new()).collect());
        chunk[offset].get_or_init(init)
    }
}

/// An append-only vector with stable addresses.
#[derive(Debug)]
pub(crate) struct AppendVec<T> {
    slots: Slots<T>,
    len: AtomicU32,
}

impl<T> Default for AppendVec<T> {
    fn default() -> Self {
        Self { slots: Slots::default(), len: AtomicU32::new(0) }
    }
}

impl<T> AppendVec<T> {
    /// Returns the entry `id`, if it has been pushed.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.slots.get(id)
    }

    /// Adds an entry and returns its id.
    pub(crate) fn push(&self, value: T) -> u32 {
        self.place(value).0
    }

    /// Adds an entry and returns its id and its address.
    pub(super) fn place(&self, value: T) -> (u32, &T) {
        let id = self.len.fetch_add(1, Ordering::Relaxed);
        (id, self.slots.get_or_init(id, || value))
    }

    /// Returns the number of entries that were pushed.
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire) as usize
    }
}

/// Assigns one id to equal values.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    entries: AppendVec<T>,
    ids: NumberTable,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { entries: AppendVec::default(), ids: NumberTable::default() }
    }
}

impl<T: Hash + Eq> Interner<T> {
    /// Returns the id of `value`, new or known. Takes a lock only if the value seems to be new.
    pub(crate) fn intern(&self, value: T) -> u32 {
        let (count, hash) = (self.ids.count(), FxBuildHasher.hash_one(&value));
        match self.find(hash, &value) {
            Some(id) => id,
            None => self.add((count, hash), value),
        }
    }

    /// Returns the id of the value that `borrowed` converts to; it is only converted if it seems to
    /// be new.
    pub(crate) fn intern_ref<'a, Q>(&self, borrowed: &'a Q) -> u32
    where
        T: Borrow<Q> + From<&'a Q>,
        Q: Hash + Eq + ?Sized,
    {
        let (count, hash) = (self.ids.count(), FxBuildHasher.hash_one(borrowed));
        match self.find(hash, borrowed) {
            Some(id) => id,
            None => self.add((count, hash), borrowed.into()),
        }
    }

    #[inline]
    fn find<Q: Eq + ?Sized>(&self, hash: u64, wanted: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
    {
        self.ids.find(hash, |id| (self.entries.get(id)?.borrow() == wanted).then_some(id))
    }

    /// Adds a value that was not among the first `count`, and returns its id.
    fn add(&self, (count, hash): (u32, u64), value: T) -> u32 {
        let adding = self.ids.begin_adding();
        if self.ids.count() != count
            && let Some(id) = self.find(hash, &value)
        {
            return id;
        }
        let id = self.entries.push(value);
        adding.add(hash, id);
        id
    }

    /// Returns the values by id. May include values that other threads add meanwhile.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len() as u32).map_while(|id| self.entries.get(id))
    }

    /// Returns the value with this id, which must come from [`Interner::intern`] of the same
    /// interner.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> &T {
        self.entries.get(id).expect("an interned id names an entry")
    }

    /// Returns the number of distinct values.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_ids_across_chunks() {
        let table = AppendVec::default();
        for i in 0..1000u32 {
            assert_eq!(table.push(i * 3), i);
        }
        assert!((0..1000).all(|i| table.get(i) == Some(&(i * 3))));
        assert_eq!(table.get(1000), None);
        assert_eq!(table.get(u32::MAX), None);
    }

    #[test]
    fn there_is_room_for_whole_chunks() {
        let rooms = [0, 1, 32, 33, 96, 97, 224, 225].map(room);
        assert_eq!(rooms, [0, 32, 32, 96, 96, 224, 224, 480]);
    }

    /// Smaller under an interpreter, which is a thousand times slower.
    const VALUES: u32 = if cfg!(miri) { 200 } else { 5_000 };

    #[test]
    fn threads_give_equal_values_one_id() {
        let interner = Interner::default();
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let interner = &interner;
                scope.spawn(move || {
                    for at in 0..VALUES {
                        let value = if thread % 2 == 0 { at } else { VALUES - 1 - at };
                        let id = interner.intern(value);
                        assert_eq!((interner.get(id), interner.intern(value)), (&value, id));
                    }
                });
            }
        });
        assert_eq!(interner.len(), VALUES as usize);
    }

    #[test]
    fn equal_values_share_an_id() {
        let interner = Interner::default();
        let a = interner.intern("a".to_owned());
        let b = interner.intern("b".to_owned());
        assert_ne!(a, b);
        assert_eq!(interner.intern("a".to_owned()), a);
        assert_eq!(interner.get(b), "b");
        assert_eq!(interner.len(), 2);
    }
}

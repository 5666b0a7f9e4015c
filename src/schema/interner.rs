//! Interner: equal values have equal numbers.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Values by number.
#[derive(Debug)]
pub(super) struct Interner<T> {
    values: Vec<T>,
    ids: HashTable<u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { values: Vec::new(), ids: HashTable::new() }
    }
}

impl<T: Eq + Hash> Interner<T> {
    pub(super) fn id(&mut self, value: T) -> u32 {
        self.id_of(&value).unwrap_or_else(|| self.enter(value))
    }

    /// Returns the number of a value that was interned before.
    fn id_of<Q: Eq + Hash + ?Sized>(&self, value: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
    {
        let is_same = |&id: &u32| self.values[id as usize].borrow() == value;
        self.ids.find(FxBuildHasher.hash_one(value), is_same).copied()
    }

    /// Adds a value that is new and returns its number.
    fn enter(&mut self, value: T) -> u32 {
        let Self { values, ids } = self;
        let id = values.len() as u32;
        let hashed = FxBuildHasher.hash_one(&value);
        values.push(value);
        ids.insert_unique(hashed, id, |&id| FxBuildHasher.hash_one(&values[id as usize]));
        id
    }

    pub(super) fn get(&self, id: u32) -> &T {
        &self.values[id as usize]
    }

    /// Returns the number of the value that `borrowed` converts to; it is only converted if it is
    /// new.
    pub(super) fn id_of_ref<'a, Q>(&mut self, borrowed: &'a Q) -> u32
    where
        T: Borrow<Q> + From<&'a Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.id_of(borrowed).unwrap_or_else(|| self.enter(borrowed.into()))
    }
}

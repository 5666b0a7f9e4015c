//! Tables of the values that the numbers in atoms refer to.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::schema::formula::FormulaId;
use crate::util::decimal::Decimal;

/// Interner: equal values have equal numbers.
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
}

impl<T: Eq + Hash> Interner<Box<[T]>> {
    /// Returns the number of a list, which is copied if it is new.
    pub(super) fn id_of_list(&mut self, list: &[T]) -> u32
    where
        T: Copy,
    {
        self.id_of(list).unwrap_or_else(|| self.enter(list.into()))
    }
}

/// `properties`, `patternProperties` and `additionalProperties` of one schema: the meaning of each
/// depends on the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Properties {
    /// In the order of the schema.
    pub(super) named: Vec<(u32, FormulaId)>,
    /// The same entries, sorted by name.
    pub(super) sorted: Vec<(u32, FormulaId)>,
    pub(super) patterns: Vec<(u32, FormulaId)>,
    pub(super) additional: FormulaId,
}

impl Properties {
    pub(super) fn new(
        named: Vec<(u32, FormulaId)>,
        patterns: Vec<(u32, FormulaId)>,
        additional: FormulaId,
    ) -> Self {
        let mut sorted = named.clone();
        sorted.sort_unstable();
        Self { named, sorted, patterns, additional }
    }

    /// Returns the formula that `properties` alone asks of the member of this name.
    pub(super) fn named(&self, name: u32) -> Option<FormulaId> {
        let found = self.sorted.binary_search_by_key(&name, |&(name, _)| name);
        found.ok().map(|at| self.sorted[at].1)
    }
}

/// `prefixItems` and `items` of one schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Items {
    pub(super) prefix: Vec<FormulaId>,
    pub(super) rest: FormulaId,
}

/// Tables of the values that the numbers in atoms refer to.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    /// Names of keys, patterns, formats, and members of `enum`.
    pub(super) texts: Interner<String>,
    pub(super) numbers: Interner<Decimal>,
    /// Sets of texts or of numbers, ascending.
    pub(super) sets: Interner<Vec<u32>>,
    pub(super) properties: Interner<Properties>,
    pub(super) items: Interner<Items>,
    /// Values that the remaining items of an array may have.
    pub(super) uniques: Interner<Vec<FormulaId>>,
    /// Residual formulas after an item, by the item's fingerprint.
    pub(super) branches: Interner<Vec<FormulaId>>,
}

impl Atoms {
    pub(super) fn text(&mut self, text: &str) -> u32 {
        self.texts.id_of(text).unwrap_or_else(|| self.texts.enter(text.to_owned()))
    }

    pub(super) fn set(&mut self, mut members: Vec<u32>) -> u32 {
        members.sort_unstable();
        members.dedup();
        self.sets.id(members)
    }
}

//! Tables of the values that the numbers in atoms refer to.

use crate::schema::formula::FormulaId;
use crate::util::append::Interner;
use crate::util::decimal::Decimal;

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
        self.texts.intern_ref(text)
    }

    pub(super) fn set(&mut self, mut members: Vec<u32>) -> u32 {
        members.sort_unstable();
        members.dedup();
        self.sets.intern(members)
    }
}

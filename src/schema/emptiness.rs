//! Results on whether some value satisfies a formula. [`inhabited`] computes them.
//!
//! [`inhabited`]: super::inhabited

use rustc_hash::FxHashMap;

use crate::schema::formula::FormulaId;

use FormulaId as F;

/// Results on whether some value satisfies a formula.
#[derive(Debug)]
pub(super) struct Inhabited {
    pub(super) known: FxHashMap<F, bool>,
    /// Formulas being searched, each with its depth: the number of open ones when it was begun.
    pub(super) open: FxHashMap<F, usize>,
    /// Formulas that count as empty as long as an open one does, with the depth of the outermost
    /// such.
    pub(super) provisional: FxHashMap<F, usize>,
    pub(super) trail: Vec<F>,
    /// Depth of the outermost open formula that the results so far depend on.
    pub(super) rests_on: usize,
}

impl Default for Inhabited {
    fn default() -> Self {
        Self {
            known: FxHashMap::default(),
            open: FxHashMap::default(),
            provisional: FxHashMap::default(),
            trail: Vec::new(),
            rests_on: usize::MAX,
        }
    }
}

//! What is known of formulas: which some value satisfies, and which none. [`inhabited`] finds out.
//!
//! [`inhabited`]: super::inhabited

use rustc_hash::FxHashMap;

use crate::schema::formula::FormulaId;

use FormulaId as F;

/// What is known of formulas.
#[derive(Debug)]
pub(super) struct Inhabited {
    pub(super) known: FxHashMap<F, bool>,
    /// Formulas that are being searched, and how many were when each was begun.
    pub(super) open: FxHashMap<F, usize>,
    /// Formulas that count as empty as long as an open one does: the outermost such.
    pub(super) provisional: FxHashMap<F, usize>,
    pub(super) trail: Vec<F>,
    /// The outermost open formula that what was found since rests on.
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

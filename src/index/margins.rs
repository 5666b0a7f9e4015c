//! How many tokens must be left in a configuration for a budget to forbid nothing there.
//!
//! The number is that of the longest of the endings after the tokens of a mask. It depends on the
//! whole stack, since endings do, so it is found by the whole stack, and only where that is a
//! single path. Texts come back to the same stacks: every token within a string or a name does, and
//! every item of a list.

use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Index;
use crate::scanner::configuration::Configuration;

/// The numbers found so far.
#[derive(Debug, Default)]
pub(super) struct Margins(Mutex<HashMap<MarginKey, usize, FxBuildHasher>>);

/// A configuration, with its stack as a list of states.
#[derive(Debug)]
pub(crate) struct MarginKey {
    at: Configuration,
    cores: Box<[u32]>,
}

/// Upper bound on the numbers that are kept; past it all are dropped.
const MOST: usize = 1 << 14;

/// A deeper stack is not looked up.
const MOST_DEPTH: u32 = 1 << 10;

impl PartialEq for MarginKey {
    fn eq(&self, other: &Self) -> bool {
        self.cores == other.cores && self.at.differs_by_stack(&other.at)
    }
}

impl Eq for MarginKey {}

impl Hash for MarginKey {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Configuration { state, obligations, expectations, layout, .. } = &self.at;
        (state, obligations, expectations, layout.lines(), &self.cores).hash(hasher);
    }
}

impl MarginKey {
    /// Returns the key of a configuration whose stack does not fork and is not too deep.
    pub(crate) fn new(at: &Configuration) -> Option<Self> {
        if at.stack.first_fork().is_some() || at.stack.depth() > MOST_DEPTH {
            return None;
        }
        let stack = std::iter::successors(Some(&at.stack), |stack| stack.below().first());
        let cores = stack.map(|stack| stack.core().0).collect();
        Some(Self { at: at.clone(), cores })
    }
}

impl Index {
    /// Returns how many tokens must be left after the next one for all of the mask to be in time,
    /// if that is known.
    pub(crate) fn margin(&self, key: &MarginKey) -> Option<usize> {
        self.margins.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    /// Stores that number.
    pub(crate) fn set_margin(&self, key: MarginKey, tokens: usize) {
        let mut known = self.margins.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, tokens);
    }
}

//! The places that reductions come to, and the look-aheads for which they do.
//!
//! Reductions are followed without a stack being made: a place is a core on top of what lies below
//! it. Where readings part, reductions may meet again in a place, and cyclic rules go round; each
//! place is gone on from once for each look-ahead.

use std::borrow::Cow;

use super::node::{Address, Stack};
use crate::util::bitset::BitSet;
use crate::util::distinct::Distinct;
use crate::util::id::{CoreId, TerminalId};

/// What reductions depend on.
pub(super) trait LookAhead<'t>: Clone {
    /// Whether it is one terminal: then a parser without conflicts goes one way.
    const IS_ONE: bool;

    /// Those of them that are in `set`, if there are any.
    fn within(&self, set: &'t BitSet) -> Option<Self>;

    /// Adds `others`; returns those that were not there, if there are any.
    fn add(&mut self, others: Self) -> Option<Self>;
}

impl LookAhead<'_> for TerminalId {
    const IS_ONE: bool = true;

    #[inline]
    fn within(&self, set: &BitSet) -> Option<Self> {
        set.contains(self.index()).then_some(*self)
    }

    fn add(&mut self, _: Self) -> Option<Self> {
        None
    }
}

/// All of a set, or whatever there are. One reduction's set is borrowed from where it stands.
#[derive(Clone)]
pub(super) struct Any<'t>(pub(super) Option<Cow<'t, BitSet>>);

impl Any<'_> {
    /// Those that are in `set`, if there are any.
    pub(super) fn and(&self, set: &BitSet) -> Option<BitSet> {
        let Some(all) = &self.0 else { return (!set.is_empty()).then(|| set.clone()) };
        all.intersects(set).then(|| {
            let mut both = BitSet::clone(all);
            both.intersect_with(set);
            both
        })
    }

    /// Adds those of `set` that are among them.
    pub(super) fn add_to(&self, all: &mut BitSet, set: &BitSet) {
        match &self.0 {
            Some(own) => all.union_with_both(own, set),
            None => {
                all.union_with(set);
            }
        }
    }
}

impl<'t> LookAhead<'t> for Any<'t> {
    const IS_ONE: bool = false;

    fn within(&self, set: &'t BitSet) -> Option<Self> {
        if self.0.is_none() {
            return Some(Self(Some(Cow::Borrowed(set))));
        }
        self.and(set).map(|within| Self(Some(Cow::Owned(within))))
    }

    fn add(&mut self, others: Self) -> Option<Self> {
        let (Some(known), Some(others)) = (&mut self.0, others.0) else { return None };
        let mut others = others.into_owned();
        others.subtract(known);
        known.to_mut().union_with(&others);
        (!others.is_empty()).then_some(Self(Some(Cow::Owned(others))))
    }
}

/// A core on top of a stack that is not touched.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    pub(super) core: CoreId,
    pub(super) below: Option<&'s Stack>,
    /// Whether it is the stack's own, and has not been put there by a reduction.
    pub(super) is_real: bool,
}

/// The places that were met, and with which look-aheads.
pub(super) struct Met<L> {
    places: Distinct<(CoreId, Address)>,
    /// By number of the place.
    lookaheads: Vec<L>,
}

impl<'t, L: LookAhead<'t>> Met<L> {
    pub(super) fn new() -> Self {
        Self { places: Distinct::new(), lookaheads: Vec::new() }
    }

    /// Notes that a place is met with these look-aheads; returns those with which it has not been
    /// met.
    pub(super) fn note(&mut self, place: &Place<'_>, lookahead: L) -> Option<L> {
        let below = place.below.map_or(std::ptr::null(), Stack::address);
        match self.places.insert((place.core, below)) {
            Some(number) => self.lookaheads[number].add(lookahead),
            None => {
                self.lookaheads.push(lookahead.clone());
                Some(lookahead)
            }
        }
    }
}

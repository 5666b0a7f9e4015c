//! Virtual stack tops reached by simulated reductions, and the look-aheads that reach them.
//!
//! Reductions are followed without creating a stack: a virtual top is a core above an existing
//! stack. After readings diverge, reductions may meet again at a virtual top, and cyclic rules
//! loop; each virtual top is followed only once for each look-ahead.

use std::borrow::Cow;

use super::node::{Address, Stack};
use crate::util::bitset::BitSet;
use crate::util::distinct::Distinct;
use crate::util::id::{CoreId, TerminalId};

/// The look-aheads of simulated reductions.
pub(super) trait LookAhead<'t>: Clone {
    /// Whether it is one terminal: then a parser without conflicts follows one path.
    const IS_ONE: bool;

    /// Returns the look-aheads that are in `set`, if any.
    fn within(&self, set: &'t BitSet) -> Option<Self>;

    /// Adds `others`; returns those that are new, if any.
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

/// The look-aheads of a set, or all (`None`). The set of a single reduction is borrowed.
#[derive(Clone)]
pub(super) struct Any<'t>(pub(super) Option<Cow<'t, BitSet>>);

impl Any<'_> {
    /// Returns the look-aheads that are in `set`, if any.
    pub(super) fn and(&self, set: &BitSet) -> Option<BitSet> {
        let Some(all) = &self.0 else { return (!set.is_empty()).then(|| set.clone()) };
        all.intersects(set).then(|| {
            let mut both = BitSet::clone(all);
            both.intersect_with(set);
            both
        })
    }

    /// Adds to `all` the look-aheads that are in `set`.
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

/// A virtual top: a core above a stack that is not modified.
#[derive(Clone, Copy)]
pub(super) struct VirtualTop<'s> {
    pub(super) core: CoreId,
    pub(super) below: Option<&'s Stack>,
    /// Whether it is the real top of the stack, not one produced by a reduction.
    pub(super) is_real: bool,
}

/// The virtual tops reached so far, with their look-aheads.
pub(super) struct ReachedTops<L> {
    tops: Distinct<(CoreId, Address)>,
    /// By number of the virtual top.
    lookaheads: Vec<L>,
}

impl<'t, L: LookAhead<'t>> ReachedTops<L> {
    pub(super) fn new() -> Self {
        Self { tops: Distinct::default(), lookaheads: Vec::new() }
    }

    /// Records that a virtual top is reached with these look-aheads; returns those that are new for
    /// it.
    pub(super) fn note(&mut self, top: &VirtualTop<'_>, lookahead: L) -> Option<L> {
        let below = top.below.map_or(std::ptr::null(), Stack::address);
        match self.tops.insert((top.core, below)) {
            Some(number) => self.lookaheads[number].add(lookahead),
            None => {
                self.lookaheads.push(lookahead.clone());
                Some(lookahead)
            }
        }
    }
}

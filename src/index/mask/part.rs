//! Parts of walks: some of their boundaries, or all but some.

use crate::index::walk::{Boundary, Walk};

/// Some of the first boundaries of a walk, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SomeBoundaries(u64);

/// Which pieces of a walk are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// All but those behind these boundaries.
    AllBut(SomeBoundaries),
    /// Only those behind these, whose labels the stack shifts as it is.
    Shifted(SomeBoundaries),
}

impl SomeBoundaries {
    /// None of them.
    pub(super) const NONE: Self = Self(0);

    /// Those of a walk that are `wanted`.
    pub(super) fn of(walk: &Walk, mut wanted: impl FnMut(&Boundary) -> bool) -> Self {
        let bits = (0..u64::BITS).zip(&walk.boundaries);
        Self(bits.map(|(bit, boundary)| u64::from(wanted(boundary)) << bit).sum())
    }

    /// Those that are among others as well.
    pub(super) fn and(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// Whether the boundary at a place is among them.
    #[inline]
    fn contains(self, place: usize) -> bool {
        place < u64::BITS as usize && self.0 >> place & 1 != 0
    }
}

impl Part {
    /// The whole walk.
    pub(super) const ALL: Self = Self::AllBut(SomeBoundaries::NONE);

    /// Those of the boundaries of a walk that are looked for.
    pub(super) fn boundaries(self, walk: &Walk) -> impl Iterator<Item = &Boundary> {
        let is_wanted = move |place| match self {
            Self::AllBut(others) => !others.contains(place),
            Self::Shifted(own) => own.contains(place),
        };
        let placed = (0..).zip(&walk.boundaries);
        placed.filter(move |&(place, _)| is_wanted(place)).map(|(_, boundary)| boundary)
    }
}

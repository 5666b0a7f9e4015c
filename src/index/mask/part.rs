//! Parts of walks: some of their boundaries, or all but some.

use crate::index::walk::{Boundary, Walk};

/// Some of the first boundaries of a walk, a bit each, those of the first half first. In halves, so
/// that a key that holds them has no gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SomeBoundaries([u32; 2]);

/// Which pieces of a walk are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// All but those behind these boundaries.
    AllBut(SomeBoundaries),
    /// Only those behind these, whose labels the stack shifts as it is.
    Shifted(SomeBoundaries),
}

/// How many boundaries these are at most.
const PLACES: usize = 64;

/// Those at some places.
impl FromIterator<usize> for SomeBoundaries {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        let mut some = Self::NONE;
        places.into_iter().for_each(|place| some.add(place));
        some
    }
}

impl SomeBoundaries {
    /// None of them.
    pub(super) const NONE: Self = Self([0; 2]);

    /// Those of a walk that may be among some, with their places.
    pub(super) fn first(walk: &Walk) -> impl Iterator<Item = (usize, &Boundary)> {
        (0..PLACES).zip(&walk.boundaries)
    }

    /// Adds the one at a place.
    #[inline]
    pub(super) fn add(&mut self, place: usize) {
        self.0[place / 32] |= 1 << (place % 32);
    }

    /// All others that may be among some.
    fn others(self) -> Self {
        Self(self.0.map(|half| !half))
    }

    /// Their places, ascending.
    fn places(self) -> impl Iterator<Item = usize> {
        let [first, second] = self.0.map(u64::from);
        let mut rest = second << 32 | first;
        std::iter::from_fn(move || {
            let place = (rest != 0).then(|| rest.trailing_zeros() as usize);
            rest &= rest.wrapping_sub(1);
            place
        })
    }
}

impl Part {
    /// The whole walk.
    pub(super) const ALL: Self = Self::AllBut(SomeBoundaries::NONE);

    /// Those of the boundaries of a walk that are looked for.
    pub(super) fn boundaries(self, walk: &Walk) -> impl Iterator<Item = &Boundary> {
        let (some, further) = match self {
            Self::AllBut(some) => (some.others(), walk.boundaries.get(PLACES..)),
            Self::Shifted(own) => (own, None),
        };
        let some = some.places().map_while(|place| walk.boundaries.get(place));
        some.chain(further.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::walk::NodesId;
    use crate::scanner::ObligationsId;
    use crate::util::id::TerminalId;

    #[test]
    fn parts_have_each_boundary_once() {
        for count in [0, 1, 40, 64, 65, 100] {
            let boundary = |place| Boundary {
                label: TerminalId(place),
                obligations: ObligationsId::NONE,
                leading: [].into(),
                nodes: NodesId::ROOT,
                tokens: 1,
            };
            let walk = Walk::new(0, [].into(), (0..count).map(boundary).collect(), [].into());
            let places = |part: Part| {
                part.boundaries(&walk).map(|boundary| boundary.label.0).collect::<Vec<_>>()
            };
            assert_eq!(places(Part::ALL), (0..count).collect::<Vec<_>>());
            let first = SomeBoundaries::first(&walk).map(|(place, _)| place);
            let third: SomeBoundaries = first.filter(|place| place.is_multiple_of(3)).collect();
            let is_third = |place: &u32| place.is_multiple_of(3) && *place < PLACES as u32;
            let (own, others): (Vec<_>, Vec<_>) = (0..count).partition(is_third);
            assert_eq!(places(Part::Shifted(third)), own);
            assert_eq!(places(Part::AllBut(third)), others);
        }
    }
}

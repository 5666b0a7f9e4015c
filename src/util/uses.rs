//! How often something was asked for, as far as it matters for whether it is kept.

use std::sync::atomic::{AtomicU32, Ordering};

/// A number of uses, each of which counts [`Uses::ONE`]. Those of two threads at the same time may
/// count as one.
#[derive(Debug, Default)]
pub(crate) struct Uses(AtomicU32);

impl Uses {
    /// What a use counts: so much that it is remembered while [`Aging`] takes its share again and
    /// again.
    pub(crate) const ONE: u32 = 64;

    /// More is not counted: what is asked for most is then only read, by however many threads.
    const MOST: u32 = Self::ONE << 10;

    /// One use.
    pub(crate) fn once() -> Self {
        Self(AtomicU32::new(Self::ONE))
    }

    /// One more.
    #[inline]
    pub(crate) fn note(&self) {
        let known = self.get();
        if known < Self::MOST {
            self.0.store(known + Self::ONE, Ordering::Relaxed);
        }
    }

    /// What they count.
    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// What they count later.
    pub(crate) fn aged(&self, Aging { stays, of }: Aging) -> Self {
        let known = u64::from(self.get()) * stays as u64 / of as u64;
        Self(AtomicU32::new(known as u32))
    }
}

/// How much of what uses count stays whenever something is given up, so that what was asked for
/// long ago gives way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aging {
    stays: usize,
    /// Not 0.
    of: usize,
}

impl Aging {
    /// A quarter goes.
    pub(crate) const QUARTER: Self = Self { stays: 3, of: 4 };

    /// The fraction goes that is new of `count` things, `began_with` of which are not, and one
    /// more, but no more than three quarters. So uses are remembered while about as many new
    /// things are met as there is room for, be there room for thousands; where there is room for
    /// four, what was asked for last says more, and one in four is much.
    pub(crate) fn of(began_with: usize, count: usize) -> Self {
        let of = count.max(1);
        Self { stays: began_with.saturating_sub(1).clamp(of.div_ceil(4), of), of }
    }
}

impl Clone for Uses {
    fn clone(&self) -> Self {
        Self(AtomicU32::new(self.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_give_way_to_as_many_new_things_as_there_is_room_for() {
        for room in [4usize, 400, 4000] {
            let (new, mut uses) = (room.div_ceil(10), Uses::default());
            (0..8).for_each(|_| uses.note());
            let mut met = 0;
            while uses.get() >= Uses::ONE {
                uses = uses.aged(Aging::of(room, room + new));
                met += new;
            }
            assert!(room / 2 <= met && met <= 3 * room, "{room}: {met}");
        }
        let whole = Uses::once();
        assert_eq!(whole.aged(Aging::of(9, 9)).get(), Uses::ONE * 8 / 9);
        assert_eq!(whole.aged(Aging::of(0, 9)).get(), Uses::ONE * 3 / 9);
        assert_eq!(whole.aged(Aging::QUARTER).get(), Uses::ONE * 3 / 4);
        assert_eq!(whole.aged(Aging::of(0, 0)).get(), Uses::ONE);
    }
}

//! Which readings are kept from one token to the next.
//!
//! All of them, nearly always. There is a limit to how many, and one to the steps that are taken to
//! follow them where their stacks fork. Each reading that is kept can be completed, so masks are
//! too narrow then, but neither wrong nor empty.

use smallvec::SmallVec;

use super::{Matcher, Moment};
use crate::scanner::configuration::Configuration;
use crate::scanner::{Bounds, Scanner};

/// How many steps were taken to follow the readings where their stacks fork. In three bytes, for
/// which there is room: a moment is kept for each token of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent([u8; 3]);

/// What it took to follow readings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    /// Steps because their stacks fork.
    pub(super) steps: usize,
    /// How many were dropped for that at least.
    pub(super) dropped: u32,
}

impl Spent {
    /// More are not told apart.
    const MOST: u32 = (1 << 24) - 1;

    fn get(self) -> u32 {
        let [first, second, third] = self.0;
        u32::from_le_bytes([first, second, third, 0])
    }

    fn add(&mut self, steps: usize) {
        let steps = u32::try_from(steps).unwrap_or(Self::MOST);
        let [first, second, third, _] =
            self.get().saturating_add(steps).min(Self::MOST).to_le_bytes();
        self.0 = [first, second, third];
    }

    /// What was taken where there were more.
    pub(super) fn max(self, other: Self) -> Self {
        if other.get() > self.get() { other } else { self }
    }
}

/// What the scanner meets while a text is read stays, and is charged as steps of following it.
const BYTES_OF_A_STEP: usize = 64;

impl Matcher {
    /// A moment to which what the scanner has met since the last one is charged: masks and tokens
    /// of this text, and of others at the same time. So no text adds to the scanner without end.
    pub(super) fn charged(&mut self, mut next: Moment) -> Moment {
        let met = self.index.scanner().met_bytes();
        next.spend(met.saturating_sub(self.met) / BYTES_OF_A_STEP);
        self.met = met;
        next
    }
}

impl Moment {
    /// Keeps no more readings than may be kept; one, on one stack, where their steps are spent.
    pub(super) fn limit(&mut self, scanner: &Scanner) {
        let Bounds { readings, reading_steps, .. } = scanner.bounds();
        if self.spent.get() as usize > reading_steps
            && self.has_several_stacks()
            && let Some((place, one)) = self.one_way(scanner)
        {
            // A graph stands for two stacks at least.
            self.dropped = self.dropped.saturating_add(self.readings.len().max(2) as u32 - 1);
            self.notes = self.notes.only(place);
            self.readings = SmallVec::from_iter([one]);
        }
        let dropped = self.readings.len().saturating_sub(readings);
        self.readings.truncate(readings);
        self.dropped = self.dropped.saturating_add(dropped as u32);
    }

    /// So many steps more were taken to follow the readings.
    pub(super) fn spend(&mut self, steps: usize) {
        self.spent.add(steps);
    }

    fn has_several_stacks(&self) -> bool {
        !matches!(&self.readings[..], [only] if only.stack.first_fork().is_none())
    }

    /// A reading that can be completed on one stack, and its place: the first of those that leave
    /// the fewest obligations, for these tell ever more readings apart.
    fn one_way(&self, scanner: &Scanner) -> Option<(usize, Configuration)> {
        let mut readings: Vec<_> = self.readings.iter().enumerate().collect();
        readings.sort_by_key(|(_, reading)| scanner.obligations(reading.obligations).len());
        readings.into_iter().find_map(|(place, reading)| {
            Some((place, scanner.one_way(reading, self.is_between(place))?))
        })
    }
}

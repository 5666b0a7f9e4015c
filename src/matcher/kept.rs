//! Which readings are kept from one token to the next.
//!
//! All of them, nearly always. There is a limit to how many, and one to the steps that are taken to
//! follow them where their stacks fork. Each reading that is kept can be completed, so masks are
//! too narrow then, but neither wrong nor empty.

use smallvec::SmallVec;

use super::Moment;
use crate::scanner::configuration::Configuration;
use crate::scanner::{Bounds, Scanner};

impl Moment {
    /// Keeps no more readings than may be kept; one, on one stack, where their steps are spent.
    pub(super) fn limit(&mut self, scanner: &Scanner) {
        let Bounds { readings, reading_steps, .. } = scanner.bounds();
        if self.spent as usize > reading_steps
            && self.has_several_stacks()
            && let Some((place, one)) = self.one_way(scanner)
        {
            // A graph stands for two stacks at least.
            self.dropped = self.dropped.saturating_add(self.readings.len().max(2) as u32 - 1);
            self.counts = self.counts.only(place);
            self.readings = SmallVec::from_iter([one]);
        }
        let dropped = self.readings.len().saturating_sub(readings);
        self.readings.truncate(readings);
        self.dropped = self.dropped.saturating_add(dropped as u32);
    }

    /// So many steps more were taken to follow the readings.
    pub(super) fn spend(&mut self, steps: usize) {
        self.spent = self.spent.saturating_add(steps.try_into().unwrap_or(u32::MAX));
    }

    fn has_several_stacks(&self) -> bool {
        !matches!(&self.readings[..], [only] if only.stack.first_fork().is_none())
    }

    /// The first reading that can be completed on one stack, and its place.
    fn one_way(&self, scanner: &Scanner) -> Option<(usize, Configuration)> {
        let mut readings = self.readings.iter().enumerate();
        readings.find_map(|(place, reading)| {
            Some((place, scanner.one_way(reading, self.is_between(place))?))
        })
    }
}

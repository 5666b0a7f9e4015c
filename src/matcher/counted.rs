//! Tokens counted, for grammars whose lexemes may take so many (`rule[max_tokens=10]`).
//!
//! Beside each reading stands how far its lexeme has come. Readings that differ in that alone are
//! two. A token counts for a lexeme when it ends within it; at the end of each token lexemes that
//! have taken what they may are cut off ([`Scanner::settle`]).

use std::sync::Arc;

use smallvec::SmallVec;

use super::kept::Followed;
use super::{Matcher, Moment, Progress};
use crate::scanner::configuration::{Configuration, Readings};
use crate::scanner::{Reads, Scanner};
use crate::util::id::TerminalId;

/// How far lexemes have come, one for each reading; nothing for grammars that do not count.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Option<Arc<SmallVec<[Count; 4]>>>);

/// How far the lexeme in progress has come: 0 before its first byte, then one more than the tokens
/// that have ended within it.
pub(super) type Count = u32;

/// How far the lexeme in progress has come after a byte; `ended` is the one that ended before it.
pub(super) fn count_after(before: Count, ended: Option<TerminalId>) -> Count {
    if ended.is_some() { 1 } else { before.max(1) }
}

/// A reading, and how far its lexeme has come.
pub(super) type Counted = (Configuration, Count);

impl Counts {
    /// Of so many readings before their first byte.
    pub(super) fn before(readings: usize, scanner: &Scanner) -> Self {
        Self(scanner.has_budgets().then(|| Arc::new(SmallVec::from_elem(0, readings))))
    }

    pub(super) fn get(&self, reading: usize) -> Option<Count> {
        self.0.as_ref().map(|counts| counts[reading])
    }

    /// That of this reading alone.
    pub(super) fn only(&self, reading: usize) -> Self {
        Self(self.get(reading).map(|count| Arc::new(SmallVec::from_elem(count, 1))))
    }

    fn is_some(&self) -> bool {
        self.0.is_some()
    }
}

impl Moment {
    /// Whether no byte of a lexeme has come in a reading.
    pub(super) fn is_between(&self, reading: usize) -> bool {
        self.counts.get(reading).map_or(self.progress == Progress::Fresh, |count| count == 0)
    }

    /// The readings, each with how far its lexeme has come; 0 in grammars that do not count.
    pub(super) fn counted(&self) -> Vec<Counted> {
        let counts = (0..self.readings.len()).map(|place| self.counts.get(place).unwrap_or(0));
        self.readings.iter().cloned().zip(counts).collect()
    }

    /// The readings in which some byte of a lexeme has come, or none: where both are met, and in
    /// grammars that count.
    pub(super) fn are_between(&self, between: bool) -> SmallVec<[Configuration; 2]> {
        let readings = self.readings.iter().enumerate();
        let alike = readings.filter(|&(place, _)| self.is_between(place) == between);
        alike.map(|(_, reading)| reading.clone()).collect()
    }
}

impl Matcher {
    /// Whether lexemes are counted.
    pub(super) fn counts(&self) -> bool {
        self.now.counts.is_some()
    }

    /// What holds after `bytes`, and what it took to follow them, or how many of them are viable.
    /// The token goes on.
    pub(super) fn read_counted(
        &self,
        from: &Moment,
        bytes: &[u8],
    ) -> Result<(Vec<Counted>, Followed), usize> {
        let scanner = self.index.scanner();
        let (mut stepped, mut united) = (Reads::none(), 0);
        let (mut now, mut dropped) = (from.counted(), 0);
        for (count, &byte) in bytes.iter().enumerate() {
            let is_last = count + 1 == bytes.len();
            let mut next = CountedReadings::default();
            for (reading, before) in &now {
                scanner.step_over(reading, byte, &mut stepped, |after, ended| {
                    if self.may_be_viable(&after, is_last, &mut Reads::none()) {
                        next.add(scanner, after, count_after(*before, ended));
                    }
                });
            }
            now = next.into_all(scanner, &mut united);
            if now.is_empty() {
                return Err(count);
            }
            if self.takes_too_long(stepped.following() + united) && !is_last {
                now = vec![self.one_reading(now.into_iter(), &bytes[count + 1..]).ok_or(count)?];
                dropped = 1;
                break;
            }
        }
        Ok((now, Followed { steps: stepped.following() + united, dropped }))
    }

    /// What holds at the end of a token, where lexemes are cut off that have taken what they may.
    pub(super) fn end_token(
        &self,
        from: &Moment,
        readings: &[Counted],
        mut followed: Followed,
    ) -> Moment {
        let scanner = self.index.scanner();
        let mut settled = CountedReadings::default();
        for (reading, count) in readings {
            let count = count.saturating_add(1).min(scanner.greatest_budget().saturating_add(1));
            for (after, cut) in scanner.settle(reading, count - 1) {
                settled.add(scanner, after, if cut.is_some() { 0 } else { count });
            }
        }
        let readings = settled.into_all(scanner, &mut followed.steps);
        self.moment(from, readings, followed)
    }

    /// These readings, no more than may be kept, where it took so much to follow them.
    pub(super) fn moment(
        &self,
        from: &Moment,
        readings: Vec<Counted>,
        followed: Followed,
    ) -> Moment {
        let (readings, counts): (SmallVec<[Configuration; 1]>, SmallVec<[Count; 4]>) =
            readings.into_iter().unzip();
        let mut moment = Moment {
            readings,
            counts: Counts(Some(Arc::new(counts))),
            progress: Progress::Begun,
            dropped: from.dropped.saturating_add(followed.dropped),
            spent: from.spent,
        };
        moment.spend(followed.steps);
        moment.limit(self.index.scanner());
        moment
    }

    /// The readings of a moment, or of two, each with its count.
    pub(super) fn either_counted(
        &self,
        one: &Moment,
        other: &Moment,
        steps: &mut usize,
    ) -> Vec<Counted> {
        let mut all = CountedReadings::default();
        for (reading, count) in one.counted().into_iter().chain(other.counted()) {
            all.add(self.index.scanner(), reading, count);
        }
        all.into_all(self.index.scanner(), steps)
    }
}

/// Readings of one text, by how far their lexemes have come.
#[derive(Debug, Default)]
struct CountedReadings(SmallVec<[(Count, Readings); 2]>);

impl CountedReadings {
    fn add(&mut self, scanner: &Scanner, reading: Configuration, count: Count) {
        // Where nothing hangs on it, all that have begun are alike.
        let count = if scanner.is_counted(reading.state) { count } else { count.min(1) };
        let place = match self.0.iter().position(|(known, _)| *known == count) {
            Some(place) => place,
            None => {
                self.0.push((count, Readings::default()));
                self.0.len() - 1
            }
        };
        self.0[place].1.add(reading, scanner.table());
    }

    fn into_all(self, scanner: &Scanner, steps: &mut usize) -> Vec<Counted> {
        let groups = self.0.into_iter();
        groups
            .flat_map(|(count, readings)| {
                let all = readings.into_all(scanner.table(), steps);
                all.into_iter().map(move |one| (one, count))
            })
            .collect()
    }
}

//! Side state of readings, for grammar features that configurations do not track: the tokens of the
//! lexeme in progress (`rule[max_tokens=10]`), and the items of lists of distinct items
//! ([`distinct`](super::distinct)).
//!
//! Readings that differ only in their side state are distinct. A token counts for a lexeme if it
//! ends within it; at the end of each token, lexemes that have reached their limit are cut off
//! ([`Scanner::settle`]).

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::distinct::ListState;
use super::error::Refused;
use super::limits::Followed;
use super::{Matcher, Moment, Progress};
use crate::scanner::configuration::{Configuration, Readings};
use crate::scanner::{Reads, Scanner};
use crate::util::id::TerminalId;

/// A note for each reading; `None` for grammars that need no notes.
#[derive(Clone, Default)]
pub(super) struct Notes(Option<Arc<SmallVec<[Note; 1]>>>);

/// Side state of a reading.
#[derive(Clone, Default)]
pub(super) struct Note {
    tokens: Count,
    pub(super) items: ListState,
}

/// Token count of the lexeme in progress: 0 before its first byte, then one more than the number of
/// tokens that have ended within it.
type Count = u32;

/// A reading with its note.
pub(super) type NotedReading = (Configuration, Note);

impl Note {
    /// Returns the note after a byte. `at` is the configuration after it, and `ended` the lexeme
    /// that ended before it. `None` if the items rule the byte out.
    pub(super) fn after(
        &self,
        scanner: &Scanner,
        at: &Configuration,
        byte: u8,
        ended: Option<TerminalId>,
    ) -> Option<Self> {
        let tokens = if ended.is_some() { 1 } else { self.tokens.max(1) };
        let items = match scanner.lexis().has_distinct() {
            true => self.items.after(scanner, at, byte, ended)?,
            false => ListState::default(),
        };
        Some(Self { tokens, items })
    }

    /// Returns the count before the end of a token, in a grammar without distinct items. `begins`:
    /// the lexeme in progress began within the token.
    pub(super) fn within_token(before: Option<&Self>, begins: bool) -> Self {
        let tokens = before.filter(|_| !begins).map_or(1, |before| before.tokens.max(1));
        Self { tokens, items: ListState::default() }
    }

    /// Whether both are certainly equal. May be false for equal ones.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.tokens == other.tokens && self.items.same(&other.items)
    }
}

impl Notes {
    /// Returns the notes of this many readings before their first byte.
    pub(super) fn before(readings: usize, scanner: &Scanner) -> Self {
        let are_needed = scanner.has_budgets() || scanner.lexis().has_distinct();
        Self(are_needed.then(|| Arc::new(SmallVec::from_elem(Note::default(), readings))))
    }

    pub(super) fn get(&self, reading: usize) -> Option<&Note> {
        self.0.as_ref().map(|notes| &notes[reading])
    }

    /// Returns the note of this reading alone.
    pub(super) fn only(&self, reading: usize) -> Self {
        Self(self.get(reading).map(|note| Arc::new(SmallVec::from_elem(note.clone(), 1))))
    }

    fn is_some(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let notes = self.0.iter().flat_map(|notes| notes.iter());
        f.debug_list().entries(notes.map(|note| note.tokens)).finish()
    }
}

impl Moment {
    /// Whether no lexeme is in progress in a reading.
    pub(super) fn is_between(&self, reading: usize) -> bool {
        self.notes.get(reading).map_or(self.progress == Progress::Fresh, |note| note.tokens == 0)
    }

    /// Returns the readings with their notes, which are empty for grammars that need none.
    pub(super) fn noted(&self) -> Vec<NotedReading> {
        let notes = (0..self.readings.len()).map(|at| self.notes.get(at).cloned());
        self.readings.iter().cloned().zip(notes.map(Option::unwrap_or_default)).collect()
    }

    /// Returns the readings with no lexeme in progress, or those with one. For grammars with token
    /// limits, where both may occur.
    pub(super) fn are_between(&self, between: bool) -> SmallVec<[Configuration; 2]> {
        let readings = self.readings.iter().enumerate();
        let alike = readings.filter(|&(place, _)| self.is_between(place) == between);
        alike.map(|(_, reading)| reading.clone()).collect()
    }
}

impl Matcher {
    /// Whether readings have notes.
    pub(super) fn has_notes(&self) -> bool {
        self.now.notes.is_some()
    }

    /// Returns the readings after `bytes` and the cost of following them, or how many of the bytes
    /// are viable. The token may have more bytes.
    pub(super) fn read_noted(
        &self,
        from: &Moment,
        bytes: &[u8],
    ) -> Result<(Vec<NotedReading>, Followed), Refused> {
        let scanner = self.index.scanner();
        let (mut stepped, mut united, mut decided) = (Reads::none(), 0, 0);
        let (mut now, mut dropped) = (from.noted(), 0);
        if self.is_given_up(from) {
            return Err(Refused::undecided(0));
        }
        for (count, &byte) in bytes.iter().enumerate() {
            let is_last = count + 1 == bytes.len();
            let mut next = NotedReadings::default();
            for (reading, before) in &now {
                scanner.step_over(reading, byte, &mut stepped, |after, ended| {
                    let Some(note) = before.after(scanner, &after, byte, ended) else { return };
                    let mut viewed = Reads::none();
                    if self.may_be_viable(&after, is_last, &mut viewed) {
                        next.add(scanner, after, note);
                    }
                    decided += *viewed.steps();
                });
            }
            now = next.into_all(scanner, &mut united);
            if now.is_empty() {
                return Err(Refused::at(count));
            }
            if self.takes_too_long(stepped.following() + united) && !is_last {
                now = vec![
                    self.one_reading(now.into_iter(), &bytes[count + 1..], &mut decided)
                        .ok_or(Refused::undecided(count))?,
                ];
                dropped = 1;
                break;
            }
        }
        Ok((now, Followed { steps: stepped.following() + united, decided, dropped }))
    }

    /// Returns the state at the end of a token, where lexemes that have reached their limit are cut
    /// off.
    pub(super) fn end_token(
        &self,
        from: &Moment,
        readings: &[NotedReading],
        mut followed: Followed,
    ) -> Moment {
        let scanner = self.index.scanner();
        let mut settled = NotedReadings::default();
        for (reading, note) in readings {
            let most = scanner.greatest_budget().saturating_add(1);
            let count = note.tokens.saturating_add(1).min(most);
            for (after, cut) in scanner.settle(reading, count - 1) {
                let tokens = if cut.is_some() { 0 } else { count };
                settled.add(scanner, after, Note { tokens, items: note.items.clone() });
            }
        }
        let readings = settled.into_all(scanner, &mut followed.steps);
        self.moment(from, readings, followed)
    }

    /// Returns the state with these readings, limited in number, after charging the cost of
    /// following them.
    pub(super) fn moment(
        &self,
        from: &Moment,
        readings: Vec<NotedReading>,
        followed: Followed,
    ) -> Moment {
        let (readings, notes): (SmallVec<[Configuration; 1]>, SmallVec<[Note; 1]>) =
            readings.into_iter().unzip();
        let mut moment = Moment {
            readings,
            notes: Notes(Some(Arc::new(notes))),
            progress: Progress::Begun,
            dropped: from.dropped.saturating_add(followed.dropped),
            spent: from.spent,
            tokens: None,
            healing: None,
        };
        moment.spend(followed, self.index.scanner());
        moment.limit(self.index.scanner());
        moment
    }

    /// Returns the readings of two moments, each with its note.
    pub(super) fn either_noted(
        &self,
        one: &Moment,
        other: &Moment,
        steps: &mut usize,
    ) -> Vec<NotedReading> {
        let mut all = NotedReadings::default();
        for (reading, note) in one.noted().into_iter().chain(other.noted()) {
            all.add(self.index.scanner(), reading, note);
        }
        all.into_all(self.index.scanner(), steps)
    }
}

/// Readings of one text, grouped by their notes.
#[derive(Default)]
struct NotedReadings(SmallVec<[(Note, Readings); 1]>);

impl NotedReadings {
    fn add(&mut self, scanner: &Scanner, reading: Configuration, mut note: Note) {
        // If the count has no effect, all lexemes that have begun are equivalent.
        if !scanner.is_counted(reading.state) {
            note.tokens = note.tokens.min(1);
        }
        let place = match self.0.iter().position(|(known, _)| known.same(&note)) {
            Some(place) => place,
            None => {
                self.0.push((note, Readings::default()));
                self.0.len() - 1
            }
        };
        self.0[place].1.add(reading, scanner.table());
    }

    fn into_all(self, scanner: &Scanner, steps: &mut usize) -> Vec<NotedReading> {
        let groups = self.0.into_iter();
        groups
            .flat_map(|(note, readings)| {
                let all = readings.into_all(scanner.table(), steps);
                all.into_iter().map(move |one| (one, note.clone()))
            })
            .collect()
    }
}

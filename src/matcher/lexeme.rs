//! Start of the incomplete lexeme at the end of a text, for messages.

use super::{Matcher, Moment, Progress};
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;

/// Upper bound on the readings followed: each new one is compared with all others.
const READINGS: usize = 64;

/// A reading of the text so far.
#[derive(Clone)]
struct Reading {
    at: Configuration,
    /// Start of the lexeme in progress; `None` if it is before the bytes that are read.
    began: Option<usize>,
}

impl Matcher {
    /// Returns the offset into `bytes`, which follow `from`, at which the incomplete lexeme at
    /// their end begins. `None` if the text may go on with another lexeme there, if the lexeme
    /// began earlier, or if the bytes are not viable. Of several readings, the one whose lexeme
    /// began last counts.
    ///
    /// Costs a step for each byte and reading; all decisions together take no more than those of a
    /// mask.
    pub(super) fn begun_lexeme(&self, from: &Moment, bytes: &[u8]) -> Option<usize> {
        let scanner = self.index.scanner();
        let begins = |place| from.progress == Progress::Fresh || from.is_between(place);
        let readings = from.readings.iter().enumerate();
        let mut readings: Vec<Reading> = readings
            .map(|(place, at)| Reading { at: at.clone(), began: begins(place).then_some(0) })
            .collect();
        let mut viewed = Reads::none();
        for (offset, &byte) in bytes.iter().enumerate() {
            let mut next: Vec<Reading> = Vec::new();
            for reading in &readings {
                scanner.step_over(&reading.at, byte, &mut Reads::none(), |at, ended| {
                    let is_known = next.iter().any(|known| known.at.same(&at));
                    if is_known || !scanner.is_viable(&at, &mut viewed) {
                        return;
                    }
                    let began = if ended.is_some() { Some(offset) } else { reading.began };
                    next.push(Reading { at, began });
                });
            }
            next.truncate(READINGS);
            readings = next;
        }
        let states = scanner.states();
        // A label that the stack does not accept ends no lexeme: under `basic` all terminals
        // compete.
        let is_open = |reading: &Reading| {
            let mut ends = states.ends(reading.at.state);
            ends.all(|(label, _)| self.after(&reading.at, label).is_empty())
        };
        if !readings.iter().all(is_open) {
            return None;
        }
        readings.iter().filter_map(|reading| reading.began).max()
    }
}

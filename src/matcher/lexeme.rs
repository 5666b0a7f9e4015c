//! The lexeme that a text stops in, for messages: where it began.

use super::{Matcher, Progress};
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;

/// Readings that are followed: each new one is compared with all others.
const READINGS: usize = 64;

/// A way to read the text so far.
#[derive(Clone)]
struct Reading {
    at: Configuration,
    /// Where the lexeme in progress began; `None`: before the bytes that are read.
    began: Option<usize>,
}

impl Matcher {
    /// Where the lexeme began that is still incomplete after `bytes`: an offset into them. `None`
    /// where the text may go on with another lexeme there, where the lexeme began earlier, and
    /// where the bytes are not viable. Of several readings the one whose lexeme began last counts.
    /// Changes nothing.
    ///
    /// It is for messages: a text that leaves the language within a lexeme was mostly meant as
    /// another lexeme from there on. Costs a step for each byte and reading; all decisions together
    /// take no more than those of a mask.
    pub fn incomplete_lexeme(&self, bytes: &[u8]) -> Option<usize> {
        let scanner = self.index.scanner();
        let begins = |place| self.now.progress == Progress::Fresh || self.now.is_between(place);
        let readings = self.now.readings.iter().enumerate();
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
        // A label that the stack cannot take ends no lexeme: all terminals compete under `basic`.
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

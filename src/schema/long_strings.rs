//! Strings with no constraint but their length; long ones are split into runs of characters.
//!
//! The lexer counts, and stores states for each count. Beyond some thousands that would be too
//! many, so the parser counts runs of characters instead ([`super::runs`]). A run has a fixed
//! number of characters, and the last run ends with the quote, so no lexeme is a prefix of another.
//!
//! Rows of the tables contain the ends of all positions of runs. So that ends never compete, the
//! characters that a string must have beyond whole runs come first, with the quote, and ends that
//! only some positions allow are a separate terminal.

use crate::grammar::ir::Symbol;
use crate::grammar::pattern::Pattern;
use crate::schema::build::{Builder, StringRuns};
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Shape};
use crate::schema::machine::Machine;

use FormulaId as F;

impl Machine<'_> {
    /// Returns the bounds that a formula on strings sets, if it sets nothing else: a pattern that
    /// every text matches is no constraint.
    pub(super) fn lengths(
        &mut self,
        formula: F,
    ) -> Result<Option<(u64, Option<u64>)>, SchemaError> {
        let (min, max, others) = self.bounds(formula);
        if (min, max) == (0, None) {
            return Ok(None);
        }
        for other in others {
            match self.reader.formulas.shape(other) {
                Shape::Atom(Atom::Pattern(pattern)) if self.is_in_every_text(pattern)? => {}
                _ => return Ok(None),
            }
        }
        Ok(Some((min, max)))
    }
}

/// Number of characters of a run.
const RUN: u64 = 1024;
/// Maximum lengths from this number on are split into runs. For a string with a slightly lower
/// maximum that is read to its end, the scanner stores 27 MB.
const LONG: u64 = 10_000;
/// Minimum lengths from this number on are split into runs: until a string reaches its minimum
/// length, tokens fall into many classes.
const LONG_AT_LEAST: u64 = 1_024;

impl Builder<'_, '_> {
    /// Returns the symbol of the strings of these lengths.
    pub(super) fn counted_string(
        &mut self,
        min: u64,
        max: Option<u64>,
    ) -> Result<Symbol, SchemaError> {
        if min < LONG_AT_LEAST && max.is_none_or(|max| max < LONG) {
            let bounds = (min as u32, max.map(|max| max as u32));
            let string = self.machine.texts.counted(bounds, [true, true]);
            return Ok(self.fragment.terminal("STRING", string));
        }
        let room = max.map_or(u64::MAX, |max| max - min);
        let StringRuns { run, fewer, end } = self.string_runs(room % RUN)?;
        // The beginning of every string: the quote and the minimum number of characters.
        let string = self.fragment.nonterminals("string", 1);
        let mut front = vec![self.front(min % RUN)];
        self.exactly((run, fewer), min / RUN, &mut front)?;
        match max {
            Some(_) => {
                front.push(self.at_most((run, fewer), room / RUN, end)?);
                self.production(string, front)?;
            }
            None => {
                let begun = self.fragment.nonterminals("begun", 1);
                self.production(begun, front)?;
                self.production(begun, [Symbol::Nonterminal(begun), run])?;
                self.production(string, [Symbol::Nonterminal(begun), fewer])?;
            }
        }
        Ok(Symbol::Nonterminal(string))
    }

    /// Returns the terminal of the quote before a string and exactly `count` characters.
    fn front(&mut self, count: u64) -> Symbol {
        let pattern = match count {
            0 => Pattern::Literal { text: "\"".to_owned(), ignore_case: false },
            _ => self.machine.texts.counted((count as u32, Some(count as u32)), [true, false]),
        };
        let quote = self.fragment.terminal("QUOTE", pattern);
        self.fragment.describe(quote, "string".to_owned(), None);
        quote
    }

    /// Returns the terminal of the end of a string: `least` to `most` characters, and the quote.
    fn end(&mut self, least: u64, most: u64) -> Symbol {
        let end = self.machine.texts.counted((least as u32, Some(most as u32)), [false, true]);
        let end = self.fragment.terminal("END", end);
        self.fragment.describe(end, "end of a string".to_owned(), None);
        end
    }

    /// Returns the runs of strings that may have up to `most` characters after the maximum number
    /// of runs.
    fn string_runs(&mut self, most: u64) -> Result<StringRuns, SchemaError> {
        if let Some(&known) = self.string_runs.get(&most) {
            return Ok(known);
        }
        let run = self.machine.texts.counted((RUN as u32, Some(RUN as u32)), [false, false]);
        let run = self.fragment.terminal("RUN", run);
        self.fragment.describe(run, "characters of a string".to_owned(), None);
        let end = self.end(0, most);
        let fewer = self.fragment.nonterminals("fewer_runs", 1);
        self.production(fewer, [end])?;
        if most < RUN - 1 {
            let longer = self.end(most + 1, RUN - 1);
            self.production(fewer, [longer])?;
        }
        let runs = StringRuns { run, fewer: Symbol::Nonterminal(fewer), end };
        self.string_runs.insert(most, runs);
        Ok(runs)
    }
}

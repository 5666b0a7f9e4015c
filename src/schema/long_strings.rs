//! Strings with no constraint but their length; long ones are split into runs of characters.
//!
//! The lexer counts, and stores states for each count. Beyond some thousands that would be too
//! many, so the parser counts runs of characters instead. A run has a fixed number of characters,
//! and the last run ends with the quote, so no lexeme is a prefix of another.
//!
//! The parser counts in binary: `full2 -> full1 full1` and `full1 -> RUN RUN` are four runs,
//! `fewer2 -> fewer1 | full1 fewer1` and `fewer1 -> fewer0 | RUN fewer0` are at most three, with
//! the end of the string. A bound is the sum of its digits, so the productions, the parse states
//! and the stack grow with its logarithm. A run after a full half completes one of the next size,
//! like a carry; only the stack tells which runs are complete, so one lookahead always suffices.
//! Rows of the tables contain the ends of all positions of runs. So that ends never compete, the
//! characters that a string must have beyond whole runs come first, with the quote, and ends that
//! only some positions allow are a separate terminal.

use crate::grammar::ir::Symbol;
use crate::grammar::pattern::Pattern;
use crate::schema::build::{Builder, Runs};
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
const RUN: u64 = 64;
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
        let (more, most) = (room / RUN, room % RUN);
        self.make_runs(most)?;
        // The beginning of every string: the quote and the minimum number of characters.
        let string = self.fragment.nonterminals("string", 1);
        let mut front = vec![self.front(min % RUN)];
        for power in digits(min / RUN).rev() {
            front.push(self.full_runs(most, power)?);
        }
        match max {
            Some(_) => {
                front.push(self.runs_at_most(more, most)?);
                self.production(string, front)?;
            }
            None => {
                let begun = self.fragment.nonterminals("begun", 1);
                self.production(begun, front)?;
                let run = self.full_runs(most, 0)?;
                self.production(begun, [Symbol::Nonterminal(begun), run])?;
                let end = self.fewer_runs(most, 0)?;
                self.production(string, [Symbol::Nonterminal(begun), end])?;
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

    /// Makes the runs of strings that may have up to `most` characters after the maximum number of
    /// runs.
    fn make_runs(&mut self, most: u64) -> Result<(), SchemaError> {
        if self.runs.contains_key(&most) {
            return Ok(());
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
        let fewer = vec![Symbol::Nonterminal(fewer)];
        self.runs.insert(most, Runs { full: vec![run], fewer, end });
        Ok(())
    }

    /// Returns the symbol of 2^`power` runs.
    fn full_runs(&mut self, most: u64, power: u32) -> Result<Symbol, SchemaError> {
        self.grow_runs(most, power)?;
        Ok(self.runs[&most].full[power as usize])
    }

    /// Returns the symbol of fewer than 2^`power` runs and the end of the string.
    fn fewer_runs(&mut self, most: u64, power: u32) -> Result<Symbol, SchemaError> {
        self.grow_runs(most, power)?;
        Ok(self.runs[&most].fewer[power as usize])
    }

    fn grow_runs(&mut self, most: u64, power: u32) -> Result<(), SchemaError> {
        for half in self.runs[&most].full.len() - 1..power as usize {
            let (full, fewer) = (self.runs[&most].full[half], self.runs[&most].fewer[half]);
            let twice = self.fragment.nonterminals("runs", 1);
            self.production(twice, [full, full])?;
            let below = self.fragment.nonterminals("fewer_runs", 1);
            self.production(below, [fewer])?;
            self.production(below, [full, fewer])?;
            if let Some(runs) = self.runs.get_mut(&most) {
                runs.full.push(Symbol::Nonterminal(twice));
                runs.fewer.push(Symbol::Nonterminal(below));
            }
        }
        Ok(())
    }

    /// Returns the symbol of at most `runs` runs and the end of the string.
    fn runs_at_most(&mut self, runs: u64, most: u64) -> Result<Symbol, SchemaError> {
        let mut end = self.runs[&most].end;
        for power in digits(runs) {
            let (full, fewer) = (self.full_runs(most, power)?, self.fewer_runs(most, power)?);
            let from_here = self.fragment.nonterminals("runs_at_most", 1);
            self.production(from_here, [fewer])?;
            self.production(from_here, [full, end])?;
            end = Symbol::Nonterminal(from_here);
        }
        Ok(end)
    }
}

/// Returns the exponents of the powers of two whose sum is `number`, in ascending order.
pub(super) fn digits(number: u64) -> impl DoubleEndedIterator<Item = u32> {
    (0..u64::BITS).filter(move |power| number >> power & 1 == 1)
}

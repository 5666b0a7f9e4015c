//! Strings that are asked for their length only, long ones cut into runs of characters.
//!
//! The lexer counts, and keeps what it has met of each count. Past some thousand that would be
//! much, so the parser counts runs of characters instead. A run is just so many characters, and the
//! last run ends in the quote, so no lexeme is the beginning of another.

use crate::grammar::ir::Symbol;
use crate::grammar::pattern::{Pattern, RegexFlags};
use crate::schema::build::Builder;
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Shape};
use crate::schema::machine::Machine;

use FormulaId as F;

impl Machine<'_> {
    /// The bounds that a formula about strings sets, where it sets nothing else.
    pub(super) fn lengths(&self, formula: F) -> Option<(u64, Option<u64>)> {
        let formulas = &self.reader.formulas;
        let parts = match formulas.shape(formula) {
            Shape::And(list) => formulas.parts(list),
            _ => std::slice::from_ref(&formula),
        };
        parts.iter().try_fold((0, None), |(min, max), &part| match formulas.shape(part) {
            Shape::Atom(Atom::MinLength(count)) => Some((count.max(min), max)),
            Shape::Atom(Atom::MaxLength(count)) => {
                Some((min, Some(max.map_or(count, |max| count.min(max)))))
            }
            _ => None,
        })
    }
}

/// Characters of a run.
const RUN: u64 = 64;
/// Greatest lengths from which on strings are cut into runs. What the scanner keeps of a string
/// that is a little shorter, where a text goes to its end, is 27 MB.
const LONG: u64 = 10_000;
/// Least lengths from which on they are. Tokens are of many classes before these are reached.
const LONG_AT_LEAST: u64 = 1_024;

impl Builder<'_, '_> {
    /// Strings of these lengths.
    pub(super) fn counted_string(
        &mut self,
        min: u64,
        max: Option<u64>,
    ) -> Result<Symbol, SchemaError> {
        let regex =
            Pattern::Regex { pattern: "\"".to_owned(), flags: RegexFlags::default(), place: None };
        if min < LONG_AT_LEAST && max.is_none_or(|max| max < LONG) {
            let bounds = (min as u32, max.map(|max| max as u32));
            let string = self.machine.texts.counted(bounds, [true, true]);
            return Ok(self.fragment.terminal("STRING", string));
        }
        let quote = self.fragment.terminal("QUOTE", regex);
        let run = self.machine.texts.counted((RUN as u32, Some(RUN as u32)), [false, false]);
        let run = self.fragment.terminal("RUN", run);
        let string = self.fragment.nonterminals("string", 1);
        let mut front = self.fragment.nonterminals("runs", 1);
        self.production(front, [quote])?;
        let mut read = 0;
        // All runs but the last ones have the same behind them.
        let mut known = None;
        loop {
            let (least, most) = (min.saturating_sub(read), max.map(|max| max - read));
            let is_unbounded = most.is_none() && least == 0;
            if is_unbounded || least < RUN {
                let most = match most {
                    None if is_unbounded => None,
                    _ => Some(most.unwrap_or(u64::MAX).min(RUN - 1)),
                };
                let rest = match known {
                    Some((counts, rest)) if counts == (least, most) => rest,
                    _ => {
                        let bounds = (least as u32, most.map(|most| most as u32));
                        let rest = self.machine.texts.counted(bounds, [false, true]);
                        self.fragment.terminal("REST", rest)
                    }
                };
                known = Some(((least, most), rest));
                self.production(string, [Symbol::Nonterminal(front), rest])?;
            }
            if is_unbounded || most.is_some_and(|most| most < RUN) {
                return Ok(Symbol::Nonterminal(string));
            }
            let next = self.fragment.nonterminals("runs", 1);
            self.production(next, [Symbol::Nonterminal(front), run])?;
            (front, read) = (next, read + RUN);
        }
    }
}

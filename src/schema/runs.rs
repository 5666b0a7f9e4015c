//! Counts in binary: how often something is repeated, counted by the parser's stack.
//!
//! `full2 -> full1 full1` and `full1 -> ONE ONE` are four of something, `fewer2 -> fewer1 | full1
//! fewer1` and `fewer1 -> END | ONE END` are at most three, with the end. A bound is the sum of its
//! digits, so the productions, the parse states and the stack grow with its logarithm. One more
//! after a full half completes a run of the next size, like a carry; only the stack tells which
//! runs are complete, so one lookahead always suffices.

use crate::grammar::ir::Symbol;
use crate::schema::build::{Builder, Runs, Unit};
use crate::schema::error::SchemaError;

impl Builder<'_, '_> {
    /// Returns the symbols of 2^`power`, and of fewer with the end.
    fn run(&mut self, unit: Unit, power: u32) -> Result<[Symbol; 2], SchemaError> {
        let begun = || Runs { full: vec![unit.0], fewer: vec![unit.1] };
        let Runs { full, .. } = self.runs.entry(unit).or_insert_with(begun);
        for half in full.len() - 1..power as usize {
            let Runs { full, fewer } = &self.runs[&unit];
            let (full, fewer) = (full[half], fewer[half]);
            let twice = self.fragment.nonterminals("runs", 1);
            self.production(twice, [full, full])?;
            let below = self.fragment.nonterminals("fewer_runs", 1);
            self.production(below, [fewer])?;
            self.production(below, [full, fewer])?;
            if let Some(runs) = self.runs.get_mut(&unit) {
                runs.full.push(Symbol::Nonterminal(twice));
                runs.fewer.push(Symbol::Nonterminal(below));
            }
        }
        let Runs { full, fewer } = &self.runs[&unit];
        Ok([full[power as usize], fewer[power as usize]])
    }

    /// Appends the symbols of exactly `count`.
    pub(super) fn exactly(
        &mut self,
        unit: Unit,
        count: u64,
        onto: &mut Vec<Symbol>,
    ) -> Result<(), SchemaError> {
        for power in digits(count).rev() {
            onto.push(self.run(unit, power)?[0]);
        }
        Ok(())
    }

    /// Returns the symbol of at most `count`, and the end; `end` is the end after that many.
    pub(super) fn at_most(
        &mut self,
        unit: Unit,
        count: u64,
        mut end: Symbol,
    ) -> Result<Symbol, SchemaError> {
        for power in digits(count) {
            let [full, fewer] = self.run(unit, power)?;
            let from_here = self.fragment.nonterminals("runs_at_most", 1);
            self.production(from_here, [fewer])?;
            self.production(from_here, [full, end])?;
            end = Symbol::Nonterminal(from_here);
        }
        Ok(end)
    }
}

/// Returns the exponents of the powers of two whose sum is `number`, in ascending order.
fn digits(number: u64) -> impl DoubleEndedIterator<Item = u32> {
    (0..u64::BITS).filter(move |power| number >> power & 1 == 1)
}

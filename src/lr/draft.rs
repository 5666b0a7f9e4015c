//! The inputs of the table: the automaton, its look-aheads, and the conflict resolution. Their
//! memory is counted until the table is built.

use super::conflict::{self, Resolution};
use super::lookahead::LookAheads;
use super::lr0::Automaton;
use super::rules::Rules;
use crate::grammar::Grammar;
use crate::util::meter::{Holding, LimitReached, Meter};

/// Inputs of the table, with their memory.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) automaton: Automaton,
    pub(super) lookaheads: LookAheads,
    pub(super) resolution: Resolution,
    pub(super) held: Holding,
}

impl Draft {
    pub(super) fn new(
        grammar: &Grammar,
        rules: &Rules,
        meter: &Meter,
    ) -> Result<Self, LimitReached> {
        let mut held = meter.holding();
        let automaton = Automaton::build(rules, meter)?;
        held.set(automaton.bytes())?;
        let mut lookaheads = LookAheads::compute(rules, &automaton, meter)?;
        held.set(automaton.bytes() + lookaheads.bytes())?;
        let resolution = conflict::resolve(grammar, rules, &automaton, &mut lookaheads, meter)?;
        held.set(automaton.bytes() + lookaheads.bytes() + resolution.bytes())?;
        Ok(Self { automaton, lookaheads, resolution, held })
    }
}

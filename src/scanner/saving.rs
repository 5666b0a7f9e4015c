//! How a scanner is saved, beside the grammar, the tables and the DFAs that it is made of: what the
//! check of the grammar found, and what has been met, under the numbers by which the index knows
//! it.
//!
//! Not saved is what is found again in a microsecond: what a stack can shift and where the next
//! lexeme starts on it.

use smallvec::SmallVec;

use super::lexis;
use super::lines::{Blocks, Leading, Width};
use super::lookahead::{Expectation, Lookaheads};
use super::obligations::{Left, ObligationSets};
use super::states::{Component, Past};
use super::{Bounds, Lexis, Lines, Obligations, Proof, Question, Scanner};
use crate::grammar::Grammar;
use crate::lexer::Dfa;
use crate::lr::table::ParseTable;
use crate::util::append::Interner;
use crate::util::bitset::BitSet;
use crate::util::id::{ScanStateId, TerminalId};
use crate::util::meter::Meter;
use crate::util::saving::{Malformed, Reader, Writer, ensure, ensure_below};

impl Scanner {
    /// Writes the scanner, its tables and its DFAs. Whatever has been handed out before by this
    /// scanner is in it, though other threads go on meeting new things.
    pub(crate) fn save(&self, writer: &mut Writer) {
        self.table().save(writer);
        writer.list(self.states().dfas(), |w, dfa| w.option(dfa.as_ref(), |w, dfa| dfa.save(w)));
        self.proof.save(writer);
        self.lexis.lookaheads.save(writer);
        // Before the scan states that they are made of, so that those are among the ones written.
        let left: Vec<&Left> = self.obligations.sets.iter().collect();
        writer.list(&left, |w, left| {
            w.numbers(&raw(&left.obligations));
            w.u32(left.past.0);
        });
        self.states().save(writer);
    }

    /// The scanner of `grammar`, in which every id names something.
    pub(crate) fn load(
        reader: &mut Reader<'_>,
        grammar: &Grammar,
        bounds: Bounds,
        meter: &Meter,
    ) -> Result<Self, Malformed> {
        let table = ParseTable::load(reader, grammar, meter)?;
        let dfas = reader.list(1, |r| r.option(Dfa::load))?;
        let count = grammar.terminals.len();
        ensure(dfas.len() == count, "the DFAs")?;
        let proof = Proof::load(reader, count)?;
        let mut lookaheads = Lookaheads::new(grammar);
        lookaheads.load(reader)?;
        let left = reader.list(9, |r| Ok((r.numbers()?, r.u32()?)))?;
        let mut states = lexis::scan_states(grammar, dfas);
        states.load(reader)?;
        for (ids, past) in &left {
            ensure_below(ids, states.len(), "the scan states of obligations")?;
            ensure_below(&[*past], states.pasts.len(), "the text before a lexeme")?;
        }
        let left = left.into_iter().map(|(ids, past)| Left {
            obligations: ids.into_iter().map(ScanStateId).collect(),
            past: Past(past),
        });
        let lexis = Lexis::over(grammar, table, states, lookaheads);
        let mut scanner = Self::new(lexis, proof, bounds);
        let sets = Interner::restore(left).ok_or(Malformed { what: "the obligations" })?;
        scanner.obligations = ObligationSets::of(sets);
        let none = Left { obligations: Obligations::new(), past: Past::NONE };
        ensure(scanner.obligations.sets.iter().next() == Some(&none), "the obligations")?;
        Ok(scanner)
    }
}

impl Scanner {
    /// How many sets of obligations and of expectations have been met.
    pub(crate) fn open_sets(&self) -> (usize, usize) {
        (self.obligations.sets.len(), self.lexis.lookaheads.expectations.len())
    }
}

impl Proof {
    fn save(&self, writer: &mut Writer) {
        self.sure.save(writer);
        writer.bool(self.is_whole);
        writer.list(&self.gates, |w, (ignored, passing)| {
            w.u32(ignored.0);
            passing.save(w);
        });
    }

    /// A proof about so many terminals.
    fn load(reader: &mut Reader<'_>, count: usize) -> Result<Self, Malformed> {
        let (sure, is_whole) = (BitSet::load(reader, count)?, reader.bool()?);
        let gates = reader.list(8, |r| {
            let ignored = r.u32()?;
            ensure_below(&[ignored], count, "an ignored terminal")?;
            Ok((TerminalId(ignored), BitSet::load(r, count + 1)?))
        })?;
        Ok(Self { sure, is_whole, gates })
    }
}

impl Lines {
    /// Writes the widths of the open blocks, the innermost first, and the rest.
    pub(crate) fn save(&self, writer: &mut Writer) {
        let blocks = std::iter::successors(Some(&self.blocks), |blocks| blocks.below());
        let widths: Vec<Width> =
            blocks.take(self.blocks.level() as usize).map(Blocks::width).collect();
        writer.list(&widths, |w, width| width.save(w));
        writer.u32(self.depth);
        writer.option(self.leading.as_ref(), |w, leading| {
            leading.width.save(w);
            w.bool(leading.counting);
        });
    }

    /// A layout.
    pub(crate) fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let widths = reader.list(8, Width::load)?;
        let blocks =
            widths.into_iter().rev().fold(Blocks::default(), |blocks, width| blocks.push(width));
        let depth = reader.u32()?;
        let leading =
            reader.option(|r| Ok(Leading { width: Width::load(r)?, counting: r.bool()? }))?;
        Ok(Self { blocks, depth, leading, chosen: None })
    }
}

impl Width {
    fn save(&self, writer: &mut Writer) {
        writer.u32(self.column);
        writer.u32(self.alternative);
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { column: reader.u32()?, alternative: reader.u32()? })
    }
}

impl Question {
    /// Writes the question.
    pub(crate) fn save(&self, writer: &mut Writer) {
        match self {
            Self::Width { fresh, blanks } => {
                writer.u8(u8::from(*fresh));
                writer.length(blanks.len());
                writer.raw(blanks);
            }
            Self::Brackets(closed) => {
                writer.u8(2);
                writer.u32(*closed);
            }
            Self::Room(more) => {
                writer.u8(3);
                writer.u32(more.cast_unsigned());
            }
            Self::Layout => writer.u8(4),
        }
    }

    /// A question.
    pub(crate) fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match reader.u8()? {
            kind @ (0 | 1) => {
                let length = reader.length(1)?;
                Self::Width { fresh: kind == 1, blanks: reader.raw(length)?.into() }
            }
            2 => Self::Brackets(reader.u32()?),
            3 => Self::Room(reader.u32()?.cast_signed()),
            4 => Self::Layout,
            _ => return Err(Malformed { what: "a question" }),
        })
    }
}

fn raw(states: &[ScanStateId]) -> Vec<u32> {
    states.iter().map(|state| state.0).collect()
}

impl Lookaheads {
    fn save(&self, writer: &mut Writer) {
        let expectations: Vec<_> = self.expectations.iter().collect();
        writer.list(&expectations, |w, together| {
            w.list(together, |w, expectation| {
                w.u32(expectation.word.0);
                w.u32(expectation.met);
                w.bool(expectation.must_hold);
            });
        });
    }

    /// Takes what was met before; the words themselves are the grammar's.
    fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        let expectations = reader.list(4, |r| {
            let together = r.list(9, |r| {
                let expectation =
                    Expectation { word: TerminalId(r.u32()?), met: r.u32()?, must_hold: r.bool()? };
                let word = self.words.get(expectation.word.index()).and_then(Option::as_ref);
                let lists = word.map_or(0, |word| word.before.len());
                ensure((expectation.met as usize) < lists, "an expectation")?;
                Ok(expectation)
            })?;
            Ok(together.into_iter().collect())
        })?;
        self.expectations = Interner::restore(expectations.into_iter())
            .ok_or(Malformed { what: "the expectations" })?;
        ensure(
            self.expectations.iter().next().is_some_and(SmallVec::is_empty),
            "the expectations",
        )?;
        Ok(())
    }
}

impl super::ScanStates {
    fn save(&self, writer: &mut Writer) {
        let components: Vec<&[Component]> = self.all().collect();
        let states = components.len();
        let lengths: Vec<u32> = components.iter().map(|of_one| of_one.len() as u32).collect();
        let all = || components.iter().copied().flatten();
        writer.numbers(&lengths);
        writer.numbers(&all().map(|component| component.terminal.0).collect::<Vec<u32>>());
        writer.numbers(&all().map(|component| component.state).collect::<Vec<u32>>());
        let ids = (0..states).map(ScanStateId::new);
        let mut steps = Vec::with_capacity(states * self.classes().count());
        let mut reaches = Vec::with_capacity(states);
        for state in ids {
            let (known, reach) = self.known(state);
            // A step that is not known, or known only since this began, is written as one past the
            // last state.
            steps.extend(known.map(|step| match step {
                Some(None) => u32::MAX,
                Some(Some(next)) if next.index() < states => next.0,
                _ => states as u32,
            }));
            reaches.push(reach.unwrap_or(u32::MAX));
        }
        writer.numbers(&steps);
        writer.numbers(&reaches);
        let label_sets: Vec<&BitSet> = self.label_sets.iter().collect();
        writer.list(&label_sets, |w, set| set.save(w));
        let pasts: Vec<&Box<[Component]>> = self.pasts.iter().collect();
        writer.list(&pasts, |w, past| {
            w.list(past, |w, component| {
                w.u32(component.terminal.0);
                w.u32(component.state);
            });
        });
    }

    /// Takes the states that were met before.
    fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        let lengths = reader.numbers()?;
        let (terminals, dfa_states) = (reader.numbers()?, reader.numbers()?);
        let (steps, reaches) = (reader.numbers()?, reader.numbers()?);
        let label_sets = reader.list(4, |r| BitSet::load(r, self.dfas().len()))?;
        let component =
            |r: &mut Reader<'_>| Ok(Component { terminal: TerminalId(r.u32()?), state: r.u32()? });
        let pasts = reader.list(4, |r| r.list(8, component))?;
        let states = lengths.len();
        let classes = self.classes().count();
        let sum: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        ensure(
            sum == terminals.len() as u64
                && terminals.len() == dfa_states.len()
                && steps.len() == states * classes
                && reaches.len() == states,
            "the scan states",
        )?;
        let live = |(&terminal, &state): (&u32, &u32)| {
            let dfa = self.automaton(TerminalId(terminal));
            dfa.is_some_and(|dfa| (state as usize) < dfa.state_count())
        };
        ensure(terminals.iter().zip(&dfa_states).all(live), "the components of scan states")?;
        let live_past = |component: &Component| live((&component.terminal.0, &component.state));
        ensure(pasts.iter().flatten().all(live_past), "the text before lexemes")?;
        ensure(pasts.first().is_some_and(Vec::is_empty), "the text before lexemes")?;
        let exists = |&step: &u32| step == u32::MAX || step as usize <= states;
        ensure(steps.iter().all(exists), "the steps of scan states")?;
        let known = |&reach: &u32| reach == u32::MAX || (reach as usize) < label_sets.len();
        ensure(reaches.iter().all(known), "the labels of scan states")?;
        let mut components = terminals
            .iter()
            .zip(&dfa_states)
            .map(|(&terminal, &state)| Component { terminal: TerminalId(terminal), state });
        let by_state =
            lengths.iter().map(|&length| components.by_ref().take(length as usize).collect());
        self.components =
            Interner::restore(by_state).ok_or(Malformed { what: "the scan states" })?;
        ensure(self.has_condition_starts() && self.tells_lexemes_apart(&steps), "the scan states")?;
        let pasts = pasts.into_iter().map(Vec::into_boxed_slice);
        self.pasts =
            Interner::restore(pasts).ok_or(Malformed { what: "the text before lexemes" })?;
        self.label_sets = Interner::restore(label_sets.into_iter())
            .ok_or(Malformed { what: "the labels of scan states" })?;
        for ((index, steps), reach) in steps.chunks(classes).enumerate().zip(reaches) {
            let steps = steps.iter().map(|&step| match step {
                u32::MAX => Some(None),
                step if step as usize == states => None,
                step => Some(Some(ScanStateId(step))),
            });
            self.set_known(ScanStateId::new(index), steps, (reach != u32::MAX).then_some(reach));
        }
        Ok(())
    }
}

//! How a table is saved: what its construction found, beside the grammar that it was found of. The
//! productions as items and the names are made again from that grammar.

use super::closures::Closures;
use super::hidden::without_hidden_left_recursion;
use super::lr0::{Automaton, Edge};
use super::names::Names;
use super::node::Forks;
use super::requirements::Requirements;
use super::row_sets::RowSets;
use super::rules::{COMPLETE, Rules};
use super::states::{Key, ParseStates, Return, returns};
use super::table::{Action, ParseTable, Reduction};
use super::tail::Tail;
use super::unions::Unions;
use crate::grammar::Grammar;
use crate::util::append::Interner;
use crate::util::bitset::BitSet;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::{CoreId, NonterminalId, ProductionId};
use crate::util::lists::Lists;
use crate::util::meter::Meter;
use crate::util::saving::{Malformed, Reader, Writer, ensure, ensure_below};

impl ParseTable {
    /// Writes the table.
    pub(crate) fn save(&self, writer: &mut Writer) {
        writer.bool(self.rewritten);
        self.automaton.save(writer);
        self.predecessors.save(writer, Writer::numbers);
        self.cells.save(writer, Writer::numbers);
        let code = |action: &Action| match action {
            Action::Shift(state) => 2 * state.0,
            Action::Reduce(production) => 2 * production.0 + 1,
            Action::Accept => u32::MAX,
        };
        writer.numbers(&self.actions.iter().map(code).collect::<Vec<u32>>());
        let sets: Vec<u32> = (0..self.sets.len() as u32).collect();
        writer.list(&sets, |w, &set| self.sets.get(set).save(w));
        writer.numbers(&self.rows.iter().map(|&(row, _)| row).collect::<Vec<u32>>());
        writer.numbers(&self.rows.iter().map(|&(_, shifts)| shifts).collect::<Vec<u32>>());
        self.reductions.save(writer, |w, reductions| {
            w.list(reductions, |w, reduction| {
                w.u32(reduction.lhs.0);
                w.length(reduction.length);
                w.u32(reduction.lookaheads);
            });
        });
        writer.list(&self.tails, |w, tail| w.option(tail.as_ref(), |w, tail| tail.save(w)));
        writer.bool(self.settled);
        writer.numbers(&self.barred.iter().flatten().copied().collect::<Vec<u32>>());
        writer.bool(self.conflicting);
        writer.list(&self.warnings, |w, warning| warning.save(w));
        self.states.save(writer);
    }

    /// The table of `grammar`, in which every id names something.
    pub(crate) fn load(
        reader: &mut Reader<'_>,
        grammar: &Grammar,
        meter: &Meter,
    ) -> Result<Self, Malformed> {
        let rewritten = reader.bool()?;
        let written = Rules::new(grammar);
        let open = match rewritten {
            true => without_hidden_left_recursion(&written, meter),
            false => Ok(None),
        };
        let too_many = |_| Malformed { what: "the rules of the parse table, which are too many" };
        let rules = open.map_err(too_many)?.unwrap_or(written);
        let automaton = Automaton::load(reader, &rules)?;
        let states = automaton.state_count();
        let terminals = rules.terminal_count() + 1;
        let predecessors = Lists::load(reader, states, Reader::numbers)?;
        ensure_below(predecessors.entries(), states, "the predecessors of parse states")?;
        let cells = Lists::load(reader, states, Reader::numbers)?;
        ensure_below(cells.entries(), terminals, "the cells of the parse table")?;
        let action = |code: u32| match code {
            u32::MAX => Action::Accept,
            code if code % 2 == 0 => Action::Shift(CoreId(code / 2)),
            code => Action::Reduce(ProductionId(code / 2)),
        };
        let actions: Vec<Action> = reader.numbers()?.into_iter().map(action).collect();
        let exists = |action: &Action| match action {
            Action::Accept => true,
            Action::Shift(state) => state.index() < states,
            Action::Reduce(production) => production.index() < rules.production_count(),
        };
        ensure(
            actions.len() == cells.entries().len() && actions.iter().all(exists),
            "the actions",
        )?;
        let sets = reader.list(4, |r| BitSet::load(r, terminals))?;
        let (rows, shifts) = (reader.numbers()?, reader.numbers()?);
        ensure(rows.len() == states && shifts.len() == states, "the rows of the parse table")?;
        ensure_below(&rows, sets.len(), "the rows of the parse table")?;
        ensure_below(&shifts, sets.len(), "the shifts of the parse table")?;
        let reductions = Lists::load(reader, states, |r| {
            r.list(12, |r| {
                let lhs = NonterminalId(r.u32()?);
                ensure(lhs.index() < rules.nonterminal_count(), "a reduction")?;
                let (length, lookaheads) = (r.u32()? as usize, r.u32()?);
                ensure_below(&[lookaheads], sets.len(), "the look-aheads of a reduction")?;
                Ok(Reduction { lhs, length, lookaheads })
            })
        })?;
        check_reductions(&rules, &automaton, &reductions)?;
        let tails = reader.list(1, |r| r.option(Tail::load))?;
        ensure(tails.len() == states, "the tail calls")?;
        let (settled, barred) = (reader.bool()?, reader.numbers()?.as_chunks().0.to_vec());
        let (conflicting, warnings) = (reader.bool()?, reader.list(8, Diagnostic::load)?);
        let sound =
            |state| conflicting || are_disjoint(&sets, shifts[state], reductions.get(state));
        ensure((0..states).all(sound), "the conflicts of the parse table")?;
        let returns = returns(&rules, &automaton);
        let parse_states = ParseStates::load(reader, &returns, terminals)?;
        Ok(Self {
            names: Names::new(grammar, &rules),
            requirements: Requirements::new(grammar, &rules, &automaton),
            returns,
            states: parse_states,
            rules,
            automaton,
            predecessors,
            cells,
            actions,
            sets: RowSets::of_bits(sets, terminals),
            rows: rows.into_iter().zip(shifts).collect(),
            reductions,
            tails,
            closures: Closures::default(),
            forks: Forks::default(),
            unions: Unions::default(),
            settled,
            barred,
            rewritten,
            conflicting,
            by_context: false,
            warnings,
        })
    }
}

/// Each state ends the productions that are complete there, and no others.
fn check_reductions(
    rules: &Rules,
    automaton: &Automaton,
    reductions: &Lists<Reduction>,
) -> Result<(), Malformed> {
    let ends = |state: usize, reduction: &Reduction| {
        automaton.complete.get(state).iter().any(|&production| {
            rules.lhs(production) == reduction.lhs.index()
                && rules.rhs(production).len() == reduction.length
        })
    };
    let all_end = |state| reductions.get(state).iter().all(|reduction| ends(state, reduction));
    ensure((0..reductions.len()).all(all_end), "a reduction")
}

/// Whether at most one thing is to be done before each terminal, where `shifts` are shifted.
fn are_disjoint(sets: &[BitSet], shifts: u32, reductions: &[Reduction]) -> bool {
    let mut all = sets[shifts as usize].clone();
    reductions.iter().all(|reduction| {
        let lookaheads = &sets[reduction.lookaheads as usize];
        let apart = !all.intersects(lookaheads);
        all.union_with(lookaheads);
        apart
    })
}

impl ParseStates {
    /// Writes the states by number, and the sets that they are made of; those first, so that all
    /// are there.
    fn save(&self, writer: &mut Writer) {
        let keys: Vec<&Key> = self.keys.iter().collect();
        let sets: Vec<&BitSet> = self.sets.iter().collect();
        writer.list(&sets, |w, set| set.save(w));
        writer.numbers(&keys.iter().map(|key| key.core.0).collect::<Vec<u32>>());
        writer.numbers(
            &keys.iter().flat_map(|key| key.follows.iter().copied()).collect::<Vec<u32>>(),
        );
    }

    fn load(
        reader: &mut Reader<'_>,
        returns: &Lists<Return>,
        terminals: usize,
    ) -> Result<Self, Malformed> {
        let sets = reader.list(4, |r| BitSet::load(r, terminals))?;
        let (cores, follows) = (reader.numbers()?, reader.numbers()?);
        ensure_below(&cores, returns.len(), "the parse states")?;
        ensure_below(&follows, sets.len(), "what follows parse states")?;
        let mut rest = &follows[..];
        let mut keys = Vec::with_capacity(cores.len());
        for core in cores {
            let count = returns.get(core as usize).len();
            let Some((own, others)) = rest.split_at_checked(count) else {
                return Err(Malformed { what: "what follows parse states" });
            };
            rest = others;
            keys.push(Key { core: CoreId(core), follows: own.into() });
        }
        ensure(rest.is_empty(), "what follows parse states")?;
        let keys =
            Interner::restore(keys.into_iter()).ok_or(Malformed { what: "the parse states" })?;
        let sets =
            Interner::restore(sets.into_iter()).ok_or(Malformed { what: "sets of terminals" })?;
        Ok(Self { keys, sets, ..Self::default() })
    }
}

impl Automaton {
    fn save(&self, writer: &mut Writer) {
        self.kernels.save(writer, Writer::numbers);
        self.edges.save(writer, |w, edges| {
            w.numbers(&edges.iter().map(|edge| edge.symbol).collect::<Vec<u32>>());
            w.numbers(&edges.iter().map(|edge| edge.target).collect::<Vec<u32>>());
        });
        writer.numbers(&self.terminal_edges);
        self.complete.save(writer, Writer::numbers);
        writer.numbers(&self.accessing);
    }

    fn load(reader: &mut Reader<'_>, rules: &Rules) -> Result<Self, Malformed> {
        let count = reader.clone().u32()? as usize;
        let kernels = Lists::load(reader, count, Reader::numbers)?;
        ensure(count > 0, "the parse states")?;
        ensure_below(kernels.entries(), rules.item_count(), "the items of parse states")?;
        let edges = Lists::load(reader, count, |r| {
            let (symbols, targets) = (r.numbers()?, r.numbers()?);
            ensure(symbols.len() == targets.len(), "the edges of parse states")?;
            ensure_below(&symbols, rules.code_count(), "the symbols of edges")?;
            ensure_below(&targets, count, "the targets of edges")?;
            Ok(symbols
                .into_iter()
                .zip(targets)
                .map(|(symbol, target)| Edge { symbol, target })
                .collect())
        })?;
        let terminal_edges = reader.numbers()?;
        let within =
            |(state, &edges_by): (usize, &u32)| edges_by as usize <= edges.range(state).len();
        ensure(
            terminal_edges.len() == count && terminal_edges.iter().enumerate().all(within),
            "the edges of parse states",
        )?;
        let complete = Lists::load(reader, count, Reader::numbers)?;
        ensure_below(
            complete.entries(),
            rules.production_count(),
            "the reductions of parse states",
        )?;
        let accessing = reader.numbers()?;
        let known = |&code: &u32| code == COMPLETE || (code as usize) < rules.code_count();
        ensure(
            accessing.len() == count && accessing.iter().all(known),
            "the symbols of parse states",
        )?;
        Ok(Self { kernels, edges, terminal_edges, complete, accessing })
    }
}

impl Tail {
    fn save(&self, writer: &mut Writer) {
        [self.expects, self.pops, self.completes].into_iter().for_each(|number| writer.u32(number));
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let tail = Self { expects: reader.u32()?, pops: reader.u32()?, completes: reader.u32()? };
        ensure(tail.pops > 0, "a tail call")?;
        Ok(tail)
    }
}

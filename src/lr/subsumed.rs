//! Shifts that a reduction makes superfluous.
//!
//! In `e: e "+" e | N` the parser stands behind `e "+" e` before a `+`, and may reduce or shift.
//! Whatever the shift comes to, the reduction comes to as well: `e + (e + e)` and `(e + e) + e` are
//! the same text. Followed both ways, each operator costs a reduction for each one before it. So
//! the shift is taken away, and the grammar has no conflict left.
//!
//! *Statement.* Let the kernel of a state `q` be one complete item `A -> α A ·`, with `α` not
//! empty, and items `A -> A · γ`. Let `q` reduce before each terminal that it shifts, and let each
//! state `g` into which that reduction leads have each edge of `q`, with the same target. Then the
//! shifts of `q`, and its empty reductions, can be taken away: every stack reads the same texts as
//! before, and shifts the same terminals.
//!
//! *Proof.* Take a run that shifts in `q`, on a stack `ρ α A`. Reduce first, to `ρ A` with `g` on
//! top, and then do what the run does: the edges have the same targets, so both stacks have the
//! same states above that `A`. Those states belong to items `A -> A γ' · γ''`, so the run uncovers
//! its `q` again only by a reduction to `A`, with `q` on top once more, where the other run has `g`
//! on top of `ρ`. Before that the run either shifts in `q` again, which `g` does too, or it reduces
//! `α A`, and then both runs are one. Both have the same number of steps; on the way the second has
//! the smaller stack. So doing this again and again comes to an end, with a run that uses nothing
//! of what was taken away. And since `q` shifts, after its reduction, all that it shifted before,
//! both runs have the same terminals to shift at each place: the lexer sees no difference.
//!
//! That a conflict is ambiguous in this way the author is still told: the trees differ, though the
//! texts do not.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::conflict::Resolution;
use super::lookahead::LookAheads;
use super::lr0::Automaton;
use super::rules::{Code, Item, Rules};
use super::terminal_sets::{Terminals, contains, is_subset};
use crate::util::lists::Lists;
use crate::util::meter::{LimitReached, Meter};

/// An edge is looked at: among the ones that were taken away, or in another row.
const STEPS_OF_AN_EDGE: usize = 3;
/// A state below another is found and sorted, and what it leads to is compared.
const STEPS_OF_A_BASE: usize = 10;

/// Takes away what the statement says. Costs the states between those in conflict and the ones
/// below what they reduce; rows of states that are alike are compared once.
pub(super) fn drop_subsumed(
    rules: &Rules,
    automaton: &Automaton,
    lookaheads: &mut LookAheads,
    resolution: &mut Resolution,
    meter: &Meter,
) -> Result<(), LimitReached> {
    if resolution.conflicts.is_empty() {
        return Ok(());
    }
    meter.step(STEPS_OF_AN_EDGE * automaton.edges.entries().len())?;
    let below = automaton.predecessors(|_, _| true);
    let mut states: Vec<usize> =
        resolution.conflicts.iter().map(|conflict| conflict.state).collect();
    states.dedup();
    let mut dropped: Vec<usize> = Vec::new();
    let mut rows = Rows::new(automaton, lookaheads, resolution, meter);
    for &state in &states {
        let Some(production) = repeated(rules, automaton.kernels.get(state)) else { continue };
        if rows.reduces_before_all(state, production)? {
            let symbol = rules.nonterminal_code(rules.lhs(production));
            let bases = bases(&below, state, rules.rhs(production).len(), meter)?;
            if rows.all_do_all(&bases, symbol, state, production)? {
                dropped.push(state);
            }
        }
    }
    for state in dropped {
        for edge in automaton.by_terminals(state) {
            resolution.dropped_shifts.push((state as u32, edge.symbol));
        }
        for (reduction, &production) in
            automaton.complete.range(state).zip(automaton.complete.get(state))
        {
            // Only one is in the kernel; the others are empty.
            if rules.rhs(production).is_empty() {
                lookaheads.clear(reduction);
            }
        }
    }
    resolution.dropped_shifts.sort_unstable();
    resolution.dropped_shifts.dedup();
    Ok(())
}

/// The production `A -> α A` of a kernel that holds it, complete, and else only items `A -> A · γ`.
fn repeated(rules: &Rules, kernel: &[Item]) -> Option<u32> {
    let place = |&item: &Item| {
        let production = rules.production(item);
        (production, (item - rules.first(production)) as usize)
    };
    let is_complete = |item: &&Item| rules.rest(**item).is_empty();
    let mut complete = kernel.iter().filter(is_complete).map(place);
    let (production, length) = complete.next()?;
    let symbol = rules.nonterminal_code(rules.lhs(production));
    let begins = |(other, at): (u32, usize)| at == 1 && rules.lhs(other) == rules.lhs(production);
    let rest_begins = || kernel.iter().filter(|item| !is_complete(item)).map(place).all(begins);
    let repeats =
        complete.next().is_none() && length > 1 && rules.rhs(production).last() == Some(&symbol);
    (repeats && rest_begins()).then_some(production)
}

/// The states that may lie so many steps below `state`.
fn bases(
    below: &Lists<u32>,
    state: usize,
    steps: usize,
    meter: &Meter,
) -> Result<Vec<u32>, LimitReached> {
    let mut level = vec![state as u32];
    for _ in 0..steps {
        let found: usize = level.iter().map(|&state| below.get(state as usize).len()).sum();
        meter.step(STEPS_OF_A_BASE * found)?;
        level = level.iter().flat_map(|&state| below.get(state as usize)).copied().collect();
        level.sort_unstable();
        level.dedup();
    }
    Ok(level)
}

/// What the states do as things stand.
struct Rows<'a> {
    automaton: &'a Automaton,
    lookaheads: &'a LookAheads,
    resolution: &'a Resolution,
    meter: &'a Meter,
    /// By state, the number of its row, as soon as it was asked for.
    numbers: HashMap<usize, usize, FxBuildHasher>,
    /// The edges of a row, ascending, and its number.
    known: HashMap<Vec<(Code, u32)>, usize, FxBuildHasher>,
    /// Whether the first of two rows has all edges of the second.
    covers: HashMap<(usize, usize), bool, FxBuildHasher>,
}

impl<'a> Rows<'a> {
    fn new(
        automaton: &'a Automaton,
        lookaheads: &'a LookAheads,
        resolution: &'a Resolution,
        meter: &'a Meter,
    ) -> Self {
        Self {
            automaton,
            lookaheads,
            resolution,
            meter,
            numbers: HashMap::default(),
            known: HashMap::default(),
            covers: HashMap::default(),
        }
    }

    /// The edges of `state` that are left, ascending: terminals and nonterminals.
    fn edges(&self, state: usize) -> Vec<(Code, u32)> {
        let shifts = self.automaton.by_terminals(state).iter();
        let kept = shifts.filter(|edge| self.resolution.keeps_shift(state as u32, edge.symbol));
        let all = kept.chain(self.automaton.by_nonterminals(state));
        let mut edges: Vec<(Code, u32)> = all.map(|edge| (edge.symbol, edge.target)).collect();
        edges.sort_unstable();
        edges
    }

    /// The number of the row of `state`: equal rows have one.
    fn number(&mut self, state: usize) -> Result<usize, LimitReached> {
        if let Some(&known) = self.numbers.get(&state) {
            return Ok(known);
        }
        let edges = self.edges(state);
        self.meter.step(STEPS_OF_AN_EDGE * edges.len())?;
        let next = self.known.len();
        let number = *self.known.entry(edges).or_insert(next);
        self.numbers.insert(state, number);
        Ok(number)
    }

    /// The look-aheads of a production that is complete in `state`; none where it is not.
    fn lookaheads(&self, state: usize, production: u32) -> &Terminals {
        let place = self.automaton.complete.get(state).binary_search(&production);
        place.map_or(&[], |place| {
            self.lookaheads.get(self.automaton.complete.range(state).start + place)
        })
    }

    /// The other productions that `state` reduces: empty ones, where only one is in the kernel.
    fn others(&self, state: usize, production: u32) -> impl Iterator<Item = u32> + '_ {
        let complete = self.automaton.complete.get(state).iter().copied();
        complete.filter(move |&other| other != production)
    }

    /// Whether `state` ends `production` before all before which it does anything else.
    fn reduces_before_all(&self, state: usize, production: u32) -> Result<bool, LimitReached> {
        let own = self.lookaheads(state, production);
        let shifts = self.automaton.by_terminals(state);
        let others = self.automaton.complete.get(state).len();
        self.meter.step(STEPS_OF_AN_EDGE * (shifts.len() + others * own.len()))?;
        let is_kept = |symbol| self.resolution.keeps_shift(state as u32, symbol);
        Ok(shifts.iter().all(|edge| contains(own, edge.symbol) || !is_kept(edge.symbol))
            && self
                .others(state, production)
                .all(|other| is_subset(self.lookaheads(state, other), own)))
    }

    /// Whether all states to which the bases go on by `symbol` do all that `state` does beside
    /// ending `production`.
    fn all_do_all(
        &mut self,
        bases: &[u32],
        symbol: Code,
        state: usize,
        production: u32,
    ) -> Result<bool, LimitReached> {
        self.meter.step(STEPS_OF_A_BASE * bases.len())?;
        for &base in bases {
            let Some(after) = self.automaton.step(base as usize, symbol) else { return Ok(false) };
            if !self.does_all(after as usize, state, production)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether `after` does all that `state` does beside ending `production`.
    fn does_all(
        &mut self,
        after: usize,
        state: usize,
        production: u32,
    ) -> Result<bool, LimitReached> {
        let rows = (self.number(after)?, self.number(state)?);
        let covers = match self.covers.get(&rows) {
            Some(&known) => known,
            None => {
                let covers = rows.0 == rows.1 || self.has_edges_of(after, state)?;
                self.covers.insert(rows, covers);
                covers
            }
        };
        let mut others = self.others(state, production);
        Ok(covers
            && others.all(|empty| {
                is_subset(self.lookaheads(state, empty), self.lookaheads(after, empty))
            }))
    }

    /// Whether `after` has each edge of `state`, with the same target.
    fn has_edges_of(&self, after: usize, state: usize) -> Result<bool, LimitReached> {
        let (all, some) = (self.edges(after), self.edges(state));
        self.meter.step(STEPS_OF_AN_EDGE * (all.len() + some.len()))?;
        let mut rest = all.iter();
        // Both ascend, so what was passed over is not wanted any more.
        Ok(some.iter().all(|edge| rest.any(|other| other == edge)))
    }
}

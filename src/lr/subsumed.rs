//! Shifts made redundant by a reduction.
//!
//! In `e: e "+" e | N`, after `e "+" e` and before a `+`, the parser may reduce or shift. The
//! reduction leads to everything that the shift leads to: `e + (e + e)` and `(e + e) + e` are the
//! same text. If both are followed, each operator costs a reduction for each operator before it. So
//! the shift is removed, and the grammar has no conflict left.
//!
//! *Statement.* Let the kernel of a state `q` be one complete item `A -> α A ·`, with `α` not
//! empty, and items `A -> A · γ`. Let `q` reduce before each terminal that it shifts, and let each
//! state `g` that this reduction leads to have each edge of `q`, with the same target. Then the
//! shifts of `q`, and its empty reductions, can be removed: every stack reads the same texts as
//! before, and shifts the same terminals.
//!
//! *Proof.* Take a run that shifts in `q`, on a stack `ρ α A`. Reduce first, to `ρ A` with `g` on
//! top, and then repeat the steps of the run: the edges have the same targets, so both stacks have
//! the same states above that `A`. Those states belong to items `A -> A γ' · γ''`, so the run
//! uncovers its `q` again only by a reduction to `A`, which puts `q` on top once more, while the
//! other run has `g` on top of `ρ`. Before that the run either shifts in `q` again, which `g` does
//! too, or it reduces `α A`, and then both runs are the same. Both have the same number of steps;
//! until they meet, the second has the smaller stack. So repeating this rewriting terminates, with
//! a run that uses no removed action. And since `q` shifts, after its reduction, all that it
//! shifted before, both runs can shift the same terminals at each position: the lexer sees no
//! difference.
//!
//! The author is still told that such a conflict is ambiguous: the trees differ, though the texts
//! do not.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::conflict::Resolution;
use super::lookahead::LookAheads;
use super::lr0::Automaton;
use super::rules::{Code, Item, Rules};
use super::terminal_sets::{Terminals, contains, is_subset};
use crate::util::lists::Lists;
use crate::util::meter::{LimitReached, Meter};

/// An edge is searched for, among the removed ones or in another row.
const STEPS_OF_AN_EDGE: usize = 3;
/// A state below another is found and sorted, and its goto is compared.
const STEPS_OF_A_BASE: usize = 10;

/// Removes the shifts and empty reductions of the statement. The cost is the number of states
/// between the states in conflict and those below their reductions; equal rows are compared once.
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
            // Only one complete production is in the kernel; the others are empty.
            if rules.rhs(production).is_empty() {
                lookaheads.clear(reduction);
            }
        }
    }
    resolution.dropped_shifts.sort_unstable();
    resolution.dropped_shifts.dedup();
    Ok(())
}

/// Returns the production `A -> α A` of a kernel whose other items all have the form `A -> A · γ`.
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

/// Returns the states that may lie `steps` below `state`.
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

/// The rows of the states with the current resolution.
struct Rows<'a> {
    automaton: &'a Automaton,
    lookaheads: &'a LookAheads,
    resolution: &'a Resolution,
    meter: &'a Meter,
    /// By state: the number of its row, computed on first use.
    numbers: HashMap<usize, usize, FxBuildHasher>,
    /// Row numbers by the edges of the row, ascending.
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

    /// Returns the remaining edges of `state`, ascending: terminals and nonterminals.
    fn edges(&self, state: usize) -> Vec<(Code, u32)> {
        let shifts = self.automaton.by_terminals(state).iter();
        let kept = shifts.filter(|edge| self.resolution.keeps_shift(state as u32, edge.symbol));
        let all = kept.chain(self.automaton.by_nonterminals(state));
        let mut edges: Vec<(Code, u32)> = all.map(|edge| (edge.symbol, edge.target)).collect();
        edges.sort_unstable();
        edges
    }

    /// Returns the number of the row of `state`: equal rows have the same number.
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

    /// Returns the look-aheads of a production that is complete in `state`; none if it is not
    /// complete.
    fn lookaheads(&self, state: usize, production: u32) -> &Terminals {
        let place = self.automaton.complete.get(state).binary_search(&production);
        place.map_or(&[], |place| {
            self.lookaheads.get(self.automaton.complete.range(state).start + place)
        })
    }

    /// Returns the other productions that `state` reduces; they are empty if only one is in the
    /// kernel.
    fn others(&self, state: usize, production: u32) -> impl Iterator<Item = u32> + '_ {
        let complete = self.automaton.complete.get(state).iter().copied();
        complete.filter(move |&other| other != production)
    }

    /// Returns whether `state` reduces `production` before each terminal with another action.
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

    /// Returns whether the goto of `symbol` in each base does all that `state` does apart from
    /// reducing `production`.
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

    /// Returns whether `after` does all that `state` does apart from reducing `production`.
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

    /// Returns whether `after` has each edge of `state`, with the same target.
    fn has_edges_of(&self, after: usize, state: usize) -> Result<bool, LimitReached> {
        let (all, some) = (self.edges(after), self.edges(state));
        self.meter.step(STEPS_OF_AN_EDGE * (all.len() + some.len()))?;
        let mut rest = all.iter();
        // Both are ascending, so edges passed over are not needed again.
        Ok(some.iter().all(|edge| rest.any(|other| other == edge)))
    }
}

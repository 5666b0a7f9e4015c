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

use super::conflict::Resolution;
use super::lookahead::LookAheads;
use super::lr0::Automaton;
use super::rules::{Item, Rules};
use super::terminal_sets::{Terminals, contains, is_subset};
use crate::util::lists::Lists;

/// Takes away what the statement says. Costs the states between those in conflict and the ones
/// below what they reduce.
pub(super) fn drop_subsumed(
    rules: &Rules,
    automaton: &Automaton,
    lookaheads: &mut LookAheads,
    resolution: &mut Resolution,
) {
    if resolution.conflicts.is_empty() {
        return;
    }
    let below = automaton.predecessors(|_, _| true);
    let mut states: Vec<usize> =
        resolution.conflicts.iter().map(|conflict| conflict.state).collect();
    states.dedup();
    let mut dropped: Vec<usize> = Vec::new();
    for &state in &states {
        let Some(production) = repeated(rules, automaton.kernels.get(state)) else { continue };
        let table = Rows { automaton, lookaheads, resolution };
        let mut after = bases(&below, state, rules.rhs(production).len()).into_iter().map(|base| {
            let symbol = rules.nonterminal_code(rules.lhs(production));
            automaton.step(base as usize, symbol).map(|target| target as usize)
        });
        if table.reduces_before_all(state, production)
            && after
                .all(|after| after.is_some_and(|after| table.does_all(after, state, production)))
        {
            dropped.push(state);
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
fn bases(below: &Lists<u32>, state: usize, steps: usize) -> Vec<u32> {
    let mut level = vec![state as u32];
    for _ in 0..steps {
        level = level.iter().flat_map(|&state| below.get(state as usize)).copied().collect();
        level.sort_unstable();
        level.dedup();
    }
    level
}

/// What the states do as things stand.
struct Rows<'a> {
    automaton: &'a Automaton,
    lookaheads: &'a LookAheads,
    resolution: &'a Resolution,
}

impl Rows<'_> {
    fn shifts(&self, state: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let edges = self.automaton.by_terminals(state).iter();
        let kept = edges.filter(move |edge| self.resolution.keeps_shift(state as u32, edge.symbol));
        kept.map(|edge| (edge.symbol, edge.target))
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
    fn reduces_before_all(&self, state: usize, production: u32) -> bool {
        let own = self.lookaheads(state, production);
        self.shifts(state).all(|(terminal, _)| contains(own, terminal))
            && self
                .others(state, production)
                .all(|other| is_subset(self.lookaheads(state, other), own))
    }

    /// Whether `after` does all that `state` does beside ending `production`.
    fn does_all(&self, after: usize, state: usize, production: u32) -> bool {
        let gotos = self.automaton.by_nonterminals(state);
        self.shifts(state).all(|shift| self.shifts(after).any(|other| other == shift))
            && gotos.iter().all(|edge| self.automaton.step(after, edge.symbol) == Some(edge.target))
            && self.others(state, production).all(|empty| {
                is_subset(self.lookaheads(state, empty), self.lookaheads(after, empty))
            })
    }
}

//! Upper bounds on candidate sets, for the static check.
//!
//! With fewer candidates, lexemes are cut no longer, no further terminal is shadowed, and
//! obligations accept no more often. So a property of a candidate set holds for its subsets.

use super::states::ScanStates;
use crate::lr::table::ParseTable;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, ScanStateId, TerminalId};

/// The scan states where lexemes of a terminal start, in candidate sets that include every real one
/// as a subset.
#[derive(Clone, Debug)]
pub(super) struct Starts {
    /// Without an exclusive terminal; at most one.
    pub(super) ordinary: Vec<ScanStateId>,
    /// With an exclusive terminal.
    pub(super) exclusive: Vec<ScanStateId>,
}

/// Returns the start states of the largest candidate sets: of all ordinary terminals, and of each
/// exclusive candidate set.
pub(super) fn greatest(
    states: &ScanStates,
    exclusive: &BitSet,
    candidate_sets: &[BitSet],
) -> Starts {
    Starts {
        ordinary: vec![states.start(&ordinary(states.dfas().len(), exclusive))],
        exclusive: candidate_sets.iter().map(|candidates| states.start(candidates)).collect(),
    }
}

/// Returns all of `count` terminals that are not exclusive.
pub(super) fn ordinary(count: usize, exclusive: &BitSet) -> BitSet {
    let mut all = BitSet::new(count + 1);
    (0..count).for_each(|index| {
        all.insert(index);
    });
    all.subtract(exclusive);
    all
}

/// Returns candidate sets, from the rows, that include every one with an exclusive terminal as a
/// subset. States with a single reduction and no shift are skipped: a stack with such a top can
/// shift no more than after the reduction, and the state then on top promises less.
pub(super) fn exclusive_candidates(
    table: &ParseTable,
    exclusive: &BitSet,
    ignored: &BitSet,
    labels: &[TerminalId],
) -> Vec<BitSet> {
    let mut candidate_sets: Vec<BitSet> = Vec::new();
    if exclusive.is_empty() {
        return candidate_sets;
    }
    for state in parse_states(table) {
        let row = table.row(state);
        if row.intersects(exclusive) && !only_reduces(table, state) {
            let candidates = shut(table, row, ignored, labels);
            if !candidate_sets.contains(&candidates) {
                candidate_sets.push(candidates);
            }
        }
    }
    candidate_sets
}

/// Returns the acceptable terminals without any others.
pub(super) fn shut(
    table: &ParseTable,
    acceptable: &BitSet,
    ignored: &BitSet,
    labels: &[TerminalId],
) -> BitSet {
    let mut candidates = acceptable.clone();
    add_labels(labels, &mut candidates);
    candidates.remove(table.end().index());
    candidates.subtract(ignored);
    candidates
}

/// Adds the labels of these terminals.
pub(super) fn add_labels(labels: &[TerminalId], terminals: &mut BitSet) {
    for (terminal, label) in labels.iter().enumerate() {
        if label.index() != terminal && terminals.contains(terminal) {
            terminals.insert(label.index());
        }
    }
}

pub(super) fn only_reduces(table: &ParseTable, state: CoreId) -> bool {
    table.shifts(state).is_empty() && table.reductions(state).len() == 1
}

pub(super) fn parse_states(table: &ParseTable) -> impl Iterator<Item = CoreId> + use<> {
    (0..table.state_count()).map(CoreId::new)
}

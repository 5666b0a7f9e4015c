//! Candidate sets that no real one exceeds, for the check of a grammar.
//!
//! Among fewer candidates, lexemes are cut no longer, no terminal is shadowed that was not shadowed
//! before, and obligations accept no more often. So what holds in a candidate set holds in each
//! part of it.

use super::states::ScanStates;
use crate::lr::table::ParseTable;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, ScanStateId, TerminalId};

/// The scan states where lexemes of a terminal start, in candidate sets such that whatever
/// candidates they really meet is a part of one.
#[derive(Debug)]
pub(super) struct Starts {
    /// Without an exclusive terminal; one at most.
    pub(super) ordinary: Vec<ScanStateId>,
    /// With one.
    pub(super) exclusive: Vec<ScanStateId>,
}

/// Where the lexemes of the greatest candidate sets start: of all ordinary terminals, and of each
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

/// All of so many terminals that are not exclusive.
pub(super) fn ordinary(count: usize, exclusive: &BitSet) -> BitSet {
    let mut all = BitSet::new(count + 1);
    (0..count).for_each(|index| {
        all.insert(index);
    });
    all.subtract(exclusive);
    all
}

/// Candidate sets of which each that has an exclusive terminal is a part: what the rows promise. A
/// state that only reduces, and in one way, is passed over: a stack that it tops can shift no more
/// than after that reduction, and the state then on top promises less.
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

/// The acceptable terminals among themselves.
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

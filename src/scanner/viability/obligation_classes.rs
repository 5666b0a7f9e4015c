//! Equivalence classes of obligations that are broken by the same texts.
//!
//! A name may end in any of the hundreds of scan states that keywords lead to, and leaves a
//! different pending match each time. But all these matches are completed by the same text: one
//! more letter. An obligation depends only on whether something is matched, not on the label, so
//! states are equivalent if the same texts lead to a match from them: the classes of the minimised
//! automaton of scan states without labels (Moore 1956). Decisions use these classes. Otherwise
//! they would look at hundreds of places where a few suffice.

use std::sync::OnceLock;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::scanner::{ObligationsId, Scanner};
use crate::util::append::Slots;
use crate::util::byte_classes::ClassSet;
use crate::util::id::ScanStateId;

/// The classes of obligations.
#[derive(Debug, Default)]
pub(super) struct ObligationClasses {
    /// By scan state: the representative of its class. States that are met later represent
    /// themselves.
    states: OnceLock<Vec<ScanStateId>>,
    /// By obligations: their representatives.
    obligations: Slots<ObligationsId>,
}

/// The classes of the next states, and the bytes that lead there.
type Leads = Vec<(u32, ClassSet)>;

/// Limit on the steps of the minimisation, by states and rounds. If it is not enough, each state
/// represents itself, which is as exact, but slower.
const MAX_STEPS: usize = 1 << 22;

impl Scanner {
    /// Returns the representatives of these obligations.
    pub(super) fn representatives(&self, id: ObligationsId) -> ObligationsId {
        if id == ObligationsId::NONE {
            return id;
        }
        *self.ends.classes.obligations.get_or_init(id.0, || {
            let states = self.ends.classes.states.get_or_init(|| self.find_classes());
            let of = |state: &ScanStateId| states.get(state.0 as usize).copied().unwrap_or(*state);
            let representatives =
                self.intern_obligations(self.obligations(id).iter().map(of).collect());
            self.with_past(representatives, self.past(id))
        })
    }

    /// Returns, by scan state, the first equivalent one. Costs a round for each byte of the longest
    /// text that distinguishes two states.
    fn find_classes(&self) -> Vec<ScanStateId> {
        let count = self.states().len();
        let state = |index: usize| ScanStateId(index as u32);
        let moves: Vec<_> =
            (0..count).map(|index| self.states().moves(state(index)).into_vec()).collect();
        let itself: Vec<ScanStateId> = (0..count).map(state).collect();
        // A state that is met during the search is equivalent to none of these.
        let mut classes: Vec<u32> = (0..count)
            .map(|index| match self.states().guarded(state(index)) {
                None => u32::from(self.states().label(state(index)).is_some()),
                // A state that depends on the following text is equivalent to no other.
                Some(_) => 2 + index as u32,
            })
            .collect();
        let (mut known, mut steps) = (0, 0);
        loop {
            let mut numbers: HashMap<(u32, Leads), u32, FxBuildHasher> = HashMap::default();
            let mut next = Vec::with_capacity(count);
            for (index, moves) in moves.iter().enumerate() {
                steps += 1 + moves.len();
                let mut leads: Leads = Vec::with_capacity(moves.len());
                for &(target, bytes) in moves {
                    let class =
                        classes.get(target.0 as usize).copied().unwrap_or(u32::MAX - target.0);
                    match leads.iter_mut().find(|(known, _)| *known == class) {
                        Some((_, known)) => *known = known.union(bytes),
                        None => leads.push((class, bytes)),
                    }
                }
                leads.sort_unstable();
                let fresh = numbers.len() as u32;
                next.push(*numbers.entry((classes[index], leads)).or_insert(fresh));
            }
            classes = next;
            if numbers.len() == known {
                break;
            }
            known = numbers.len();
            if steps > MAX_STEPS {
                return itself;
            }
        }
        let mut first: HashMap<u32, ScanStateId, FxBuildHasher> = HashMap::default();
        classes
            .iter()
            .zip(&itself)
            .map(|(class, &state)| *first.entry(*class).or_insert(state))
            .collect()
    }
}

//! The steps from a scan state, all at once.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::{Component, DEAD, ScanStates, UNKNOWN};
use crate::lexer::Dfa;
use crate::util::byte_classes::ClassSet;
use crate::util::id::ScanStateId;

/// What is led to, each with the classes of bytes that lead there.
pub(crate) type Moves<T> = SmallVec<[(T, ClassSet); 8]>;

impl ScanStates {
    /// The steps from `state`, all made at once: each state that is led to, with the classes of
    /// bytes that lead there, in the order of the smallest of them. Most states lead to few.
    pub(crate) fn moves(&self, state: ScanStateId) -> Moves<ScanStateId> {
        self.known_moves(state).unwrap_or_else(|| self.find_moves(state))
    }

    /// The steps, where each of them has been made before.
    fn known_moves(&self, state: ScanStateId) -> Option<Moves<ScanStateId>> {
        let mut moves = ByTarget::default();
        for (class, next) in (0..=u8::MAX).zip(&self.facts(state).next) {
            let next = match next.load(Ordering::Acquire) {
                UNKNOWN => return None,
                DEAD => continue,
                next => ScanStateId(next),
            };
            moves.add(next, ClassSet::one(class));
        }
        Some(moves.all)
    }

    /// The steps, made and noted in the row.
    fn find_moves(&self, state: ScanStateId) -> Moves<ScanStateId> {
        // Begins with all classes together and takes apart what the steps of a component tell
        // apart.
        let mut parts: SmallVec<[(ClassSet, SmallVec<[Component; 4]>); 8]> = SmallVec::new();
        parts.push((self.classes.all(), SmallVec::new()));
        let mut steps = ByTarget::default();
        for &component in self.moving(state) {
            self.component_moves(component, &mut steps);
            for &(state, over) in &steps.all {
                for at in 0..parts.len() {
                    let (classes, after) = &mut parts[at];
                    let within = classes.intersection(over);
                    if within.is_empty() {
                        continue;
                    }
                    let outside = classes.difference(over);
                    *classes = within;
                    let apart = (!outside.is_empty()).then(|| (outside, after.clone()));
                    after.push(Component { state, ..component });
                    parts.extend(apart);
                }
            }
        }
        parts.sort_unstable_by_key(|(classes, _)| classes.iter().next());
        let row = &self.facts(state).next;
        let mut moves = Moves::new();
        for (classes, after) in parts {
            let next = self.alive(&after);
            classes.iter().for_each(|class| row[usize::from(class)].store(next, Ordering::Release));
            if next != DEAD {
                moves.push((ScanStateId(next), classes));
            }
        }
        moves
    }

    /// Sets `steps` to those of a component: each state of the DFA that is led to, with the
    /// classes.
    fn component_moves(&self, component: Component, steps: &mut ByTarget<u32>) {
        steps.all.clear();
        let Some(dfa) = self.automaton(component.terminal) else { return };
        let row = dfa.row(component.state);
        for (&next, &part) in row.iter().zip(&*self.parts[component.terminal.index()]) {
            if next != Dfa::DEAD {
                steps.add(next, part);
            }
        }
    }
}

/// What is led to, in the order in which it was added.
struct ByTarget<T> {
    all: Moves<T>,
    /// What was added to last. Neighbouring classes mostly lead to one target.
    last: usize,
}

impl<T> Default for ByTarget<T> {
    fn default() -> Self {
        Self { all: Moves::new(), last: 0 }
    }
}

impl<T: Copy + PartialEq> ByTarget<T> {
    fn add(&mut self, target: T, classes: ClassSet) {
        if self.all.get(self.last).is_none_or(|&(known, _)| known != target) {
            let place = self.all.iter().position(|&(known, _)| known == target);
            self.last = place.unwrap_or(self.all.len());
        }
        match self.all.get_mut(self.last) {
            Some((_, known)) => *known = known.union(classes),
            None => self.all.push((target, classes)),
        }
    }
}

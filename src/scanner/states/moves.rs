//! The steps from a scan state, all at once.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::{Component, DEAD, ScanStates, UNKNOWN};
use crate::lexer::Dfa;
use crate::util::byte_classes::ClassSet;
use crate::util::id::ScanStateId;

/// Targets, each with the classes of bytes that lead there.
pub(crate) type Moves<T> = SmallVec<[(T, ClassSet); 8]>;

impl ScanStates {
    /// Returns all steps from `state`: each next state, with the classes of bytes that lead there,
    /// in the order of the smallest of them. Most states have few next states.
    pub(crate) fn moves(&self, state: ScanStateId) -> Moves<ScanStateId> {
        self.known_moves(state).unwrap_or_else(|| self.find_moves(state))
    }

    /// Returns the classes of bytes that lead anywhere from `state`. Computes no step.
    pub(crate) fn live(&self, state: ScanStateId) -> ClassSet {
        let mut live = ClassSet::default();
        for &component in &*self.moving(state) {
            // Components that read the whole text are not lexemes.
            if component.terminal.index() < self.first_tracker()
                && let Some(dfa) = self.automaton(component.terminal)
            {
                let parts = &*self.parts[component.terminal.index()];
                for (&next, &part) in dfa.row(component.state).iter().zip(parts) {
                    if next != Dfa::DEAD {
                        live = live.union(part);
                    }
                }
            }
        }
        live
    }

    /// Returns the steps, if all of them are known.
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

    /// Computes the steps and stores them in the row.
    fn find_moves(&self, state: ScanStateId) -> Moves<ScanStateId> {
        let components = self.moving(state);
        // Begins with all classes together and splits those that the steps of a component
        // distinguish.
        let mut parts: SmallVec<[(ClassSet, SmallVec<[Component; 4]>); 8]> = SmallVec::new();
        parts.push((self.classes.all(), SmallVec::new()));
        let mut steps = ByTarget::default();
        for &component in &*components {
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
        let mut moves = Moves::new();
        for (classes, after) in parts {
            let next = self.alive(&after);
            self.note(state, classes, next);
            if next != DEAD {
                moves.push((ScanStateId(next), classes));
            }
        }
        moves
    }

    /// Stores that these classes of bytes lead to `next`.
    fn note(&self, state: ScanStateId, classes: ClassSet, next: u32) {
        let row = &self.facts(state).next;
        classes.iter().for_each(|class| row[usize::from(class)].store(next, Ordering::Release));
    }

    /// Sets `steps` to those of a component: each next state of the DFA, with the classes.
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

/// Targets in the order in which they were added.
struct ByTarget<T> {
    all: Moves<T>,
    /// The target that was added to last. Neighbouring classes mostly lead to the same target.
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

#[cfg(test)]
mod tests {
    use super::super::of_regexes;
    use super::*;
    use crate::util::bitset::BitSet;

    /// Keywords together with names, one of them with look-ahead; the steps of all states, computed
    /// one by one.
    #[test]
    fn what_is_said_of_all_steps_is_so_of_each() {
        let regexes = ["if", "in(?!t)", "[a-z]+[0-9]?", "[0-9]+", r#""([^"\\]|\\.)*""#, "if|\"é"];
        // In the second, only single steps are asked for.
        let [states, stepped] = [(); 2].map(|()| of_regexes(&regexes));
        for candidates in 1..1 << 6 {
            let mut set = BitSet::new(6);
            (0..6).filter(|terminal| candidates >> terminal & 1 == 1).for_each(|terminal| {
                set.insert(terminal);
            });
            states.start(&set);
            stepped.start(&set);
        }
        let mut number = 0;
        while number < stepped.len() {
            let state = ScanStateId::new(number);
            let bytes = stepped.classes().representatives();
            bytes.iter().for_each(|&byte| _ = stepped.next(state, byte));
            number += 1;
        }
        let step = |state: ScanStateId, class: u8| {
            stepped.next(state, stepped.classes().representatives()[usize::from(class)])
        };
        let same = |components: &[Component]| ScanStateId(states.components.intern_ref(components));
        let all: Vec<_> = (0..stepped.len())
            .map(|number| same(stepped.components(ScanStateId::new(number))))
            .collect();
        let classes = 0..stepped.classes().count() as u8;
        for (number, &state) in all.iter().enumerate() {
            let own = ScanStateId::new(number);
            let live: Vec<u8> = states.live(state).iter().collect();
            assert!(classes.clone().filter(|&class| step(own, class).is_some()).eq(live));
            for (next, over) in states.moves(state) {
                let leads = |class| step(own, class).map(|next| all[next.index()]) == Some(next);
                assert!(over.iter().all(leads) && states.known_moves(state).is_some());
            }
        }
    }
}

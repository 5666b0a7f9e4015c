//! The steps from a scan state, all at once.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::{Component, DEAD, ScanStates, UNKNOWN};
use crate::lexer::Dfa;
use crate::util::byte_classes::ClassSet;
use crate::util::id::ScanStateId;

impl ScanStates {
    /// The steps from `state`, all made at once: each state that is led to, with the classes of
    /// bytes that lead there, in the order of the smallest of them. Most states lead to few.
    pub(crate) fn moves(&self, state: ScanStateId) -> Vec<(ScanStateId, ClassSet)> {
        self.known_moves(state).unwrap_or_else(|| self.find_moves(state))
    }

    /// The steps, where each of them has been made before.
    fn known_moves(&self, state: ScanStateId) -> Option<Vec<(ScanStateId, ClassSet)>> {
        let mut moves: Vec<(ScanStateId, ClassSet)> = Vec::new();
        // Neighbouring classes mostly lead to one state.
        let mut before = 0;
        for (class, next) in (0..=u8::MAX).zip(&self.facts(state).next) {
            let next = match next.load(Ordering::Acquire) {
                UNKNOWN => return None,
                DEAD => continue,
                next => ScanStateId(next),
            };
            if moves.get(before).is_none_or(|&(known, _)| known != next) {
                before = moves.iter().position(|&(known, _)| known == next).unwrap_or(moves.len());
            }
            if before == moves.len() {
                moves.push((next, ClassSet::default()));
            }
            moves[before].1.insert(class);
        }
        Some(moves)
    }

    fn find_moves(&self, state: ScanStateId) -> Vec<(ScanStateId, ClassSet)> {
        // Begins with all classes together and takes apart what the steps of a component tell
        // apart.
        let mut parts: Vec<(ClassSet, SmallVec<[Component; 4]>)> =
            vec![(self.classes.all(), SmallVec::new())];
        let mut steps: Vec<(u32, ClassSet)> = Vec::new();
        for &component in self.moving(state) {
            self.component_moves(component, &mut steps);
            for &(state, over) in &steps {
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
        let mut moves = Vec::with_capacity(parts.len());
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
    fn component_moves(&self, component: Component, steps: &mut Vec<(u32, ClassSet)>) {
        steps.clear();
        let Some(dfa) = self.automaton(component.terminal) else { return };
        // Neighbouring classes mostly lead to one state.
        let mut before = 0;
        for (class, &part) in (0..=u8::MAX).zip(&*self.parts[component.terminal.index()]) {
            let next = dfa.next_class(component.state, class);
            if next == Dfa::DEAD {
                continue;
            }
            if steps.get(before).is_none_or(|&(known, _)| known != next) {
                before = steps.iter().position(|&(known, _)| known == next).unwrap_or(steps.len());
            }
            match steps.get_mut(before) {
                Some((_, classes)) => *classes = classes.union(part),
                None => steps.push((next, part)),
            }
        }
    }
}

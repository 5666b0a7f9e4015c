//! The labels that a lexeme can still end with.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::moves::Moves;
use super::{Component, ScanStates};
use crate::util::bitset::BitSet;
use crate::util::components::strong_components;
use crate::util::id::{ScanStateId, TerminalId};
use crate::util::lists::Lists;

/// Steps of the meter to look for labels in a scan state, and more for each of its components.
const STEPS_OF_A_LOOK: usize = 100;
const STEPS_OF_A_COMPONENT: usize = 20;

/// Whether a lexeme in this state can end with this label; stored for labels that others outrank.
pub(super) type Outranked = HashMap<(ScanStateId, TerminalId), bool, FxBuildHasher>;

impl ScanStates {
    /// Returns the id of the set of labels that a lexeme in this state can still end with, *after*
    /// ranks: an identifier is not among them if only its keywords are left.
    #[inline]
    pub(crate) fn reach(&self, state: ScanStateId) -> u32 {
        *self.facts(state).reach.get_or_init(|| self.label_sets.intern(self.find_reach(state)))
    }

    /// Returns the same for the labels with which a lexeme can end without a condition on the
    /// following text.
    #[inline]
    pub(crate) fn sure_reach(&self, state: ScanStateId) -> u32 {
        if !self.has_conditions() {
            return self.reach(state);
        }
        let known = self.facts(state).sure_reach.get().copied();
        known.unwrap_or_else(|| self.find_sure_reach(state))
    }

    /// Returns a set of labels by an id from [`ScanStates::reach`].
    #[inline]
    pub(crate) fn label_set(&self, id: u32) -> &BitSet {
        self.label_sets.get(id)
    }

    /// Stores the labels that a lexeme in this state can still end with, if they were found for all
    /// states together.
    pub(crate) fn set_reach(&self, state: ScanStateId, reach: u32) {
        let _ = self.facts(state).reach.set(reach);
    }

    /// Does the same for [`ScanStates::sure_reach`].
    pub(crate) fn set_sure_reach(&self, state: ScanStateId, reach: u32) {
        let _ = self.facts(state).sure_reach.set(reach);
    }

    /// Returns the id of a set of labels, as [`ScanStates::reach`] does.
    pub(crate) fn intern_labels(&self, labels: BitSet) -> u32 {
        self.label_sets.intern(labels)
    }

    /// Searches, for each component, a path to a state where its terminal is the label. The
    /// shortest path of the component's own DFA is tried first and nearly always succeeds. The
    /// search is exhaustive only for terminals that others outrank there, and its result is stored
    /// for all states that it went through. The terminal that none of the others outranks is the
    /// label wherever it matches.
    ///
    /// The states on the path of the first remaining component are handled first, from the last one
    /// back, so that each of them has one step to go. Otherwise a string that counts characters
    /// would be followed to its end from each of them.
    fn find_reach(&self, state: ScanStateId) -> BitSet {
        let plain = |component: &&Component| component.terminal.index() < self.dfas.len();
        if let [only] = self.components(state)
            && plain(&only)
        {
            // Every state of an automaton leads to a match, and nothing outranks it.
            let mut reach = BitSet::new(self.dfas.len());
            reach.insert(only.terminal.index());
            return reach;
        }
        let mut reach = BitSet::new(self.dfas.len());
        self.unrivalled(state).into_iter().for_each(|terminal| _ = reach.insert(terminal.index()));
        let is_left = |component: &&Component| {
            plain(component) && !reach.contains(component.terminal.index())
        };
        if let Some(first) = self.components(state).iter().find(is_left) {
            let unknown = |&next: &ScanStateId| self.facts(next).reach.get().is_none();
            let on = |&at: &ScanStateId| self.nearer(at, first.terminal).filter(unknown);
            let way: Vec<_> = std::iter::successors(on(&state), on).collect();
            way.into_iter().rev().for_each(|next| _ = self.reach(next));
        }
        let mut outranked = BitSet::new(self.dfas.len());
        for component in self.components(state).iter().filter(plain) {
            let terminal = component.terminal;
            if !reach.contains(terminal.index())
                && !self.is_label_at_once(state, terminal, &mut reach)
            {
                outranked.insert(terminal.index());
            }
        }
        outranked.subtract(&reach);
        if !outranked.is_empty() {
            self.find_labels(state, outranked, &mut reach);
        }
        reach
    }

    /// Returns the terminal that none of the others outranks, if only its automaton determines
    /// where lexemes end.
    fn unrivalled(&self, state: ScanStateId) -> Option<TerminalId> {
        if self.has_cuts() || self.has_every_match() {
            return None;
        }
        let rank = |component: &Component| self.ranks.get(component.terminal.index());
        let components = self.components(state);
        let least = components.iter().filter_map(rank).min()?;
        let mut first = components.iter().filter(|component| rank(component) == Some(least));
        let only = first.next().filter(|_| first.next().is_none())?;
        Some(only.terminal)
    }

    /// Goes through all states that a lexeme can reach, and finds the labels of all of them.
    #[cold]
    fn find_sure_reach(&self, state: ScanStateId) -> u32 {
        let known = |state: ScanStateId| self.facts(state).sure_reach.get().copied();
        let (mut met, mut next) = (vec![state], Lists::new());
        let mut places: HashMap<ScanStateId, usize, FxBuildHasher> = HashMap::default();
        places.insert(state, 0);
        let mut at = 0;
        while let Some(&state) = met.get(at) {
            at += 1;
            let moves = if known(state).is_none() { self.moves(state) } else { Moves::new() };
            for (state, _) in moves {
                let place = *places.entry(state).or_insert(met.len());
                if place == met.len() {
                    met.push(state);
                }
                next.push(place);
            }
            next.close();
        }
        let rounds = strong_components(&next);
        let mut reach: Vec<Option<u32>> = vec![None; met.len()];
        for round in (0..rounds.len()).map(|round| rounds.get(round)) {
            let mut labels = BitSet::new(self.dfas.len());
            for &at in round {
                if let Some(label) = self.plain_label(met[at]) {
                    labels.insert(label.index());
                }
                let behind = next.get(at).iter().filter_map(|&next| reach[next]);
                for set in known(met[at]).into_iter().chain(behind) {
                    labels.union_with(self.label_set(set));
                }
            }
            let set = self.label_sets.intern(labels);
            for &at in round {
                reach[at] = Some(set);
                self.set_sure_reach(met[at], set);
            }
        }
        reach[0].unwrap_or_default()
    }

    /// Follows the shortest path of the terminal's own DFA. Returns whether the terminal is the
    /// label at its end. Notes the labels met on the way.
    fn is_label_at_once(
        &self,
        mut state: ScanStateId,
        terminal: TerminalId,
        reach: &mut BitSet,
    ) -> bool {
        loop {
            for (label, _) in self.ends(state) {
                reach.insert(label.index());
                if label == terminal {
                    return true;
                }
            }
            let Some(next) = self.nearer(state, terminal) else { return false };
            if let Some(&known) = self.facts(next).reach.get() {
                let known = self.label_set(known);
                reach.union_with(known);
                return known.contains(terminal.index());
            }
            state = next;
        }
    }

    /// Returns the state after a byte that brings the terminal's own DFA closer to an accept.
    fn nearer(&self, state: ScanStateId, terminal: TerminalId) -> Option<ScanStateId> {
        let dfa = self.dfa(terminal)?;
        let components = self.components(state);
        let at = components.binary_search_by_key(&terminal, |component| component.terminal).ok()?;
        let own = components[at].state;
        let far = dfa.distance(own);
        let is_nearer = |&next: &u32| dfa.distance(next) < far;
        let class = dfa.row(own).iter().position(is_nearer)?;
        self.next(state, *dfa.classes().representatives().get(class)?)
    }

    /// Notes the labels of `wanted` with which the lexeme can still end. They are found at once for
    /// all states that it can reach while one of them competes, and not searched for again from any
    /// of these: a search from each state would take time proportional to the number of states
    /// every time. Past the steps that [`ScanStates::looking_within`] allows, none is found.
    #[cold]
    fn find_labels(&self, start: ScanStateId, mut wanted: BitSet, reach: &mut BitSet) {
        let mut known = self.outranked.lock().unwrap_or_else(PoisonError::into_inner);
        let all = wanted.clone();
        for terminal in all.iter() {
            if let Some(&is_label) = known.get(&(start, TerminalId::new(terminal))) {
                wanted.remove(terminal);
                if is_label {
                    reach.insert(terminal);
                }
            }
        }
        if wanted.is_empty() {
            return;
        }
        let competing = |state: ScanStateId| {
            let components = self.components(state).iter().map(|component| component.terminal);
            components.filter(|terminal| wanted.contains(terminal.index()))
        };
        let mut places: HashMap<ScanStateId, usize, FxBuildHasher> = HashMap::default();
        places.insert(start, 0);
        let (mut met, mut next, mut labels) = (vec![start], Lists::new(), Vec::new());
        while let Some(&state) = met.get(next.len()) {
            let mut own = BitSet::new(self.dfas.len());
            let mut is_known = true;
            for terminal in competing(state) {
                match known.get(&(state, terminal)) {
                    Some(true) => _ = own.insert(terminal.index()),
                    Some(false) => {}
                    None => is_known = false,
                }
            }
            if is_known {
                labels.push(own);
                next.close();
                continue;
            }
            if !self.look(STEPS_OF_A_LOOK + STEPS_OF_A_COMPONENT * self.components(state).len()) {
                return;
            }
            for (label, _) in self.ends(state).filter(|(label, _)| wanted.contains(label.index())) {
                own.insert(label.index());
            }
            labels.push(own);
            for (onto, _) in self.moves(state) {
                let place = places.get(&onto).copied().or_else(|| {
                    competing(onto).next()?;
                    places.insert(onto, met.len());
                    met.push(onto);
                    Some(met.len() - 1)
                });
                place.into_iter().for_each(|place| next.push(place));
            }
            next.close();
        }
        let rounds = strong_components(&next);
        for round in (0..rounds.len()).map(|round| rounds.get(round)) {
            let mut all = BitSet::new(self.dfas.len());
            for &at in round {
                all.union_with(&labels[at]);
                next.get(at).iter().for_each(|&onto| _ = all.union_with(&labels[onto]));
            }
            for &at in round {
                let facts = competing(met[at])
                    .map(|terminal| ((met[at], terminal), all.contains(terminal.index())));
                known.extend(facts);
                labels[at].clone_from(&all);
            }
        }
        reach.union_with(&labels[0]);
    }

    /// Calls `act`, which may search for labels that others outrank, with at most `steps` steps for
    /// these searches. Also returns the steps taken, which are `steps` if they did not suffice.
    pub(crate) fn looking_within<T>(&self, steps: usize, act: impl FnOnce() -> T) -> (T, usize) {
        self.looks_left.store(steps, Ordering::Relaxed);
        let found = act();
        let left = self.looks_left.swap(usize::MAX, Ordering::Relaxed);
        (found, steps.saturating_sub(left))
    }

    /// Takes this many steps. Returns whether they were left.
    fn look(&self, steps: usize) -> bool {
        let left = self.looks_left.load(Ordering::Relaxed);
        if left != usize::MAX {
            self.looks_left.store(left.saturating_sub(steps), Ordering::Relaxed);
        }
        left >= steps
    }
}

#[cfg(test)]
mod tests {
    use super::super::of_regexes;
    use super::*;

    /// Terminals that others outrank everywhere, somewhere or nowhere, one of them with a
    /// condition: exactly the labels that are met after a state.
    #[test]
    fn what_can_be_reached_is_what_is_met() {
        let regexes = ["if", "in(?!t)", "[a-z]+", "i[fn]", "[0-9]+|if", "[a-z]{2}"];
        let states = of_regexes(&regexes);
        for candidates in 1..1usize << regexes.len() {
            let mut set = BitSet::new(regexes.len());
            let among = (0..regexes.len()).filter(|terminal| candidates >> terminal & 1 == 1);
            among.for_each(|terminal| _ = set.insert(terminal));
            let mut met = vec![states.start(&set)];
            let mut labels = BitSet::new(regexes.len());
            let mut at = 0;
            while let Some(&state) = met.get(at) {
                at += 1;
                states.ends(state).for_each(|(label, _)| _ = labels.insert(label.index()));
                let next = states.moves(state).into_iter().map(|(next, _)| next);
                let new: Vec<_> = next.filter(|next| !met.contains(next)).collect();
                met.extend(new);
            }
            assert!(labels.iter().eq(states.label_set(states.reach(met[0])).iter()), "{set:?}");
        }
    }

    /// Labels found in a state are not searched for again from its predecessors, and the steps
    /// limit the search.
    #[test]
    fn labels_that_others_outrank_are_looked_for_once() {
        let steps_of = |count: usize, most: usize| {
            let [first, last] = ["c", "b"].map(|end| format!("a{{{count}}}{end}"));
            let states = of_regexes(&[&first, "[ab]*", &last]);
            let mut all = BitSet::new(3);
            (0..3).for_each(|terminal| _ = all.insert(terminal));
            let start = states.start(&all);
            let (reach, steps) = states.looking_within(most, || states.reach(start));
            assert!(!states.label_set(reach).contains(2));
            steps
        };
        let steps = steps_of(200, usize::MAX - 1);
        assert!(steps > 200 && steps_of(400, usize::MAX - 1) < 3 * steps);
        assert_eq!(steps_of(200, 100), 100);
    }
}

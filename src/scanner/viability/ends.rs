//! Where the lexeme in progress can end, and the obligations that it then leaves: the lexical facts
//! that a decision needs. All of them are finite, and cached once they were asked for at a
//! [`Point`].

use std::cell::Cell;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::obligation_classes::ObligationClasses;
use super::places::COMPARISONS;
use crate::scanner::product_state::{ByPoint, End, KnownEnds, Point, PointId};
use crate::scanner::{ObligationsId, Scanner};
use crate::util::append::Interner;
use crate::util::bitset::BitSet;
use crate::util::components::strong_components;
use crate::util::lists::Lists;

/// Bytes read from a point in the time of one step of a derivation.
const BYTES_OF_A_STEP: usize = 16;

/// Bytes read in the time in which one obligation takes a step that is not cached.
const NEW_STEP: usize = 8;

/// Labels compared in the time of one comparison of obligations.
const LABELS_OF_A_COMPARISON: usize = 8;

/// Facts about points.
#[derive(Debug, Default)]
pub(in crate::scanner) struct Ends {
    /// Number of a point's [`Scanner::clean_labels`] among the sets of labels.
    clean: ByPoint<u32>,
    /// A point's [`Scanner::ends`].
    ends: ByPoint<CachedEnds>,
    lists: Interner<Box<[End]>>,
    pub(super) classes: ObligationClasses,
}

/// The known ends of a point.
#[derive(Clone, Copy, Debug)]
struct CachedEnds {
    /// Their number among the lists.
    list: u32,
    /// Whether there are no others.
    is_whole: bool,
}

impl Scanner {
    /// Returns the labels that a lexeme in this point can end with, here or later, after all
    /// obligations have been discharged and without a condition on the following text. Subtracts
    /// the steps taken from `left`; if 0 are left, some labels may be missing.
    pub(super) fn clean_labels(&self, point: PointId, left: &mut usize) -> &BitSet {
        let at = self.at_point(point);
        let labels = match at.obligations {
            ObligationsId::NONE => self.states().sure_reach(at.state),
            _ => match self.ends.clean.get(point) {
                Some(&known) => known,
                None => self.find_clean_labels(point, left),
            },
        };
        self.states().label_set(labels)
    }

    #[cold]
    fn find_clean_labels(&self, point: PointId, left: &mut usize) -> u32 {
        let is_last_try = *left >= self.bounds.decision_steps;
        let met = self.explore(point, left, |point| {
            let discharged = self.at_point(point).obligations == ObligationsId::NONE;
            discharged || self.ends.clean.get(point).is_some()
        });
        let rounds = strong_components(&met.next);
        let mut labels = vec![None; met.points.len()];
        for round in (0..rounds.len()).map(|round| rounds.get(round)) {
            let mut all = BitSet::new(self.states().dfas().len());
            for &at in round {
                let point = self.at_point(met.points[at]);
                let known = match point.obligations {
                    ObligationsId::NONE => Some(self.states().sure_reach(point.state)),
                    _ => self.ends.clean.get(met.points[at]).copied(),
                };
                let next = met.next.get(at).iter().filter_map(|&next| labels[next]);
                for known in known.into_iter().chain(next) {
                    all.union_with(self.states().label_set(known));
                }
            }
            let all = self.states().intern_labels(all);
            round.iter().for_each(|&at| labels[at] = Some(all));
        }
        let found = labels.first().copied().flatten().unwrap_or_default();
        let known = if met.is_whole { labels.len() } else { usize::from(is_last_try) };
        for (&point, labels) in met.points.iter().zip(labels).take(known) {
            if let Some(labels) = labels {
                self.ends.clean.get_or_init(point, || labels);
            }
        }
        found
    }

    /// Returns all ways for a lexeme in this point to end, without those that leave no less open
    /// than another with the same label. Subtracts the steps taken from `left`.
    pub(in crate::scanner) fn ends(&self, point: PointId, left: &mut usize) -> KnownEnds<'_> {
        let known = self.ends.ends.get(point).copied();
        let CachedEnds { list, is_whole } = known.unwrap_or_else(|| self.find_ends(point, left));
        KnownEnds { ends: self.ends.lists.get(list), is_whole }
    }

    /// Computes the ends of all points that a lexeme can reach, successors first. Points that lead
    /// to each other share their ends.
    #[cold]
    fn find_ends(&self, point: PointId, left: &mut usize) -> CachedEnds {
        let (is_last_try, steps) = (*left >= self.bounds.decision_steps, *left);
        let met = self.explore(point, left, |point| self.ends.ends.get(point).is_some());
        let compared = Cell::new(0);
        let mut is_whole = met.is_whole;
        let rounds = strong_components(&met.next);
        let mut lists: Vec<Option<u32>> = vec![None; met.points.len()];
        for round in (0..rounds.len()).map(|round| rounds.get(round)) {
            let mut ends: Vec<End> = Vec::new();
            let mut seen: SmallVec<[u32; 8]> = SmallVec::new();
            let goes_on = round.len() > 1 || met.next.get(round[0]).contains(&round[0]);
            for &at in round {
                let known = self.ends.ends.get(met.points[at]).copied();
                is_whole &= known.is_none_or(|known| known.is_whole);
                if known.is_none() {
                    let point = self.at_point(met.points[at]);
                    self.add_own_ends(point, &mut ends, &compared);
                    if goes_on && self.has_budgets() {
                        self.add_cuts(point, &mut ends, &compared);
                    }
                }
                let next = met.next.get(at).iter().filter_map(|&next| lists[next]);
                for list in known.map(|known| known.list).into_iter().chain(next) {
                    if !seen.contains(&list) {
                        seen.push(list);
                        for &end in self.ends.lists.get(list) {
                            if compared.get() / COMPARISONS >= steps {
                                is_whole = false;
                                break;
                            }
                            self.add_end(end, &mut ends, &compared);
                        }
                    }
                }
            }
            ends.sort_unstable();
            let list = self.ends.lists.intern_ref(&ends);
            round.iter().for_each(|&at| lists[at] = Some(list));
        }
        *left = left.saturating_sub(compared.get() / COMPARISONS);
        let list = lists.first().copied().flatten().unwrap_or_default();
        // An incomplete result is not stored for other points, and for this one only if it cannot
        // get more steps.
        let known = if is_whole { lists.len() } else { usize::from(is_last_try) };
        for (&point, list) in met.points.iter().zip(lists).take(known) {
            if let Some(list) = list {
                self.ends.ends.get_or_init(point, || CachedEnds { list, is_whole });
            }
        }
        CachedEnds { list, is_whole }
    }

    /// Adds the ways for a lexeme to end at this point.
    fn add_own_ends(&self, point: &Point, ends: &mut Vec<End>, compared: &Cell<usize>) {
        for (label, guards) in self.states().ends(point.state) {
            // A terminal that may end at each match leaves nothing open.
            let goes_on = (!self.states().is_every_match(point.state)).then_some(point.state);
            let asked = guards.iter().copied().chain(goes_on);
            let asked = self.add_obligations(point.obligations, asked);
            let open = self.representatives(self.with_past(asked, self.states().past(point.state)));
            self.add_end((label, open), ends, compared);
        }
    }

    /// Adds the cuts of a lexeme that can go on for ever within this point, so that it can take as
    /// many tokens as its terminals may.
    fn add_cuts(&self, point: &Point, ends: &mut Vec<End>, compared: &Cell<usize>) {
        let left = self.with_past(point.obligations, self.states().past(point.state));
        if left != ObligationsId::NONE {
            return;
        }
        for component in self.states().components(point.state) {
            for &cut in self.lexis.budgets.cuts_of(component.terminal) {
                self.add_end((cut, left), ends, compared);
            }
        }
    }

    fn add_end(&self, (label, open): End, ends: &mut Vec<End>, compared: &Cell<usize>) {
        compared.set(compared.get() + ends.len() / LABELS_OF_A_COMPARISON);
        let is_within = |less, more| self.is_within(less, more, compared);
        if ends.iter().any(|&(other, less)| other == label && is_within(less, open)) {
            return;
        }
        ends.retain(|&(other, more)| other != label || !is_within(open, more));
        ends.push((label, open));
    }

    /// Returns the points that a lexeme can reach, with the successors of each, up to points that
    /// are `known`. If there are too many, the points beyond the limit are missing.
    fn explore(
        &self,
        from: PointId,
        left: &mut usize,
        known: impl Fn(PointId) -> bool,
    ) -> Explored {
        let mut met = Explored { points: vec![from], next: Lists::new(), is_whole: true };
        let mut places: HashMap<PointId, usize, FxBuildHasher> = HashMap::default();
        places.insert(from, 0);
        let representatives = self.states().classes().representatives();
        let mut at = 0;
        while let Some(&point) = met.points.get(at) {
            at += 1;
            if !known(point) {
                let point = self.at_point(point);
                let new = point.unknown_steps() * self.obligations(point.obligations).len();
                let cost = 1 + (representatives.len() + NEW_STEP * new) / BYTES_OF_A_STEP;
                met.is_whole &= cost < *left;
                *left = left.saturating_sub(cost);
                if *left == 0 {
                    met.next.close();
                    continue;
                }
                self.lead_on(point, |next| {
                    let place = *places.entry(next).or_insert(met.points.len());
                    if place == met.points.len() {
                        met.points.push(next);
                    }
                    met.next.push(place);
                });
            }
            met.next.close();
        }
        met
    }

    /// Passes the points after the next byte of the lexeme to `lead`, some several times. Without
    /// obligations it uses the rows of the scan states. A step would also find the lexemes that may
    /// have ended before each byte, which took a third of SQLite's first mask.
    fn lead_on(&self, point: &Point, mut lead: impl FnMut(PointId)) {
        if point.obligations == ObligationsId::NONE {
            for (next, _) in self.states().moves(point.state) {
                lead(self.point(next, ObligationsId::NONE));
            }
            return;
        }
        // Neighbouring classes mostly lead to the same point.
        let mut before = None;
        for &byte in self.states().classes().representatives() {
            if let Some(next) = self.step_point(point, byte).next()
                && before.replace(next) != Some(next)
            {
                lead(next);
            }
        }
    }
}

/// Points, and the positions of each one's successors.
struct Explored {
    points: Vec<PointId>,
    next: Lists<usize>,
    /// Whether all were looked at.
    is_whole: bool,
}

//! Where the lexeme in progress can end, and what that leaves open: what is needed of lexemes to
//! decide what a text can still become. All of it is finite, and known once it was asked for at a
//! [`Point`](crate::scanner::points::Point).

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::threats::Threats;
use crate::scanner::points::{End, PointId};
use crate::scanner::{ObligationsId, Scanner};
use crate::util::append::Slots;
use crate::util::bitset::BitSet;
use crate::util::components::strong_components;
use crate::util::lists::Lists;

/// What is known of points.
#[derive(Debug, Default)]
pub(in crate::scanner) struct Ends {
    /// By point: the number of its [`Scanner::clean_labels`] among the sets of labels.
    clean: Slots<u32>,
    /// By point: see [`Scanner::ends`].
    ends: Slots<Box<[End]>>,
    pub(super) threats: Threats,
}

impl Scanner {
    /// The labels that a lexeme going through this point can end with, here or later, after all
    /// obligations have been discharged, and without asking anything of the text behind.
    pub(super) fn clean_labels(&self, point: PointId) -> &BitSet {
        let at = self.at_point(point);
        let labels = match at.obligations {
            ObligationsId::NONE => self.states().sure_reach(at.state),
            _ => match self.ends.clean.get(point.0) {
                Some(&known) => known,
                None => self.find_clean_labels(point),
            },
        };
        self.states().label_set(labels)
    }

    #[cold]
    fn find_clean_labels(&self, point: PointId) -> u32 {
        let met = self.explore(point, |point| {
            let discharged = self.at_point(point).obligations == ObligationsId::NONE;
            discharged || self.ends.clean.get(point.0).is_some()
        });
        let rounds = strong_components(&met.next);
        let mut labels = vec![None; met.points.len()];
        for round in (0..rounds.len()).map(|round| rounds.get(round)) {
            let mut all = BitSet::new(self.states().dfas().len());
            for &at in round {
                let point = self.at_point(met.points[at]);
                let known = match point.obligations {
                    ObligationsId::NONE => Some(self.states().sure_reach(point.state)),
                    _ => self.ends.clean.get(met.points[at].0).copied(),
                };
                let next = met.next.get(at).iter().filter_map(|&next| labels[next]);
                for known in known.into_iter().chain(next) {
                    all.union_with(self.states().label_set(known));
                }
            }
            let all = self.states().intern_labels(all);
            round.iter().for_each(|&at| labels[at] = Some(all));
        }
        for (&point, labels) in met.points.iter().zip(labels) {
            if let Some(labels) = labels {
                self.ends.clean.get_or_init(point.0, || labels);
            }
        }
        self.ends.clean.get(point.0).copied().unwrap_or_default()
    }

    /// All ways for a lexeme going through this point to end. Of those with the same label, the
    /// ones that leave no less open than another are left out. Ascending.
    pub(in crate::scanner) fn ends(&self, point: PointId) -> &[End] {
        self.ends.ends.get_or_init(point.0, || {
            let mut ends: Vec<End> = Vec::new();
            let met = self.explore(point, |_| false);
            if !met.is_whole {
                self.give_up();
            }
            for point in met.points {
                let point = self.at_point(point);
                for (label, guards) in self.states().ends(point.state) {
                    // What may end at each match leaves nothing open.
                    let goes_on = (!self.states().is_every_match(point.state)).then_some(point.state);
                    let asked = guards.iter().copied().chain(goes_on);
                    let asked = self.add_obligations(point.obligations, asked);
                    let open = self.threats(self.with_past(asked, self.states().past(point.state)));
                    if ends.iter().any(|&(other, less)| other == label && self.is_within(less, open)) {
                        continue;
                    }
                    ends.retain(|&(other, more)| other != label || !self.is_within(open, more));
                    ends.push((label, open));
                }
            }
            ends.sort_unstable();
            ends.into()
        })
    }

    /// The points that a lexeme can go on to, and where each leads; not beyond those that are
    /// `known`. Where there are too many, what lies behind them is not found.
    fn explore(&self, from: PointId, known: impl Fn(PointId) -> bool) -> Explored {
        let mut met = Explored { points: vec![from], next: Lists::new(), is_whole: true };
        let mut places: HashMap<PointId, usize, FxBuildHasher> = HashMap::default();
        places.insert(from, 0);
        let representatives = self.states().classes().representatives();
        let (mut at, mut steps) = (0, 0);
        while let Some(&point) = met.points.get(at) {
            at += 1;
            if !known(point) {
                steps += representatives.len();
                if steps > self.bounds.decision_steps {
                    met.is_whole = false;
                    met.next.close();
                    continue;
                }
                let point = self.at_point(point);
                for &byte in representatives {
                    let Some(next) = self.step_point(point, byte).next() else { continue };
                    let place = *places.entry(next).or_insert(met.points.len());
                    if place == met.points.len() {
                        met.points.push(next);
                    }
                    met.next.push(place);
                }
            }
            met.next.close();
        }
        met
    }
}

/// Points, and by the place of each the places of those that it leads to.
struct Explored {
    points: Vec<PointId>,
    next: Lists<usize>,
    /// Whether all were looked at.
    is_whole: bool,
}

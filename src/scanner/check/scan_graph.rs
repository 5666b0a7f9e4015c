//! The scan states that lexemes can reach in the largest candidate sets, as a complete graph.
//!
//! The engine computes scan states as texts lead to them. The check needs all of them: which labels
//! can still be reached, and which bytes lead where. So the steps of each state are computed once,
//! as a [`Fan`], and questions about paths through the graph are answered over its strong
//! components (Tarjan 1972), successors first.

use crate::grammar::ir::LexerKind;
use crate::scanner::Lexis;
use crate::scanner::states::{Component, Past, ScanStates};
use crate::util::append::Slots;
use crate::util::bitset::BitSet;
use crate::util::byte_classes::ClassSet;
use crate::util::components::strong_components;
use crate::util::id::{ScanStateId, TerminalId};
use crate::util::lists::Lists;
use crate::util::meter::{LimitReached, Meter};

/// All scan states of candidate sets that include every real one as a subset.
#[derive(Debug)]
pub(super) struct ScanGraph {
    /// For each past: the start for all ordinary terminals, then those for the candidate sets with
    /// an exclusive one.
    starts: Vec<ScanStateId>,
    /// The possible pasts of a lexeme; the first is that at the beginning of the text.
    pasts: Vec<Past>,
    states: Vec<ScanStateId>,
    /// By id of a scan state: its position in `states`.
    positions: Vec<usize>,
    /// By position: the positions of the states after some byte.
    successors: Lists<usize>,
    /// Strong components as lists of positions, each after its successors.
    rounds: Lists<usize>,
    /// Positions of the states that a lexeme can reach among exclusive candidates.
    exclusive: BitSet,
    labels: BitSet,
    /// By id of a scan state; also for states outside the graph.
    fans: Slots<Fan>,
}

/// The effect of the next byte in a scan state, by classes of bytes.
#[derive(Debug)]
pub(super) struct Fan {
    /// Classes over which no candidate goes on.
    pub(super) kills: ClassSet,
    /// Classes that lead to a state in which no lexeme ends.
    pub(super) pends: ClassSet,
    /// The next states, each with the classes that lead there.
    pub(super) moves: Vec<(ScanStateId, ClassSet)>,
}

impl Fan {
    fn new(scan: &ScanStates, state: ScanStateId) -> Self {
        let moves = scan.moves(state).into_vec();
        let over = |open: bool| {
            let some = moves.iter().filter(|&&(next, _)| !open || scan.label(next).is_none());
            some.fold(ClassSet::default(), |all, &(_, classes)| all.union(classes))
        };
        Self { kills: scan.classes().all().difference(over(false)), pends: over(true), moves }
    }
}

/// Steps to compute the moves of a scan state, and more for each of its components.
const STEPS_OF_A_STATE: usize = 200;
const STEPS_OF_A_COMPONENT: usize = 100;

/// Marks states outside the graph.
const ABSENT: usize = usize::MAX;

impl ScanGraph {
    /// Explores the graph, and stores the reachable labels of each scan state; `None` if there are
    /// more than `limit` states.
    pub(super) fn explore(
        lexis: &Lexis,
        limit: usize,
        meter: &Meter,
    ) -> Result<Option<Self>, LimitReached> {
        let scan = lexis.states();
        let starts: Vec<ScanStateId> = std::iter::once(scan.start(&lexis.ordinary()))
            .chain(lexis.candidate_sets.iter().map(|candidates| scan.start(candidates)))
            .collect();
        let mut scan_graph = Self {
            starts: Vec::new(),
            pasts: Vec::new(),
            states: Vec::new(),
            positions: Vec::new(),
            successors: Lists::new(),
            rounds: Lists::new(),
            exclusive: BitSet::new(0),
            labels: BitSet::new(scan.dfas().len() + 1),
            fans: Slots::default(),
        };
        scan_graph.begin(scan, &starts, scan.first_past());
        let mut at = 0;
        while let Some(&state) = scan_graph.states.get(at) {
            at += 1;
            for (label, _) in scan.ends(state) {
                scan_graph.labels.insert(label.index());
                scan_graph.begin(scan, &starts, scan.past(state));
            }
            let fan = Fan::new(scan, state);
            for &(next, _) in &fan.moves {
                let next = scan_graph.meet(next);
                scan_graph.successors.push(next);
            }
            scan_graph.successors.close();
            scan_graph.fans.get_or_init(state.0, || fan);
            if scan_graph.states.len() > limit {
                return Ok(None);
            }
            let components = scan.components(state).len();
            meter.step(STEPS_OF_A_STATE + STEPS_OF_A_COMPONENT * components)?;
            meter.keep(scan.bytes_of_a_state(components))?;
        }
        scan_graph.exclusive = scan_graph.exclusive(starts.len());
        scan_graph.rounds = strong_components(&scan_graph.successors);
        scan_graph.tell_reach(scan);
        if scan.has_conditions() {
            scan_graph.tell_sure_reach(scan);
        }
        Ok(Some(scan_graph))
    }

    /// Adds the starts of lexemes with this past.
    fn begin(&mut self, scan: &ScanStates, starts: &[ScanStateId], past: Past) {
        if self.pasts.contains(&past) {
            return;
        }
        self.pasts.push(past);
        for &start in starts {
            let start = scan.begin(start, past);
            self.starts.push(start);
            self.meet(start);
        }
    }

    /// Returns the position of a state, adding it at the end if it is new.
    fn meet(&mut self, state: ScanStateId) -> usize {
        if self.positions.len() <= state.index() {
            self.positions.resize(state.index() + 1, ABSENT);
        }
        let position = &mut self.positions[state.index()];
        if *position == ABSENT {
            *position = self.states.len();
            self.states.push(state);
        }
        *position
    }

    fn exclusive(&self, sets: usize) -> BitSet {
        let mut exclusive = BitSet::new(self.states.len());
        let starts = self.starts.chunks(sets).flat_map(|starts| &starts[1..]);
        let mut pending: Vec<usize> = starts.map(|start| self.positions[start.index()]).collect();
        while let Some(at) = pending.pop() {
            if exclusive.insert(at) {
                pending.extend(self.successors.get(at));
            }
        }
        exclusive
    }

    /// Stores the labels with which lexemes can end.
    fn tell_reach(&self, scan: &ScanStates) {
        let all = |state, reach: &mut BitSet| {
            for (label, _) in scan.ends(state) {
                reach.insert(label.index());
            }
        };
        self.spread(
            scan,
            all,
            |state, reach| scan.set_reach(state, reach),
            |state| scan.reach(state),
        );
    }

    /// Stores the labels with which they can end without a condition on the following text.
    fn tell_sure_reach(&self, scan: &ScanStates) {
        let plain = |state, reach: &mut BitSet| {
            if let Some(label) = scan.plain_label(state) {
                reach.insert(label.index());
            }
        };
        let tell = |state, reach| scan.set_sure_reach(state, reach);
        self.spread(scan, plain, tell, |state| scan.sure_reach(state));
    }

    /// Propagates labels: those reachable from a state are those reachable from any state of its
    /// strong component. `own` adds the labels of a state, `tell` stores a state's result, and
    /// `told` returns it.
    fn spread(
        &self,
        scan: &ScanStates,
        own: impl Fn(ScanStateId, &mut BitSet),
        tell: impl Fn(ScanStateId, u32),
        told: impl Fn(ScanStateId) -> u32,
    ) {
        let mut known = BitSet::new(self.states.len());
        for round in (0..self.rounds.len()).map(|round| self.rounds.get(round)) {
            let mut reach = BitSet::new(scan.dfas().len());
            for &at in round {
                own(self.states[at], &mut reach);
                for &next in self.successors.get(at).iter().filter(|&&next| known.contains(next)) {
                    reach.union_with(scan.label_set(told(self.states[next])));
                }
            }
            let reach = scan.intern_labels(reach);
            for &at in round {
                tell(self.states[at], reach);
                known.insert(at);
            }
        }
    }

    /// Returns the possible pasts of a lexeme; the first is that at the beginning of the text.
    pub(super) fn pasts(&self) -> &[Past] {
        &self.pasts
    }

    /// Returns the effect of the next byte in `state`, in the graph or not.
    pub(super) fn fan(&self, scan: &ScanStates, state: ScanStateId) -> &Fan {
        self.fans.get_or_init(state.0, || Fan::new(scan, state))
    }

    /// Returns the states in which a lexeme may end without a condition on the following text, each
    /// with its possible labels there. Under the basic lexer that is the best one; if fewer
    /// terminals may really compete, it is any.
    pub(super) fn ends(
        &self,
        lexer: LexerKind,
        lexis: &Lexis,
    ) -> Vec<(ScanStateId, Vec<TerminalId>)> {
        let scan = lexis.states();
        let accepts = |c: &&Component| {
            let dfa = scan.dfas().get(c.terminal.index()).and_then(Option::as_ref);
            dfa.is_some_and(|dfa| dfa.is_accept(c.state) && dfa.condition(c.state).is_none())
        };
        let labels = |(at, &state): (usize, &ScanStateId)| {
            let labels: Vec<TerminalId> = match lexer {
                LexerKind::Basic if !self.exclusive.contains(at) => {
                    scan.plain_label(state).into_iter().collect()
                }
                _ => scan.components(state).iter().filter(accepts).map(|c| c.terminal).collect(),
            };
            (!labels.is_empty()).then_some((state, labels))
        };
        self.states.iter().enumerate().filter_map(labels).collect()
    }

    /// Returns which of `goals`, states labelled `last`, a lexeme can still reach. Each goal has a
    /// number below `count`, and goals with the same number are not distinguished. Linear in the
    /// part of the graph that leads to `last`.
    pub(super) fn ways(
        &self,
        scan: &ScanStates,
        last: TerminalId,
        goals: impl Iterator<Item = (ScanStateId, usize)>,
        count: usize,
    ) -> ReachableGoals<'_> {
        let mut ways = vec![BitSet::default(); self.states.len()];
        for (goal, number) in goals {
            let own = &mut ways[self.positions[goal.index()]];
            if own.is_empty() {
                *own = BitSet::new(count);
            }
            own.insert(number);
        }
        for round in (0..self.rounds.len()).map(|round| self.rounds.get(round)) {
            if !scan.label_set(scan.sure_reach(self.states[round[0]])).contains(last.index()) {
                continue;
            }
            let mut all = BitSet::new(count);
            for &at in round {
                all.union_with(&ways[at]);
                self.successors.get(at).iter().for_each(|&next| {
                    all.union_with(&ways[next]);
                });
            }
            round.iter().for_each(|&at| ways[at] = all.clone());
        }
        ReachableGoals { ways, scan_graph: self }
    }

    /// Returns whether some text has this label in one of the candidate sets.
    pub(super) fn is_label(&self, terminal: TerminalId) -> bool {
        self.labels.contains(terminal.index())
    }

    /// Returns the label of `text` in one of the candidate sets.
    pub(super) fn winner(&self, lexis: &Lexis, text: &[u8]) -> Option<TerminalId> {
        let scan = lexis.states();
        let label = |&start: &ScanStateId| {
            let state = text.iter().try_fold(start, |state, &byte| scan.next(state, byte))?;
            scan.label(state)
        };
        self.starts.iter().find_map(label)
    }
}

/// The result of [`ScanGraph::ways`].
pub(super) struct ReachableGoals<'a> {
    ways: Vec<BitSet>,
    scan_graph: &'a ScanGraph,
}

impl ReachableGoals<'_> {
    /// Returns the goals that can still be reached from `state`.
    pub(super) fn from(&self, state: ScanStateId) -> &BitSet {
        &self.ways[self.scan_graph.positions[state.index()]]
    }
}

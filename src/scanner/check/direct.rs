//! Which terminals can be made to follow which others directly: the part of
//! [`adjacency`](super::adjacency) that looks at bytes.

use std::cell::{Cell, OnceCell, RefCell};

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::scan_graph::ScanGraph;
use crate::grammar::ir::Grammar;
use crate::scanner::Lexis;
use crate::scanner::candidate_sets::Starts;
use crate::scanner::states::{Past, ScanStates};
use crate::util::bitset::BitSet;
use crate::util::byte_classes::ClassSet;
use crate::util::id::{ScanStateId, TerminalId};
use crate::util::meter::{Holding, LimitReached, Meter};

/// The relation without ignored lexemes in between.
pub(super) struct Direct<'a> {
    grammar: &'a Grammar,
    lexis: &'a Lexis,
    scan_graph: &'a ScanGraph,
    /// By past and by terminal: [`Lexis::starts_of`].
    pub(super) starts: Vec<Vec<Option<Starts>>>,
    /// Pairs of a pending match and a lexeme of the terminal that cannot outlive it.
    stuck: RefCell<HashSet<(ScanStateId, ScanStateId, usize), FxBuildHasher>>,
    counted: Counted<'a>,
}

/// The cost of the relation.
struct Counted<'a> {
    meter: &'a Meter,
    held: RefCell<Holding>,
    /// Work since the last report to the meter.
    work: Cell<usize>,
    /// The limit that the meter has reached, if any: nothing more is to be done.
    limit: OnceCell<LimitReached>,
}

/// Work that is reported to the meter at once, and so may be done past a limit.
const AT_ONCE: usize = 1 << 20;

/// A pair is inserted into two tables.
const STEPS_OF_A_PAIR: usize = 10;

/// A pair is looked up in both tables.
const STEPS_OF_A_PROBE: usize = 2;

/// Beginnings of the lexemes of a terminal.
struct Opening {
    terminal: usize,
    starts: Vec<Start>,
}

/// Their beginnings with some candidates.
struct Start {
    /// The classes of their first bytes.
    begins: ClassSet,
    /// The states after these bytes.
    moves: Vec<(ScanStateId, ClassSet)>,
}

/// Beginnings of lexemes with one kind of candidates.
pub(super) struct Openings {
    /// By past.
    all: Vec<Vec<Opening>>,
    /// The terminals of these lexemes.
    pub(super) terminals: BitSet,
    /// By fate, once it was asked for: the terminals that may follow an end of that fate.
    followers: Vec<Option<BitSet>>,
}

/// The effect of the next byte on a lexeme that may have ended: the classes that end it, the states
/// after those that leave it open whether it has, and its past.
type Fate = (ClassSet, Vec<(ScanStateId, ClassSet)>, Past);

/// The scan states in which a lexeme may end, by their fate. In most languages there are few fates,
/// and the followers are computed once for each.
#[derive(Default)]
pub(super) struct Fates {
    ids: HashMap<Fate, usize, FxBuildHasher>,
    /// One state of each fate.
    states: Vec<ScanStateId>,
}

/// A scan state in which a lexeme may end, and its fate.
pub(super) type End = (ScanStateId, usize);

impl Fates {
    fn of(&mut self, scan: &ScanStates, scan_graph: &ScanGraph, end: ScanStateId) -> usize {
        let fan = scan_graph.fan(scan, end);
        let open = fan.moves.iter().copied().filter(|&(next, _)| scan.label(next).is_none());
        *self.ids.entry((fan.kills, open.collect(), scan.past(end))).or_insert_with(|| {
            self.states.push(end);
            self.states.len() - 1
        })
    }
}

impl<'a> Direct<'a> {
    /// Creates the relation of a grammar whose scan states are known.
    pub(super) fn new(
        grammar: &'a Grammar,
        lexis: &'a Lexis,
        scan_graph: &'a ScanGraph,
        meter: &'a Meter,
    ) -> Result<Self, LimitReached> {
        let scan = lexis.states();
        // If a terminal does not compete with all others, finding the beginnings of its lexemes
        // meets more states.
        let starts_of = |index, past| -> Result<Option<Starts>, LimitReached> {
            let before = scan.len();
            let starts = || lexis.starts_of(TerminalId::new(index), past);
            let (starts, steps) = scan.looking_within(meter.steps_left() + 1, starts);
            meter.step(steps)?;
            for state in (before..scan.len()).map(ScanStateId::new) {
                meter.keep(scan.bytes_of_a_state(scan.components(state).len()))?;
            }
            Ok(starts)
        };
        let starts_behind = |&past: &Past| {
            let all = (0..grammar.terminals.len()).map(TerminalId::new);
            // Terminals with one label start in the same states.
            let of_labels =
                all.clone().map(|terminal| match lexis.label_of(terminal) == terminal {
                    true => starts_of(terminal.index(), past),
                    false => Ok(None),
                });
            let of_labels = of_labels.collect::<Result<Vec<Option<Starts>>, LimitReached>>()?;
            Ok(all.map(|terminal| of_labels[lexis.label_of(terminal).index()].clone()).collect())
        };
        let starts = scan_graph.pasts().iter().map(starts_behind).collect::<Result<_, _>>()?;
        let counted = Counted {
            meter,
            held: RefCell::new(meter.holding()),
            work: Cell::new(0),
            limit: OnceCell::new(),
        };
        Ok(Self { grammar, lexis, scan_graph, starts, stuck: RefCell::default(), counted })
    }

    /// Reports work and memory to the meter.
    pub(super) fn count(&self) -> Result<(), LimitReached> {
        if let Some(limit) = self.counted.limit.get() {
            return Err(limit.clone());
        }
        self.counted.meter.step(self.counted.work.take())?;
        // A pair and its place in a table.
        let pairs = self.stuck.borrow().capacity() * 32;
        self.counted.held.borrow_mut().set(pairs)
    }

    /// Adds work. Returns whether it exceeds the meter's limit.
    fn work(&self, steps: usize) -> bool {
        let Counted { work, limit, .. } = &self.counted;
        work.set(work.get() + steps);
        if limit.get().is_none()
            && work.get() > AT_ONCE
            && let Err(reached) = self.count()
        {
            let _ = limit.set(reached);
        }
        limit.get().is_some()
    }

    /// Returns the terminals that have starts of this kind, with the beginnings of their lexemes.
    pub(super) fn openings(&self, kind: impl Fn(&Starts) -> &[ScanStateId]) -> Openings {
        let mut terminals = BitSet::new(self.grammar.terminals.len() + 1);
        let mut all = Vec::new();
        for starts in &self.starts {
            let openings = self.openings_behind(starts, &kind);
            openings.iter().for_each(|opening| {
                terminals.insert(opening.terminal);
            });
            all.push(openings);
        }
        Openings { all, terminals, followers: Vec::new() }
    }

    /// Returns the same after texts with one past.
    fn openings_behind(
        &self,
        starts: &[Option<Starts>],
        kind: &impl Fn(&Starts) -> &[ScanStateId],
    ) -> Vec<Opening> {
        let mut all = Vec::new();
        for (terminal, starts) in starts.iter().enumerate() {
            let Some(starts) = starts.as_ref().map(kind).filter(|starts| !starts.is_empty()) else {
                continue;
            };
            let start = |&start: &ScanStateId| {
                let moves: Vec<_> = self.towards(start, terminal).collect();
                let begins =
                    moves.iter().fold(ClassSet::default(), |all, &(_, classes)| all.union(classes));
                Start { begins, moves }
            };
            all.push(Opening { terminal, starts: starts.iter().map(start).collect() });
        }
        all
    }

    /// Returns the steps from a scan state with which the lexeme can still become `terminal`.
    fn towards(
        &self,
        state: ScanStateId,
        terminal: usize,
    ) -> impl Iterator<Item = (ScanStateId, ClassSet)> {
        let scan = self.lexis.states();
        let label = self.lexis.label_of(TerminalId::new(terminal)).index();
        let moves = self.scan_graph.fan(scan, state).moves.iter().copied();
        moves.filter(move |&(next, _)| scan.label_set(scan.sure_reach(next)).contains(label))
    }

    /// Returns, by terminal, the states in which a lexeme of it may end.
    pub(super) fn ends(&self, fates: &mut Fates) -> Vec<Vec<End>> {
        let mut ends = vec![Vec::new(); self.grammar.terminals.len()];
        for (state, labels) in self.scan_graph.ends(self.grammar.lexer, self.lexis) {
            let fate = fates.of(self.lexis.states(), self.scan_graph, state);
            for label in labels {
                ends[label.index()].push((state, fate));
                for other in self.lexis.other_readings(label) {
                    ends[other.index()].push((state, fate));
                }
            }
        }
        ends
    }

    /// Returns the terminals that may follow `last` from each of these ends of its lexemes, either
    /// there or from an end that the lexeme can still reach. A comment that is open at the end of
    /// the text is an example of the latter: it can be closed.
    pub(super) fn followers(
        &self,
        last: TerminalId,
        ends: &[End],
        fates: &Fates,
        openings: &mut Openings,
    ) -> BitSet {
        let mut met: Vec<usize> = ends.iter().map(|&(_, fate)| fate).collect();
        met.sort_unstable();
        met.dedup();
        let mut everywhere = openings.terminals.clone();
        let mut somewhere = BitSet::new(self.grammar.terminals.len() + 1);
        openings.followers.resize(fates.states.len(), None);
        for &fate in &met {
            if openings.followers[fate].is_none() {
                openings.followers[fate] = Some(self.followers_at(fates.states[fate], openings));
            }
            let followers = openings.followers[fate].as_ref();
            followers.inspect(|here| everywhere.intersect_with(here));
            followers.inspect(|here| {
                somewhere.union_with(here);
            });
        }
        somewhere.subtract(&everywhere);
        if somewhere.is_empty() {
            return everywhere;
        }
        // By fate, the number of its set of followers.
        let mut sets: Vec<&BitSet> = Vec::new();
        let mut ids: HashMap<&BitSet, usize, FxBuildHasher> = HashMap::default();
        let mut of_fate = vec![0; fates.states.len()];
        for &fate in &met {
            let Some(here) = &openings.followers[fate] else { continue };
            of_fate[fate] = *ids.entry(here).or_insert_with(|| {
                sets.push(here);
                sets.len() - 1
            });
        }
        let scan = self.lexis.states();
        let last = self.lexis.label_of(last);
        let goals = ends.iter().filter(|&&(end, _)| scan.plain_label(end) == Some(last));
        let goals = goals.map(|&(end, fate)| (end, of_fate[fate]));
        let ways = self.scan_graph.ways(scan, last, goals, sets.len());
        for terminal in somewhere.iter() {
            let mut fit = BitSet::new(sets.len());
            for (set, _) in sets.iter().enumerate().filter(|(_, set)| set.contains(terminal)) {
                fit.insert(set);
            }
            let mut unfit = ends.iter().filter(|&&(_, fate)| !fit.contains(of_fate[fate]));
            if unfit.all(|&(end, _)| ways.from(end).intersects(&fit)) {
                everywhere.insert(terminal);
            }
        }
        everywhere
    }

    /// Returns the terminals of which, from each start, some lexeme outlives the obligation `end`.
    pub(super) fn followers_at(&self, end: ScanStateId, openings: &Openings) -> BitSet {
        let scan = self.lexis.states();
        let fan = self.scan_graph.fan(scan, end);
        let mut followers = BitSet::new(self.grammar.terminals.len() + 1);
        let past = scan.past(end);
        let behind = self.scan_graph.pasts().iter().position(|&known| known == past);
        for opening in behind.map_or(&[][..], |behind| &openings.all[behind]) {
            if self.work(4 * opening.starts.len()) {
                break;
            }
            let fits = opening.starts.iter().all(|start| {
                fan.kills.intersects(start.begins)
                    || fan.pends.intersects(start.begins)
                        && self.has_lexeme_after(end, &start.moves, opening.terminal)
            });
            if fits {
                followers.insert(opening.terminal);
            }
        }
        followers
    }

    /// Returns whether some lexeme of `terminal` that begins with one of these steps outlives the
    /// obligation `end` without breaking it.
    fn has_lexeme_after(
        &self,
        end: ScanStateId,
        begin: &[(ScanStateId, ClassSet)],
        terminal: usize,
    ) -> bool {
        let mut pairs = Pairs { seen: HashSet::default(), pending: Vec::new() };
        let mut outlives = self.outlives(end, begin.iter().copied(), terminal, &mut pairs);
        while !outlives && let Some((end, state)) = pairs.pending.pop() {
            if self.work(STEPS_OF_A_PAIR) {
                // The answer is no longer used.
                return false;
            }
            outlives = self.outlives(end, self.towards(state, terminal), terminal, &mut pairs);
        }
        if !outlives {
            let stuck = pairs.seen.into_iter().map(|(end, next)| (end, next, terminal));
            self.stuck.borrow_mut().extend(stuck);
        }
        outlives
    }

    /// Returns whether one of the steps discharges the obligation. Adds the steps that leave it
    /// open to `pairs`.
    fn outlives(
        &self,
        end: ScanStateId,
        steps: impl Iterator<Item = (ScanStateId, ClassSet)>,
        terminal: usize,
        pairs: &mut Pairs,
    ) -> bool {
        let scan = self.lexis.states();
        let stuck = self.stuck.borrow();
        let fan = self.scan_graph.fan(scan, end);
        for (next, classes) in steps {
            if fan.kills.intersects(classes) {
                return true;
            }
            if !fan.pends.intersects(classes) {
                continue;
            }
            let mut probes = 0;
            for &(end, open) in &fan.moves {
                if !open.intersects(classes) || scan.label(end).is_some() {
                    continue;
                }
                probes += 1;
                if !stuck.contains(&(end, next, terminal)) && pairs.seen.insert((end, next)) {
                    pairs.pending.push((end, next));
                }
            }
            self.work(fan.moves.len() + STEPS_OF_A_PROBE * probes);
        }
        false
    }
}

/// Pairs of an obligation and a lexeme, in a search for a lexeme that outlives its obligation.
struct Pairs {
    seen: HashSet<(ScanStateId, ScanStateId), FxBuildHasher>,
    pending: Vec<(ScanStateId, ScanStateId)>,
}

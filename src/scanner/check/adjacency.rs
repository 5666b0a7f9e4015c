//! Which terminals can always be made to follow which others, longest match notwithstanding.
//!
//! Terminal `u` *may follow* `t` when each lexeme of `t` can be ended, maybe after going on, so
//! that there is a lexeme of `u` (or first an ignored one) that the ended lexeme cannot run into:
//! its obligation dies within that lexeme and never accepts. Lexemes are judged among
//! all ordinary terminals, and in those that rows with an exclusive terminal promise. Where fewer
//! compete, lexemes are cut no longer and obligations accept no more often than here: what may
//! follow here may follow there.

use std::cell::{Cell, RefCell};

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::gates::{self, Gates};
use super::indentation::blank_states;
use super::scan_graph::ScanGraph;
use crate::grammar::ir::Grammar;
use crate::lr::table::ParseTable;
use crate::scanner::Lexis;
use crate::scanner::candidates::Starts;
use crate::scanner::states::{Past, ScanStates};
use crate::util::bitset::BitSet;
use crate::util::byte_classes::ClassSet;
use crate::util::id::{ScanStateId, TerminalId};
use crate::util::meter::{Holding, LimitReached, Meter};

/// The relation.
#[derive(Debug)]
pub(super) struct Adjacency {
    /// By terminal, the last row for the beginning of the text: what may follow, maybe after
    /// ignored lexemes.
    follows: Vec<BitSet>,
    /// Terminals that a lexeme may ever be.
    possible: BitSet,
    /// What may follow ignored terminals that have a gate: see [`gates`].
    gates: Vec<(TerminalId, BitSet)>,
    /// Ignored terminals that not everything may follow, and have no gate.
    doubtful: Vec<TerminalId>,
    end: TerminalId,
    lines: Option<Lines>,
}

/// What `%indent` adds.
#[derive(Debug)]
struct Lines {
    newline: TerminalId,
    indent: TerminalId,
    dedent: TerminalId,
    /// What can always be made the first lexeme of a line, of any width.
    first: BitSet,
}

impl Adjacency {
    /// Computes the relation.
    pub(super) fn new(
        grammar: &Grammar,
        lexis: &Lexis,
        scan_graph: &ScanGraph,
        meter: &Meter,
    ) -> Result<Self, LimitReached> {
        let count = grammar.terminals.len();
        let starts_behind =
            |&past: &Past| (0..count).map(|index| lexis.starts_of(TerminalId::new(index), past)).collect();
        let starts = scan_graph.pasts().iter().map(starts_behind).collect();
        let stuck = RefCell::default();
        let counted = Counted { meter, held: RefCell::new(meter.holding()), work: Cell::new(0) };
        let relation = Direct { grammar, lexis, scan_graph, starts, stuck, counted };
        let mut certain = BitSet::new(count + 1);
        let mut possible = BitSet::new(count + 1);
        for index in 0..count {
            if relation.starts[0][index].is_some() {
                certain.insert(index);
            }
            if lexis.may_occur(TerminalId::new(index)) {
                possible.insert(index);
            }
        }
        let mut fates = Fates::default();
        let ends = relation.ends(&mut fates);
        let mut ordinary = relation.openings(|starts| &starts.ordinary);
        let mut follows: Vec<BitSet> = Vec::with_capacity(count + 1);
        for (index, ends) in ends.iter().enumerate() {
            follows.push(relation.followers(TerminalId::new(index), ends, &fates, &mut ordinary));
            relation.count()?;
        }
        follows.push(certain);
        let lines = lexis.indentation().map(|indentation| {
            let blanks = blank_states(lexis).unwrap_or_default();
            let mut first = ordinary.terminals.clone();
            blanks.iter().for_each(|&blank| first.intersect_with(&relation.followers_at(blank, &ordinary)));
            first.intersect_with(&follows[indentation.newline.index()]);
            let (newline, indent, dedent) = (indentation.newline, indentation.indent, indentation.dedent);
            Lines { newline, indent, dedent, first }
        });
        let newline = lines.as_ref().map(|lines| lines.newline);
        let ignored: Vec<usize> = (0..count).filter(|&index| grammar.terminals[index].ignored).collect();
        let loosely = newline.map_or_else(Vec::new, |newline| {
            let mut loosely = follows.clone();
            close(&mut loosely, &[&ignored[..], &[newline.index()]].concat());
            loosely
        });
        close(&mut follows, &ignored);
        // Nothing is ignored before an exclusive terminal, nor before what competes with one.
        let mut exclusive = relation.openings(|starts| &starts.exclusive);
        for (last, ends) in ends.iter().enumerate() {
            let directly = relation.followers(TerminalId::new(last), ends, &fates, &mut exclusive);
            relation.count()?;
            for opening in exclusive.terminals.iter() {
                let elsewhere = follows[last].contains(opening) || !ordinary.terminals.contains(opening);
                if elsewhere && (directly.contains(opening) || grammar.terminals[last].ignored) {
                    follows[last].insert(opening);
                } else {
                    follows[last].remove(opening);
                }
            }
        }
        let Gates { gates, doubtful } = gates::sort(grammar, lexis, (&follows, &loosely), newline, &possible);
        if let Some(Lines { indent, dedent, .. }) = lines {
            possible.insert(indent.index());
            possible.insert(dedent.index());
        }
        Ok(Self { follows, possible, gates, doubtful, end: lexis.table().end(), lines })
    }

    /// The ignored terminals behind which some can stand and others not, and the ones that can.
    pub(super) fn gates(&self) -> &[(TerminalId, BitSet)] {
        &self.gates
    }

    /// Whether a line end may follow whatever is ignored, so that any line can be left blank.
    pub(super) fn unending(&self, grammar: &Grammar) -> Option<TerminalId> {
        let newline = self.lines.as_ref()?.newline;
        (self.possible.iter().filter(|&index| grammar.terminals[index].ignored))
            .map(TerminalId::new)
            .find(|&ignored| !self.follows(Some(ignored), newline))
    }

    /// Whether `next` (perhaps `$`) can always be made to follow `taken`, the last terminal that
    /// the parser has taken (`None`: the beginning of the text), where the last lexeme is `ignored`
    /// (`None`: is that terminal's).
    pub(super) fn may_follow(
        &self,
        taken: Option<TerminalId>,
        ignored: Option<TerminalId>,
        next: TerminalId,
    ) -> bool {
        match &self.lines {
            Some(lines) => self.may_follow_in_lines(lines, taken, ignored, next),
            None => next == self.end || self.follows(ignored.or(taken), next),
        }
    }

    /// All that can always be made to follow: see [`Adjacency::may_follow`].
    pub(super) fn followers(&self, taken: Option<TerminalId>, ignored: Option<TerminalId>) -> BitSet {
        let mut all = BitSet::new(self.end.index() + 1);
        match self.lines {
            Some(_) => {
                let may_follow = |&next: &usize| self.may_follow(taken, ignored, TerminalId::new(next));
                (0..=self.end.index()).filter(may_follow).for_each(|next| {
                    all.insert(next);
                });
            }
            None => {
                all.union_with(self.row(ignored.or(taken)));
                all.insert(self.end.index());
            }
        }
        all
    }

    /// INDENT and DEDENT stand only where a line begins, and NEWLINE only behind another lexeme.
    /// Where a line begins, it can be begun anew with other blanks if a line end may follow.
    fn may_follow_in_lines(
        &self,
        lines: &Lines,
        taken: Option<TerminalId>,
        ignored: Option<TerminalId>,
        next: TerminalId,
    ) -> bool {
        let behind = |terminals: &[TerminalId]| taken.is_none_or(|taken| terminals.contains(&taken));
        if !behind(&[lines.newline, lines.indent, lines.dedent]) {
            let own = [lines.indent, lines.dedent, self.end].contains(&next);
            // An ignored line end stands between brackets, where no other line end is wanted.
            let between = ignored == Some(lines.newline) && next == lines.newline;
            return !own && (between || self.follows(ignored.or(taken), next));
        }
        let fresh = ignored.is_none_or(|ignored| self.follows(Some(ignored), lines.newline));
        fresh
            && match next {
                next if next == self.end => taken != Some(lines.indent),
                next if next == lines.newline => false,
                next if next == lines.indent => behind(&[lines.newline]),
                next if next == lines.dedent => taken.is_some() && behind(&[lines.newline, lines.dedent]),
                next => lines.first.contains(next.index()),
            }
    }

    /// Whether a lexeme of `next` can always be made to follow one of `last` (`None`: the beginning
    /// of the text).
    fn follows(&self, last: Option<TerminalId>, next: TerminalId) -> bool {
        self.row(last).contains(next.index())
    }

    fn row(&self, last: Option<TerminalId>) -> &BitSet {
        &self.follows[last.map_or(self.follows.len() - 1, TerminalId::index)]
    }

    /// Whether these are all terminals that a lexeme may ever be, and the end of the text.
    pub(super) fn is_all(&self, terminals: &BitSet) -> bool {
        terminals.contains(self.end.index()) && self.possible.is_subset(terminals)
    }

    /// Whether a lexeme may ever be this terminal: [`Lexis::may_occur`].
    pub(super) fn is_possible(&self, terminal: TerminalId) -> bool {
        self.possible.contains(terminal.index())
    }

    /// The ignored terminals that may stand before any lexeme though it may not be able to follow.
    pub(super) fn doubtful(&self) -> &[TerminalId] {
        &self.doubtful
    }

    /// Whether every terminal that the tables let follow another may follow it, and any ignored one
    /// between.
    pub(super) fn is_total(&self, table: &ParseTable) -> bool {
        let begins = (None, table.row(table.start()));
        let rows = super::rows(table);
        let behind = rows.iter().enumerate().map(|(last, row)| (Some(TerminalId::new(last)), row));
        std::iter::once(begins).chain(behind).all(|(last, row)| {
            let mut places = std::iter::once(None).chain(self.doubtful.iter().copied().map(Some));
            places.all(|ignored| {
                // What may follow is a row here, too, unless lines count.
                let all = self.lines.is_none() && {
                    let mut follows = self.row(ignored.or(last)).clone();
                    follows.insert(self.end.index());
                    row.is_subset(&follows)
                };
                all || row.iter().all(|next| self.may_follow(last, ignored, TerminalId::new(next)))
            })
        })
    }
}

/// Adds to each row what may follow the ignored terminals in it, as many as it takes.
fn close(rows: &mut [BitSet], ignored: &[usize]) {
    let mut changed = true;
    while changed {
        changed = false;
        for &ignored in ignored {
            let after = rows[ignored].clone();
            for row in rows.iter_mut() {
                if row.contains(ignored) {
                    changed |= row.union_with(&after);
                }
            }
        }
    }
}

/// The relation without ignored lexemes between.
struct Direct<'a> {
    grammar: &'a Grammar,
    lexis: &'a Lexis,
    scan_graph: &'a ScanGraph,
    /// By what is known of the text before, and by terminal: [`Lexis::starts_of`].
    starts: Vec<Vec<Option<Starts>>>,
    /// Pairs of a pending match and a lexeme of the terminal that cannot outlive it.
    stuck: RefCell<HashSet<(ScanStateId, ScanStateId, usize), FxBuildHasher>>,
    counted: Counted<'a>,
}

/// What the relation costs.
struct Counted<'a> {
    meter: &'a Meter,
    held: RefCell<Holding>,
    /// Since the meter was last told.
    work: Cell<usize>,
}

/// Work that is told to the meter at once: so much may be done past a limit.
const AT_ONCE: usize = 1 << 20;

/// A pair is looked up and put into two tables.
const STEPS_OF_A_PAIR: usize = 20;

/// How the lexemes of a terminal begin.
struct Opening {
    terminal: usize,
    starts: Vec<Start>,
}

/// How they begin with some candidates.
struct Start {
    /// The classes of bytes that they begin with.
    begins: ClassSet,
    /// What these lead to.
    moves: Vec<(ScanStateId, ClassSet)>,
}

/// How lexemes begin with one kind of candidates.
struct Openings {
    /// By what is known of the text before.
    all: Vec<Vec<Opening>>,
    /// Their terminals.
    terminals: BitSet,
    /// By fate, once it was asked for: what may follow an end of that fate.
    followers: Vec<Option<BitSet>>,
}

/// What the next byte does to a lexeme that may have ended: the classes that end it, and where
/// those lead that leave it open whether it has; and what is known of the text then.
type Fate = (ClassSet, Vec<(ScanStateId, ClassSet)>, Past);

/// The scan states in which a lexeme may end, by their fate. In most languages there are few, and
/// what may follow is judged once for each.
#[derive(Default)]
struct Fates {
    ids: HashMap<Fate, usize, FxBuildHasher>,
    /// One state of each.
    states: Vec<ScanStateId>,
}

/// A scan state in which a lexeme may end, and its fate.
type End = (ScanStateId, usize);

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

impl Direct<'_> {
    /// Tells the meter what was done, and what is held.
    fn count(&self) -> Result<(), LimitReached> {
        self.counted.meter.step(self.counted.work.take())?;
        // A pair, and its place in a table.
        let pairs = self.stuck.borrow().capacity() * 32;
        self.counted.held.borrow_mut().set(pairs)
    }

    /// Notes work. Whether there is more than can be left.
    fn work(&self, steps: usize) -> bool {
        let work = self.counted.work.get() + steps;
        self.counted.work.set(work);
        work > AT_ONCE && self.count().is_err()
    }

    /// The terminals that have starts of this kind.
    fn openings(&self, kind: impl Fn(&Starts) -> &[ScanStateId]) -> Openings {
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

    /// The same behind a text of which the same is known.
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
                let begins = moves.iter().fold(ClassSet::default(), |all, &(_, classes)| all.union(classes));
                Start { begins, moves }
            };
            all.push(Opening { terminal, starts: starts.iter().map(start).collect() });
        }
        all
    }

    /// The steps from a scan state with which the lexeme can still become `terminal`.
    fn towards(&self, state: ScanStateId, terminal: usize) -> impl Iterator<Item = (ScanStateId, ClassSet)> {
        let scan = self.lexis.states();
        let moves = self.scan_graph.fan(scan, state).moves.iter().copied();
        moves.filter(move |&(next, _)| scan.label_set(scan.sure_reach(next)).contains(terminal))
    }

    /// By terminal, where a lexeme of it may end.
    fn ends(&self, fates: &mut Fates) -> Vec<Vec<End>> {
        let mut ends = vec![Vec::new(); self.grammar.terminals.len()];
        for (state, labels) in self.scan_graph.ends(self.grammar.lexer, self.lexis) {
            let fate = fates.of(self.lexis.states(), self.scan_graph, state);
            for label in labels {
                ends[label.index()].push((state, fate));
                if let Some(other) = self.lexis.other_reading(label) {
                    ends[other.index()].push((state, fate));
                }
            }
        }
        ends
    }

    /// Those of the terminals that may follow `last` whichever of these states a lexeme of it has
    /// come to: there, or where the lexeme can still go on to. A comment that is open at the end of
    /// the text is one such: it can be closed.
    fn followers(&self, last: TerminalId, ends: &[End], fates: &Fates, openings: &mut Openings) -> BitSet {
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
        // By fate, which of the different sets may follow.
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

    /// The terminals of which, from each start, some lexeme outlives what `end` leaves open.
    fn followers_at(&self, end: ScanStateId, openings: &Openings) -> BitSet {
        let scan = self.lexis.states();
        let fan = self.scan_graph.fan(scan, end);
        let mut followers = BitSet::new(self.grammar.terminals.len() + 1);
        let past = scan.past(end);
        let behind = self.scan_graph.pasts().iter().position(|&known| known == past);
        for opening in behind.map_or(&[][..], |behind| &openings.all[behind]) {
            self.work(4 * opening.starts.len());
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

    /// Whether some lexeme of `terminal` that begins with one of these steps outlives the
    /// obligation `end` without breaking it.
    fn has_lexeme_after(&self, end: ScanStateId, begin: &[(ScanStateId, ClassSet)], terminal: usize) -> bool {
        let mut pairs = Pairs { seen: HashSet::default(), pending: Vec::new() };
        let mut outlives = self.outlives(end, begin.iter().copied(), terminal, &mut pairs);
        while !outlives && let Some((end, state)) = pairs.pending.pop() {
            if self.work(STEPS_OF_A_PAIR) {
                // What is said here is of no use any more.
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

    /// Whether one of the steps discharges the obligation; those that leave it open add to the
    /// pairs.
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
            self.work(2 * fan.moves.len());
            for &(end, open) in &fan.moves {
                if open.intersects(classes)
                    && scan.label(end).is_none()
                    && !stuck.contains(&(end, next, terminal))
                    && pairs.seen.insert((end, next))
                {
                    pairs.pending.push((end, next));
                }
            }
        }
        false
    }
}

/// Obligations beside lexemes, in a search for one that outlives its.
struct Pairs {
    seen: HashSet<(ScanStateId, ScanStateId), FxBuildHasher>,
    pending: Vec<(ScanStateId, ScanStateId)>,
}

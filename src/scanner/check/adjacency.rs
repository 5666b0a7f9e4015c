//! Which terminals can always be made to follow which others, longest match notwithstanding.
//!
//! Terminal `u` *may follow* `t` when each lexeme of `t` can be ended, maybe after going on, so that there is a
//! lexeme of `u` (or first an ignored one) that the ended lexeme cannot run into: its obligation dies within that
//! lexeme and never accepts. Lexemes are judged in the company of all ordinary terminals, and in those that rows
//! with an exclusive terminal promise. Where fewer compete, lexemes are cut no longer and obligations accept no more
//! often than here: what may follow here may follow there.

use std::cell::RefCell;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::gates::{self, Gates};
use super::indentation::blank_states;
use crate::grammar::ir::{Grammar, LexerKind, Symbol};
use crate::lr::table::ParseTable;
use crate::scanner::Scanner;
use crate::scanner::company::Starts;
use crate::scanner::states::Component;
use crate::util::bitset::BitSet;
use crate::util::id::{ScanStateId, TerminalId};

/// All scan states of the companies of which every real one is a part.
#[derive(Debug)]
pub(super) struct Universe {
    starts: Vec<ScanStateId>,
    states: Vec<ScanStateId>,
    /// Where each of them stands in `states`.
    position: HashMap<ScanStateId, usize, FxBuildHasher>,
    /// By position: the positions of the states that some byte leads to.
    successors: Vec<Vec<usize>>,
    /// Positions of the states that a lexeme comes to in company with an exclusive terminal.
    exclusive: BitSet,
    labels: BitSet,
}

impl Universe {
    /// Explores them; `None` when there are more than `limit`.
    pub(super) fn explore(scanner: &Scanner, limit: usize) -> Option<Self> {
        let scan = scanner.states();
        let mut states = vec![scan.start(&scanner.ordinary())];
        states.extend(scanner.companies.iter().map(|company| scan.start(company)));
        let starts = states.clone();
        let mut position: HashMap<ScanStateId, usize, FxBuildHasher> =
            states.iter().enumerate().map(|(at, &start)| (start, at)).collect();
        let mut successors = Vec::new();
        let mut labels = BitSet::new(scan.dfas().len() + 1);
        let mut at = 0;
        while let Some(&state) = states.get(at) {
            at += 1;
            if let Some(label) = scan.label(state) {
                labels.insert(label.index());
            }
            let mut after = Vec::new();
            for next in scan.successors(state).into_iter().flatten() {
                after.push(*position.entry(next).or_insert_with(|| {
                    states.push(next);
                    states.len() - 1
                }));
            }
            after.sort_unstable();
            after.dedup();
            successors.push(after);
            if states.len() > limit {
                return None;
            }
        }
        let mut exclusive = BitSet::new(states.len());
        let mut pending: Vec<usize> = (1..starts.len()).collect();
        while let Some(at) = pending.pop() {
            if exclusive.insert(at) {
                pending.extend(&successors[at]);
            }
        }
        Some(Self { starts, states, position, successors, exclusive, labels })
    }

    /// The states in which a lexeme may end, with the labels that it may have there. Under the basic lexer that is
    /// the best one; where fewer terminals may really compete, it is any.
    pub(super) fn ends(&self, lexer: LexerKind, scanner: &Scanner) -> Vec<(ScanStateId, Vec<TerminalId>)> {
        let scan = scanner.states();
        let accepts = |c: &&Component| scan.dfa(c.terminal).is_some_and(|dfa| dfa.is_accept(c.state));
        let labels = |(at, &state): (usize, &ScanStateId)| {
            let best = scan.label(state)?;
            let labels = match lexer {
                LexerKind::Basic if !self.exclusive.contains(at) => vec![best],
                _ => scan.components(state).iter().filter(accepts).map(|c| c.terminal).collect(),
            };
            Some((state, labels))
        };
        self.states.iter().enumerate().filter_map(labels).collect()
    }

    /// Whether some text has this label in one of the companies.
    pub(super) fn is_label(&self, terminal: TerminalId) -> bool {
        self.labels.contains(terminal.index())
    }

    /// The label of `text` in one of the companies.
    pub(super) fn winner(&self, scanner: &Scanner, text: &[u8]) -> Option<TerminalId> {
        let scan = scanner.states();
        let label = |&start: &ScanStateId| {
            let state = text.iter().try_fold(start, |state, &byte| scan.next(state, byte))?;
            scan.label(state)
        };
        self.starts.iter().find_map(label)
    }
}

/// The relation.
#[derive(Debug)]
pub(super) struct Adjacency {
    /// By terminal, the last row for the beginning of the text: what may follow, maybe after ignored lexemes.
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
    pub(super) fn new(grammar: &Grammar, scanner: &Scanner, universe: &Universe) -> Self {
        let count = grammar.terminals.len();
        let starts = (0..count).map(|index| scanner.starts_of(TerminalId::new(index))).collect();
        let relation = Direct { grammar, scanner, starts, stuck: RefCell::default() };
        let mut certain = BitSet::new(count + 1);
        let mut possible = BitSet::new(count + 1);
        for index in 0..count {
            if relation.starts[index].is_some() {
                certain.insert(index);
            }
            if scanner.may_occur(TerminalId::new(index)) {
                possible.insert(index);
            }
        }
        let ends = relation.ends(universe);
        let mut ordinary = relation.openings(|starts| &starts.ordinary);
        let mut follows: Vec<BitSet> = (ends.iter().enumerate())
            .map(|(index, ends)| relation.followers(TerminalId::new(index), ends, universe, &mut ordinary))
            .collect();
        follows.push(certain);
        let lines = scanner.indentation().map(|indentation| {
            let blanks = blank_states(scanner).unwrap_or_default();
            let mut first = relation.followers_of_all(&blanks, &ordinary);
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
            let directly = relation.followers(TerminalId::new(last), ends, universe, &mut exclusive);
            for opening in &exclusive.all {
                let elsewhere = follows[last].contains(opening.terminal)
                    || !ordinary.all.iter().any(|other| other.terminal == opening.terminal);
                if elsewhere && (directly.contains(opening.terminal) || grammar.terminals[last].ignored) {
                    follows[last].insert(opening.terminal);
                } else {
                    follows[last].remove(opening.terminal);
                }
            }
        }
        let Gates { gates, doubtful } =
            gates::sort(grammar, scanner, (&follows, &loosely), newline, &possible);
        if let Some(Lines { indent, dedent, .. }) = lines {
            possible.insert(indent.index());
            possible.insert(dedent.index());
        }
        Self { follows, possible, gates, doubtful, end: scanner.table().end(), lines }
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

    /// Whether `next` (perhaps `$`) can always be made to follow `taken`, the last terminal that the parser has
    /// taken (`None`: the beginning of the text), where the last lexeme is `ignored` (`None`: is that terminal's).
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

    /// INDENT and DEDENT stand only where a line begins, and NEWLINE only behind another lexeme. Where a line begins,
    /// it can be begun anew with other blanks if a line end may follow.
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

    /// Whether a lexeme of `next` can always be made to follow one of `last` (`None`: the beginning of the text).
    fn follows(&self, last: Option<TerminalId>, next: TerminalId) -> bool {
        let row = last.map_or(self.follows.len() - 1, TerminalId::index);
        self.follows[row].contains(next.index())
    }

    /// Whether a lexeme may ever be this terminal: [`Scanner::may_occur`].
    pub(super) fn is_possible(&self, terminal: TerminalId) -> bool {
        self.possible.contains(terminal.index())
    }

    /// The ignored terminals that may stand before any lexeme though it may not be able to follow.
    pub(super) fn doubtful(&self) -> &[TerminalId] {
        &self.doubtful
    }

    /// Whether every terminal that the tables let follow another may follow it, and any ignored one between.
    pub(super) fn is_total(&self, table: &ParseTable) -> bool {
        (0..table.state_count()).map(crate::util::id::ParseStateId::new).all(|state| {
            let last = match table.accessing(state) {
                None => None,
                Some(Symbol::Terminal(terminal)) => Some(terminal),
                Some(Symbol::Nonterminal(_)) => return true,
            };
            let places = || std::iter::once(None).chain(self.doubtful.iter().copied().map(Some));
            let mut row = table.row(state).iter().map(TerminalId::new);
            row.all(|next| places().all(|ignored| self.may_follow(last, ignored, next)))
        })
    }

    /// A lexeme of `terminal`, and what cannot be sure to stand behind it.
    pub(super) fn example(
        &self,
        scanner: &Scanner,
        grammar: &Grammar,
        terminal: TerminalId,
    ) -> Option<String> {
        let text = scanner.states().dfa(terminal)?.shortest();
        let follows = &self.follows[terminal.index()];
        let barred: Vec<&str> = (grammar.terminals.iter().enumerate())
            .filter(|(index, other)| !other.ignored && !follows.contains(*index))
            .map(|(_, other)| other.name.as_str())
            .take(8)
            .collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        (!barred.is_empty()).then(|| format!("`{text}` may run into a following {}", barred.join(", ")))
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
    scanner: &'a Scanner,
    /// By terminal: [`Scanner::starts_of`].
    starts: Vec<Option<Starts>>,
    /// Pairs of a pending match and a lexeme of the terminal that cannot outlive it.
    stuck: RefCell<HashSet<(ScanStateId, ScanStateId, usize), FxBuildHasher>>,
}

/// How the lexemes of a terminal begin.
struct Opening<'a> {
    terminal: usize,
    /// Each start, and the classes of bytes that lexemes begin with there.
    starts: Vec<(ScanStateId, BitSet)>,
    direct: &'a Direct<'a>,
}

/// How lexemes begin in one kind of company.
struct Openings<'a> {
    all: Vec<Opening<'a>>,
    /// What may follow where just these bytes end a lexeme and nothing stays open.
    known: HashMap<BitSet, BitSet, FxBuildHasher>,
}

impl Opening<'_> {
    /// Whether, from each start, some lexeme outlives what is left open in each of these states.
    fn fits(&self, group: &Ends) -> bool {
        self.starts.iter().all(|(start, begins)| {
            group.kills.intersects(begins)
                || group.pends.intersects(begins)
                    && group
                        .states
                        .iter()
                        .all(|&end| self.direct.has_lexeme_after(end, *start, self.terminal))
        })
    }
}

/// Scan states in which a lexeme may end, alike in what the next byte does to it.
struct Ends {
    /// The classes of bytes that end it.
    kills: BitSet,
    /// Those that leave it open whether it has ended.
    pends: BitSet,
    states: Vec<ScanStateId>,
}

impl Direct<'_> {
    /// The terminals that have starts of this kind.
    fn openings(&self, kind: impl Fn(&Starts) -> &[ScanStateId]) -> Openings<'_> {
        let scan = self.scanner.states();
        let classes = scan.classes().representatives();
        let mut all = Vec::new();
        for (terminal, starts) in self.starts.iter().enumerate() {
            let Some(starts) = starts.as_ref().map(&kind).filter(|starts| !starts.is_empty()) else {
                continue;
            };
            let begins = |&start: &ScanStateId| {
                let mut begins = BitSet::new(classes.len());
                for (class, &byte) in classes.iter().enumerate() {
                    let next = scan.next(start, byte);
                    if next.is_some_and(|next| scan.label_set(scan.reach(next)).contains(terminal)) {
                        begins.insert(class);
                    }
                }
                (start, begins)
            };
            all.push(Opening { terminal, starts: starts.iter().map(begins).collect(), direct: self });
        }
        Openings { all, known: HashMap::default() }
    }

    /// By terminal, the scan states in which a lexeme of it may end.
    fn ends(&self, universe: &Universe) -> Vec<Vec<ScanStateId>> {
        let mut ends = vec![Vec::new(); self.grammar.terminals.len()];
        for (state, labels) in universe.ends(self.grammar.lexer, self.scanner) {
            for label in labels {
                ends[label.index()].push(state);
                if let Some(other) = self.scanner.other_reading(label) {
                    ends[other.index()].push(state);
                }
            }
        }
        ends
    }

    /// Those of the terminals that may follow `last` whichever of these states a lexeme of it has come to: there, or where
    /// the lexeme can still go on to. A comment that is open at the end of the text is one such: it can be closed.
    /// States that the same bytes end are judged once, and where nothing stays open, as behind most words, once for all
    /// terminals.
    fn followers(
        &self,
        last: TerminalId,
        ends: &[ScanStateId],
        universe: &Universe,
        openings: &mut Openings<'_>,
    ) -> BitSet {
        let groups = self.group(ends);
        match groups.as_slice() {
            [only] if only.pends.is_empty() => {
                let judge = || self.judge(last, &groups, universe, &openings.all);
                openings.known.entry(only.kills.clone()).or_insert_with(judge).clone()
            }
            _ => self.judge(last, &groups, universe, &openings.all),
        }
    }

    fn judge(
        &self,
        last: TerminalId,
        groups: &[Ends],
        universe: &Universe,
        openings: &[Opening<'_>],
    ) -> BitSet {
        let mut ways: Option<Vec<BitSet>> = None;
        let mut followers = BitSet::new(self.grammar.terminals.len() + 1);
        for opening in openings {
            let mut fit = BitSet::new(groups.len());
            for (index, group) in groups.iter().enumerate() {
                if opening.fits(group) {
                    fit.insert(index);
                }
            }
            let mut unfit = (0..groups.len()).filter(|&index| !fit.contains(index)).peekable();
            let follows = unfit.peek().is_none()
                || !fit.is_empty() && {
                    let ways = ways.get_or_insert_with(|| self.ways(last, groups, universe));
                    let goes_on = |end: &ScanStateId| ways[universe.position[end]].intersects(&fit);
                    unfit.all(|index| groups[index].states.iter().all(goes_on))
                };
            if follows {
                followers.insert(opening.terminal);
            }
        }
        followers
    }

    /// The terminals that may follow each of these states, there.
    fn followers_of_all(&self, ends: &[ScanStateId], openings: &Openings<'_>) -> BitSet {
        let groups = self.group(ends);
        let mut followers = BitSet::new(self.grammar.terminals.len() + 1);
        for opening in &openings.all {
            if groups.iter().all(|group| opening.fits(group)) {
                followers.insert(opening.terminal);
            }
        }
        followers
    }

    /// Scan states by what the next byte does to a lexeme that ends there.
    fn group(&self, ends: &[ScanStateId]) -> Vec<Ends> {
        let scan = self.scanner.states();
        let classes = scan.classes().representatives();
        let mut groups: HashMap<(BitSet, BitSet), Vec<ScanStateId>, FxBuildHasher> = HashMap::default();
        for &end in ends {
            let mut kills = BitSet::new(classes.len());
            let mut pends = BitSet::new(classes.len());
            for (class, &byte) in classes.iter().enumerate() {
                match scan.next(end, byte) {
                    None => {
                        kills.insert(class);
                    }
                    Some(next) if scan.label(next).is_none() => {
                        pends.insert(class);
                    }
                    Some(_) => {}
                }
            }
            groups.entry((kills, pends)).or_default().push(end);
        }
        groups.into_iter().map(|((kills, pends), states)| Ends { kills, pends, states }).collect()
    }

    /// By position in the universe: the groups with a state that can be come to from there, and that is labelled
    /// `last` in any company, since it is so among all terminals.
    fn ways(&self, last: TerminalId, groups: &[Ends], universe: &Universe) -> Vec<BitSet> {
        let scan = self.scanner.states();
        let mut ways = vec![BitSet::new(groups.len()); universe.states.len()];
        for (index, group) in groups.iter().enumerate() {
            for end in group.states.iter().filter(|&&end| scan.label(end) == Some(last)) {
                ways[universe.position[end]].insert(index);
            }
        }
        loop {
            let mut changed = false;
            for (at, successors) in universe.successors.iter().enumerate().rev() {
                let mut here = std::mem::replace(&mut ways[at], BitSet::new(0));
                for &next in successors.iter().filter(|&&next| next != at) {
                    changed |= here.union_with(&ways[next]);
                }
                ways[at] = here;
            }
            if !changed {
                return ways;
            }
        }
    }

    /// Whether some lexeme of `terminal` outlives the obligation `end` without breaking it.
    fn has_lexeme_after(&self, end: ScanStateId, start: ScanStateId, terminal: usize) -> bool {
        let scan = self.scanner.states();
        let mut stuck = self.stuck.borrow_mut();
        let mut seen: HashSet<(ScanStateId, ScanStateId), FxBuildHasher> = HashSet::default();
        let mut pending = vec![(end, start)];
        while let Some((end, state)) = pending.pop() {
            for &byte in scan.classes().representatives() {
                let Some(next) = scan.next(state, byte) else { continue };
                if !scan.label_set(scan.reach(next)).contains(terminal) {
                    continue;
                }
                match scan.next(end, byte) {
                    None => return true,
                    Some(end) if scan.label(end).is_none() && !stuck.contains(&(end, next, terminal)) => {
                        if seen.insert((end, next)) {
                            pending.push((end, next));
                        }
                    }
                    Some(_) => {}
                }
            }
        }
        stuck.extend(seen.into_iter().map(|(end, next)| (end, next, terminal)));
        false
    }
}

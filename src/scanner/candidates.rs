//! Which terminals compete for a lexeme: its candidates. The engine asks by what the stack can
//! shift; the check of a grammar asks for candidate sets that no real one exceeds.
//!
//! Among fewer candidates, lexemes are cut no longer, no terminal is shadowed that was not shadowed
//! before, and obligations accept no more often. So what holds in a candidate set holds in each
//! part of it.

use super::lexis::Lexis;
use super::states::{Past, ScanStates};
use crate::grammar::ir::LexerKind;
use crate::lr::table::ParseTable;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, ScanStateId, TerminalId};

/// The scan states where lexemes of a terminal start, in candidate sets such that whatever
/// candidates they really meet is a part of one.
#[derive(Debug)]
pub(super) struct Starts {
    /// Without an exclusive terminal; one at most.
    pub(super) ordinary: Vec<ScanStateId>,
    /// With one.
    pub(super) exclusive: Vec<ScanStateId>,
}

impl Lexis {
    /// The terminals that compete where these are acceptable.
    pub(super) fn candidates(&self, acceptable: &BitSet) -> BitSet {
        if acceptable.intersects(&self.exclusive) {
            return shut(&self.table, acceptable, &self.ignored);
        }
        match self.lexer {
            LexerKind::Basic => self.ordinary(),
            LexerKind::Contextual => self.contextual(acceptable),
        }
    }

    /// The candidate set under the contextual lexer where these are acceptable, and no exclusive
    /// one is.
    fn contextual(&self, acceptable: &BitSet) -> BitSet {
        let mut candidates = acceptable.clone();
        candidates.remove(self.table.end().index());
        candidates.union_with(&self.ignored);
        for index in candidates.clone().iter() {
            for word in &self.reserved[index] {
                candidates.insert(word.index());
            }
        }
        candidates.subtract(&self.exclusive);
        candidates
    }

    /// All terminals that are not exclusive: no candidate set without an exclusive one exceeds it.
    pub(super) fn ordinary(&self) -> BitSet {
        ordinary(self.terminal_count(), &self.exclusive)
    }

    /// Whether a lexeme of `terminal` may be met where no candidate is exclusive.
    pub(super) fn is_ordinary(&self, terminal: TerminalId) -> bool {
        if self.exclusive.is_empty() || self.ignored.contains(terminal.index()) {
            return true;
        }
        // In a state that shifts an exclusive terminal, every stack can shift it.
        let other = self.other_reading(terminal).unwrap_or(terminal);
        !self.exclusive.contains(terminal.index())
            && parse_states(&self.table).any(|state| {
                [terminal, other].iter().any(|read| self.table.row(state).contains(read.index()))
                    && !self.table.shifts(state).intersects(&self.exclusive)
                    && (self.table.has_settled_conflicts() || !only_reduces(&self.table, state))
            })
    }

    /// Whether a lexeme may ever be `terminal`, be it only among some candidates, or as the other
    /// reading of a word.
    pub(super) fn may_occur(&self, terminal: TerminalId) -> bool {
        let reads = |word: TerminalId| self.other_reading(word) == Some(terminal) && self.may_be_label(word);
        self.may_be_label(terminal) || (0..self.terminal_count()).map(TerminalId::new).any(reads)
    }

    /// Where lexemes start in the greatest candidate sets: whatever a lexeme may be, one that
    /// starts in one of these may be.
    pub(super) fn starts(&self) -> impl Iterator<Item = ScanStateId> {
        let Starts { ordinary, exclusive } = &self.candidate_starts;
        ordinary.iter().chain(exclusive).copied()
    }

    /// Whether `terminal` may ever be the label of a lexeme, be it only among some candidates.
    pub(super) fn may_be_label(&self, terminal: TerminalId) -> bool {
        match self.lexer {
            LexerKind::Basic
                if !self.states.has_past()
                    && !self
                        .candidate_sets
                        .iter()
                        .any(|candidates| candidates.contains(terminal.index())) =>
            {
                let start = self.candidate_starts.ordinary.first();
                start.is_some_and(|&start| {
                    self.states.label_set(self.states.reach(start)).contains(terminal.index())
                })
            }
            _ => self.states.dfa(terminal).is_some_and(|dfa| !dfa.is_empty()),
        }
    }

    /// Where lexemes of `terminal` start behind a text of which this is known. `None` when there is
    /// a candidate set in which no lexeme is labelled so there.
    pub(super) fn starts_of(&self, terminal: TerminalId, past: Past) -> Option<Starts> {
        self.states.dfa(terminal)?;
        let candidate_sets = self.candidate_sets.iter().zip(&self.candidate_starts.exclusive);
        let with = candidate_sets.filter(|(candidates, _)| candidates.contains(terminal.index()));
        let exclusive = with.map(|(_, &start)| self.labelled_start(start, past, terminal));
        let ordinary = self.is_ordinary(terminal).then(|| self.ordinary_start(terminal, past));
        Some(Starts {
            ordinary: ordinary.into_iter().collect::<Option<_>>()?,
            exclusive: exclusive.collect::<Option<_>>()?,
        })
    }

    /// The candidate set of all ordinary terminals; or under the contextual lexer, where some of
    /// those shadow the terminal, of all that stand in some row beside it.
    fn ordinary_start(&self, terminal: TerminalId, past: Past) -> Option<ScanStateId> {
        let everyone = self.candidate_starts.ordinary.first();
        let start = everyone.and_then(|&start| self.labelled_start(start, past, terminal));
        if start.is_some() || self.lexer == LexerKind::Basic {
            return start;
        }
        let mut beside = BitSet::new(self.terminal_count() + 1);
        // A word competes where its other reading stands as well, and may be outranked there.
        let other = self.other_reading(terminal).unwrap_or(terminal);
        for row in parse_states(&self.table).map(|state| self.table.row(state)) {
            if row.contains(terminal.index()) || row.contains(other.index()) {
                beside.union_with(row);
            }
        }
        self.labelled_start(self.states.start(&self.contextual(&beside)), past, terminal)
    }

    /// Where lexemes start that start in `start` behind such a text, if some of them are labelled
    /// `terminal`, whatever follows.
    fn labelled_start(&self, start: ScanStateId, past: Past, terminal: TerminalId) -> Option<ScanStateId> {
        let start = self.states.begin(start, past);
        self.states.label_set(self.states.sure_reach(start)).contains(terminal.index()).then_some(start)
    }
}

/// Where the lexemes of the greatest candidate sets start: of all ordinary terminals, and of each
/// exclusive candidate set.
pub(super) fn greatest(states: &ScanStates, exclusive: &BitSet, candidate_sets: &[BitSet]) -> Starts {
    Starts {
        ordinary: vec![states.start(&ordinary(states.dfas().len(), exclusive))],
        exclusive: candidate_sets.iter().map(|candidates| states.start(candidates)).collect(),
    }
}

/// All of so many terminals that are not exclusive.
fn ordinary(count: usize, exclusive: &BitSet) -> BitSet {
    let mut all = BitSet::new(count + 1);
    (0..count).for_each(|index| {
        all.insert(index);
    });
    all.subtract(exclusive);
    all
}

/// Candidate sets of which each that has an exclusive terminal is a part: what the rows promise. A
/// state that only reduces, and in one way, is passed over: a stack that it tops can shift no more
/// than after that reduction, and the state then on top promises less.
pub(super) fn exclusive_candidates(table: &ParseTable, exclusive: &BitSet, ignored: &BitSet) -> Vec<BitSet> {
    let mut candidate_sets: Vec<BitSet> = Vec::new();
    for state in parse_states(table) {
        let row = table.row(state);
        if row.intersects(exclusive) && !only_reduces(table, state) {
            let candidates = shut(table, row, ignored);
            if !candidate_sets.contains(&candidates) {
                candidate_sets.push(candidates);
            }
        }
    }
    candidate_sets
}

/// The acceptable terminals among themselves.
fn shut(table: &ParseTable, acceptable: &BitSet, ignored: &BitSet) -> BitSet {
    let mut candidates = acceptable.clone();
    candidates.remove(table.end().index());
    candidates.subtract(ignored);
    candidates
}

fn only_reduces(table: &ParseTable, state: CoreId) -> bool {
    table.shifts(state).is_empty() && table.reductions(state).len() == 1
}

fn parse_states(table: &ParseTable) -> impl Iterator<Item = CoreId> + use<> {
    (0..table.state_count()).map(CoreId::new)
}

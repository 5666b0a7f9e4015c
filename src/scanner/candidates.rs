//! Which terminals compete for a lexeme: its candidates. The engine asks with the terminals that
//! the stack can shift; the check of a grammar asks for [upper bounds](super::candidate_sets).

use super::candidate_sets::{Starts, only_reduces, ordinary, parse_states, shut};
use super::lexis::Lexis;
use super::states::Past;
use crate::grammar::ir::LexerKind;
use crate::util::bitset::BitSet;
use crate::util::id::{ScanStateId, TerminalId};

impl Lexis {
    /// Returns the terminals that compete if these are acceptable.
    pub(super) fn candidates(&self, acceptable: &BitSet) -> BitSet {
        if acceptable.intersects(&self.exclusive) {
            return shut(&self.table, acceptable, &self.ignored, self.labels());
        }
        match self.lexer {
            LexerKind::Basic => self.ordinary(),
            LexerKind::Contextual => self.contextual(acceptable),
        }
    }

    /// Returns the candidate set under the contextual lexer if these are acceptable and none of
    /// them is exclusive.
    fn contextual(&self, acceptable: &BitSet) -> BitSet {
        let mut candidates = acceptable.clone();
        self.add_labels(&mut candidates);
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

    /// Returns all terminals that are not exclusive, an upper bound on every candidate set without
    /// an exclusive one.
    pub(super) fn ordinary(&self) -> BitSet {
        ordinary(self.terminal_count(), &self.exclusive)
    }

    /// Returns whether a lexeme of `terminal` may occur where no candidate is exclusive.
    pub(super) fn is_ordinary(&self, terminal: TerminalId) -> bool {
        if self.exclusive.is_empty() || self.ignored.contains(terminal.index()) {
            return true;
        }
        // In a state that shifts an exclusive terminal, every stack can shift it.
        let readings = self.set_of_readings(terminal);
        !self.exclusive.contains(terminal.index())
            && parse_states(&self.table).any(|state| {
                self.table.row(state).intersects(&readings)
                    && !self.table.shifts(state).intersects(&self.exclusive)
                    && (self.table.has_settled_conflicts() || !only_reduces(&self.table, state))
            })
    }

    /// Returns whether a lexeme may ever be `terminal`, possibly only among some candidates, or as
    /// the other reading of a word.
    pub(super) fn may_occur(&self, terminal: TerminalId) -> bool {
        let mut words = self.labels_read_as(terminal).iter();
        self.may_be_label(terminal) || words.any(|&word| self.may_be_label(word))
    }

    /// Returns the start states of the largest candidate sets. Any lexeme is possible from one of
    /// them.
    pub(super) fn starts(&self) -> impl Iterator<Item = ScanStateId> {
        let Starts { ordinary, exclusive } = &self.candidate_starts;
        ordinary.iter().chain(exclusive).copied()
    }

    /// Returns whether `terminal` may ever be the label of a lexeme, possibly only among some
    /// candidates.
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

    /// Returns the states in which lexemes of `terminal` start after a text with this past. `None`
    /// if in some candidate set no lexeme gets this label there.
    pub(super) fn starts_of(&self, terminal: TerminalId, past: Past) -> Option<Starts> {
        let terminal = self.label_of(terminal);
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

    /// Returns the terminals that a lexeme with this label may be, as a set.
    fn set_of_readings(&self, label: TerminalId) -> BitSet {
        let mut readings = BitSet::new(self.terminal_count() + 1);
        self.all_readings(label).into_iter().for_each(|read| _ = readings.insert(read.index()));
        readings
    }

    /// Returns the start state of all ordinary terminals. If some of those shadow the terminal
    /// under the contextual lexer, returns that of all terminals that share a row with it.
    fn ordinary_start(&self, terminal: TerminalId, past: Past) -> Option<ScanStateId> {
        let everyone = self.candidate_starts.ordinary.first();
        let start = everyone.and_then(|&start| self.labelled_start(start, past, terminal));
        if start.is_some() || self.lexer == LexerKind::Basic {
            return start;
        }
        let mut beside = BitSet::new(self.terminal_count() + 1);
        // A word also competes in rows with its other reading, and may be outranked there.
        let readings = self.set_of_readings(terminal);
        for row in parse_states(&self.table).map(|state| self.table.row(state)) {
            if row.intersects(&readings) {
                beside.union_with(row);
            }
        }
        self.labelled_start(self.states.start(&self.contextual(&beside)), past, terminal)
    }

    /// Returns the start state `start` with this past, if some lexemes from there get the label
    /// `terminal`, whatever follows.
    fn labelled_start(
        &self,
        start: ScanStateId,
        past: Past,
        terminal: TerminalId,
    ) -> Option<ScanStateId> {
        let start = self.states.begin(start, past);
        self.states
            .label_set(self.states.sure_reach(start))
            .contains(terminal.index())
            .then_some(start)
    }
}

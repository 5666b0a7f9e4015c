//! Lists with distinct items ([`ir::Distinct`](crate::grammar::ir::Distinct)): the lexemes of such
//! a list.

use super::Scanner;
use crate::grammar::ir::Distinct;
use crate::lexer::{Dfa, text_counts};
use crate::util::id::TerminalId;

/// A prefix of a lexeme of one terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme<'s> {
    dfa: &'s Dfa,
    state: u32,
}

impl<'s> Lexeme<'s> {
    /// Creates the empty prefix.
    pub(super) fn new(dfa: &'s Dfa) -> Self {
        Self { dfa, state: dfa.start() }
    }

    /// Returns the prefix with one more byte; `None` if no lexeme has it.
    #[inline]
    pub(crate) fn next(self, byte: u8) -> Option<Self> {
        let state = self.dfa.next(self.state, byte);
        (self.dfa.distance(state) < u32::MAX).then_some(Self { state, ..self })
    }

    /// Returns the prefix with these bytes added.
    pub(crate) fn after(self, bytes: impl IntoIterator<Item = u8>) -> Option<Self> {
        bytes.into_iter().try_fold(self, Self::next)
    }

    /// Returns whether the prefix is a lexeme.
    pub(crate) fn is_whole(self) -> bool {
        self.dfa.distance(self.state) == 0
    }
}

/// The number of lexemes of a terminal.
#[derive(Debug)]
pub(crate) struct LexemeCounts {
    pub(crate) terminal: TerminalId,
    /// By state of its automaton, the number of lexemes from there; `u64::MAX` if infinite.
    counts: Vec<u64>,
}

impl LexemeCounts {
    /// Returns the number of all lexemes; `u64::MAX` if infinite.
    pub(crate) fn all(&self) -> u64 {
        self.counts.first().copied().unwrap_or(0)
    }

    /// Returns the fewest lexemes that begin as a text does: 1 if the text has a lexeme as a proper
    /// prefix; `u64::MAX` if it begins with none.
    pub(crate) fn fewest(&self, scanner: &Scanner, text: &[u8]) -> u64 {
        let Some(mut lexeme) = scanner.lexeme_of(self.terminal) else { return u64::MAX };
        let mut fewest = u64::MAX;
        for &byte in text {
            let Some(next) = lexeme.next(byte) else {
                return if lexeme.is_whole() { 1 } else { u64::MAX };
            };
            fewest = fewest.min(self.counts[next.state as usize]);
            lexeme = next;
        }
        fewest
    }
}

impl Scanner {
    /// Returns the empty prefix of lexemes of a terminal, if it has a text.
    pub(crate) fn lexeme_of(&self, terminal: TerminalId) -> Option<Lexeme<'_>> {
        self.states().dfa(terminal).map(Lexeme::new)
    }

    /// Returns the number of lexemes of a terminal. Costs the moves of its automaton.
    pub(crate) fn lexeme_counts(&self, terminal: TerminalId) -> Option<LexemeCounts> {
        let counts = text_counts(self.states().dfa(terminal)?);
        Some(LexemeCounts { terminal, counts })
    }

    /// Adds the bytes with which lexemes of a terminal end. Costs the moves of its automaton.
    pub(crate) fn last_bytes(&self, terminal: TerminalId, to: &mut [bool; 256]) {
        let Some(dfa) = self.states().dfa(terminal) else { return };
        for state in 0..dfa.state_count() as u32 {
            for byte in 0..=u8::MAX {
                to[usize::from(byte)] |= dfa.distance(dfa.next(state, byte)) == 0;
            }
        }
    }

    /// Returns the terminals that have a role in lists with distinct items.
    pub(crate) fn terminals_of_lists(&self) -> impl Iterator<Item = (TerminalId, Distinct)> + '_ {
        let all = (0..self.states().dfas().len()).map(TerminalId::new);
        all.filter_map(|terminal| Some((terminal, self.lexis().distinct(terminal)?)))
    }
}

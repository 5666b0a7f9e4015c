//! Words that may be read in two ways at once, as a text's bytes show them.

use super::Scanner;
use crate::lexer::Dfa;
use crate::util::id::TerminalId;

/// The words of a grammar of which one lexeme may have two readings at once.
#[derive(Debug)]
pub(crate) struct TwoReadings<'s> {
    words: Vec<&'s Dfa>,
}

impl Scanner {
    /// Soft words, and those that the lexemes around them decide about.
    pub(crate) fn words_with_two_readings(&self) -> TwoReadings<'_> {
        let has_two = |&terminal: &TerminalId| {
            let soft = self.fallbacks[terminal.index()].is_some_and(|fallback| fallback.soft);
            soft || self.lookaheads.word(terminal).is_some()
        };
        let terminals = (0..self.fallbacks.len()).map(TerminalId::new).filter(has_two);
        TwoReadings { words: terminals.filter_map(|terminal| self.states.dfa(terminal)).collect() }
    }
}

impl TwoReadings<'_> {
    /// The bytes of the shortest word; `None` where there are no such words.
    pub(crate) fn shortest(&self) -> Option<usize> {
        self.words.iter().map(|dfa| dfa.distance(dfa.start()) as usize).min()
    }

    /// The most words in the text that do not overlap: those that end first, each time.
    pub(crate) fn count(&self, text: &[u8]) -> usize {
        let mut found = 0;
        // Words begun, and their states.
        let mut begun: Vec<(usize, u32)> = Vec::new();
        for &byte in text {
            begun.extend(self.words.iter().enumerate().map(|(word, dfa)| (word, dfa.start())));
            begun.iter_mut().for_each(|(word, state)| *state = self.words[*word].next(*state, byte));
            begun.retain(|&(_, state)| state != Dfa::DEAD);
            if begun.iter().any(|&(word, state)| self.words[word].is_accept(state)) {
                found += 1;
                begun.clear();
            }
            begun.sort_unstable();
            begun.dedup();
        }
        found
    }
}

//! What the proof that every stack can be completed knows of lexemes: which may follow which, and what words ask of
//! the lexemes behind them.
//!
//! A way to complete a stack is made of plain lexemes, each labelled with the terminal that it stands for. A word that
//! what stands around it decides about may be one, where its `after` is met; then those behind it must meet its lists.
//! As the other terminal it is used only where that has no lexemes of its own, or where words ask for the word.

use smallvec::SmallVec;

use super::adjacency::Adjacency;
use crate::grammar::ir::Grammar;
use crate::lr::completable::Succession;
use crate::scanner::Scanner;
use crate::scanner::lookahead::ExpectationsId;
use crate::util::id::TerminalId;

/// The lexemes of a grammar, for the proof. Its conditions are expectations.
pub(super) struct Lexemes<'a> {
    pub(super) grammar: &'a Grammar,
    pub(super) scanner: &'a Scanner,
    pub(super) adjacency: &'a Adjacency,
}

impl Succession for Lexemes<'_> {
    fn may_follow(&self, taken: Option<TerminalId>, ignored: Option<TerminalId>, next: TerminalId) -> bool {
        self.adjacency.may_follow(taken, ignored, next)
    }

    fn ignored(&self) -> &[TerminalId] {
        self.adjacency.doubtful()
    }

    fn is_possible(&self, terminal: TerminalId) -> bool {
        self.adjacency.is_possible(terminal)
    }

    fn is_plain(&self, terminal: TerminalId) -> bool {
        self.scanner.lookaheads.word(terminal).is_none()
    }

    fn may_ask_nothing(&self, terminal: TerminalId) -> bool {
        let reads = |word| self.scanner.other_reading(TerminalId::new(word)) == Some(terminal);
        self.is_plain(terminal) || (0..self.grammar.terminals.len()).any(reads)
    }

    fn after(
        &self,
        condition: u32,
        last: Option<TerminalId>,
        ignored: Option<TerminalId>,
        next: TerminalId,
    ) -> SmallVec<[u32; 2]> {
        let lookaheads = &self.scanner.lookaheads;
        let mut after = SmallVec::new();
        let mut read = |label: TerminalId, must_hold: bool| {
            if !self.adjacency.may_follow(last, ignored, label) {
                return;
            }
            let Some(advanced) = lookaheads.advance(ExpectationsId(condition), label) else { return };
            let decided = lookaheads.word(label).is_some_and(|word| word.may_follow(last));
            let expectation = decided.then(|| lookaheads.expect(label, must_hold));
            after.push(lookaheads.add(advanced, expectation).0);
        };
        if lookaheads.word(next).is_none_or(|word| word.may_follow(last)) {
            read(next, true);
        }
        // Where an exclusive terminal can stand, words that cannot do not compete.
        let always_compete = !self.scanner.companies.iter().any(|company| company.contains(next.index()));
        if always_compete && (condition != 0 || !self.adjacency.may_follow(None, None, next)) {
            for (label, _) in lookaheads.words().filter(|(_, word)| word.other == next) {
                read(label, false);
            }
        }
        after
    }

    fn may_end(&self, condition: u32) -> bool {
        self.scanner.lookaheads.facts(ExpectationsId(condition)).may_end
    }
}

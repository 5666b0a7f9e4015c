//! The effect of a byte on a configuration.
//!
//! [`Scanner::step`] handles all cases: a lexeme goes on, ends before the byte, or both while that
//! is open, and each end may have several readings. Nearly always there is one reading before and
//! one after, and nothing is open. [`Scanner::step_alone`] handles this case in place.

use super::configuration::Configuration;
use super::lookahead::ExpectationsId;
use super::reads::Reads;
use super::{ObligationsId, Scanner};
use crate::util::id::{ScanStateId, TerminalId};

impl Scanner {
    /// Passes the configurations after `byte` to `emit`: the lexeme goes on, or it has ended and
    /// the byte begins another, or both while that is open. Reports to `reads`.
    pub(crate) fn step(
        &self,
        from: &Configuration,
        byte: u8,
        reads: &mut Reads,
        mut emit: impl FnMut(Configuration),
    ) {
        self.step_over(from, byte, reads, |after, _| emit(after));
    }

    /// Does the same, and also passes the label of the lexeme that has ended before the byte, if
    /// one has.
    pub(crate) fn step_over(
        &self,
        from: &Configuration,
        byte: u8,
        reads: &mut Reads,
        mut emit: impl FnMut(Configuration, Option<TerminalId>),
    ) {
        let Some(obligations) = self.step_obligations(from.obligations, byte) else { return };
        let next = self.states().next(from.state, byte);
        for (label, obligations) in self.end_before(from.state, byte, next, obligations) {
            let Configuration { stack, layout, expectations, .. } = from;
            self.after_lexeme(stack, layout, *expectations, label, reads, &mut |between, reads| {
                self.begin_lexeme(between, obligations, reads, |begun, _| {
                    if let Some(state) = self.states().next(begun.state, byte) {
                        let obligations = self.keep_obligations(begun.obligations, state);
                        let layout = self.read(&begun.layout, byte);
                        emit(Configuration { layout, state, obligations, ..begun }, Some(label));
                    }
                });
            });
        }
        if let Some(state) = next {
            let (stack, expectations) = (from.stack.clone(), from.expectations);
            let layout = self.read(&from.layout, byte);
            let obligations = self.keep_obligations(obligations, state);
            emit(Configuration { stack, layout, state, obligations, expectations }, None);
        }
    }

    /// Does what [`Scanner::step`] does, in place, for a viable reading that has one successor.
    /// Returns whether that is viable, too. `None`, with nothing changed, in all other cases.
    #[inline]
    pub(crate) fn step_alone(
        &self,
        at: &mut Configuration,
        byte: u8,
        reads: &mut Reads,
    ) -> Option<bool> {
        if at.obligations != ObligationsId::NONE {
            return None;
        }
        let (states, before) = (self.states(), at.state);
        let Some(next) = states.next(before, byte) else {
            return (self.is_plain && self.step_across(at, byte, reads))
                .then(|| self.is_viable(at, reads));
        };
        let label_is_open = states.label(before).is_some()
            && (!states.accepts_surely(next) || states.is_every_match(before));
        if label_is_open {
            return None;
        }
        at.state = next;
        let is_counting = at.layout.is_counting();
        if is_counting {
            at.layout = self.read(&at.layout, byte);
        }
        // The reachable labels decide, and most bytes of a lexeme do not change them.
        let is_settled = self.is_plain
            && !is_counting
            && self.lexis.lookaheads.is_empty()
            && self.proof.is_whole
            && states.reach(before) == states.reach(next);
        Some(is_settled || self.is_viable(at, reads))
    }

    /// Ends the lexeme before `byte`, which begins the next one. Returns whether this is the only
    /// reading; if not, nothing is changed.
    fn step_across(&self, at: &mut Configuration, byte: u8, reads: &mut Reads) -> bool {
        let Some(label) = self.states().label(at.state) else { return false };
        let asks = at.layout.lines().is_some()
            || at.expectations != ExpectationsId::NONE
            || self.lexis.lookaheads.word(label).is_some();
        if asks {
            return false;
        }
        let begin = |stack, reads: &mut Reads| -> Option<ScanStateId> {
            self.states().next(self.context(stack, reads).start, byte)
        };
        if self.is_ignored(label) {
            let next = begin(&at.stack, reads);
            at.state = next.unwrap_or(at.state);
            return next.is_some();
        }
        if !self.lexis.has_one_reading(label) {
            return false;
        }
        let mut fed = at.stack.feed(self.table(), label, reads);
        let (Some(stack), true) = (fed.pop(), fed.is_empty()) else { return false };
        let Some(next) = begin(&stack, reads) else { return false };
        (at.stack, at.state) = (stack, next);
        true
    }
}

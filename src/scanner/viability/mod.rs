//! Whether a text can still become a sentence, decided for one configuration.
//!
//! Most of the time one look suffices: the lexeme in progress can become a label that the stack
//! takes and after which every stack can be completed ([`Proof`](super::Proof)). Where that is not
//! certain, a search decides. The possible lexemes and the obligations that they leave are finite
//! ([`ends`], [`obligation_classes`]). With these as controls the parser is a pushdown system, and
//! the text can be completed if the system can empty its stack. The ways to read the items on top
//! of a state are computed once ([`crate::lr::derivations`]), and [`stacks`] goes down the stack
//! with them, until one lexeme settles the question or the text may end. It reports its reads of
//! the stack like every other read, so masks are cached by them, and so are the [`verdicts`]
//! themselves.
//!
//! `README.md` in this directory has a worked example.

mod ends;
mod lines;
mod obligation_classes;
mod places;
mod stacks;
mod verdicts;

use super::configuration::Configuration;
use super::lookahead::Between;
use super::reads::{Line, Reads};
use super::{Context, ObligationsId, Scanner};
use crate::util::bitset::BitSet;
use crate::util::id::{ScanStateId, TerminalId};
pub(super) use ends::Ends;
pub(super) use stacks::Decisions;

impl Scanner {
    /// Returns whether any text is a sentence.
    pub(crate) fn has_sentences(&self) -> bool {
        let is_viable = |at: &Configuration| {
            self.is_sentence(&at.stack, &mut Reads::none())
                || self.is_viable(at, &mut Reads::none())
        };
        self.initial().iter().any(is_viable)
    }

    /// Returns whether some continuation makes the text a sentence. Reports to `reads`.
    #[inline]
    pub(crate) fn is_viable(&self, at: &Configuration, reads: &mut Reads) -> bool {
        let known = match at.obligations {
            ObligationsId::NONE if self.stack_tells => {
                let labels = self.states().label_set(self.states().reach(at.state));
                self.taking(&at.stack, at.expectations, reads).takes(labels)
            }
            _ => None,
        };
        known.unwrap_or_else(|| self.is_viable_indeed(at, reads))
    }

    fn is_viable_indeed(&self, at: &Configuration, reads: &mut Reads) -> bool {
        let labels = self.states().label_set(self.states().reach(at.state));
        if !self.may_take(at, labels, reads) {
            return false;
        }
        let is_plain = self.proof.is_whole && self.lexis.lookaheads.is_empty();
        if is_plain && at.obligations == ObligationsId::NONE {
            return true;
        }
        let point = self.point(at.state, at.obligations);
        let clean = self.charge(reads, |left| self.clean_labels(point, left));
        if self.is_sure_to_take(at, clean, reads) {
            return true;
        }
        let line = reads.set_line(Line::Unknown);
        let is_viable = self.can_end_lexeme(at, reads);
        reads.set_line(line);
        is_viable
    }

    /// Returns whether viability depends only on the labels that a lexeme in this state can become,
    /// if there are no obligations.
    pub(super) fn settles_at_sight(&self, state: ScanStateId) -> bool {
        let labels = || self.states().label_set(self.states().reach(state));
        let asks = || self.states().reach(state) != self.states().sure_reach(state);
        self.lexis.lookaheads.is_empty()
            && (self.proof.is_whole || labels().is_subset(&self.proof.sure) && !asks())
    }

    /// Returns whether the lexeme in progress can end so that the text can be completed.
    fn can_end_lexeme(&self, at: &Configuration, reads: &mut Reads) -> bool {
        let point = self.point(at.state, at.obligations);
        let found = self.charge(reads, |left| self.ends(point, left));
        for same in found.ends.chunk_by(|one, other| one.0 == other.0) {
            let label = same[0].0;
            let mut can_be = false;
            // Feeding a stack that forks may take longer than deciding.
            if self.steps_left(reads) == 0 {
                return self.give_up(reads);
            }
            let Configuration { stack, layout, expectations, .. } = at;
            self.after_lexeme(stack, layout, *expectations, label, reads, &mut |after, reads| {
                can_be = can_be
                    || same.iter().any(|&(_, open)| self.can_be_completed(&after, open, reads));
            });
            if can_be {
                return true;
            }
        }
        !found.is_whole && self.give_up(reads)
    }

    /// Returns whether some continuation makes the text a sentence after a lexeme that has left
    /// these obligations.
    pub(crate) fn can_be_completed(
        &self,
        at: &Between,
        open: ObligationsId,
        reads: &mut Reads,
    ) -> bool {
        let mut is_sure = false;
        self.begin_lexeme(at.clone(), open, reads, |begun, reads| {
            let point = self.point(begun.state, begun.obligations);
            is_sure = is_sure || {
                let clean = self.charge(reads, |left| self.clean_labels(point, left));
                self.is_sure_to_take(&begun, clean, reads)
            };
        });
        is_sure || self.can_empty(at, open, reads)
    }

    /// Returns whether some continuation makes the text a sentence if the lexeme in progress
    /// becomes this label and leads to `after`. Of the obligations that it leaves, only the past is
    /// taken into account.
    pub(crate) fn can_go_on(&self, at: &Configuration, label: TerminalId, after: &Between) -> bool {
        let goes_on = |left| self.can_be_completed(after, left, &mut Reads::none());
        if !self.states().has_past() {
            return goes_on(ObligationsId::NONE);
        }
        let mut left = self.bounds.decision_steps;
        let found = self.ends(self.point(at.state, ObligationsId::NONE), &mut left);
        let mut pasts =
            (found.ends).iter().filter(|&&(own, _)| own == label).map(|&(_, open)| self.past(open));
        pasts.any(|past| goes_on(self.with_past(ObligationsId::NONE, past)))
    }

    /// Returns whether the lexeme in progress, which can become these labels, can become one that
    /// the stack takes.
    #[inline]
    fn may_take(&self, at: &Configuration, labels: &BitSet, reads: &mut Reads) -> bool {
        if at.layout.lines().is_some() {
            return self.may_take_in_lines(at, labels, reads);
        }
        let context = self.context(&at.stack, reads);
        match self.lexis.lookaheads.is_empty() {
            true => labels.intersects(&context.takes),
            false => labels.intersects_both(
                &context.takes,
                &self.lexis.lookaheads.facts(at.expectations).permitted,
            ),
        }
    }

    #[cold]
    fn may_take_in_lines(&self, at: &Configuration, labels: &BitSet, reads: &mut Reads) -> bool {
        if at.layout.begins_line()
            && let Some(opens) = self.opens_line(labels)
        {
            return opens;
        }
        let contexts = self.contexts_at(&at.stack, &at.layout, reads);
        contexts.iter().any(|context| labels.intersects(&context.takes))
            && self.finds_room(at, labels, reads)
    }

    /// Returns whether the lexeme in progress can become one of these labels that the stack takes,
    /// with no open requirement after it and every stack completable.
    fn is_sure_to_take(&self, at: &Configuration, labels: &BitSet, reads: &mut Reads) -> bool {
        if at.layout.lines().is_some() {
            return self.is_sure_to_take_in_lines(at, labels, reads);
        }
        let settling = &self.lexis.lookaheads.facts(at.expectations).settling;
        labels.intersects_all([&self.context(&at.stack, reads).takes, settling, &self.proof.sure])
    }

    #[cold]
    fn is_sure_to_take_in_lines(
        &self,
        at: &Configuration,
        labels: &BitSet,
        reads: &mut Reads,
    ) -> bool {
        let mut sure = labels.clone();
        sure.intersect_with(&self.proof.sure);
        sure.intersect_with(&self.lexis.lookaheads.facts(at.expectations).settling);
        if at.layout.begins_line()
            && let Some(opens) = self.opens_line(&sure)
        {
            return opens;
        }
        let takes = |context: &&Context| sure.intersects(&context.takes);
        self.contexts_at(&at.stack, &at.layout, reads).iter().any(takes)
            && self.finds_room(at, &sure, reads)
    }

    /// Returns whether the lexeme in progress can become one of these labels that leaves room for
    /// the blocks that it requires.
    #[inline]
    fn finds_room(&self, at: &Configuration, labels: &BitSet, reads: &mut Reads) -> bool {
        !self.is_crowded(&at.layout, reads) || self.finds_room_in_crowd(at, labels, reads)
    }

    #[cold]
    fn finds_room_in_crowd(&self, at: &Configuration, labels: &BitSet, reads: &mut Reads) -> bool {
        let contexts = self.contexts_at(&at.stack, &at.layout, reads);
        let taken = |&label: &usize| contexts.iter().any(|context| context.takes.contains(label));
        let mut labels = labels.iter().filter(taken).map(TerminalId::new);
        labels.any(|label| {
            let mut has_room = false;
            let Configuration { stack, layout, expectations, .. } = at;
            let emit = &mut |_, _: &mut Reads| has_room = true;
            self.after_lexeme(stack, layout, *expectations, label, reads, emit);
            has_room
        })
    }
}

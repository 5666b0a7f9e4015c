//! Limits on the tokens of a lexeme (`rule[max_tokens=10]`), and what happens when a lexeme reaches
//! one.
//!
//! How a text was divided into tokens is not a property of the text, so configurations do not
//! record it: the caller that takes tokens counts them, lexeme by lexeme. When a lexeme has taken
//! as many as one of its terminals may, that terminal is dropped from it, and in another reading
//! the lexeme ends there as a separate terminal, a *cut*, which no text matches and which the rules
//! allow next to the first. So the parser determines the state after it, which is a configuration
//! like any other, before the first byte of a lexeme. No longer match is pending then.

use smallvec::SmallVec;

use super::Scanner;
use super::configuration::Configuration;
use super::reads::Reads;
use crate::util::id::{ScanStateId, TerminalId};

/// A configuration after a token, with the cut if the lexeme in progress was cut off in it.
pub(crate) type Settled = (Configuration, Option<TerminalId>);

impl Scanner {
    /// Returns whether the tokens of some lexemes are limited.
    pub(crate) fn has_budgets(&self) -> bool {
        !self.lexis.budgets.of.is_empty()
    }

    /// Returns the greatest limit; counts above it make no difference.
    pub(crate) fn greatest_budget(&self) -> u32 {
        self.lexis.budgets.greatest
    }

    /// Returns whether this is the terminal of lexemes that were cut off.
    pub(crate) fn is_cut(&self, terminal: TerminalId) -> bool {
        self.lexis.budgets.cuts.contains(terminal.index())
    }

    /// Returns whether it matters how many tokens the lexeme in progress has taken.
    pub(crate) fn is_counted(&self, state: ScanStateId) -> bool {
        let components = self.states().components(state);
        components.iter().any(|component| self.lexis.budgets.get(component.terminal).is_some())
    }

    /// Returns the configurations after a token at whose end the lexeme in progress has taken
    /// `tokens` tokens; at least one. A lexeme that has ended is not cut off.
    pub(crate) fn settle(&self, at: &Configuration, tokens: u32) -> SmallVec<[Settled; 2]> {
        if self.states().has_ended(at.state) {
            return SmallVec::from_iter([(at.clone(), None)]);
        }
        let is_spent = |terminal| {
            self.lexis.budgets.get(terminal).is_some_and(|budget| budget.tokens <= tokens)
        };
        let components =
            self.states().components(at.state).iter().map(|component| component.terminal);
        let spent: SmallVec<[TerminalId; 2]> =
            components.filter(|&terminal| is_spent(terminal)).collect();
        let mut settled = SmallVec::new();
        let mut cuts: SmallVec<[TerminalId; 2]> = spent
            .iter()
            .filter_map(|&terminal| self.lexis.budgets.get(terminal))
            .flat_map(|b| b.cuts.clone())
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        let left = self.with_past(at.obligations, self.states().past(at.state));
        for cut in cuts {
            let Configuration { stack, layout, expectations, .. } = at;
            let reads = &mut Reads::none();
            self.after_lexeme(stack, layout, *expectations, cut, reads, &mut |after, reads| {
                if self.can_be_completed(&after, left, reads) {
                    let mut settle = |begun, _: &mut Reads| settled.push((begun, Some(cut)));
                    self.begin_lexeme(after, left, reads, &mut settle);
                }
            });
        }
        let state = match spent.is_empty() {
            true => Some(at.state),
            false => self.states().restricted(at.state, |terminal| !is_spent(terminal)),
        };
        let kept = state.map(|state| Configuration { state, ..at.clone() });
        let is_viable =
            |kept: &Configuration| spent.is_empty() || self.is_viable(kept, &mut Reads::none());
        settled.extend(kept.filter(is_viable).map(|kept| (kept, None)));
        settled
    }

    /// Returns whether the text may end before the first byte of a lexeme.
    pub(crate) fn is_complete_between(&self, at: &Configuration, reads: &mut Reads) -> bool {
        self.may_end_with(at.obligations)
            && self.lexis.lookaheads.facts(at.expectations).may_end
            && self.is_sentence(&at.stack, reads)
    }
}

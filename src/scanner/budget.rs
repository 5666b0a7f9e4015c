//! Lexemes that may take so many tokens (`rule[max_tokens=10]`), and what becomes of them then.
//!
//! How a text was cut into tokens is no property of the text, so configurations know nothing of it:
//! whoever takes tokens counts them, lexeme by lexeme. Where a lexeme has taken as many as one of
//! its terminals may, that terminal is dropped from it, and in another reading it ends there: as a
//! terminal of its own, a *cut*, which no text matches and which stands in the rules beside the
//! first. So what holds after it is what the parser says, and is again a configuration like any
//! other, before the first byte of a lexeme. No longer match is pending then.

use smallvec::SmallVec;

use super::Scanner;
use super::configuration::Configuration;
use super::reads::Reads;
use crate::util::id::{ScanStateId, TerminalId};

/// What holds after a token: a configuration, and if the lexeme in progress was cut off in it, as
/// what.
pub(crate) type Settled = (Configuration, Option<TerminalId>);

impl Scanner {
    /// Whether some lexemes may take so many tokens only.
    pub(crate) fn has_budgets(&self) -> bool {
        !self.lexis.budgets.of.is_empty()
    }

    /// More tokens than this are no more than this.
    pub(crate) fn greatest_budget(&self) -> u32 {
        self.lexis.budgets.greatest
    }

    /// Whether this is what lexemes are that were cut off.
    pub(crate) fn is_cut(&self, terminal: TerminalId) -> bool {
        self.lexis.budgets.cuts.contains(terminal.index())
    }

    /// Whether it matters how many tokens the lexeme in progress has taken.
    pub(crate) fn is_counted(&self, state: ScanStateId) -> bool {
        let components = self.states().components(state);
        components.iter().any(|component| self.lexis.budgets.get(component.terminal).is_some())
    }

    /// What holds after a token at whose end the lexeme in progress has taken so many; at least
    /// something. A lexeme that has ended is not cut off.
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

    /// Whether the text may end before the first byte of a lexeme.
    pub(crate) fn is_complete_between(&self, at: &Configuration, reads: &mut Reads) -> bool {
        self.may_end_with(at.obligations)
            && self.lexis.lookaheads.facts(at.expectations).may_end
            && self.is_sentence(&at.stack, reads)
    }
}

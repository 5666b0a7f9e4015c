//! The residual language of a lexeme that depends only on its automaton.

use super::product_state::Point;
use super::{ObligationsId, Scanner};
use crate::util::id::TerminalId;

impl Scanner {
    /// Returns the only terminal that a lexeme can still become, and its residual language, as
    /// numbers. `None` if the effect of tokens from here on depends on anything else; then the walk
    /// from here cannot be shared with another grammar.
    ///
    /// An accepted text can only be extended to accepted ones, so an end leaves nothing open: the
    /// lexeme ends where it cannot go on. And all tokens that end within the lexeme are of one
    /// class.
    pub(crate) fn rest(&self, point: &Point) -> Option<(TerminalId, Box<[u64]>)> {
        let states = self.states();
        let &[only] = states.components(point.state) else { return None };
        let dfa = states.dfas().get(only.terminal.index())?.as_ref()?;
        let is_plain = point.obligations == ObligationsId::NONE
            && !states.ends_at_every_match(only.terminal)
            && !states.ends_at_first_match(only.terminal)
            && self.settles_at_sight(point.state);
        Some((only.terminal, dfa.rest(only.state).filter(|_| is_plain)?))
    }
}

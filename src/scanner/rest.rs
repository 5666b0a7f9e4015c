//! What is left of a lexeme, where nothing but its automaton has a say.

use super::points::Point;
use super::{ObligationsId, Scanner};
use crate::util::id::TerminalId;

impl Scanner {
    /// The only terminal that a lexeme can still become, and what is left of it, as numbers.
    /// `None` where what tokens do from here on depends on more than that; then a walk from here
    /// cannot be another grammar's.
    ///
    /// A text that is accepted goes on to accepted ones only, if at all, so an end leaves nothing
    /// open: the lexeme ends where it cannot go on. And all tokens that end within the lexeme are
    /// of one class.
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

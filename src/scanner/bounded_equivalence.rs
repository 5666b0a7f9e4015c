//! Points of counted lexemes that no text up to some length distinguishes.
//!
//! A string with a pattern and a maximum length is at a different point after each of its
//! characters, and none of them leads back to itself. But as long as the end is far away, tokens do
//! the same at all of them. So walks from these points follow one from a point that counts nothing,
//! their *home*, and share its result below each node where no text can tell the two apart.

use crate::lexer::ALWAYS;
use crate::scanner::product_state::{Counting, Point};
use crate::scanner::{ObligationsId, Scanner};
use crate::util::id::{ScanStateId, TerminalId};

/// Points nearer to a bound than this have no home.
const FAR: u32 = if cfg!(test) { 2 } else { 16 };

/// States of one table that agree on texts of this many pieces, more than most tokens have, share a
/// home.
const MOSTLY: u8 = if cfg!(test) { 2 } else { 6 };

impl Scanner {
    /// Returns the position of a scan state in a terminal whose lexemes are counted, if only that
    /// terminal is left.
    pub(super) fn counting(
        &self,
        state: ScanStateId,
        obligations: ObligationsId,
    ) -> Option<Counting> {
        let &[only] = self.states().components(state) else { return None };
        if obligations != ObligationsId::NONE
            || only.terminal.index() >= self.lexis.terminal_count()
        {
            return None;
        }
        let (at, slack) = self.states().dfa(only.terminal)?.counted(only.state)?;
        Some(Counting { terminal: only.terminal, at, slack })
    }

    /// Returns whether every text of at most `pieces` pieces leads to the same class from both
    /// points, and ends lexemes in the same way.
    pub(crate) fn are_alike(&self, one: &Point, other: &Point, pieces: u8) -> bool {
        let (Some(one_at), Some(other_at)) = (one.counting, other.counting) else { return false };
        // A character may have begun before.
        let is_far = |slack: u32| slack == u32::MAX || pieces < u8::MAX && slack > pieces.into();
        one_at.terminal == other_at.terminal
            && is_far(one_at.slack)
            && is_far(other_at.slack)
            && self.agreed(one_at.terminal, one_at.at, other_at.at) >= pieces
            && self.settles_at_sight(one.state)
    }

    /// Returns the point that counts nothing from which a walk does mostly the same as from
    /// `point`.
    pub(crate) fn home(&self, point: &Point) -> Option<&Point> {
        let Counting { terminal, at, slack } = point.counting?;
        if slack < FAR || !self.settles_at_sight(point.state) {
            return None;
        }
        let dfa = self.states().dfa(terminal)?;
        let inside = dfa.inside().filter(|&inside| self.agreed(terminal, at, inside) >= MOSTLY);
        let open = dfa.open(inside.unwrap_or(at))?;
        let state = self.states().of_terminal(terminal, open);
        Some(self.at_point(self.point(state, ObligationsId::NONE)))
    }

    /// Returns the number of pieces up to which two states of a terminal's table agree.
    fn agreed(&self, terminal: TerminalId, one: u32, other: u32) -> u8 {
        if one == other {
            return ALWAYS;
        }
        if let Some(&known) = self.agreements.get(&(terminal, one, other)) {
            return known;
        }
        let found = self.states().dfa(terminal).map(|dfa| dfa.agreement(one, other));
        for ((one, other), pieces) in found.into_iter().flatten() {
            self.agreements.get_or_insert_with((terminal, one, other), || pieces);
        }
        self.agreements.get(&(terminal, one, other)).copied().unwrap_or(0)
    }
}

//! The transition table of an automaton.

/// The state that accepts nothing.
pub(super) const DEAD: u32 = u32::MAX;

/// A row for each state, a column for each class of bytes.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) classes: usize,
    pub(super) moves: &'a [u32],
    /// By state, the length of a shortest suffix; 0 in accepting states, and only there.
    pub(super) distance: &'a [u32],
}

impl<'a> Table<'a> {
    /// Returns the number of states.
    pub(super) fn states(self) -> usize {
        self.distance.len()
    }

    /// Returns, by class, the state after this one; [`DEAD`] if there is none.
    #[inline]
    pub(super) fn row(self, at: u32) -> &'a [u32] {
        &self.moves[at as usize * self.classes..][..self.classes]
    }

    /// Returns whether a text may end in this state.
    #[inline]
    pub(super) fn ends(self, at: u32) -> bool {
        self.distance.get(at as usize) == Some(&0)
    }
}

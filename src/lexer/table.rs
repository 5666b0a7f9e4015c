//! The moves of an automaton, as a table.

/// The state that accepts nothing.
pub(super) const DEAD: u32 = u32::MAX;

/// A row for each state, a column for each class of bytes.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) classes: usize,
    pub(super) moves: &'a [u32],
    /// By state, the length of a shortest rest; 0 in accepting states, and only there.
    pub(super) distance: &'a [u32],
}

impl<'a> Table<'a> {
    /// How many states there are.
    pub(super) fn states(self) -> usize {
        self.distance.len()
    }

    /// By class, the state behind this one; [`DEAD`] where none is.
    #[inline]
    pub(super) fn row(self, at: u32) -> &'a [u32] {
        &self.moves[at as usize * self.classes..][..self.classes]
    }

    /// Whether a text may end in this state.
    #[inline]
    pub(super) fn ends(self, at: u32) -> bool {
        self.distance.get(at as usize) == Some(&0)
    }
}

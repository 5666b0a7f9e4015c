//! Look-arounds, and the watches of threads that have passed one.

use smallvec::SmallVec;

use crate::lexer::dfa::Dfa;

/// A look-around.
#[derive(Clone, Debug)]
pub(super) struct LookAround {
    pub(super) side: Side,
    /// Whether it must not match.
    pub(super) negated: bool,
    /// Automaton of `X` for a look-ahead, and of `.*X` for a look-behind. The automaton of a
    /// look-ahead may first read the text before it, like the automaton of a lexeme.
    pub(super) dfa: Dfa,
}

impl LookAround {
    /// Returns whether both look for the same texts on the same side.
    pub(super) fn looks_as(&self, other: &Self) -> bool {
        self.side == other.side && self.dfa == other.dfa
    }

    /// Returns whether both are equivalent.
    pub(super) fn asks_as(&self, other: &Self) -> bool {
        self.negated == other.negated && self.looks_as(other)
    }
}

/// The direction of a look-around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Ahead,
    /// The maximum number of characters, if there is one.
    Behind(Option<usize>),
}

impl Side {
    /// Returns the maximum number of characters before the position that matter.
    pub(super) fn reach(self) -> Option<usize> {
        if let Self::Behind(width) = self { width } else { Some(0) }
    }
}

/// A pending requirement of a thread: the number of a look-around, the state of its automaton, and
/// whether the look-around must not match.
pub(super) type Watch = (u32, u32, bool);

/// The watches of a thread, all of which must succeed. Ascending.
pub(super) type Watches = SmallVec<[Watch; 2]>;

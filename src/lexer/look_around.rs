//! Look-arounds, and what a thread that has passed one still has to see.

use smallvec::SmallVec;

use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;

/// A look-around.
#[derive(Clone, Debug)]
pub(super) struct LookAround {
    pub(super) side: Side,
    /// Whether it must not match.
    pub(super) negated: bool,
    /// Of `X`; of `.*X` where it looks behind.
    pub(super) dfa: Dfa,
    /// What to say where it reaches before the beginning of a look-ahead in which it stands.
    pub(super) undecided: PatternError,
}

impl LookAround {
    /// Whether both look for the same texts at the same side.
    pub(super) fn looks_as(&self, other: &Self) -> bool {
        self.side == other.side && self.dfa == other.dfa
    }

    /// Whether both ask the same.
    pub(super) fn asks_as(&self, other: &Self) -> bool {
        self.negated == other.negated && self.looks_as(other)
    }
}

/// Where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Ahead,
    /// So many characters.
    Behind(usize),
}

/// What a thread still has to see: the number of a look-around, the state of its automaton, and
/// whether the look-around must not match.
pub(super) type Watch = (u32, u32, bool);

/// The watches of a thread, all of which must come true. Ascending.
pub(super) type Watches = SmallVec<[Watch; 2]>;

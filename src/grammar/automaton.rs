//! Automata over bytes, as patterns hold them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A deterministic automaton over bytes that somebody made: of numbers within bounds, say, which no
/// regex of a sensible size describes. State 0 is the start; without a state, nothing matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Automaton {
    /// Shared: patterns are copied from pass to pass.
    pub(crate) states: Arc<[State]>,
    /// Whether it is known to be minimal: what the start reaches leads to a match, and no two of it
    /// match the same rests. That spares the compiler the search for such states.
    #[serde(skip)]
    pub(crate) is_minimal: bool,
}

impl Automaton {
    /// An automaton that may have states which do the same.
    pub(crate) fn new(states: impl Into<Arc<[State]>>) -> Self {
        Self { states: states.into(), is_minimal: false }
    }

    /// An automaton that has none.
    pub(crate) fn minimal(states: impl Into<Arc<[State]>>) -> Self {
        Self { states: states.into(), is_minimal: true }
    }
}

/// Of the texts of an automaton those that enter so many of its *marked* states: those behind a
/// character. To write the counts out takes as many states as there are counts, for each state of
/// the automaton.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// What the start reaches leads to a match.
    pub(crate) automaton: Automaton,
    /// By state of the automaton.
    pub(crate) marked: Arc<[bool]>,
    pub(crate) least: u32,
    /// `None`: without bound.
    pub(crate) most: Option<u32>,
}

/// Moves of a state, most of which have one or two.
pub(crate) type Moves = SmallVec<[(u8, u8, u32); 2]>;

/// A state of an [`Automaton`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// First byte, last byte, and the number of the state behind them. Where two hold the same
    /// byte, the first counts; where the state does not exist, nothing follows.
    pub(crate) moves: Moves,
    /// Whether a text may end here.
    pub(crate) accepts: bool,
}

impl Hash for State {
    /// A word for each move.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64((self.moves.len() as u64) << 1 | u64::from(self.accepts));
        for &(first, last, next) in &self.moves {
            hasher.write_u64(u64::from(first) << 40 | u64::from(last) << 32 | u64::from(next));
        }
    }
}

//! Automata over bytes, as parts of patterns.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A ready-made deterministic automaton over bytes: for example of numbers within bounds, which no
/// regex of reasonable size describes. State 0 is the start; without states, nothing matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Automaton {
    /// Shared, since patterns are copied from pass to pass.
    pub(crate) states: Arc<[State]>,
    /// Whether it is known to be minimal: every state that the start reaches leads to a match, and
    /// no two of them accept the same suffixes. That spares the compiler the search for such
    /// states.
    #[serde(skip)]
    pub(crate) is_minimal: bool,
}

impl Automaton {
    /// Creates an automaton that may have equivalent states.
    pub(crate) fn new(states: impl Into<Arc<[State]>>) -> Self {
        Self { states: states.into(), is_minimal: false }
    }

    /// Creates an automaton that is known to be minimal.
    pub(crate) fn minimal(states: impl Into<Arc<[State]>>) -> Self {
        Self { states: states.into(), is_minimal: true }
    }

    /// Returns the number of bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let spilled = self.states.iter().map(|state| &state.moves).filter(|moves| moves.spilled());
        let moves: usize = spilled.map(|moves| moves.capacity() * size_of::<(u8, u8, u32)>()).sum();
        self.states.len() * size_of::<State>() + moves
    }
}

/// The texts of an automaton that enter a number of its *marked* states within bounds; marked are
/// the states after a character. Writing the counts out takes one copy of each state per count.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// Every state that the start reaches leads to a match.
    pub(crate) automaton: Automaton,
    /// By state of the automaton.
    pub(crate) marked: Arc<[bool]>,
    pub(crate) least: u32,
    /// `None`: unbounded.
    pub(crate) most: Option<u32>,
}

/// Moves of a state; most states have one or two.
pub(crate) type Moves = SmallVec<[(u8, u8, u32); 2]>;

/// A state of an [`Automaton`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// First byte, last byte, and number of the next state. If two contain the same byte, the first
    /// counts; if the state does not exist, nothing follows.
    pub(crate) moves: Moves,
    /// Whether a text may end here.
    pub(crate) accepts: bool,
}

impl Hash for State {
    /// Hashes one word for each move.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64((self.moves.len() as u64) << 1 | u64::from(self.accepts));
        for &(first, last, next) in &self.moves {
            hasher.write_u64(u64::from(first) << 40 | u64::from(last) << 32 | u64::from(next));
        }
    }
}

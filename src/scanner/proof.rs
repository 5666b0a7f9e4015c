//! The facts proved by the check of a grammar, from which the scanner is made.

use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// Facts about lexemes that are certain for every stack.
#[derive(Debug)]
pub(crate) struct Proof {
    /// The labels after which every stack can be completed, once a lexeme can become one and there
    /// are no other requirements on the text.
    pub(crate) sure: BitSet,
    /// Whether all labels are among them.
    pub(crate) is_whole: bool,
    /// Whether every lexeme that the rules let follow another does so at once, whatever the texts
    /// of both, and every cell of the tables is possible.
    pub(crate) is_separate: bool,
    /// Ignored terminals that only some terminals may follow, each with these.
    pub(crate) gates: Vec<(TerminalId, BitSet)>,
}

impl Proof {
    /// Creates a proof in which none of `terminals` terminals is certain.
    pub(super) fn nothing(terminals: usize) -> Self {
        Self {
            sure: BitSet::new(terminals),
            is_whole: false,
            is_separate: false,
            gates: Vec::new(),
        }
    }
}

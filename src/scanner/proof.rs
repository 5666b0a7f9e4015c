//! What the check of a grammar has proved, and what the scanner is made from.

use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// What is certain about lexemes, whatever the stack.
#[derive(Debug)]
pub(crate) struct Proof {
    /// The labels behind which every stack can be completed, once a lexeme can become one and
    /// nothing is asked of the text beside.
    pub(crate) sure: BitSet,
    /// Whether all labels are such.
    pub(crate) is_whole: bool,
    /// Ignored terminals that not everything may follow, and what may.
    pub(crate) gates: Vec<(TerminalId, BitSet)>,
}

impl Proof {
    /// Nothing is certain of so many terminals.
    pub(super) fn nothing(terminals: usize) -> Self {
        Self { sure: BitSet::new(terminals), is_whole: false, gates: Vec::new() }
    }
}

//! Closures of unit reductions: the actions of a state on top of another, until a reduction reaches
//! below the latter. [`unit_reductions`](super::unit_reductions) computes them, and
//! [`shiftable`](super::shiftable) the terminals that whole stacks shift.

use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

use smallvec::SmallVec;

use crate::util::append::Slots;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, NonterminalId};

/// States on top of a stack.
pub(super) type Cores = SmallVec<[CoreId; 2]>;

/// The actions of a state on top of another.
#[derive(Debug)]
pub(super) struct Closure {
    /// All terminals that are shifted after some of the reductions, and `$` if it accepts.
    pub(super) shifts: BitSet,
    pub(super) stops: Box<[Stop]>,
    pub(super) exits: Box<[Exit]>,
    /// Whether any action reads the state below the top.
    pub(super) reads_below: bool,
    /// If no reduction leads further down: the number of `shifts` in the table's
    /// [`AcceptableSets`](super::states::AcceptableSets).
    pub(super) set: Option<u32>,
}

/// A point in the reductions where terminals are shifted.
#[derive(Debug)]
pub(super) struct Stop {
    /// Whether the top has been popped.
    pub(super) uncovers: bool,
    /// The cores pushed there: on the state below if the top was popped, else on the top.
    pub(super) cores: Cores,
    pub(super) shifts: BitSet,
}

/// A reduction that also pops the state below the top.
#[derive(Debug)]
pub(super) struct Exit {
    /// Number of states popped, including the top; at least 2.
    pub(super) pops: usize,
    pub(super) lhs: NonterminalId,
    /// The terminals (and `$`) before which it is done.
    pub(super) lookaheads: BitSet,
}

/// The closures, by the top and the index of the state below it among the top's predecessors.
/// States that do not reduce do the same on any state, so only the first index is used for them.
#[derive(Debug, Default)]
pub(super) struct Closures {
    pub(super) by_top: Slots<Box<[OnceLock<Box<Closure>>]>>,
    /// Number of rounds taken to compute the closures.
    pub(super) rounds: AtomicUsize,
    /// Number of closures that were cut.
    pub(super) cut: AtomicUsize,
}

//! Closures of unit reductions: what a state does on top of another, as long as no reduction
//! reaches below that one. [`unit_reductions`](super::unit_reductions) finds them, and
//! [`shiftable`](super::shiftable) what whole stacks shift.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use smallvec::SmallVec;

use crate::util::append::Slots;
use crate::util::append_map::AppendMap;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, NonterminalId};

/// States on top of a stack.
pub(super) type Cores = SmallVec<[CoreId; 2]>;

/// The cores of a stack from the top down to the lowest that was read.
pub(super) type Read = SmallVec<[CoreId; 8]>;

/// What a state does on top of another.
#[derive(Debug)]
pub(super) struct Closure {
    /// All terminals that are shifted on the way, and `$` where it accepts.
    pub(super) shifts: BitSet,
    pub(super) stops: Box<[Stop]>,
    pub(super) exits: Box<[Exit]>,
    /// Whether any of it reads the state below the top.
    pub(super) reads_below: bool,
    /// Where no reduction leads further down: the number of `shifts` among the table's
    /// [`AcceptableSets`](super::states::AcceptableSets).
    pub(super) set: Option<u32>,
    /// Where one does: a bit for each number of cores that were read of a stack with these two on
    /// top to know what it can shift.
    pub(super) lengths: AtomicU64,
}

/// Where terminals are shifted.
#[derive(Debug)]
pub(super) struct Stop {
    /// Whether the top has been taken off.
    pub(super) uncovers: bool,
    /// What lies on the state below by then, or else on the top.
    pub(super) cores: Cores,
    pub(super) shifts: BitSet,
}

/// A reduction that takes off the state below the top as well.
#[derive(Debug)]
pub(super) struct Exit {
    /// How many states it takes off, the top among them; at least 2.
    pub(super) pops: usize,
    pub(super) lhs: NonterminalId,
    /// The terminals (and `$`) before which it is done.
    pub(super) lookaheads: BitSet,
}

/// The closures found so far, by the top and the place of what lies below it among the top's
/// predecessors; of states that do not reduce, which do the same on whatever lies below, only the
/// first place is used. And what whole stacks can shift.
#[derive(Debug, Default)]
pub(super) struct Closures {
    pub(super) by_top: Slots<Box<[OnceLock<Box<Closure>>]>>,
    /// What such stacks can shift, as the number of a set, by what was read of them.
    pub(super) shiftable: AppendMap<Read, u32>,
    /// Rounds that were taken to find the closures.
    pub(super) rounds: AtomicUsize,
    /// How many closures were not followed to their ends.
    pub(super) cut: AtomicUsize,
    /// Whether one is so long that it is cut where it is found late.
    pub(super) has_long: AtomicBool,
}

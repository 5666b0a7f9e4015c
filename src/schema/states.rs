//! Types of the machine's states, shared by the machine, the search for values and the construction
//! of rules.

use std::rc::Rc;

use smallvec::SmallVec;

use crate::lexer::Dfa;
use crate::schema::formula::{Fingerprint, FormulaId};

use FormulaId as F;

/// Residuals, or the formulas of a value state.
pub(super) type Tuple = Box<[F]>;

/// A tuple under construction; nearly always a single formula.
pub(super) type Formed = SmallVec<[F; 4]>;

/// A tuple, by its number in [`Machine::tuples`](super::machine::Machine::tuples).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TupleId(pub(super) u32);

/// Classes of the next member: the residuals after it, and the formula that the member satisfies.
/// The classes are disjoint.
pub(super) type Classes = Rc<[(TupleId, F)]>;

/// A question that a formula asks about the next member.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked {
    /// Whether it satisfies a formula.
    Child(F),
    /// Which fingerprint it has.
    Fingerprint(Fingerprint),
}

/// The part that all states of one object share: the formulas at its beginning, and the keys that
/// these distinguish.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub(super) start: TupleId,
    /// `start`, narrowed for objects in which keys that are not named may appear twice.
    pub(super) guarded: TupleId,
    /// Named keys, in the order in which they may appear.
    pub(super) names: Rc<[u32]>,
    /// The names in ascending order, each with its position in `names`.
    pub(super) positions: Rc<[(u32, u32)]>,
    /// Classes of the other keys.
    pub(super) others: Rc<[OtherKeys]>,
    /// Whether patterns or `propertyNames` constrain named keys too.
    pub(super) tests_names: bool,
}

impl Frame {
    /// Returns the position of a name among the named keys.
    pub(super) fn position(&self, name: u32) -> Option<u32> {
        let found = self.positions.binary_search_by_key(&name, |&(name, _)| name);
        found.ok().map(|at| self.positions[at].1)
    }
}

/// A set of keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Keys {
    /// All keys but these names, which are in ascending order.
    AllBut(Rc<[u32]>),
    /// Keys with these contents.
    Contents(Rc<Dfa>),
}

/// A class of keys that the formulas neither name nor distinguish.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OtherKeys {
    pub(super) keys: Keys,
    /// Patterns that match the keys, in ascending order.
    pub(super) patterns: Vec<u32>,
    /// Formulas of `propertyNames` that the keys satisfy, in ascending order.
    pub(super) names: Vec<F>,
    /// Fingerprint of the keys, if the frame counts keys.
    pub(super) fingerprint: u8,
}

/// A key, or the absence of a named one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Named(u32),
    /// A key of the class with this number.
    Other(u32),
    Absent(u32),
}

/// A move in the frame with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step {
    pub(super) frame: u32,
    pub(super) key: Key,
    /// Number of leading names in the declared order that need no further consideration.
    pub(super) position: u32,
}

//! What the states of the machine are made of. The machine, the search for values and the making of
//! rules all speak of these.

use std::rc::Rc;

use smallvec::SmallVec;

use crate::lexer::Dfa;
use crate::schema::formula::{Fingerprint, FormulaId};

use FormulaId as F;

/// Residuals, or the formulas of a value state.
pub(super) type Tuple = Box<[F]>;

/// A tuple in the making: nearly always of one formula.
pub(super) type Formed = SmallVec<[F; 4]>;

/// A tuple, by its number in [`Machine::tuples`](super::machine::Machine::tuples).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TupleId(pub(super) u32);

/// The classes of the next member: the residuals behind it, and what the member satisfies. The
/// classes are disjoint.
pub(super) type Classes = Rc<[(TupleId, F)]>;

/// What a formula asks of the next member.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked {
    /// Whether it satisfies a formula.
    Child(F),
    /// Which fingerprint it has.
    Fingerprint(Fingerprint),
}

/// What all states of one object share: the formulas that the object began with, and the keys that
/// these tell apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub(super) start: TupleId,
    /// The same as far as it goes where keys that are not named may stand twice.
    pub(super) guarded: TupleId,
    /// Named keys, in the order in which they may stand.
    pub(super) names: Rc<[u32]>,
    /// The names, ascending, each with its place among them.
    pub(super) positions: Rc<[(u32, u32)]>,
    /// Classes of the other keys.
    pub(super) others: Rc<[OtherKeys]>,
    /// Whether patterns or `propertyNames` say something of named keys, too.
    pub(super) tests_names: bool,
}

impl Frame {
    /// Where a name stands among the named keys.
    pub(super) fn position(&self, name: u32) -> Option<u32> {
        let found = self.positions.binary_search_by_key(&name, |&(name, _)| name);
        found.ok().map(|at| self.positions[at].1)
    }
}

/// A set of keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Keys {
    /// All but these names, ascending.
    AllBut(Rc<[u32]>),
    /// Those with these contents.
    Contents(Rc<Dfa>),
}

/// Keys that no formula of the frame names or tells apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OtherKeys {
    pub(super) keys: Keys,
    /// The patterns that match them, ascending.
    pub(super) patterns: Vec<u32>,
    /// What `propertyNames` asks of them and they satisfy, ascending.
    pub(super) names: Vec<F>,
    /// Their fingerprint, where the frame counts keys.
    pub(super) fingerprint: u8,
}

/// A key, or that there is none of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Named(u32),
    /// Of the class of this number.
    Other(u32),
    Absent(u32),
}

/// A move in the frame of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step {
    pub(super) frame: u32,
    pub(super) key: Key,
    /// Whether the names up to this one need not be thought of any more: all that came before it in
    /// the declared order.
    pub(super) position: u32,
}

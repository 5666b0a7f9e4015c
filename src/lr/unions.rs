//! Unions of stacks that were made before: a table that forgets.
//!
//! The readings of an ambiguous text meet again and again in the same nodes, and a union of two
//! graphs goes through all pairs that they do not share. So pairs are kept with their unions, as
//! packages for binary decision diagrams keep them (Brace, Rudell and Bryant 1990, the *computed
//! table*): in a table of bounded size, in which a new entry takes the place of an old one. Without
//! it the work is the same, done over.
//!
//! The table holds no stack alive. As long as it refers to a node, no other can come to have its
//! address, so an address tells a pair.

use std::sync::{Mutex, PoisonError, Weak};

use super::node::{Address, Node, Stack};

/// Entries of the table at first.
const FEWEST: usize = 1 << 10;

/// Entries of the table at most, which take 26 MB. They suffice for 1,600 symbols of the most
/// ambiguous grammars, masks included. A quarter of them suffices for 500, and behind 800 each step
/// makes all of its unions anew.
const MOST: usize = 1 << 18;

/// What a node takes with the counts of those that refer to it.
const NODE_BYTES: usize = size_of::<Node>() + 2 * size_of::<usize>();

/// The unions that were made last.
#[derive(Debug, Default)]
pub(super) struct Unions(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    entries: Vec<Option<Made>>,
    /// How many unions were ever kept.
    kept: usize,
}

#[derive(Debug)]
struct Made {
    one: Weak<Node>,
    other: Weak<Node>,
    union: Weak<Node>,
}

impl Unions {
    /// The union of two stacks, if it was made before and is still there.
    pub(super) fn find(&self, one: &Stack, other: &Stack) -> Option<Stack> {
        let (one, other) = in_order(one, other);
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = table.entries.get(place(one, other, table.entries.len()))?.as_ref()?;
        let is_same =
            known.one.as_ptr() == one.address() && known.other.as_ptr() == other.address();
        Stack::upgrade(&known.union).filter(|_| is_same)
    }

    /// Keeps a union.
    pub(super) fn keep(&self, one: &Stack, other: &Stack, union: &Stack) {
        let (one, other) = in_order(one, other);
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.make_room();
        let known =
            Made { one: one.downgrade(), other: other.downgrade(), union: union.downgrade() };
        let place = place(one, other, table.entries.len());
        table.entries[place] = Some(known);
    }

    /// Bytes of the table, and of nodes that nobody holds: the memory of a node is given back when
    /// the last entry that refers to the node is overwritten.
    pub(super) fn bytes(&self) -> usize {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.entries.len() * (size_of::<Option<Made>>() + NODE_BYTES)
    }

    /// How many unions were ever kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).kept
    }
}

impl Table {
    /// Doubles the table where it has been filled, and forgets what was in it.
    fn make_room(&mut self) {
        let entries = self.entries.len();
        self.kept += 1;
        if self.kept > entries && entries < MOST {
            self.entries.clear();
            self.entries.resize_with((2 * entries).max(FEWEST), || None);
        }
    }
}

/// A union is the same both ways.
fn in_order<'s>(one: &'s Stack, other: &'s Stack) -> (&'s Stack, &'s Stack) {
    if one.address() < other.address() { (one, other) } else { (other, one) }
}

/// Where a pair is kept among so many entries, a power of two.
fn place(one: &Stack, other: &Stack, entries: usize) -> usize {
    let number = |at: Address| (at.addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (number(one.address()) ^ number(other.address()).rotate_left(21)) >> 40;
    mixed as usize & entries.wrapping_sub(1)
}

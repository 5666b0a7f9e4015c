//! Cache of unions of stacks, of bounded size.
//!
//! The readings of an ambiguous text meet again and again in the same nodes, and a union of two
//! graphs visits all pairs of nodes that they do not share. So pairs are cached with their unions,
//! as in packages for binary decision diagrams (Brace, Rudell and Bryant 1990, the *computed
//! table*): a table of bounded size in which a new entry replaces an old one. Without it the
//! results are the same, but computed again.
//!
//! The table keeps no stack alive. While it refers to a node, the node's address is not reused, so
//! addresses identify a pair.

use std::sync::{Mutex, PoisonError, Weak};

use super::node::{Address, Node, Stack};

/// Initial number of entries.
const FEWEST: usize = 1 << 10;

/// Upper bound on the entries, which take 26 MB. They suffice for 1,600 symbols of the most
/// ambiguous grammars, masks included. A quarter of them suffices for 500, and after 800 each step
/// makes all of its unions anew.
const MOST: usize = 1 << 18;

/// Bytes of a node with its reference counts.
const NODE_BYTES: usize = size_of::<Node>() + 2 * size_of::<usize>();

/// The most recent unions.
#[derive(Debug, Default)]
pub(super) struct Unions(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    entries: Vec<Option<Entry>>,
    /// Number of unions added so far.
    kept: usize,
}

#[derive(Debug)]
struct Entry {
    one: Weak<Node>,
    other: Weak<Node>,
    union: Weak<Node>,
}

impl Unions {
    /// Returns the union of two stacks, if it is cached and still alive.
    pub(super) fn find(&self, one: &Stack, other: &Stack) -> Option<Stack> {
        let (one, other) = in_order(one, other);
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = table.entries.get(place(one, other, table.entries.len()))?.as_ref()?;
        let is_same =
            known.one.as_ptr() == one.address() && known.other.as_ptr() == other.address();
        Stack::upgrade(&known.union).filter(|_| is_same)
    }

    /// Adds a union.
    pub(super) fn keep(&self, one: &Stack, other: &Stack, union: &Stack) {
        let (one, other) = in_order(one, other);
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.make_room();
        let known =
            Entry { one: one.downgrade(), other: other.downgrade(), union: union.downgrade() };
        let place = place(one, other, table.entries.len());
        table.entries[place] = Some(known);
    }

    /// Returns the bytes of the table, and of dead nodes: the memory of a node is freed when the
    /// last entry that refers to it is overwritten.
    pub(super) fn bytes(&self) -> usize {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.entries.len() * (size_of::<Option<Entry>>() + NODE_BYTES)
    }

    /// Returns the number of unions added so far.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).kept
    }
}

impl Table {
    /// Doubles the table once as many unions as entries were added, and clears it.
    fn make_room(&mut self) {
        let entries = self.entries.len();
        self.kept += 1;
        if self.kept > entries && entries < MOST {
            self.entries.clear();
            self.entries.resize_with((2 * entries).max(FEWEST), || None);
        }
    }
}

/// Orders a pair, because union is commutative.
fn in_order<'s>(one: &'s Stack, other: &'s Stack) -> (&'s Stack, &'s Stack) {
    if one.address() < other.address() { (one, other) } else { (other, one) }
}

/// Returns the index of a pair in a table with this number of entries, a power of two.
fn place(one: &Stack, other: &Stack, entries: usize) -> usize {
    let number = |at: Address| (at.addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (number(one.address()) ^ number(other.address()).rotate_left(21)) >> 40;
    mixed as usize & entries.wrapping_sub(1)
}

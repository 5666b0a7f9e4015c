//! Unions of stacks that were made before: a table that forgets.
//!
//! The readings of an ambiguous text meet again and again in the same nodes, and a union of two
//! graphs goes through all pairs that they do not share. So pairs are kept with their unions, as
//! packages for binary decision diagrams keep them (Brace, Rudell and Bryant 1990, the *computed
//! table*): in a table of a fixed size, in which a new entry takes the place of an old one. Without
//! it the work is the same, done over.
//!
//! The table holds no stack alive. As long as it refers to a node, no other can come to have its
//! address, so an address tells a pair.

use std::sync::{Mutex, PoisonError, Weak};

use super::node::{Address, Node, Stack};

/// Entries of the table.
const ENTRIES: usize = 1 << 14;

/// The unions that were made last.
#[derive(Debug, Default)]
pub(super) struct Unions(Mutex<Vec<Option<Made>>>);

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
        let made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.get(place(one, other))?.as_ref()?;
        let is_same =
            known.one.as_ptr() == one.address() && known.other.as_ptr() == other.address();
        Stack::upgrade(&known.union).filter(|_| is_same)
    }

    /// Keeps a union.
    pub(super) fn keep(&self, one: &Stack, other: &Stack, union: &Stack) {
        let (one, other) = in_order(one, other);
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if made.is_empty() {
            made.resize_with(ENTRIES, || None);
        }
        let known =
            Made { one: one.downgrade(), other: other.downgrade(), union: union.downgrade() };
        made[place(one, other)] = Some(known);
    }
}

/// A union is the same both ways.
fn in_order<'s>(one: &'s Stack, other: &'s Stack) -> (&'s Stack, &'s Stack) {
    if one.address() < other.address() { (one, other) } else { (other, one) }
}

/// Where a pair is kept.
fn place(one: &Stack, other: &Stack) -> usize {
    let number = |at: Address| (at.addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((number(one.address()) ^ number(other.address()).rotate_left(21)) >> 40) as usize % ENTRIES
}

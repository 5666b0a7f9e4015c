//! Sets of values that are never changed: with another value it is a new one, which shares all but
//! the path to that value (Bagwell, "Ideal Hash Trees", 2001). So every step of a sequence keeps
//! its own, and so does every clone.

use std::sync::Arc;

/// What tells a value from others ([`values`](super::values)).
pub(super) type ValueId = u128;

/// A set of values.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueIds(Option<Arc<Node>>);

#[derive(Debug)]
enum Node {
    Leaf(ValueId),
    /// By the next four bits.
    Branch([ValueIds; 16]),
}

impl ValueIds {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn contains(&self, id: ValueId) -> bool {
        let (mut at, mut bits) = (self, id);
        loop {
            match at.0.as_deref() {
                None => return false,
                Some(&Node::Leaf(own)) => return own == id,
                Some(Node::Branch(next)) => at = &next[(bits & 15) as usize],
            }
            bits >>= 4;
        }
    }

    /// The set with one more value.
    pub(super) fn with(&self, id: ValueId) -> Self {
        self.with_below(id, 0)
    }

    /// The same of a node that `depth` groups of four bits lead to: 32 at most.
    fn with_below(&self, id: ValueId, depth: u32) -> Self {
        let place = |of: ValueId| (of >> (4 * depth) & 15) as usize;
        let mut next: [Self; 16] = match self.0.as_deref() {
            None => return Self(Some(Arc::new(Node::Leaf(id)))),
            Some(&Node::Leaf(own)) if own == id => return self.clone(),
            Some(&Node::Leaf(own)) => {
                let mut next: [Self; 16] = Default::default();
                next[place(own)] = self.clone();
                next
            }
            Some(Node::Branch(next)) => next.clone(),
        };
        next[place(id)] = next[place(id)].with_below(id, depth + 1);
        Self(Some(Arc::new(Node::Branch(next))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_added() {
        let ids: Vec<ValueId> = (0..100).map(|at| 1 << at | at << 100).chain([0, 1]).collect();
        let mut sets = vec![ValueIds::default()];
        for &id in &ids {
            sets.push(sets[sets.len() - 1].with(id));
        }
        for (count, set) in sets.iter().enumerate() {
            for id in &ids {
                assert_eq!(set.contains(*id), ids[..count].contains(id), "{count} {id}");
            }
        }
    }
}

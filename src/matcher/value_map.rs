//! Persistent maps keyed by values: adding a value returns a new map, which shares all but the path
//! to that value (Bagwell, "Ideal Hash Trees", 2001). Every step of a sequence and every clone
//! keeps its own map.

use std::sync::Arc;

/// Identity of a value ([`values`](super::values)).
pub(super) type ValueId = u128;

/// A set of values.
pub(super) type ValueIds = ValueMap<()>;

/// A map from value identities to `T`.
#[derive(Clone, Debug)]
pub(super) struct ValueMap<T>(Option<Arc<Node<T>>>);

#[derive(Debug)]
enum Node<T> {
    One(ValueId, T),
    /// A bitmap of the next four bits of the keys, and one node for each bit that is set.
    Branch(u16, Box<[Arc<Node<T>>]>),
}

impl<T> Default for ValueMap<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl ValueIds {
    /// Returns the set with one more value.
    pub(super) fn with_value(&self, id: ValueId) -> Self {
        self.with(id, ())
    }
}

impl<T: Copy> ValueMap<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn contains(&self, id: ValueId) -> bool {
        self.get(id).is_some()
    }

    /// Returns the entry of a value. Visits at most 33 nodes.
    pub(super) fn get(&self, id: ValueId) -> Option<T> {
        let (mut at, mut bits) = (self.0.as_ref()?, id);
        loop {
            match &**at {
                &Node::One(own, known) => return (own == id).then_some(known),
                Node::Branch(present, below) => {
                    let bit = 1 << (bits & 15);
                    if present & bit == 0 {
                        return None;
                    }
                    at = &below[place(*present, bit)];
                }
            }
            bits >>= 4;
        }
    }

    /// Returns the map with a new entry for a value, replacing any old one.
    pub(super) fn with(&self, id: ValueId, known: T) -> Self {
        let node = match &self.0 {
            None => Node::One(id, known),
            Some(node) => node.with(id, known, 0),
        };
        Self(Some(Arc::new(node)))
    }

    /// Returns all entries, in unspecified order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ValueId, T)> {
        let mut pending: Vec<&Node<T>> = self.0.as_deref().into_iter().collect();
        std::iter::from_fn(move || {
            loop {
                match pending.pop()? {
                    &Node::One(id, known) => return Some((id, known)),
                    Node::Branch(_, below) => pending.extend(below.iter().map(|node| &**node)),
                }
            }
        })
    }
}

impl<T: Copy> Node<T> {
    /// Returns the node at depth `depth` (in groups of four bits) with one more entry.
    fn with(&self, id: ValueId, known: T, depth: u32) -> Self {
        let bit = |id: ValueId| 1u16 << (id >> (4 * depth) & 15);
        match self {
            &Self::One(own, _) if own == id => Self::One(id, known),
            &Self::One(own, old) => {
                let alone = Self::Branch(bit(own), Box::new([Arc::new(Self::One(own, old))]));
                alone.with(id, known, depth)
            }
            Self::Branch(present, below) => {
                let bit = bit(id);
                let (before, behind) = below.split_at(place(*present, bit));
                let (new, behind) = match present & bit {
                    0 => (Self::One(id, known), behind),
                    _ => (behind[0].with(id, known, depth + 1), &behind[1..]),
                };
                let all = before.iter().cloned().chain([Arc::new(new)]);
                Self::Branch(present | bit, all.chain(behind.iter().cloned()).collect())
            }
        }
    }
}

/// Returns the index of the child for a bit.
fn place(present: u16, bit: u16) -> usize {
    (present & (bit - 1)).count_ones() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_holds_what_was_added() {
        let ids: Vec<ValueId> = (0..100).map(|at| 1 << at | at << 100).chain([0]).collect();
        let mut maps: Vec<ValueMap<usize>> = vec![ValueMap::default()];
        for (count, &id) in ids.iter().enumerate() {
            maps.push(maps[count].with(id, count));
        }
        for (count, map) in maps.iter().enumerate() {
            for (place, &id) in ids.iter().enumerate() {
                assert_eq!(map.get(id), (place < count).then_some(place), "{count} {id}");
            }
            let mut all: Vec<(ValueId, usize)> = map.iter().collect();
            all.sort_unstable_by_key(|&(_, place)| place);
            let expected: Vec<_> = ids[..count].iter().copied().zip(0..).collect();
            assert_eq!(all, expected, "{count}");
        }
    }

    #[test]
    fn what_is_said_last_of_a_value_counts() {
        let map = ValueMap::default().with(1, 'a').with(17, 'b').with(1, 'c');
        assert_eq!([map.get(1), map.get(17), map.get(33)], [Some('c'), Some('b'), None]);
    }
}

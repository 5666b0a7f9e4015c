//! Maps from values that are never changed: with another value it is a new one, which shares all
//! but the path to that value (Bagwell, "Ideal Hash Trees", 2001). So every step of a sequence
//! keeps its own, and so does every clone.

use std::sync::Arc;

/// What tells a value from others ([`values`](super::values)).
pub(super) type ValueId = u128;

/// A set of values.
pub(super) type ValueIds = ValueMap<()>;

/// What is known of some values.
#[derive(Clone, Debug, Default)]
pub(super) enum ValueMap<T> {
    #[default]
    Nothing,
    One(Arc<(ValueId, T)>),
    /// By the next four bits: which there are, a bit each, and what is known of these.
    Branch(u16, Arc<[ValueMap<T>]>),
}

impl ValueIds {
    /// The set with one more value.
    pub(super) fn with_value(&self, id: ValueId) -> Self {
        self.with(id, ())
    }
}

impl<T: Copy> ValueMap<T> {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    pub(super) fn contains(&self, id: ValueId) -> bool {
        self.get(id).is_some()
    }

    /// What is known of a value: a look at 32 nodes at most.
    pub(super) fn get(&self, id: ValueId) -> Option<T> {
        let (mut at, mut bits) = (self, id);
        loop {
            match at {
                Self::Nothing => return None,
                Self::One(one) => return (one.0 == id).then_some(one.1),
                Self::Branch(present, below) => {
                    let bit = 1 << (bits & 15);
                    if present & bit == 0 {
                        return None;
                    }
                    at = &below[(present & (bit - 1)).count_ones() as usize];
                }
            }
            bits >>= 4;
        }
    }

    /// The map with this of a value, whatever was known of it.
    pub(super) fn with(&self, id: ValueId, known: T) -> Self {
        self.with_below((id, known), 0)
    }

    /// The same of a node that `depth` groups of four bits lead to.
    fn with_below(&self, new: (ValueId, T), depth: u32) -> Self {
        let bit = |id: ValueId| 1u16 << (id >> (4 * depth) & 15);
        match self {
            Self::Nothing => Self::One(Arc::new(new)),
            Self::One(one) if one.0 == new.0 => Self::One(Arc::new(new)),
            Self::One(one) => {
                let alone = Self::Branch(bit(one.0), Arc::from([self.clone()]));
                alone.with_below(new, depth)
            }
            Self::Branch(present, below) => {
                let bit = bit(new.0);
                let place = (present & (bit - 1)).count_ones() as usize;
                let (before, behind) = below.split_at(place);
                let (old, behind) = match present & bit {
                    0 => (&Self::Nothing, behind),
                    _ => (&behind[0], &behind[1..]),
                };
                let own = [old.with_below(new, depth + 1)];
                let all = before.iter().chain(&own).chain(behind).cloned();
                Self::Branch(present | bit, all.collect())
            }
        }
    }

    /// All values, and what is known of each, in no order that means anything.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ValueId, T)> {
        let mut pending = vec![self];
        std::iter::from_fn(move || {
            loop {
                match pending.pop()? {
                    Self::Nothing => {}
                    Self::One(one) => return Some(**one),
                    Self::Branch(_, below) => pending.extend(below.iter()),
                }
            }
        })
    }
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

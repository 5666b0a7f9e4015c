//! Masks, each stored once, and where it saves memory as the little that tells it from another.
//!
//! Masks of one grammar are much alike: in most places of a program a name may come, and what else
//! may come is some hundred tokens. A mask that is near to one stored as a row is stored as the
//! bits to flip in that row. Copying the few rows that are left keeps them in the caches, which
//! makes up for the flips.

use std::hash::BuildHasher;
use std::sync::{Mutex, OnceLock, PoisonError};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::index::tokens::{TokenSet, tokens_of};
use crate::util::append::AppendVec;
use crate::util::saving::Words;

/// Masks under numbers.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    masks: AppendVec<Mask>,
    pub(crate) known: Mutex<Known>,
}

#[derive(Clone, Debug)]
pub(crate) enum Mask {
    Set(TokenSet),
    /// The row of the mask `base`, but for these bits.
    Near {
        base: u32,
        flips: Words,
    },
}

/// What it takes to add masks.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Hash and id.
    pub(crate) ids: HashTable<(u64, u32)>,
    /// Masks that are stored as rows, the one last used first.
    pub(super) rows: Vec<u32>,
}

/// How many rows a new mask is held against.
const CANDIDATES: usize = 256;

/// One bit may be set or flipped for so many words of a row: more would take longer than copying a
/// row.
const WORDS_PER_BIT: usize = 16;

/// A mask of no more tokens than this is stored as a list, in rows of `words` words.
pub(super) fn most_in_a_list(words: usize) -> usize {
    words / WORDS_PER_BIT
}

impl Masks {
    /// The id of the mask `row`, and the bytes that it takes if it is new.
    pub(crate) fn intern(&self, row: &[u32]) -> (u32, usize) {
        if let Some(few) = tokens_of(row, most_in_a_list(row.len())) {
            return self.intern_few(&few);
        }
        let is_row = |mask: &Mask| match mask {
            Mask::Set(TokenSet::List(_)) => false,
            Mask::Set(TokenSet::Words(words)) => words.is_equal(row),
            Mask::Near { base, flips } => {
                let mut other = row.to_vec();
                flip(flips, &mut other);
                match self.get(*base) {
                    Some(Mask::Set(TokenSet::Words(base))) => base.is_equal(&other),
                    _ => false,
                }
            }
        };
        self.find_or_add(hash(row), is_row, |rows| {
            let near = self.nearest(row, rows);
            near.unwrap_or_else(|| Mask::Set(TokenSet::Words(row.to_vec().into())))
        })
    }

    /// The same for the mask of these tokens, ascending, no more than [`most_in_a_list`]. What is a
    /// handful of tokens takes no pass over a row.
    pub(crate) fn intern_few(&self, tokens: &[u32]) -> (u32, usize) {
        let is_list = |mask: &Mask| match mask {
            Mask::Set(TokenSet::List(list)) => list.is_equal(tokens),
            _ => false,
        };
        let hash = FxBuildHasher.hash_one(tokens);
        let list = |_: &mut Vec<u32>| Mask::Set(TokenSet::List(tokens.to_vec().into()));
        self.find_or_add(hash, is_list, list)
    }

    /// The id of a mask, which is made only when it is new, and the bytes that it takes then.
    /// `make` gets the masks that are stored as rows.
    fn find_or_add(
        &self,
        hash: u64,
        is_equal: impl Fn(&Mask) -> bool,
        make: impl FnOnce(&mut Vec<u32>) -> Mask,
    ) -> (u32, usize) {
        // A poisoned lock only says that another thread panicked elsewhere: the tables are
        // consistent.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { ids, rows } = &mut *known;
        let is_equal =
            |&(known, id): &(u64, u32)| known == hash && self.get(id).is_some_and(&is_equal);
        if let Some(&(_, id)) = ids.find(hash, is_equal) {
            return (id, 0);
        }
        let mask = make(rows);
        let bytes = mask.bytes_with_entry();
        let is_row = mask.is_row();
        let id = self.masks.push(mask);
        if is_row {
            rows.insert(0, id);
        }
        ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        (id, bytes)
    }

    /// `row` as the flips that make it of the nearest of `rows`, if it is near to one.
    fn nearest(&self, row: &[u32], rows: &mut [u32]) -> Option<Mask> {
        let mut limit = most_in_a_list(row.len());
        let mut best = None;
        for (at, &id) in rows.iter().take(CANDIDATES).enumerate() {
            let Some(Mask::Set(TokenSet::Words(base))) = self.get(id) else { continue };
            if let Some(distance) = base.own().and_then(|base| distance(row, base, limit)) {
                limit = distance;
                best = Some(at);
            }
        }
        let at = best?;
        rows[..=at].rotate_right(1);
        let Some(Mask::Set(TokenSet::Words(base))) = self.get(rows[0]) else { return None };
        let base = base.own()?;
        let mut flips = Vec::with_capacity(limit);
        for (first, row, base) in differing(row, base) {
            for (index, (&word, &other)) in (first..).zip(row.iter().zip(base)) {
                let mut rest = word ^ other;
                while rest != 0 {
                    flips.push(index * 32 + rest.trailing_zeros());
                    rest &= rest - 1;
                }
            }
        }
        Some(Mask::Near { base: rows[0], flips: flips.into() })
    }

    /// How many masks there are.
    pub(crate) fn len(&self) -> usize {
        self.masks.len()
    }

    /// The mask of this number.
    pub(crate) fn get(&self, id: u32) -> Option<&Mask> {
        self.masks.get(id)
    }

    /// Adds a mask under the next number; `hash` is that of its tokens or of its row.
    pub(crate) fn push(&mut self, hash: u64, mask: Mask) -> u32 {
        let id = self.masks.push(mask);
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        known.ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        id
    }

    /// Sets which masks are stored as rows, the one last used first.
    pub(super) fn set_rows(&mut self, rows: Vec<u32>) {
        self.known.get_mut().unwrap_or_else(PoisonError::into_inner).rows = rows;
    }

    /// Makes `row` hold the mask.
    #[inline]
    pub(crate) fn write_to(&self, id: u32, row: &mut [u32]) {
        match self.get(id) {
            Some(Mask::Set(set)) => set.write_to(row),
            Some(Mask::Near { base, flips }) => {
                if let Some(Mask::Set(base)) = self.get(*base) {
                    base.write_to(row);
                }
                flip(flips, row);
            }
            None => row.fill(0),
        }
    }
}

impl Mask {
    fn is_row(&self) -> bool {
        matches!(self, Self::Set(TokenSet::Words(_)))
    }

    /// The bytes that the mask takes, and its places in the tables.
    pub(crate) fn bytes_with_entry(&self) -> usize {
        let numbers = match self {
            Self::Set(set) => set.bytes(),
            Self::Near { flips, .. } => flips.len() * 4,
        };
        numbers + size_of::<OnceLock<Self>>() + 2 * size_of::<(u64, u32)>()
    }
}

/// Flips these bits of a row.
#[inline]
fn flip(bits: &Words, row: &mut [u32]) {
    bits.each(|id| {
        // As in a list of tokens.
        if let Some(word) = row.get_mut(id as usize / 32) {
            *word ^= 1 << (id % 32);
        }
    });
}

/// In how many bits the rows differ, if in no more than `limit`.
fn distance(row: &[u32], other: &[u32], limit: usize) -> Option<usize> {
    let mut distance = 0;
    for (_, row, other) in differing(row, other) {
        let ((pairs, last), (other_pairs, other_last)) =
            (row.as_chunks::<2>(), other.as_chunks::<2>());
        let bits = |(row, other): (&[u32; 2], &[u32; 2])| (join(*row) ^ join(*other)).count_ones();
        distance += pairs.iter().zip(other_pairs).map(bits).sum::<u32>() as usize;
        let bits = |(row, other): (&u32, &u32)| (row ^ other).count_ones();
        distance += last.iter().zip(other_last).map(bits).sum::<u32>() as usize;
        if distance > limit {
            return None;
        }
    }
    Some(distance)
}

/// The stretches in which the rows differ, and the place of the first word of each. Most of two
/// masks that are near is the same, and comparing takes a fraction of the time of looking at each
/// word.
fn differing<'r>(
    row: &'r [u32],
    other: &'r [u32],
) -> impl Iterator<Item = (u32, &'r [u32], &'r [u32])> + use<'r> {
    const STRETCH: usize = 64;
    let stretches = row.chunks(STRETCH).zip(other.chunks(STRETCH));
    let placed = (0..).step_by(STRETCH).zip(stretches);
    placed.filter(|(_, (row, other))| row != other).map(|(first, (row, other))| (first, row, other))
}

/// Two words as one.
fn join(words: [u32; 2]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

/// The hash of a mask that is stored as a row or near to one. In lanes, because each step of a hash
/// waits for the one before.
fn hash(row: &[u32]) -> u64 {
    const LANES: usize = 8;
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut lanes = [0u64; LANES];
    let mut chunks = row.chunks_exact(4 * LANES);
    for words in &mut chunks {
        for (lane, &[a, b, c, d]) in lanes.iter_mut().zip(words.as_chunks::<4>().0) {
            let both = join([a, b]).wrapping_add(join([c, d]).rotate_left(31));
            *lane = (*lane ^ both).wrapping_mul(FACTOR).rotate_left(23);
        }
    }
    FxBuildHasher.hash_one((lanes, chunks.remainder()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_whatever_they_are_stored_as() {
        let masks = Masks::default();
        let mut random = fastrand::Rng::with_seed(7);
        let mut row = vec![0u32; 400];
        let mut stored = Vec::new();
        for round in 0..300 {
            if round % 50 == 0 {
                row.iter_mut().for_each(|word| *word = random.u32(..));
            }
            if round % 70 == 0 {
                row.fill(0);
            }
            for _ in 0..random.usize(..20) {
                row[random.usize(..400)] ^= 1 << random.usize(..32);
            }
            let (id, _) = masks.intern(&row);
            assert_eq!(masks.intern(&row), (id, 0));
            stored.push((id, row.clone()));
        }
        let mut copy = vec![u32::MAX; 400];
        for (id, row) in stored {
            masks.write_to(id, &mut copy);
            assert_eq!(copy, row);
        }
        let near =
            (0..masks.len() as u32).filter(|&id| matches!(masks.get(id), Some(Mask::Near { .. })));
        assert!(near.count() > 50);
    }
}

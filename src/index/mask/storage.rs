//! Storage for masks: each is stored once, and as a difference from another one where that saves
//! memory.
//!
//! Masks of one grammar are similar: at most positions of a program a name may come, and the other
//! tokens that may come are some hundred. A mask that is close to a stored row is stored as the
//! bits to flip in that row. Few rows remain, so copies of them stay in the processor's caches,
//! which makes up for the flips.

use std::hash::BuildHasher;
use std::sync::{Mutex, OnceLock, PoisonError};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::row_sketch::Folded;
use crate::index::tokens::{TokenSet, tokens_of};
use crate::util::aligned::AlignedRow;
use crate::util::append::AppendVec;

/// Masks by number.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    masks: AppendVec<Mask>,
    known: Mutex<Interner>,
}

#[derive(Clone, Debug)]
enum Mask {
    Set(TokenSet),
    /// The row of the mask with this number, with these bits flipped.
    Near {
        base: u32,
        flips: Box<[u32]>,
    },
}

/// State needed to add masks.
#[derive(Debug, Default)]
struct Interner {
    /// Pairs of hash and id.
    ids: HashTable<(u64, u32)>,
    /// Rows that masks may be close to, the most recently used first.
    rows: Vec<Row>,
}

/// A row that masks may be close to.
#[derive(Debug)]
struct Row {
    /// Number of the mask.
    base: u32,
    folded: Folded,
}

/// Number of rows that a new mask is compared with.
const CANDIDATES: usize = 256;

/// Number of row words for each bit that may be set or flipped: more bits would take longer than
/// copying a row.
const WORDS_PER_BIT: usize = 16;

/// Upper bound on the masks with one hash that are compared with a new mask; each comparison takes
/// microseconds. An untrusted grammar may have thousands of masks with the same hash by design;
/// after this many, a mask is stored again.
const MOST_COMPARED: usize = 8;

/// Returns the greatest size of a mask that is stored as a list, in rows of `words` words.
pub(super) fn most_in_a_list(words: usize) -> usize {
    words / WORDS_PER_BIT
}

impl Masks {
    /// Returns the id of the mask `row`, and the bytes that it takes if it is new.
    pub(crate) fn intern(&self, row: &[u32]) -> (u32, usize) {
        if let Some(few) = tokens_of(row, most_in_a_list(row.len())) {
            return self.intern_few(&few);
        }
        let is_row = |mask: &Mask| match mask {
            Mask::Set(TokenSet::List(_)) => false,
            Mask::Set(TokenSet::Words(words)) => **words == *row,
            Mask::Near { .. } => {
                let mut other = vec![0; row.len()];
                self.write(mask, &mut other);
                other == row
            }
        };
        let folded = Folded::new(row);
        let hash = folded.hash();
        let limit = most_in_a_list(row.len());
        let make = |rows: &mut [Row]| match self.nearest(row, &folded, rows, limit) {
            Some((base, flips)) => (Mask::Near { base, flips: flips.into() }, None),
            None => (Mask::Set(TokenSet::row(row)), Some(folded)),
        };
        self.find_or_add(hash, is_row, make)
    }

    /// Interns the mask of these tokens, ascending, no more than [`most_in_a_list`]. Takes no pass
    /// over a row.
    pub(crate) fn intern_few(&self, tokens: &[u32]) -> (u32, usize) {
        let is_list = |mask: &Mask| match mask {
            Mask::Set(TokenSet::List(list)) => **list == *tokens,
            _ => false,
        };
        let hash = FxBuildHasher.hash_one(tokens);
        let list = |_: &mut [Row]| (Mask::Set(TokenSet::List(tokens.to_vec().into())), None);
        self.find_or_add(hash, is_list, list)
    }

    /// Returns the id of a mask, which is created only if it is new, and the bytes that it then
    /// takes. `make` gets the masks that are stored as rows, and returns the folded row if the new
    /// mask is a row.
    fn find_or_add(
        &self,
        hash: u64,
        is_equal: impl Fn(&Mask) -> bool,
        make: impl FnOnce(&mut [Row]) -> (Mask, Option<Folded>),
    ) -> (u32, usize) {
        // Poisoning only means that another thread panicked elsewhere: the tables are consistent.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Interner { ids, rows } = &mut *known;
        let mut compared = 0;
        let is_equal = |&(known, id): &(u64, u32)| {
            compared += usize::from(known == hash);
            known == hash && compared <= MOST_COMPARED && self.get(id).is_some_and(&is_equal)
        };
        if let Some(&(_, id)) = ids.find(hash, is_equal) {
            return (id, 0);
        }
        let (mask, folded) = make(rows);
        let bytes = mask.bytes_with_entry();
        let id = self.masks.push(mask);
        if let Some(folded) = folded {
            rows.insert(0, Row { base: id, folded });
        }
        ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        (id, bytes)
    }

    /// Returns the one of `rows` that is closest to `row`, and the bits in which they differ, if
    /// these are at most `limit`. `folded` is the folded `row`.
    fn nearest(
        &self,
        row: &[u32],
        folded: &Folded,
        rows: &mut [Row],
        mut limit: usize,
    ) -> Option<(u32, Vec<u32>)> {
        let known = (0..).zip(rows.iter().take(CANDIDATES));
        let near = |(at, known): (usize, &Row)| Some((folded.distance(&known.folded, limit)?, at));
        let mut known: Vec<(usize, usize)> = known.filter_map(near).collect();
        known.sort_unstable();
        let mut best = None;
        for (distance, at) in known {
            if distance > limit {
                break;
            }
            let base = self.row(rows[at].base);
            if let Some(flips) = base.and_then(|base| differing(row, base, limit)) {
                limit = flips.len();
                best = Some((at, flips));
            }
        }
        let (at, flips) = best?;
        rows[..=at].rotate_right(1);
        Some((rows[0].base, flips))
    }

    /// Returns the row of a mask that is stored as a row.
    fn row(&self, id: u32) -> Option<&[u32]> {
        match self.get(id)? {
            Mask::Set(TokenSet::Words(row)) => Some(row),
            _ => None,
        }
    }

    /// Returns the number of masks.
    pub(crate) fn len(&self) -> usize {
        self.masks.len()
    }

    /// Returns the mask with this number.
    fn get(&self, id: u32) -> Option<&Mask> {
        self.masks.get(id)
    }

    /// Writes the mask to `row`.
    #[inline]
    pub(crate) fn write_to(&self, id: u32, row: &mut [u32]) {
        match self.get(id) {
            Some(mask) => self.write(mask, row),
            None => row.fill(0),
        }
    }

    #[inline]
    fn write(&self, mask: &Mask, row: &mut [u32]) {
        match mask {
            Mask::Set(set) => set.write_to(row),
            Mask::Near { base, flips } => {
                match self.row(*base) {
                    Some(base) if base.len() == row.len() => row.copy_from_slice(base),
                    _ => row.fill(0),
                }
                flips.iter().for_each(|&bit| flip(bit, row));
            }
        }
    }
}

impl Mask {
    /// Returns the bytes of the mask and its slots in the tables.
    fn bytes_with_entry(&self) -> usize {
        let numbers = match self {
            Self::Set(TokenSet::Words(row)) => {
                AlignedRow::bytes(row.len()) + size_of::<Row>() + Folded::BYTES
            }
            Self::Set(set) => set.bytes(),
            Self::Near { flips, .. } => size_of_val(&**flips),
        };
        numbers + size_of::<OnceLock<Self>>() + 2 * size_of::<(u64, u32)>()
    }
}

/// Flips a bit of a row.
#[inline]
fn flip(bit: u32, row: &mut [u32]) {
    if let Some(word) = row.get_mut(bit as usize / 32) {
        *word ^= 1 << (bit % 32);
    }
}

/// Returns the bits in which the rows differ, ascending, if these are at most `limit`.
fn differing(row: &[u32], other: &[u32], limit: usize) -> Option<Vec<u32>> {
    /// Two masks that are close are mostly equal, and comparing this many words at once takes a
    /// fraction of the time of comparing each.
    const STRETCH: usize = 8;
    let mut bits = Vec::with_capacity(limit);
    let mut add = |(index, (word, other)): (u32, (&u32, &u32))| {
        let mut rest = word ^ other;
        while rest != 0 {
            bits.push(index * 32 + rest.trailing_zeros());
            rest &= rest - 1;
        }
        bits.len() <= limit
    };
    let ((stretches, last), (other_stretches, other_last)) =
        (row.as_chunks::<STRETCH>(), other.as_chunks::<STRETCH>());
    let placed = (0..).step_by(STRETCH).zip(stretches.iter().zip(other_stretches));
    let mut differing = placed.filter(|(_, (row, other))| row != other);
    let near =
        differing.all(|(first, (row, other))| (first..).zip(row.iter().zip(other)).all(&mut add));
    let first_of_last = (stretches.len() * STRETCH) as u32;
    let near = near && (first_of_last..).zip(last.iter().zip(other_last)).all(add);
    near.then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flipped bits that fold onto each other leave the hash unchanged.
    #[test]
    fn masks_of_one_hash_are_told_apart() {
        let (masks, fold) = (Masks::default(), 128);
        let mut row = vec![u32::MAX; 400];
        let mut stored = Vec::new();
        for word in 0..2 * MOST_COMPARED {
            row[word] ^= 1;
            row[word + fold] ^= 1;
            let (id, bytes) = masks.intern(&row);
            assert!(bytes > 0);
            assert!(word >= MOST_COMPARED || masks.intern(&row) == (id, 0));
            stored.push((id, row.clone()));
        }
        let hashes: Vec<u64> = stored.iter().map(|(_, row)| Folded::new(row).hash()).collect();
        assert!(hashes.iter().all(|&hash| hash == hashes[0]));
        let mut copy = vec![0; 400];
        for (id, row) in stored {
            masks.write_to(id, &mut copy);
            assert_eq!(copy, row);
        }
    }

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

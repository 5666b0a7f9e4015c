//! Masks, each stored once, and where it saves memory as the little that tells it from another.
//!
//! Masks of one grammar are much alike: in most places of a program a name may come, and what else
//! may come is some hundred tokens. A mask that is near to one stored as a row is stored as the
//! bits to flip in that row. Copying the few rows that are left keeps them in the caches, which
//! makes up for the flips.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::index::tokens::TokenSet;
use crate::util::append::AppendVec;
use crate::util::saving::Words;

/// The masks of one epoch, under numbers that they keep in the next.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    masks: AppendVec<Entry>,
    pub(crate) known: Mutex<Known>,
}

/// The place of a mask.
#[derive(Debug, Default)]
struct Entry {
    /// Nothing once it was dropped.
    mask: OnceLock<Mask>,
    /// Whether it was asked for since it came here.
    is_used: AtomicBool,
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
    rows: Vec<u32>,
}

/// How many rows a new mask is held against.
const CANDIDATES: usize = 256;

/// One bit may be set or flipped for so many words of a row: more would take longer than copying a
/// row.
const WORDS_PER_BIT: usize = 16;

impl Masks {
    /// The id of the mask `row`, and the bytes that it takes if it is new.
    pub(crate) fn intern(&self, row: &[u32]) -> (u32, usize) {
        let hash = hash(row);
        // A poisoned lock only says that another thread panicked elsewhere: the tables are
        // consistent.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { ids, rows } = &mut *known;
        let found = ids.find(hash, |&(at, id)| {
            at == hash && {
                let mut other = vec![0; row.len()];
                self.write_to(id, &mut other);
                other == row
            }
        });
        if let Some(&(_, id)) = found {
            return (id, 0);
        }
        let mask = match TokenSet::list(row, row.len() / WORDS_PER_BIT) {
            Some(list) => Mask::Set(list),
            None => self
                .nearest(row, rows)
                .unwrap_or_else(|| Mask::Set(TokenSet::Words(row.to_vec().into()))),
        };
        let bytes = mask.bytes_with_entry();
        let is_row = mask.is_row();
        let id = self.masks.push(Entry::from(mask));
        if is_row {
            rows.insert(0, id);
        }
        ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        (id, bytes)
    }

    /// `row` as the flips that make it of the nearest of `rows`, if it is near to one.
    fn nearest(&self, row: &[u32], rows: &mut [u32]) -> Option<Mask> {
        let mut limit = row.len() / WORDS_PER_BIT;
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

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.masks.len()
    }

    /// How many masks there are.
    pub(crate) fn count(&self) -> usize {
        (0..self.len() as u32).filter(|&id| self.get(id).is_some()).count()
    }

    /// The mask of this number, if it was not dropped.
    pub(crate) fn get(&self, id: u32) -> Option<&Mask> {
        self.masks.get(id)?.mask.get()
    }

    /// Adds a mask under the next number, or the place of one that was dropped.
    pub(crate) fn push(&self, mask: Option<Mask>) -> u32 {
        self.masks.push(mask.map_or_else(Entry::default, Entry::from))
    }

    /// Puts the mask `of` in the place of an equal one that was dropped; the bytes that it takes.
    pub(super) fn fill(&self, id: u32, of: u32) -> usize {
        let (Some(entry), Some(mask)) = (self.masks.get(id), self.get(of)) else { return 0 };
        let mask = match mask.is_row() {
            true => Mask::Near { base: of, flips: Vec::new().into() },
            false => mask.clone(),
        };
        let bytes = mask.bytes_with_entry();
        if entry.mask.set(mask).is_ok() { bytes } else { 0 }
    }

    /// Makes `row` hold the mask. Returns whether it is there: else the row is empty.
    #[inline]
    pub(crate) fn write_to(&self, id: u32, row: &mut [u32]) -> bool {
        let Some(entry) = self.masks.get(id) else { return false };
        // Most have been asked for, and nothing is written.
        if !entry.is_used.load(Ordering::Relaxed) {
            entry.is_used.store(true, Ordering::Relaxed);
        }
        match entry.mask.get() {
            Some(Mask::Set(set)) => set.write_to(row),
            Some(Mask::Near { base, flips }) => {
                if let Some(Mask::Set(base)) = self.get(*base) {
                    base.write_to(row);
                }
                flips.each(|id| {
                    // As in a list of tokens.
                    if let Some(word) = row.get_mut(id as usize / 32) {
                        *word ^= 1 << (id % 32);
                    }
                });
            }
            None => return false,
        }
        true
    }

    /// Copies of the masks that were asked for since they came here, the younger before the older
    /// as far as there is room, under the same numbers; and the bytes that they take.
    pub(super) fn in_use(&self, room: usize) -> (Self, usize) {
        let count = self.len() as u32;
        let (mut kept, mut bytes) =
            (vec![false; count as usize], count as usize * size_of::<Entry>());
        let mut keep = |id: u32| match self.get(id) {
            Some(mask) if !std::mem::replace(&mut kept[id as usize], true) => {
                bytes += mask.bytes_with_entry();
                bytes
            }
            _ => bytes,
        };
        for id in (0..count).rev() {
            let is_used = |entry: &Entry| entry.is_used.load(Ordering::Relaxed);
            if !self.masks.get(id).is_some_and(is_used) {
                continue;
            }
            if let Some(&Mask::Near { base, .. }) = self.get(id) {
                keep(base);
            }
            if keep(id) > room {
                break;
            }
        }
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let masks = Self::default();
        for id in 0..count {
            masks.push(self.get(id).filter(|_| kept[id as usize]).cloned());
        }
        let is_kept = |id: u32| kept.get(id as usize).is_some_and(|&kept| kept);
        let mut ids = HashTable::with_capacity(known.ids.len());
        for &(hash, id) in known.ids.iter().filter(|&&(_, id)| is_kept(id)) {
            ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        }
        let rows = known.rows.iter().copied().filter(|&id| is_kept(id)).collect();
        let masks = Self { known: Mutex::new(Known { ids, rows }), ..masks };
        (masks, bytes)
    }
}

impl From<Mask> for Entry {
    fn from(mask: Mask) -> Self {
        Self { mask: OnceLock::from(mask), is_used: AtomicBool::new(false) }
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
        numbers + size_of::<Entry>() + 2 * size_of::<(u64, u32)>()
    }
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

/// A hash of a row. In lanes, because each step of a hash waits for the one before.
fn hash(row: &[u32]) -> u64 {
    const LANES: usize = 8;
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut lanes = [0u64; LANES];
    let mut chunks = row.chunks_exact(2 * LANES);
    for words in &mut chunks {
        for (lane, pair) in lanes.iter_mut().zip(words.as_chunks::<2>().0) {
            *lane = (*lane ^ join(*pair)).wrapping_mul(FACTOR).rotate_left(23);
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

    #[test]
    fn what_is_used_keeps_its_number() {
        let masks = Masks::default();
        let mut random = fastrand::Rng::with_seed(3);
        let mut row = vec![0u32; 400];
        let mut rows = Vec::new();
        for round in 0..60 {
            if round % 20 == 0 {
                row.iter_mut().for_each(|word| *word = random.u32(..));
            }
            row[random.usize(..400)] ^= 1 << random.usize(..32);
            let (id, _) = masks.intern(&row);
            rows.push((id, row.clone()));
        }
        let mut copy = vec![0; 400];
        let used = |id: u32| id.is_multiple_of(3);
        rows.iter()
            .filter(|(id, _)| used(*id))
            .for_each(|(id, _)| assert!(masks.write_to(*id, &mut copy)));
        let (next, _) = masks.in_use(usize::MAX);
        for (id, row) in &rows {
            // What others are near to stays with them.
            assert_eq!(next.write_to(*id, &mut copy) && copy == *row, next.get(*id).is_some());
            assert!(!used(*id) || next.get(*id).is_some());
        }
        assert!(rows.iter().filter(|(id, _)| next.get(*id).is_some()).count() < 30);
        for (id, row) in &rows {
            let (same, _) = next.intern(row);
            next.fill(*id, same);
            assert!(next.write_to(*id, &mut copy) && copy == *row);
        }
    }
}

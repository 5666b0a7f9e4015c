//! Copies of masks where there is no room for all: in little room.
//!
//! Masks are stored as what is quickest to write out, as long as there is room. Where there is not,
//! most of it is taken by a few rows, and each of these mostly is a row that the vocabulary keeps
//! anyway, as what a name or the inside of a string may be, but for some hundred tokens. So copies
//! are held against those rows, and what is left are the bits to flip, a byte or two for each.
//! Writing out a thousand of them takes a microsecond or two: as much as copying some rows, and a
//! hundredth of the time of composing the mask anew.

use std::sync::PoisonError;

use rustc_hash::FxHashMap;

use super::folded::Folded;
use super::storage::{Base, Mask, Masks, Row, differing, most_in_a_list};
use crate::index::tokens::{Gaps, TokenSet, tokens_of};
use crate::vocab::rests::Rests;

/// Copies of some masks.
pub(super) struct Copies<'m> {
    of: &'m Masks,
    hashes: FxHashMap<u32, u64>,
    /// The numbers that those have which were copied.
    numbers: FxHashMap<u32, u32>,
    masks: Masks,
    /// Rows that they are held against.
    rows: Vec<Row>,
    /// Masks that are no rows, but differ from each by so much that others are held against them.
    patterns: Vec<Pattern>,
    /// A row, written anew for each mask.
    row: Vec<u32>,
    pub(super) bytes: usize,
    /// So many bytes may be taken by masks that are stored as what is quickest to write out.
    room_for_quick: usize,
}

/// A mask that others are held against.
struct Pattern {
    number: u32,
    folded: Folded,
    row: Box<[u32]>,
}

/// This fraction of the room is for masks that are quick to write out, those that are used most.
const SHARE_OF_QUICK: usize = 16;

/// No more patterns are looked for: each is a row while masks are copied.
const MOST_PATTERNS: usize = 64;

impl<'m> Copies<'m> {
    /// Copies in about `room` bytes, of masks of `words` words.
    pub(super) fn of(of: &'m Masks, room: usize, words: usize, rests: &Rests) -> Self {
        let known = of.known.lock().unwrap_or_else(PoisonError::into_inner);
        let hashes = known.ids.iter().map(|&(hash, id)| (id, hash)).collect();
        // One row at least, if it leaves half of the room to others.
        let row_bytes = words * size_of::<u32>();
        let one = if 2 * row_bytes <= room { row_bytes } else { 0 };
        let row = |found| {
            let base = Base::Found(found);
            let folded = Folded::new(of.row(&base)?);
            Some(Row { base, folded })
        };
        Self {
            of,
            hashes,
            numbers: FxHashMap::default(),
            masks: Masks::default(),
            rows: rests.rows(words).into_iter().filter_map(row).collect(),
            patterns: Vec::new(),
            row: vec![0; words],
            bytes: 0,
            room_for_quick: (room / SHARE_OF_QUICK).max(one),
        }
    }

    /// The number of a copy that was made before.
    pub(super) fn known(&self, id: u32) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    /// The number of a copy, made now or before.
    pub(super) fn copy(&mut self, id: u32) -> Option<u32> {
        if let Some(known) = self.known(id) {
            return Some(known);
        }
        let (of, hash) = (self.of, *self.hashes.get(&id)?);
        let mask = of.get(id)?;
        let copy = match self.packed_alike(mask) {
            Some(packed) => packed,
            None => {
                self.of.write_to(id, &mut self.row);
                self.pack().unwrap_or_else(|| self.as_row(mask))
            }
        };
        self.bytes += copy.bytes_with_entry();
        let number = self.masks.push(hash, copy);
        self.numbers.insert(id, number);
        self.hold_against(number);
        Some(number)
    }

    /// The same bits in less room, where their base was copied.
    fn packed_alike(&self, mask: &Mask) -> Option<Mask> {
        let (base, flips) = match mask {
            Mask::Set(TokenSet::Words(_)) => return None,
            Mask::Set(set) => return Some(Mask::Set(set.clone().in_little_room(&[]))),
            Mask::Near { base, flips } => (base, Gaps::new(flips)?),
            Mask::Packed { base, flips } => (base, flips.clone()),
        };
        Some(Mask::Packed { base: self.base(base)?, flips })
    }

    /// What `base` is among what the copies are held against.
    fn base(&self, base: &Base) -> Option<Base> {
        let copy = match base {
            Base::Mask(id) => Base::Mask(self.known(*id)?),
            Base::Found(_) => base.clone(),
        };
        let is_pattern =
            |pattern: &Pattern| matches!(copy, Base::Mask(number) if number == pattern.number);
        let is_known =
            self.rows.iter().any(|row| row.base.is(&copy)) || self.patterns.iter().any(is_pattern);
        is_known.then_some(copy)
    }

    /// The mask that was just written, as the bits that tell it from another or as those that it
    /// has; `None` if these are too many.
    fn pack(&mut self) -> Option<Mask> {
        let (row, few) = (&self.row[..], most_in_a_list(self.row.len()));
        let folded = Folded::new(row);
        let is_quick = self.bytes + size_of_val(row) <= self.room_for_quick;
        let mut limit = if is_quick { few } else { row.len() / 2 };
        let mut best = tokens_of(row, limit).map(|tokens| (None, tokens));
        limit = best.as_ref().map_or(limit, |(_, tokens)| tokens.len());
        if let Some((base, flips)) = self.masks.nearest(row, &folded, &mut self.rows, limit) {
            limit = flips.len();
            best = Some((Some(base), flips));
        }
        // What is near to a pattern is written out in two steps.
        let mut limit = few.min(limit / 2);
        for pattern in &self.patterns {
            if folded.distance(&pattern.folded, limit).is_some()
                && let Some(flips) = differing(row, &pattern.row, limit)
            {
                limit = flips.len();
                best = Some((Some(Base::Mask(pattern.number)), flips));
            }
        }
        let (base, flips) = best?;
        let flips = Gaps::new(&flips)?;
        Some(match base {
            Some(base) => Mask::Packed { base, flips },
            None => Mask::Set(TokenSet::Gaps(flips)),
        })
    }

    /// The row of a mask, which was just written.
    fn as_row(&self, mask: &Mask) -> Mask {
        match mask {
            Mask::Set(TokenSet::Words(_)) => mask.clone(),
            _ => Mask::Set(TokenSet::row(&self.row)),
        }
    }

    /// From now on copies are held against this one, if that is worth it.
    fn hold_against(&mut self, number: u32) {
        let Some(mask) = self.masks.get(number) else { return };
        let is_row = |base: &Base| self.rows.iter().any(|row| row.base.is(base));
        let flips = match mask {
            Mask::Set(TokenSet::Words(_)) => None,
            Mask::Set(set) => Some(set.bytes()),
            // A pattern is told from no other, so that writing out comes to an end.
            Mask::Packed { base, flips } if is_row(base) => Some(flips.bytes()),
            Mask::Near { .. } | Mask::Packed { .. } => return,
        };
        let is_near = flips.is_some_and(|flips| flips <= most_in_a_list(self.row.len()));
        if is_near || (flips.is_some() && self.patterns.len() >= MOST_PATTERNS) {
            return;
        }
        self.masks.write_to(number, &mut self.row);
        let folded = Folded::new(&self.row);
        match flips {
            None => self.rows.push(Row { base: Base::Mask(number), folded }),
            Some(_) => {
                let row = self.row.clone().into();
                self.patterns.push(Pattern { number, folded, row });
            }
        }
    }

    /// The copies, and the bytes that they take. New masks are held against the rows among them,
    /// and against those of the vocabulary that a copy is told from.
    pub(super) fn finish(mut self) -> (Masks, usize) {
        let masks = &self.masks;
        let is_base = |row: &Base| {
            let mut copies = (0..masks.len() as u32).filter_map(|id| masks.get(id));
            copies.any(|mask| matches!(mask, Mask::Packed { base, .. } if base.is(row)))
        };
        self.rows.retain(|row| matches!(row.base, Base::Mask(_)) || is_base(&row.base));
        let found = self.rows.iter().filter(|row| matches!(row.base, Base::Found(_))).count();
        self.masks.set_rows(self.rows);
        (self.masks, self.bytes + found * (size_of::<Row>() + Folded::BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::aligned::AlignedRow;
    use crate::vocab::rests::{Found, Within};

    const WORDS: usize = 400;

    /// Rows and lists that are far from each other, and some near to each, to a row that the
    /// vocabulary has, and to one that is told from it.
    fn rows(random: &mut fastrand::Rng, found: &[u32]) -> Vec<Vec<u32>> {
        let mut far: Vec<Vec<u32>> = vec![vec![0; WORDS], found.to_vec()];
        far.extend((0..2).map(|_| (0..WORDS).map(|_| random.u32(..)).collect()));
        for from in [0, 1, 2] {
            let mut row = far[from].clone();
            flip(&mut row, 150, random);
            far.push(row);
        }
        let near = far.clone().into_iter().flat_map(|row| {
            [1, 10, 20].map(|flips| {
                let mut row = row.clone();
                flip(&mut row, flips, random);
                row
            })
        });
        let near: Vec<_> = near.collect();
        far.into_iter().chain(near).collect()
    }

    fn flip(row: &mut [u32], flips: usize, random: &mut fastrand::Rng) {
        (0..flips).for_each(|_| row[random.usize(..WORDS)] ^= 1 << random.usize(..32));
    }

    #[test]
    fn copies_of_copies_are_the_same_in_little_room() {
        let mut random = fastrand::Rng::with_seed(9);
        let row: Vec<u32> = (0..WORDS).map(|_| random.u32(..)).collect();
        let rests = Rests::default();
        let (within, none) = (Within::Row(row.clone().into()), || [].into());
        rests.keep(Found { rest: [].into(), nodes: none(), within, behind: none() });
        for seed in 0..20 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut rows = rows(&mut random, &row);
            random.shuffle(&mut rows);
            let mut masks = Masks::default();
            let mut stored: Vec<u32> = rows.iter().map(|row| masks.intern(row).0).collect();
            for round in 0..4 {
                let mut copies = Copies::of(&masks, 4_000, WORDS, &rests);
                random.shuffle(&mut rows);
                stored.iter().for_each(|&id| assert!(copies.copy(id).is_some()));
                stored = stored.iter().filter_map(|&id| copies.known(id)).collect();
                let bytes;
                (masks, bytes) = copies.finish();
                let (mut copy, mut all) = (vec![0; WORDS], Vec::new());
                for &id in &stored {
                    masks.write_to(id, &mut copy);
                    all.push(copy.clone());
                }
                all.sort();
                rows.sort();
                rows.dedup();
                all.dedup();
                assert_eq!(all, rows);
                // Two rows are far from all others, one there is room for, one is the vocabulary's:
                // the rest takes little.
                let whole = 3 * (AlignedRow::bytes(WORDS) + size_of::<Row>() + Folded::BYTES);
                let found = size_of::<Row>() + Folded::BYTES;
                assert!(bytes < whole + found + rows.len() * 160, "{bytes} after {round}");
                // Masks are known as before.
                assert!(rows.iter().all(|row| masks.intern(row).1 == 0));
                random.shuffle(&mut stored);
            }
        }
    }
}

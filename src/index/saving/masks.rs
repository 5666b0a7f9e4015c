//! Masks and sets of tokens.

use std::sync::PoisonError;

use super::{Bounds, SavedNumbersWriter};
use crate::index::mask::{Mask, Masks};
use crate::index::tokens::TokenSet;
use crate::util::saving::{Malformed, Reader, SavedNumbers, Writer, ensure};

impl Masks {
    /// Writes the masks by id, each with the hash by which equal ones are found. Of those that were
    /// dropped only the number is left.
    pub(super) fn save(&self, writer: &mut Writer, saved: &mut SavedNumbersWriter) {
        // The lock keeps hashes and masks together.
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hashes = vec![0; self.len()];
        known.ids.iter().for_each(|&(hash, id)| hashes[id as usize] = hash);
        writer.length(hashes.len());
        for (id, hash) in hashes.into_iter().enumerate() {
            writer.u64(hash);
            match self.get(id as u32) {
                Some(Mask::Near { base, flips }) => {
                    writer.u8(2);
                    writer.u32(*base);
                    saved.put(writer, flips);
                }
                Some(Mask::Set(set)) => set.save(writer, saved),
                None => writer.u8(3),
            }
        }
    }

    /// Takes the masks; returns the bytes that they take.
    pub(super) fn load(
        &mut self,
        reader: &mut Reader<'_>,
        saved: &SavedNumbers,
        bounds: &Bounds<'_>,
    ) -> Result<usize, Malformed> {
        let mut bytes = 0;
        for _ in 0..reader.length(9)? {
            let hash = reader.u64()?;
            let kind = reader.u8()?;
            if kind == 3 {
                self.push(None);
                continue;
            }
            let mask = if kind == 2 {
                let base = reader.u32()?;
                let is_row = matches!(self.get(base), Some(Mask::Set(TokenSet::Words(_))));
                ensure(is_row, "a mask")?;
                Mask::Near { base, flips: bounds.ids(reader, saved)? }
            } else {
                Mask::Set(TokenSet::load(kind, reader, saved, bounds)?)
            };
            bytes += mask.bytes_with_entry();
            let id = self.push(Some(mask));
            let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
            known.ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        }
        Ok(bytes)
    }
}

impl TokenSet {
    /// Writes of which form the set is, and where its numbers are.
    pub(super) fn save(&self, writer: &mut Writer, saved: &mut SavedNumbersWriter) {
        let (kind, words) = match self {
            Self::List(words) => (0, words),
            Self::Words(words) => (1, words),
        };
        writer.u8(kind);
        saved.put(writer, words);
    }

    /// A set of this form.
    pub(super) fn load(
        kind: u8,
        reader: &mut Reader<'_>,
        saved: &SavedNumbers,
        bounds: &Bounds<'_>,
    ) -> Result<Self, Malformed> {
        match kind {
            0 => Ok(Self::List(bounds.ids(reader, saved)?)),
            1 => Ok(Self::Words(bounds.row(reader, saved)?)),
            _ => Err(Malformed { what: "a set of tokens" }),
        }
    }
}

//! Masks and sets of tokens.

use std::sync::PoisonError;

use super::{Bounds, SavedNumbersWriter};
use crate::index::mask::{Base, Mask, Masks};
use crate::index::tokens::TokenSet;
use crate::util::saving::{Malformed, Reader, SavedNumbers, Writer, ensure};

impl Masks {
    /// Writes the masks of `words` words by id, each with the hash by which equal ones are found.
    pub(super) fn save(&self, words: usize, writer: &mut Writer, saved: &mut SavedNumbersWriter) {
        // The lock keeps hashes and masks together.
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hashes = vec![0; self.len()];
        known.ids.iter().for_each(|&(hash, id)| hashes[id as usize] = hash);
        writer.length(hashes.len());
        for (id, hash) in hashes.into_iter().enumerate() {
            writer.u64(hash);
            match self.get(id as u32) {
                Some(Mask::Near { base: Base::Mask(base), flips }) => {
                    writer.u8(2);
                    writer.u32(*base);
                    saved.put(writer, flips);
                }
                Some(Mask::Set(set @ (TokenSet::List(_) | TokenSet::Words(_)))) => {
                    set.save(writer, saved);
                }
                // What takes little room, or is told from a row that the vocabulary has, is written
                // down at length.
                _ => self.set_of(id as u32, words).save(writer, saved),
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
            let mask = if kind == 2 {
                let base = reader.u32()?;
                let is_row = matches!(self.get(base), Some(Mask::Set(TokenSet::Words(_))));
                ensure(is_row, "a mask")?;
                Mask::Near { base: Base::Mask(base), flips: bounds.ids(reader, saved)? }
            } else {
                Mask::Set(TokenSet::load(kind, reader, saved, bounds)?)
            };
            bytes += mask.bytes_with_entry();
            self.push(hash, mask);
        }
        Ok(bytes)
    }
}

impl TokenSet {
    /// Writes of which form the set is, and where its numbers are.
    pub(super) fn save(&self, writer: &mut Writer, saved: &mut SavedNumbersWriter) {
        let at_length = self.at_length();
        let (Self::List(numbers) | Self::Words(numbers)) = &*at_length else { return };
        writer.u8(u8::from(matches!(*at_length, Self::Words(_))));
        saved.put(writer, numbers);
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

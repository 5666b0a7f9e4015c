//! Numbers that stay where they were saved.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::{Malformed, ensure};
use crate::util::aligned::AlignedRow;

/// Bytes that something else holds, maybe a mapped file: shared by all that lies in them.
pub(crate) type Source = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A part of saved bytes in which numbers lie, four bytes each.
#[derive(Clone)]
pub(crate) struct SavedNumbers {
    source: Source,
    part: Range<usize>,
}

impl SavedNumbers {
    /// The numbers in `part` of the bytes.
    pub(crate) fn new(source: Source, part: Range<usize>) -> Self {
        Self { source, part }
    }

    /// `count` numbers from the one at `first` on.
    pub(crate) fn words(&self, first: u32, count: u32) -> Result<Words, Malformed> {
        let start = self.part.start + 4 * first as usize;
        let within = start + 4 * count as usize <= self.part.end;
        ensure(
            within && self.part.end <= (*self.source).as_ref().len(),
            "what lies in another section",
        )?;
        Ok(Words::Saved { source: self.source.clone(), start, count })
    }
}

impl fmt::Debug for SavedNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SavedNumbers({:?})", self.part)
    }
}

/// Numbers, owned or in saved bytes. Those in saved bytes are read where they are, byte by byte as
/// far as the language goes, which compilers make a plain copy of: so they need no alignment.
#[derive(Clone)]
pub(crate) enum Words {
    Own(Box<[u32]>),
    /// Owned, and copied often.
    Aligned(AlignedRow),
    Saved {
        source: Source,
        start: usize,
        count: u32,
    },
}

impl Words {
    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Own(words) => words.len(),
            Self::Aligned(row) => row.len(),
            Self::Saved { count, .. } => *count as usize,
        }
    }

    /// The bytes that they take, wherever these are.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Aligned(row) => AlignedRow::bytes(row.len()),
            Self::Own(_) | Self::Saved { .. } => self.len() * 4,
        }
    }

    /// The numbers in memory; `None` where they were saved.
    #[inline]
    pub(crate) fn own(&self) -> Option<&[u32]> {
        match self {
            Self::Own(words) => Some(words),
            Self::Aligned(row) => Some(row),
            Self::Saved { .. } => None,
        }
    }

    /// The numbers that were saved. Their bytes were there when they were loaded; should they be no
    /// more, there are none.
    #[inline]
    fn saved(&self) -> &[[u8; 4]] {
        let Self::Saved { source, start, count } = self else { return &[] };
        let bytes = (**source).as_ref().get(*start..*start + 4 * *count as usize);
        bytes.unwrap_or_default().as_chunks().0
    }

    /// Hands out the numbers in order.
    #[inline]
    pub(crate) fn each(&self, mut take: impl FnMut(u32)) {
        match self.own() {
            Some(words) => words.iter().for_each(|&word| take(word)),
            None => self.saved().iter().for_each(|&word| take(u32::from_le_bytes(word))),
        }
    }

    /// Whether these are the numbers.
    pub(crate) fn is_equal(&self, numbers: &[u32]) -> bool {
        match self.own() {
            Some(words) => words == numbers,
            None => {
                let words = self.saved().iter().map(|&word| u32::from_le_bytes(word));
                words.eq(numbers.iter().copied())
            }
        }
    }

    /// Copies the numbers to `row`, as far as both go.
    #[inline]
    pub(crate) fn copy_to(&self, row: &mut [u32]) {
        match self.own() {
            Some(words) if words.len() == row.len() => row.copy_from_slice(words),
            _ => self.merge_into(row, |to, from| *to = from),
        }
    }

    /// Merges the numbers into `row` one by one, as far as both go.
    #[inline]
    pub(crate) fn merge_into(&self, row: &mut [u32], merge: impl Fn(&mut u32, u32)) {
        match self.own() {
            Some(words) => row.iter_mut().zip(words).for_each(|(to, &from)| merge(to, from)),
            None => {
                let words = row.iter_mut().zip(self.saved());
                words.for_each(|(to, &from)| merge(to, u32::from_le_bytes(from)));
            }
        }
    }
}

impl From<Vec<u32>> for Words {
    fn from(words: Vec<u32>) -> Self {
        Self::Own(words.into())
    }
}

impl From<AlignedRow> for Words {
    fn from(row: AlignedRow) -> Self {
        Self::Aligned(row)
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} words", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_words_are_read_in_place() {
        let source: Source = Arc::new([9u8, 1, 0, 0, 0, 2, 1, 0, 0, 7]);
        let saved = SavedNumbers::new(source, 1..10);
        let words = saved.words(0, 2).unwrap();
        let mut seen = Vec::new();
        words.each(|word| seen.push(word));
        assert_eq!((seen.as_slice(), words.len(), words.own()), (&[1, 258][..], 2, None));
        assert!(words.is_equal(&[1, 258]) && !words.is_equal(&[1]) && !words.is_equal(&[1, 259]));
        let mut row = [4, 4, 4];
        words.merge_into(&mut row, |to, from| *to |= from);
        assert_eq!(row, [5, 262, 4]);
        assert!(saved.words(1, 1).is_ok() && saved.words(2, 0).is_ok());
        for (first, count) in [(0, 3), (1, 2), (3, 0), (u32::MAX, 1), (0, u32::MAX)] {
            assert!(saved.words(first, count).is_err());
        }
        assert!(SavedNumbers::new(Arc::new([0u8; 4]), 0..8).words(0, 1).is_err());
    }
}

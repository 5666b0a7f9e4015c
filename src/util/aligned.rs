//! Rows of words that begin on a cache line.
//!
//! Handing out a mask is mostly copying a row of ten or more kilobytes. If both rows have the same
//! alignment within a line, they are copied line by line. Otherwise copying takes a fifth longer,
//! and for some pairs of addresses half as long again: 130, 155 and up to 215 nanoseconds for 12.5
//! KB on the machine of the measurement. An allocator returns either.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// Words in a line.
const LINE: usize = 64 / size_of::<u32>();

/// Words that begin on a line.
#[derive(Default)]
pub(crate) struct AlignedRow {
    /// The row, with the padding around it that aligns it.
    words: Box<[u32]>,
    first: u32,
    len: u32,
}

impl AlignedRow {
    /// Returns the bytes of a row with this many words.
    pub(crate) fn bytes(len: usize) -> usize {
        (len + LINE - 1) * size_of::<u32>()
    }
}

impl From<&[u32]> for AlignedRow {
    fn from(row: &[u32]) -> Self {
        let len = row.len() + LINE - 1;
        let mut words: Vec<u32> = Vec::with_capacity(len);
        // If the address is unknown, the row is not aligned.
        let first = words.as_ptr().align_offset(LINE * size_of::<u32>()).min(LINE - 1);
        words.resize(first, 0);
        words.extend_from_slice(row);
        words.resize(len, 0);
        Self { words: words.into(), first: first as u32, len: row.len() as u32 }
    }
}

impl From<Vec<u32>> for AlignedRow {
    fn from(row: Vec<u32>) -> Self {
        Self::from(&row[..])
    }
}

impl Deref for AlignedRow {
    type Target = [u32];

    #[inline]
    fn deref(&self) -> &[u32] {
        &self.words[self.first as usize..][..self.len as usize]
    }
}

impl DerefMut for AlignedRow {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u32] {
        &mut self.words[self.first as usize..][..self.len as usize]
    }
}

impl Clone for AlignedRow {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl PartialEq for AlignedRow {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for AlignedRow {}

impl Hash for AlignedRow {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (**self).hash(hasher);
    }
}

impl fmt::Debug for AlignedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_with_a_line_and_hold_what_they_are_made_of() {
        for len in [0, 1, 15, 16, 17, 3_000] {
            let numbers: Vec<u32> = (1..=len).collect();
            let mut row = AlignedRow::from(&numbers[..]);
            let copy = row.clone();
            for row in [&row, &copy] {
                assert_eq!(**row, *numbers);
                // An interpreter need not know the alignment.
                assert!(cfg!(miri) || row.as_ptr().align_offset(64) == 0);
            }
            assert_eq!(row, copy);
            row.fill(0);
            assert!(row.iter().all(|&word| word == 0) && (row == copy) == (len == 0));
        }
        assert!(AlignedRow::default().is_empty());
    }
}

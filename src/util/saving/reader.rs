//! The reading half.

use super::{Malformed, ensure};

/// Saved bytes, read from front to back.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    /// Reads all of `bytes`.
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Refuses bytes that nobody has asked for.
    pub(crate) fn finish(self) -> Result<(), Malformed> {
        ensure(self.rest.is_empty(), "the end")
    }

    /// The next `length` bytes as they are.
    #[inline]
    pub(crate) fn raw(&mut self, length: usize) -> Result<&'b [u8], Malformed> {
        let (bytes, rest) =
            self.rest.split_at_checked(length).ok_or(Malformed { what: "what is cut off" })?;
        self.rest = rest;
        Ok(bytes)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (bytes, rest) =
            self.rest.split_first_chunk().ok_or(Malformed { what: "what is cut off" })?;
        self.rest = rest;
        Ok(*bytes)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn bool(&mut self) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed { what: "yes or no" }),
        }
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    /// The length of a list whose entries take `least` bytes each, at least: no longer than what is
    /// left could hold.
    pub(crate) fn length(&mut self, least: usize) -> Result<usize, Malformed> {
        let length = self.u32()? as usize;
        ensure(length <= self.rest.len() / least.max(1), "a length")?;
        Ok(length)
    }

    pub(crate) fn str(&mut self) -> Result<&'b str, Malformed> {
        let length = self.length(1)?;
        std::str::from_utf8(self.raw(length)?).map_err(|_| Malformed { what: "a text" })
    }

    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        if self.bool()? { read(self).map(Some) } else { Ok(None) }
    }

    /// A list of things that take `least` bytes each, at least.
    pub(crate) fn list<T>(
        &mut self,
        least: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let length = self.length(least)?;
        let mut list = Vec::with_capacity(length);
        for _ in 0..length {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// A list of numbers.
    pub(crate) fn numbers(&mut self) -> Result<Vec<u32>, Malformed> {
        let width = self.u8()?;
        let length = self.length(width.into())?;
        let bytes = self.raw(length * usize::from(width))?;
        let down = |number: u32| number.wrapping_sub(1);
        match width {
            1 => Ok(bytes.iter().map(|&byte| down(byte.into())).collect()),
            2 => {
                let (pairs, _) = bytes.as_chunks();
                Ok(pairs.iter().map(|&pair| down(u16::from_le_bytes(pair).into())).collect())
            }
            4 => {
                let (words, _) = bytes.as_chunks();
                Ok(words.iter().map(|&word| down(u32::from_le_bytes(word))).collect())
            }
            _ => Err(Malformed { what: "a list of numbers" }),
        }
    }
}

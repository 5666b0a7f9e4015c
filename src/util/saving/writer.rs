//! The writing half.

/// Bytes to be saved, written from front to back.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// What was written.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.u8(value.into());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A length. Everything that is saved is bounded far below 2^32 entries.
    pub(crate) fn length(&mut self, length: usize) {
        debug_assert!(u32::try_from(length).is_ok());
        self.u32(length as u32);
    }

    /// Bytes as they are, without their length.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn str(&mut self, text: &str) {
        self.length(text.len());
        self.raw(text.as_bytes());
    }

    pub(crate) fn option<T: ?Sized>(
        &mut self,
        value: Option<&T>,
        write: impl FnOnce(&mut Self, &T),
    ) {
        self.bool(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    /// A list of things.
    pub(crate) fn list<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.length(list.len());
        list.iter().for_each(|entry| write(self, entry));
    }

    /// A list of numbers, each in 1, 2 or 4 bytes, as many as the greatest needs. `u32::MAX`, which
    /// often stands for nothing, counts as the least: numbers are written one up.
    pub(crate) fn numbers(&mut self, numbers: &[u32]) {
        let all = numbers.iter().fold(0, |all, &number| all | number.wrapping_add(1));
        let up = numbers.iter().map(|&number| number.wrapping_add(1));
        match all {
            0..=0xff => {
                self.u8(1);
                self.length(numbers.len());
                self.bytes.extend(up.map(|number| number as u8));
            }
            0x100..=0xffff => {
                self.u8(2);
                self.length(numbers.len());
                self.bytes.extend(up.flat_map(|number| (number as u16).to_le_bytes()));
            }
            _ => {
                self.u8(4);
                self.length(numbers.len());
                self.bytes.extend(up.flat_map(u32::to_le_bytes));
            }
        }
    }
}

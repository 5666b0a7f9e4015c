//! Fingerprints: 64-bit hashes of contents, equal on all machines. They protect against accidents,
//! not against malice.

/// The 64-bit FNV-1a hash, fed eight bytes at a time where possible.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl From<u64> for Fingerprint {
    /// Continues from the value of another fingerprint.
    fn from(value: u64) -> Self {
        Self(value)
    }
}

impl Fingerprint {
    /// Adds a number.
    pub(crate) fn number(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x0000_0100_0000_01b3);
        // Multiplication only carries upwards; whole words need the high bits folded down again.
        self.0 ^= self.0 >> 32;
    }

    /// Adds bytes and their number.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.number(u64::from_le_bytes(word));
        }
    }

    /// Returns the fingerprint of everything that was added.
    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

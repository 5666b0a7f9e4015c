//! Fingerprints: 64 bits that tell contents apart, equal on all machines. Against accidents, not
//! against malice.

/// The 64-bit FNV-1a hash, fed eight bytes at a time where it can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl From<u64> for Fingerprint {
    /// Goes on from the value of another.
    fn from(value: u64) -> Self {
        Self(value)
    }
}

impl Fingerprint {
    /// Takes a number in.
    pub(crate) fn number(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x0000_0100_0000_01b3);
        // Multiplication only carries upwards; whole words need the high bits brought down again.
        self.0 ^= self.0 >> 32;
    }

    /// Takes bytes in, and how many there are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.number(u64::from_le_bytes(word));
        }
    }

    /// The fingerprint of all that was taken in.
    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

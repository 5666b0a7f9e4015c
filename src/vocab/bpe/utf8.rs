//! Characters from bytes that come one by one.

/// The first bytes of a character that is not complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Partial {
    bytes: [u8; 3],
    length: u8,
}

/// What a byte does.
pub(super) enum Read {
    /// It completes this character.
    Character(char),
    /// It belongs to a character that goes on.
    Part,
    /// No text has it here.
    Invalid,
}

impl Partial {
    /// Returns whether there is no byte.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.length == 0
    }

    /// Returns the number of bytes.
    pub(super) fn len(self) -> usize {
        self.length.into()
    }

    /// Returns the bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Reads a byte.
    #[inline]
    pub(super) fn push(&mut self, byte: u8) -> Read {
        if self.length == 0 && byte < 0x80 {
            return Read::Character(char::from(byte));
        }
        let mut all = [0; 4];
        let length = usize::from(self.length);
        all[..length].copy_from_slice(&self.bytes[..length]);
        all[length] = byte;
        match std::str::from_utf8(&all[..=length]) {
            Ok(text) => {
                *self = Self::default();
                text.chars().next().map_or(Read::Invalid, Read::Character)
            }
            Err(error) if error.error_len().is_none() && length < 3 => {
                self.bytes[length] = byte;
                self.length += 1;
                Read::Part
            }
            Err(_) => Read::Invalid,
        }
    }
}

/// Returns the length of the first character, or 1 if it is none.
pub(super) fn character_length(bytes: &[u8]) -> usize {
    let most = bytes.len().min(4);
    (1..=most).find(|&length| std::str::from_utf8(&bytes[..length]).is_ok()).unwrap_or(1)
}

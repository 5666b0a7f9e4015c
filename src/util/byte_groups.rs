//! Groups of bytes that languages tell apart: coarse enough for one word of bits a set, fine enough
//! that the inside of a name, a string or a comment is a set of whole groups.
//!
//! Past ASCII a byte alone says little, so what the groups tell apart there are whole characters of
//! UTF-8, cut ones, and bytes that are none.

/// A set of groups, one bit a group.
pub(crate) type Groups = u32;

/// Characters past ASCII, whole ones, as UTF-8 has them.
pub(crate) const CHARACTERS: Groups = 1 << 15;

/// A character past ASCII of which the last bytes are missing.
pub(crate) const CUT_CHARACTERS: Groups = 1 << 16;

/// Bytes past ASCII that are no UTF-8.
pub(crate) const STRAY_BYTES: Groups = 1 << 17;

/// All bytes past ASCII, whatever they are.
pub(crate) const NOT_ASCII: Groups = CHARACTERS | CUT_CHARACTERS | STRAY_BYTES;

/// The group of `byte`, as a set; all of [`NOT_ASCII`] past ASCII.
#[inline]
pub(crate) const fn group(byte: u8) -> Groups {
    1 << match byte {
        b'a'..=b'z' | b'A'..=b'Z' => 0,
        b'0'..=b'9' => 1,
        b'_' => 2,
        b' ' => 3,
        b'\n' | b'\r' => 4,
        0..0x20 | 0x7f => 5,
        b'"' => 6,
        b'\'' => 7,
        b'\\' => 8,
        b'*' | b'/' => 9,
        b'(' | b')' | b'[' | b']' | b'{' | b'}' => 10,
        b'$' => 11,
        b'`' | b'#' | b'@' => 12,
        b'-' | b'.' => 13,
        b'!'..=b'~' => 14,
        0x80.. => return NOT_ASCII,
    }
}

/// Where a text stands within a character of UTF-8: how many bytes are missing, and how the next is
/// bounded.
pub(crate) type Within = usize;

/// Between two characters.
pub(crate) const BETWEEN: Within = 0;

/// How many values [`Within`] has.
pub(crate) const WITHINS: usize = 8;

/// The place after `byte`; `None` where no well-formed character goes on so (Unicode, table 3-7).
#[inline]
pub(crate) const fn step_utf8(within: Within, byte: u8) -> Option<Within> {
    Some(match (within, byte) {
        (BETWEEN, 0..0x80) => BETWEEN,
        (BETWEEN, 0xc2..=0xdf) => 1,
        (BETWEEN, 0xe0) => 4,
        (BETWEEN, 0xed) => 5,
        (BETWEEN, 0xe1..=0xef) => 2,
        (BETWEEN, 0xf0) => 6,
        (BETWEEN, 0xf1..=0xf3) => 3,
        (BETWEEN, 0xf4) => 7,
        (1..=3, 0x80..=0xbf) => within - 1,
        (4, 0xa0..=0xbf) | (5, 0x80..=0x9f) => 1,
        (6, 0x90..=0xbf) | (7, 0x80..=0x8f) => 2,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_those_of_the_standard_library() {
        let mut text = [0; 4];
        for character in
            ('\0'..=char::MAX).step_by(7).chain('\u{7f0}'..'\u{1000}').chain('\u{d000}'..'\u{11000}')
        {
            let bytes = character.encode_utf8(&mut text).as_bytes();
            let ends: Vec<_> = bytes
                .iter()
                .scan(BETWEEN, |within, &byte| {
                    *within = step_utf8(*within, byte)?;
                    Some(*within == BETWEEN)
                })
                .collect();
            let last = bytes.len() - 1;
            assert!(ends.len() == bytes.len() && ends.iter().enumerate().all(|(i, &end)| end == (i == last)));
        }
        for wrong in
            [&b"\x80"[..], b"\xc1\x80", b"\xe0\x9f", b"\xed\xa0", b"\xf0\x8f", b"\xf4\x90", b"\xf5", b"\xc3a"]
        {
            assert_eq!(wrong.iter().try_fold(BETWEEN, |within, &byte| step_utf8(within, byte)), None);
        }
    }
}

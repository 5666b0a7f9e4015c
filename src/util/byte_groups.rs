//! Sixteen groups of bytes that languages tell apart: coarse enough for one word of bits a set, fine enough that
//! the inside of a name, a string or a comment is a set of whole groups.

/// A set of groups, one bit a group.
pub(crate) type Groups = u16;

/// The group of `byte`, as a set.
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
        0x80.. => 15,
    }
}

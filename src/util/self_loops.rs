//! Self-loops: texts that lead a scan state back to itself, told by the groups of their pieces. And
//! stretches: texts that lead a scan state which counts characters on to others of its class.
//!
//! The inside of a name, a string or a comment is most of what a walk of the vocabulary meets, and
//! leads the scan state back to itself. To pass over such texts without looking at each byte, three
//! parties keep one contract. This is all of it.
//!
//! **Pieces and groups.** A text falls into *pieces*, from left to right: an ASCII byte; a whole
//! character past ASCII, as UTF-8 has them (Unicode, table 3-7); a character past ASCII that the
//! text's end cuts; a *stray* byte past ASCII with which no such character goes on. Each piece is
//! of one *group*: ASCII bytes by [`group`], the others by [`CHARACTERS`], [`CUT_CHARACTERS`] and
//! [`STRAY_BYTES`]. Groups are coarse enough for one word of bits a set, and fine enough that the
//! inside of a name, a string or a comment is a set of whole groups. Past ASCII a byte alone says
//! little, so of characters only two *kinds* are told apart there, by their first byte: those with
//! the first byte of some white space or line end, which `\S` and `.` leave out, and the others.
//!
//! **What the scanner owes** (`scanner::self_loops`). The loops of a point are a set of groups `L`.
//! Take any text all of whose pieces are of `L`.
//!
//! 1. It leads from the point back to the point; or, where it ends in a cut character, to a point
//!    of the same class, so that a token which ends there is of the class as well.
//! 2. No lexeme ends on the way; or the end is refuted before its character is whole, by a longer
//!    match.
//! 3. Past ASCII `L` grows in steps: it has cut characters of a kind only where it has whole ones
//!    of that kind, and it never has stray bytes without all of these.
//!
//! The *stretch* of a point is a set of groups `S` and a number `n`. Take any text of at most `n`
//! pieces, all of them of `S`. It leads to a point of the same class, and 2 and 3 hold of it as
//! well. `S` has no stray bytes. Unless the stretch is *spread*, texts of as many whole pieces lead
//! to the same point.
//!
//! **What the trie owes** (`vocab::nodes`). It takes the bytes behind a node for a text that begins
//! between two characters, and tells
//!
//! 4. of a node, which groups the pieces of all texts below it are of;
//! 5. of a run of nodes, depth first, the first one with whose byte a piece begins that is of none
//!    of some groups: of all texts that are cut off by then, every piece is of these groups;
//! 6. of a node, how many pieces at most the texts below it have;
//! 7. of all texts, how many pieces they have that are of some groups, and behind how many the
//!    first one that is not begins (`vocab::piece_counts`).
//!
//! **What the walk owes** (`index::walk::loops`).
//!
//! 8. Where all groups below a node (4) are of `L`, it takes all tokens below for the point's
//!    class; and where they are of `S`, and the texts below are no longer than `n` (6).
//! 9. It passes over runs of nodes (5) only behind a node at which a character ends, and only where
//!    nothing else would have to know of them: no end that is still open, no base walk beside it,
//!    no blanks of a line. By 1 and 2 it is behind them where it was. With a stretch, where no text
//!    below the node is longer than `n` (6), it is behind them where the bytes on the way to the
//!    next node lead.
//! 10. Where a stretch is not spread, it takes all texts of at most `n` pieces, all of them of `S`,
//!     for the point's class (7), and looks at nodes only behind the pieces of such a text
//!     (`index::walk::counted`).

/// A set of groups, one bit a group.
pub(crate) type Groups = u32;

/// ASCII bytes.
pub(crate) const ASCII: Groups = (1 << 22) - 1;

/// ASCII letters.
pub(crate) const LETTERS: Groups = 0b1111;

/// Characters past ASCII, whole ones, as UTF-8 has them: of both kinds, [`characters_of`].
pub(crate) const CHARACTERS: Groups = 0b11 << 22;

/// Characters past ASCII of which the last bytes are missing.
pub(crate) const CUT_CHARACTERS: Groups = CHARACTERS << 2;

/// Bytes past ASCII that are no UTF-8.
pub(crate) const STRAY_BYTES: Groups = 1 << 26;

/// The groups of characters, whole ones and cut ones, that begin with this byte, which is past
/// ASCII.
#[inline]
pub(crate) const fn characters_of(first: u8) -> Groups {
    // U+0085 and U+00A0; U+1680; U+2000 to U+200A, U+2028, U+2029, U+202F and U+205F; U+3000;
    // U+FEFF.
    match first {
        0xc2 | 0xe1 | 0xe2 | 0xe3 | 0xef => 0b1010 << 22,
        _ => 0b0101 << 22,
    }
}

/// All bytes past ASCII, whatever they are.
pub(crate) const NOT_ASCII: Groups = CHARACTERS | CUT_CHARACTERS | STRAY_BYTES;

/// The group of `byte`, as a set; all of [`NOT_ASCII`] past ASCII. What people tell apart in
/// patterns is apart: lower case, hexadecimal digits, the signs in names, URLs and base64.
#[inline]
pub(crate) const fn group(byte: u8) -> Groups {
    1 << match byte {
        b'a'..=b'f' => 0,
        b'g'..=b'z' => 1,
        b'A'..=b'F' => 2,
        b'G'..=b'Z' => 3,
        b'0'..=b'9' => 4,
        b'_' => 5,
        b' ' => 6,
        b'\n' | b'\r' => 7,
        0..0x20 | 0x7f => 8,
        b'"' => 9,
        b'\'' => 10,
        b'\\' => 11,
        b'/' => 12,
        b'*' => 13,
        b'(' | b')' | b'[' | b']' | b'{' | b'}' => 14,
        b'$' => 15,
        b'`' | b'#' | b'@' => 16,
        b'-' => 17,
        b'.' => 18,
        b':' => 19,
        b'+' | b'=' => 20,
        b'!'..=b'~' => 21,
        0x80.. => return NOT_ASCII,
    }
}

/// Texts that lead on to points of one class: of so many pieces at most, all of these groups;
/// `u8::MAX` where they may have any number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) groups: Groups,
    pub(crate) length: u8,
    /// Whether texts of as many pieces may lead to different points.
    pub(crate) is_spread: bool,
}

impl Stretch {
    /// No text but the empty one.
    pub(crate) const NONE: Self = Self { groups: 0, length: 0, is_spread: false };

    /// Whether it has the texts of these groups that have so many pieces at most.
    #[inline]
    pub(crate) fn holds(self, groups: Groups, pieces: u8) -> bool {
        pieces <= self.length && groups & !self.groups == 0
    }
}

/// A byte that stretches go on with.
pub(crate) const LETTER: u8 = b'a';

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
    fn letters_are_whole_groups() {
        assert!(
            (0..0x80).all(|byte: u8| (group(byte) & LETTERS != 0) == byte.is_ascii_alphabetic())
        );
    }

    #[test]
    fn characters_are_those_of_the_standard_library() {
        let mut text = [0; 4];
        for character in ('\0'..=char::MAX)
            .step_by(7)
            .chain('\u{7f0}'..'\u{1000}')
            .chain('\u{d000}'..'\u{11000}')
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
            assert!(
                ends.len() == bytes.len()
                    && ends.iter().enumerate().all(|(i, &end)| end == (i == last))
            );
        }
        for wrong in [
            &b"\x80"[..],
            b"\xc1\x80",
            b"\xe0\x9f",
            b"\xed\xa0",
            b"\xf0\x8f",
            b"\xf4\x90",
            b"\xf5",
            b"\xc3a",
        ] {
            assert_eq!(
                wrong.iter().try_fold(BETWEEN, |within, &byte| step_utf8(within, byte)),
                None
            );
        }
    }
}

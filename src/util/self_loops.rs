//! Self-loops: texts that lead a scan state back to itself, described by the groups of their
//! pieces; and stretches: texts that lead a scan state with a character count to others of its
//! class.
//!
//! The inside of a name, a string or a comment is most of the text that a walk of the vocabulary
//! visits, and it leads the scan state back to itself. To skip such texts without visiting each
//! byte, three parties keep one contract. This is all of it.
//!
//! **Pieces and groups.** A text consists of *pieces*, from left to right: an ASCII byte; a whole
//! character past ASCII, as defined by UTF-8 (Unicode, table 3-7); a character past ASCII that is
//! cut by the end of the text; a *stray* byte past ASCII that belongs to no such character. Each
//! piece belongs to one *group*: ASCII bytes by [`group`], the others by [`CHARACTERS`],
//! [`CUT_CHARACTERS`] and [`STRAY_BYTES`]. Groups are coarse enough for a set to be one word of
//! bits, and fine enough that the inside of a name, a string or a comment is a set of whole groups.
//! Past ASCII a single byte says little, so only two *kinds* of characters are distinguished, by
//! their first byte: those with the first byte of some white space or line end, which `\S` and `.`
//! exclude, and the others.
//!
//! **Guarantees of the scanner** (`scanner::self_loops`). The loops of a point are a set of groups
//! `L`. Take any text all of whose pieces are in `L`.
//!
//! 1. It leads from the point back to the point; or, if it ends in a cut character, to a point of
//!    the same class, so that a token which ends there is in the class as well.
//! 2. No lexeme ends on the way; or its end is refuted by a longer match before the current
//!    character is complete.
//! 3. Past ASCII `L` grows in steps: it contains cut characters of a kind only if it contains whole
//!    ones of that kind, and stray bytes only if it contains all of these.
//!
//! The *stretch* of a point is a set of groups `S` and a number `n`. Take any text of at most `n`
//! pieces, all of them in `S`. It leads to a point of the same class, and 2 and 3 hold for it as
//! well. `S` contains no stray bytes. Unless the stretch is *spread*, texts with the same number of
//! whole pieces lead to the same point.
//!
//! **Guarantees of the trie** (`vocab::nodes`). It treats the bytes below a node as a text that
//! begins between two characters, and provides
//!
//! 4. for a node, the groups of the pieces of all texts below it;
//! 5. for a run of nodes in depth-first order, the first one whose byte begins a piece outside of a
//!    given set of groups: in all texts before it, every piece is in these groups;
//! 6. for a node, the maximum number of pieces of the texts below it.
//!
//! **Guarantees of the walk** (`index::walk::loops`).
//!
//! 7. If all groups below a node (4) are in `L`, it puts all tokens below it into the point's
//!    class; also if they are in `S`, and the texts below it have at most `n` pieces (6).
//! 8. It skips runs of nodes (5) only after a node at which a character ends, and only if nothing
//!    else needs to visit them: no end that is still open, no base walk along with it, no blanks of
//!    a line. By 1 and 2 its state is the same after them as before. With a stretch, if no text
//!    below the node has more than `n` pieces (6), its state after them is the one to which the
//!    bytes on the way to the next node lead.

/// A set of groups, one bit for each.
pub(crate) type Groups = u32;

/// ASCII bytes.
pub(crate) const ASCII: Groups = (1 << 22) - 1;

/// ASCII letters.
pub(crate) const LETTERS: Groups = 0b1111;

/// Whole characters past ASCII, as defined by UTF-8, of both kinds: [`characters_of`].
pub(crate) const CHARACTERS: Groups = 0b11 << 22;

/// Characters past ASCII whose last bytes are missing.
pub(crate) const CUT_CHARACTERS: Groups = CHARACTERS << 2;

/// Bytes past ASCII that are not UTF-8.
pub(crate) const STRAY_BYTES: Groups = 1 << 26;

/// Returns the groups of whole and cut characters that begin with this byte, which is past ASCII.
#[inline]
pub(crate) const fn characters_of(first: u8) -> Groups {
    // U+0085 and U+00A0; U+1680; U+2000 to U+200A, U+2028, U+2029, U+202F and U+205F; U+3000;
    // U+FEFF.
    match first {
        0xc2 | 0xe1 | 0xe2 | 0xe3 | 0xef => 0b1010 << 22,
        _ => 0b0101 << 22,
    }
}

/// All bytes past ASCII.
pub(crate) const NOT_ASCII: Groups = CHARACTERS | CUT_CHARACTERS | STRAY_BYTES;

/// Returns the group of `byte` as a set; all of [`NOT_ASCII`] past ASCII. Groups separate the bytes
/// that patterns commonly distinguish: lower case, hexadecimal digits, the signs in names, URLs and
/// base64.
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

/// Texts that lead to points of one class: those with at most `length` pieces, all in these groups;
/// `u8::MAX` for any number of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) groups: Groups,
    pub(crate) length: u8,
    /// Whether texts with the same number of pieces may lead to different points.
    pub(crate) is_spread: bool,
}

impl Stretch {
    /// The empty text alone.
    pub(crate) const NONE: Self = Self { groups: 0, length: 0, is_spread: false };

    /// Returns whether it contains the texts of these groups with at most this many pieces.
    #[inline]
    pub(crate) fn holds(self, groups: Groups, pieces: u8) -> bool {
        pieces <= self.length && groups & !self.groups == 0
    }
}

/// The byte used to continue stretches.
pub(crate) const LETTER: u8 = b'a';

/// State within a UTF-8 character: the number of missing bytes, and the bounds of the next one.
pub(crate) type Within = usize;

/// Between two characters.
pub(crate) const BETWEEN: Within = 0;

/// Number of values of [`Within`].
pub(crate) const WITHINS: usize = 8;

/// Returns the state after `byte`, or `None` if no well-formed character continues like this
/// (Unicode, table 3-7).
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

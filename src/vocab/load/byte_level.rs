//! GPT-2's byte-level alphabet: each byte is written as one printable character, so that any token
//! is text.
//!
//! Bytes that are printable in Latin-1 are written as themselves, the others as the characters from
//! U+0100 on, in ascending order (Radford et al. 2019, `bytes_to_unicode` of the published
//! encoder).

/// One past the last character of the alphabet: 256 plus the number of bytes that are not
/// printable.
const END: usize = 256 + 68;

/// Marks characters that encode no byte.
const NONE: u16 = u16::MAX;

/// The byte that each character encodes.
const BYTE_OF: [u16; END] = byte_of();

const fn byte_of() -> [u16; END] {
    let mut table = [NONE; END];
    let mut next = 256;
    let mut byte = 0;
    while byte < 256 {
        let printable = matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
        table[if printable { byte } else { next }] = byte as u16;
        if !printable {
            next += 1;
        }
        byte += 1;
    }
    table
}

/// Appends the decoded bytes of `piece` to `bytes`; returns false and appends nothing if a
/// character is not in the alphabet.
pub(crate) fn decode(piece: &str, bytes: &mut Vec<u8>) -> bool {
    let start = bytes.len();
    for c in piece.chars() {
        match BYTE_OF.get(c as usize) {
            Some(&byte) if byte != NONE => bytes.push(byte as u8),
            _ => {
                bytes.truncate(start);
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_one_character() {
        let mut seen: Vec<u8> = (0..END as u32)
            .filter_map(char::from_u32)
            .filter_map(|c| {
                let mut bytes = Vec::new();
                decode(&c.to_string(), &mut bytes).then(|| bytes[0])
            })
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..=255).collect::<Vec<u8>>());
    }

    #[test]
    fn the_space_is_a_dotted_g() {
        let mut bytes = b"x".to_vec();
        assert!(decode("ĠHelloĊ", &mut bytes));
        assert_eq!(bytes, b"x Hello\n");
        assert!(!decode("a b", &mut bytes) && !decode("a▁", &mut bytes));
        assert_eq!(bytes, b"x Hello\n");
    }
}

//! Texts by their fingerprint.

use crate::grammar::pattern::Automaton;
use crate::schema::text::automaton::explore;

/// Factor that makes digits and letters count by their position. Coprime to the moduli in use, as 7
/// is.
const FACTOR: usize = 3;
/// Factor for digits after the decimal point. Their position does not count, so that trailing zeros
/// change nothing.
const FRACTION: usize = 7;

const BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        bytes[byte] = byte as u8;
        byte += 1;
    }
    bytes
};

/// Matches the contents of strings whose fingerprint of `modulus` is in `set`.
pub(super) fn strings(modulus: u8, set: u16) -> Automaton {
    let modulus = usize::from(modulus);
    let step = |&sum: &usize, byte: u8| Some((sum * FACTOR + usize::from(byte)) % modulus);
    explore(0, &BYTES, step, |&sum| set >> sum & 1 == 1)
}

/// Position in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    Sign,
    /// A leading 0, which no digit follows.
    Zero,
    Whole,
    Point,
    Fraction,
}

/// Matches the numbers whose fingerprint of `modulus` is in `set`, in their spelling without an
/// exponent; none with a minus sign before a zero. All spellings of a number have the same
/// fingerprint.
pub(super) fn numbers(modulus: u8, set: u16) -> Automaton {
    use Part::{Fraction, Point, Sign, Whole, Zero};
    let modulus = usize::from(modulus);
    // The sum so far, and whether a minus sign still needs a digit other than 0.
    let step = |&(part, sum, waits): &(Part, usize, bool), byte: u8| {
        let digit = usize::from(byte.wrapping_sub(b'0'));
        let waits_on = waits && digit == 0;
        Some(match (part, byte) {
            (Sign, b'-') if sum == 0 => (Sign, modulus / 2, true),
            (Sign, b'0') => (Zero, sum, waits),
            (Sign | Whole, b'0'..=b'9') => (Whole, (sum * FACTOR + digit) % modulus, waits_on),
            (Zero | Whole, b'.') => (Point, sum, waits),
            (Point | Fraction, b'0'..=b'9') => {
                (Fraction, (sum + digit * FRACTION) % modulus, waits_on)
            }
            _ => return None,
        })
    };
    let accepts = |&(part, sum, waits): &(Part, usize, bool)| {
        matches!(part, Zero | Whole | Fraction) && !waits && set >> sum & 1 == 1
    };
    explore((Sign, 0, false), b"-.0123456789", step, accepts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::text::automaton::matches;

    #[test]
    fn each_text_has_one_fingerprint() {
        for text in ["", "a", "item1", "item2", "été"] {
            let count = (0..16).filter(|&own| matches(&strings(16, 1 << own), text)).count();
            assert_eq!(count, 1, "{text}");
        }
        let of = |text: &str| {
            (0..8).filter(|&own| matches(&numbers(8, 1 << own), text)).collect::<Vec<_>>()
        };
        for (one, other) in [("10", "10.0"), ("-2.5", "-2.50"), ("0", "0.0")] {
            assert_eq!((of(one).len(), of(one)), (1, of(other)), "{one}");
        }
        for text in ["-0", "-0.0", "01", "1.", "1e5", "-", ""] {
            assert!(of(text).is_empty(), "{text}");
        }
        assert_ne!(of("12"), of("21"));
    }
}

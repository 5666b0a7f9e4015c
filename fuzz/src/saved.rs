//! Saved constraints that were changed, their lengths and checksums put right again.

#[path = "../../tests/forging/mod.rs"]
mod forging;

use std::sync::OnceLock;

use arbitrary::{Result, Unstructured};
use forging::{HEADER, put_right, saved, use_it, vocabulary};
use lrmask::{LoadErrorKind, Vocabulary};

/// Changes a saved constraint as the input says, and loads it: it is refused, or it is a
/// constraint, every call on which returns.
pub fn change_and_load(input: &mut Unstructured<'_>) -> Result<()> {
    static SAVED: OnceLock<(Vec<Vec<u8>>, Vocabulary)> = OnceLock::new();
    let (saved, vocabulary) = SAVED.get_or_init(|| (saved(), vocabulary()));
    let mut bytes = input.choose(saved)?.clone();
    for _ in 0..input.int_in_range(1..=4)? {
        let at = input.int_in_range(HEADER..=bytes.len() - 1)?;
        match input.int_in_range(0..=3)? {
            0 => bytes[at] = input.arbitrary()?,
            1 => bytes[at] ^= 1 << input.int_in_range(0..=7)?,
            2 => {
                let number: u32 = *input.choose(&[0, 1, 255, 65_535, u32::MAX, u32::MAX - 1])?;
                let end = bytes.len().min(at + 4);
                bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
            }
            _ => bytes.truncate(at + 1),
        }
    }
    put_right(&mut bytes);
    let used = use_it(bytes, vocabulary, input.int_in_range(0..=14)?);
    assert!(matches!(used, Ok(()) | Err(LoadErrorKind::Malformed)), "{used:?}");
    Ok(())
}

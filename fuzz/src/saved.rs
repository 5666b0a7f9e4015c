//! Saved constraints that were changed, their fingerprints put right again.

#[path = "../../tests/forging/mod.rs"]
mod forging;

use std::sync::OnceLock;

use arbitrary::{Result, Unstructured};
use forging::{NUMBERS, begin, put_right, replace, saved, use_it, vocabulary};
use lrmask::{LoadError, Vocabulary};

/// Changes a saved constraint as the input says, and loads it: it is refused, or it is a
/// constraint, every call on which returns.
pub fn change_and_load(input: &mut Unstructured<'_>) -> Result<()> {
    static SAVED: OnceLock<(Vec<String>, Vocabulary)> = OnceLock::new();
    let (saved, vocabulary) = SAVED.get_or_init(|| (saved(), vocabulary()));
    let mut saved = input.choose(saved)?.clone();
    for _ in 0..input.int_in_range(1..=4)? {
        let mut at = input.int_in_range(begin(&saved)..=saved.len() - 1)?;
        while !saved.is_char_boundary(at) {
            at -= 1;
        }
        match input.int_in_range(0..=3)? {
            0 => saved.insert(at, input.arbitrary()?),
            1 => drop(saved.remove(at)),
            _ => replace(&mut saved, at, *input.choose(&NUMBERS)?),
        }
    }
    let used = use_it(&put_right(&saved), vocabulary, input.int_in_range(0..=14)?);
    let refused = matches!(used, Ok(()) | Err(LoadError::Damaged | LoadError::Grammar(_)));
    assert!(refused, "{used:?}");
    Ok(())
}

//! One step of a server: the masks of all sequences of a batch, each with its own grammar, in one
//! buffer, laid out for the kernel that applies them.
//!
//! `cargo run --release --example batch`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use lrmask::{Constraint, ConstraintCache, Limits, Matcher, Source, Vocabulary, fill_masks};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let vocabulary = Vocabulary::builtin("gpt2")?;
    // Many requests have the same grammar: it is compiled once.
    let cache = ConstraintCache::new(64 << 20);
    let limits = Limits::strict();
    let constraint = |pattern: &str| -> Result<Constraint, lrmask::BuildError> {
        cache.get_or_build(&Source::regex(pattern), &vocabulary, &limits)
    };
    let date = constraint(r"\d{4}-\d\d-\d\d")?.matcher();
    let answer = constraint("yes|no|perhaps")?.matcher();
    let again = constraint("yes|no|perhaps")?.matcher();

    // The logits of a model may be wider than its vocabulary.
    let words = vocabulary.width().div_ceil(32).next_multiple_of(8);
    let mut rows = vec![0u32; 4 * words];
    // The third sequence is unconstrained.
    let batch: [Option<&Matcher>; 4] = [Some(&date), Some(&answer), None, Some(&again)];
    let threads = std::thread::available_parallelism()?.get();
    fill_masks(&batch, &mut rows, words, threads)?;

    for (number, row) in rows.chunks(words).enumerate() {
        let allowed: u32 = row.iter().map(|word| word.count_ones()).sum();
        println!("sequence {number}: {allowed} tokens may come next");
    }
    println!("{} constraints were built", cache.len());
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}

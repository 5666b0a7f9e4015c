//! Saved constraints with changed parts and a matching fingerprint: loading terminates, and every
//! call on a loaded one returns.
//!
//! ```text
//! cargo run --release --example forged -- 100000
//! ```
//!
//! Prints how many of the forged files were loaded, and the longest time to load one and make ten
//! calls on it.

#![allow(clippy::print_stdout, reason = "the figures are the answer")]

#[path = "../tests/forging/mod.rs"]
mod forging;

use std::time::{Duration, Instant};

use forging::{Forger, use_it, vocabulary};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(10_000), |count| count.parse())?;
    let (vocabulary, mut forger) = (vocabulary(), Forger::new(1));
    let (mut loaded, mut longest) = (0, Duration::ZERO);
    for _ in 0..rounds {
        let (bytes, first) = forger.forge();
        let begun = Instant::now();
        loaded += usize::from(use_it(&bytes, &vocabulary, first).is_ok());
        longest = longest.max(begun.elapsed());
    }
    println!("{rounds} forged files, {loaded} of them loaded; the longest took {longest:?}");
    Ok(())
}

//! Saves a constraint in one process and loads it in the next.
//!
//! `cargo run --release --example saved`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use lrmask::{Constraint, Grammar, Vocabulary};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let vocabulary = Vocabulary::builtin("gpt2")?;
    let grammar = Grammar::from_lark(include_str!("../grammars/json/json.lark"))?;
    let constraint = Constraint::new(&grammar, &vocabulary)?;

    // Loading computes the masks that texts like this one need.
    let sample =
        vocabulary.cut_longest(b"{\"name\": \"x\", \"sizes\": [1, 2.5]}").ok_or("no such bytes")?;
    let saved = constraint.save_with_samples(&[&sample]);
    println!("the grammar and {} tokens of a sample make {} bytes", sample.len(), saved.len());

    // In the next process.
    let loaded = Constraint::load(saved, &vocabulary)?;
    let (mut mask, mut matcher) = (loaded.new_mask(), loaded.matcher());
    matcher.advance_bytes(b"{\"name\"")?;
    matcher.fill_mask(&mut mask);
    println!("{} tokens may come after the name", mask.count());
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}

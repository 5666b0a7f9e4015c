//! A constraint that is computed in one process and used in the next.
//!
//! `cargo run --release --example saved`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use lrmask::{Constraint, Grammar, Vocabulary};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let vocabulary = Vocabulary::builtin("gpt2")?;
    let grammar = Grammar::from_lark(include_str!("../grammars/json/json.lark"))?;
    let constraint = Constraint::new(&grammar, &vocabulary)?;

    // Masks that texts like this one will ask for, and then those of all short texts.
    let sample =
        vocabulary.cut_longest(b"{\"name\": \"x\", \"sizes\": [1, 2.5]}").ok_or("no such bytes")?;
    let tokens = constraint.warmup().samples(&[&sample]);
    let places = constraint.warmup().explore(200);
    let saved = constraint.save();
    println!("{tokens} tokens and {places} places make {} bytes", saved.len());

    // In the next process: from a file, or mapped into memory.
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

//! The cost of a server's tools as structural tags of both forms, by their number.
//!
//! ```text
//! cargo run --release --example tools                # 10, 40, 117 and 400 of them
//! cargo run --release --example tools -- 117         # 117 of them
//! ```
//!
//! Times are processor times; the memory is what the compiled grammar keeps, as counted.

#![allow(clippy::print_stdout, reason = "the table is the answer")]

use std::error::Error;
use std::time::Instant;

use lrmask::{Constraint, GrammarReader, Limits, SchemaOptions, StructuralTags, Vocabulary};

#[path = "../tests/tools/mod.rs"]
mod tools;

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<usize> =
        std::env::args().skip(1).map(|count| count.parse()).collect::<Result<_, _>>()?;
    let counts = if given.is_empty() { vec![10, 40, 117, 400] } else { given };
    let vocabulary = Vocabulary::builtin("o200k")?;
    let mut limits = Limits::strict();
    // Four hundred of them take 700 KB.
    limits.grammar_bytes = 1_000_000;
    println!(
        "| tools | read, ms | compiled, ms | first mask, ms | a call's, ms | steps | MB kept |"
    );
    println!("|---|---|---|---|---|---|---|");
    let structures = counts.iter().map(|&count| (count, "", tools::tags(count)));
    let mut all: Vec<(usize, &str, StructuralTags)> = structures.collect();
    for &count in &counts {
        all.push((count, " as formats", tools::formats(count)?));
    }
    for (count, form, tags) in all {
        let begun = Instant::now();
        let grammar = GrammarReader::new()
            .limits(&limits)
            .structural_tags(&tags, &SchemaOptions::default())?;
        let read = begun.elapsed();
        let begun = Instant::now();
        let compiled = Constraint::builder().limits(&limits).compile(&grammar)?;
        let made = begun.elapsed();
        let constraint = compiled.constraint(&vocabulary)?;
        let mut matcher = constraint.matcher();
        let mut mask = constraint.new_mask();
        let begun = Instant::now();
        matcher.fill_mask(&mut mask);
        let first = begun.elapsed();
        let begun = Instant::now();
        matcher
            .advance_bytes(format!("Well. <function={}>{{", tools::name(count - 1)).as_bytes())?;
        matcher.fill_mask(&mut mask);
        let in_call = begun.elapsed();
        println!(
            "| {count}{form} | {:.1} | {:.1} | {:.1} | {:.1} | {} | {:.1} |",
            read.as_secs_f64() * 1e3,
            made.as_secs_f64() * 1e3,
            first.as_secs_f64() * 1e3,
            in_call.as_secs_f64() * 1e3,
            compiled.cost().steps,
            compiled.bytes() as f64 / 1e6
        );
        println!("|  | {} ||||||", compiled.size());
    }
    Ok(())
}

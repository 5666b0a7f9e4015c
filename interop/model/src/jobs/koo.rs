//! The constraints of Koo, Liu and He (appendix C.4): time to compile them, and of a step.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lrmask::{Constraint, SchemaOptions, Source};

use super::print_head;
use crate::writer::Writer;

/// Number of runs, as in the paper; the mean is told.
const RUNS: u32 = 10;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "class": {"type": "string", "enum": ["Warrior", "Rogue", "Sorceror"]},
        "life": {"type": "integer"},
        "mana": {"type": "integer"},
        "equipment": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "durability": {"type": "integer"},
                    "quality": {"type": "string", "enum": ["Normal", "Magic", "Unique"]}
                }
            }
        }
    }
}"#;

/// Prints one row for each constraint. A step is what the paper counts: the mask at the beginning,
/// and an advance by the first token that it allows.
pub fn run(writer: &Writer, _count: usize) -> Result<()> {
    let regex = Source::regex;
    print_head("constraint | compile | first step | later steps");
    for (name, source) in [
        ("multiple choice", regex("Red|Orange|Yellow|Green|Blue|Indigo|Violet")),
        (
            "ISO date-time",
            regex(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d([+-][0-2]\d:[0-5]\d|Z)"),
        ),
        ("IP address", regex(r"((25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(25[0-5]|2[0-4]\d|[01]?\d\d?)")),
        ("quoted text", regex(r#"" *(?:[^\s"\\]|\\["n\\])(?: |[^\s"\\]|\\["n\\])*""#)),
        ("JSON object", Source::json_schema(SCHEMA, &SchemaOptions::default())),
    ] {
        let vocabulary = &writer.tokenizer.vocabulary;
        let mut times = [Duration::ZERO; 3];
        for _ in 0..RUNS {
            let started = Instant::now();
            let constraint = Constraint::builder().read(&source, vocabulary)?;
            times[0] += started.elapsed();
            for step in 1..times.len() {
                let started = Instant::now();
                let mut matcher = constraint.matcher();
                let mut row = vec![0; vocabulary.width().div_ceil(32)];
                matcher.fill_mask_into(&mut row)?;
                let word = row.iter().position(|&word| word != 0).context("an empty mask")?;
                matcher.advance(word as u32 * 32 + row[word].trailing_zeros())?;
                times[step] += started.elapsed();
            }
        }
        let cells = times.map(|time| format!("{:.1} µs", (time / RUNS).as_secs_f64() * 1e6));
        println!("| {name} | {} |", cells.join(" | "));
    }
    Ok(())
}

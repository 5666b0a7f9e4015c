//! Programs: SQL queries and Python functions.

use anyhow::{Context, Result};
use lrmask::TokenId;

use super::{common_columns, places, print_head, texts, valid, write_all};
use crate::tasks;
use crate::writer::{Mode, Writer};

/// Prints one row for each language and mode.
pub fn run(writer: &Writer, count: usize) -> Result<()> {
    let fence = fence(writer)?;
    print_head("language | mode | parses | COMMON");
    for (task, stops) in [
        (tasks::sqlite(), &[][..]),
        (tasks::fenced_sqlite(), &[fence][..]),
        (tasks::python(), &[][..]),
        (tasks::fenced_python(), &[fence][..]),
    ] {
        let constraint = task.constraint(&writer.tokenizer.vocabulary)?;
        let bounded = task.constraint_for_models(&writer.tokenizer.vocabulary)?;
        let places = places(writer, &task, count)?;
        for (name, mask, ends_early) in [
            ("free", None, false),
            ("masked", Some(&constraint), false),
            ("for models", Some(&bounded), false),
            ("for models, stops where only the end follows", Some(&bounded), true),
        ] {
            let mode = Mode { constraint: mask, stops, ends_early, budget: None };
            let written = write_all(writer, &places, &mode, task.limit)?;
            let valid = valid(&constraint, &texts(writer, &written));
            println!("| {} | {name} | {valid} | {} |", task.name, common_columns(&written));
        }
    }
    Ok(())
}

/// Returns the token that closes a block of code.
pub fn fence(writer: &Writer) -> Result<TokenId> {
    let tokens = writer.tokenizer.encode("```");
    let [fence] = tokens[..] else { return Err(anyhow::anyhow!("the fence has no token")) };
    writer.tokenizer.vocabulary.bytes(fence).context("the fence has no bytes")?;
    Ok(fence.into())
}

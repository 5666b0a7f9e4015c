//! Maskers that look only k terminals ahead (DOMINO, section 3.3 and table 4).

use anyhow::Result;

use super::objects::{COLUMNS, print_row};
use super::{places, print_head};
use crate::tasks;
use crate::writer::Writer;

/// Prints one row for each task and lookahead.
pub fn run(writer: &Writer, count: usize) -> Result<()> {
    print_head(&format!("task | lookahead | {COLUMNS}"));
    for task in [
        tasks::person_after_example(),
        tasks::person(),
        tasks::person_with_separators(),
        tasks::character(),
        tasks::steps(),
    ] {
        let constraint = task.constraint(&writer.tokenizer.vocabulary)?;
        let places = places(writer, &task, count)?;
        for (name, mask) in [
            ("free", None),
            ("0", Some(constraint.with_lookahead(0))),
            ("1", Some(constraint.with_lookahead(1))),
            ("2", Some(constraint.with_lookahead(2))),
            ("any", Some(constraint.clone())),
        ] {
            print_row(writer, &task, (name, mask.as_ref()), &constraint, &places)?;
        }
    }
    Ok(())
}

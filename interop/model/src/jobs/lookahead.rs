//! Maskers that look only k terminals ahead (DOMINO, section 3.3 and table 4).

use anyhow::Result;

use super::objects::right;
use super::{common_columns, places, print_head, texts, valid, write_all};
use crate::tasks;
use crate::writer::{Mode, Writer};

/// Prints one row for each task and lookahead.
pub fn run(writer: &Writer, count: usize) -> Result<()> {
    print_head("task | lookahead | valid | right | COMMON");
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
            let mode = Mode { constraint: mask.as_ref(), ..Mode::default() };
            let written = write_all(writer, &places, &mode, task.limit)?;
            let texts = texts(writer, &written);
            println!(
                "| {} | {name} | {} | {} | {} |",
                task.name,
                valid(&constraint, &texts),
                right(task.name, &texts),
                common_columns(&written)
            );
        }
    }
    Ok(())
}

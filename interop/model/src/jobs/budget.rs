//! Budgets: texts that must end within a number of tokens.

use std::time::Duration;

use anyhow::Result;

use super::{fence, is_sentence, places, print_head, texts, write_all};
use crate::tasks;
use crate::writer::{Mode, Writer, Written};

/// Numbers of tokens of the texts.
const BUDGETS: [usize; 3] = [24, 40, 80];

/// Prints one row for each task and budget, and one for each task without a budget.
pub fn run(writer: &Writer, count: usize) -> Result<()> {
    print_head("task | tokens | in time and valid | mask p50 | p99 | greatest");
    let fence = [fence(writer)?];
    for (task, stops) in [
        (tasks::person(), &[][..]),
        (tasks::character(), &[]),
        (tasks::sqlite(), &[]),
        (tasks::fenced_python(), &fence),
    ] {
        let constraint = task.constraint(&writer.tokenizer.vocabulary)?;
        let places = places(writer, &task, count)?;
        let budgets = [None].into_iter().chain(BUDGETS.map(Some));
        for budget in budgets {
            let mode = Mode { constraint: Some(&constraint), stops, budget, ..Mode::default() };
            // The stop token is not counted.
            let limit = budget.unwrap_or(task.limit) + 1;
            let written = write_all(writer, &places, &mode, limit)?;
            let texts = texts(writer, &written);
            let whole = written
                .iter()
                .zip(&texts)
                .filter(|(one, text)| one.is_stopped && is_sentence(&constraint, text));
            println!(
                "| {} | {} | {} of {count} | {} |",
                task.name,
                budget.map_or("no budget".to_owned(), |budget| budget.to_string()),
                whole.count(),
                times(&written)
            );
        }
    }
    Ok(())
}

/// The times of the masks.
fn times(written: &[Written]) -> String {
    let mut times: Vec<Duration> =
        written.iter().flat_map(|one| &one.steps).map(|step| step.mask).collect();
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1e6;
    format!("{:.1} µs | {:.1} µs | {:.1} µs", at(50), at(99), at(100))
}

//! Opportunistic masking (DOMINO, section 3.5): how often it spares a mask, and what it spares.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use lrmask::{Constraint, TokenMask};

use super::{percent, places, print_head, write_all};
use crate::tasks;
use crate::writer::{Mode, Step, Writer};

/// Prints one row for each task. The model's choices are taken from texts that it wrote, so that
/// each way takes the same steps.
pub fn run(writer: &Writer, count: usize) -> Result<()> {
    print_head(
        "task | free choices allowed | new masks: masked | opportunistic | known masks: masked \
         | opportunistic",
    );
    for task in [
        tasks::person(),
        tasks::character(),
        tasks::any_json(),
        tasks::sqlite(),
        tasks::fenced_python(),
    ] {
        let vocabulary = &writer.tokenizer.vocabulary;
        let constraint = task.constraint(vocabulary)?;
        let mode = Mode { constraint: Some(&constraint), ..Mode::default() };
        let written = write_all(writer, &places(writer, &task, count)?, &mode, task.limit)?;
        let texts: Vec<&[Step]> = written.iter().map(|one| &one.steps[..]).collect();
        let steps = texts.iter().map(|text| text.len()).sum::<usize>();
        let mut cells = Vec::new();
        let (masked, free) = (task.constraint(vocabulary)?, task.constraint(vocabulary)?);
        let mut allowed = 0;
        for _ in ["new", "known"] {
            cells.push(per_step(with_masks(&masked, &texts)?, steps));
            let (time, choices) = opportunistically(&free, &texts)?;
            (allowed, _) = (choices, cells.push(per_step(time, steps)));
        }
        println!("| {} | {} | {} |", task.name, percent(allowed, steps), cells.join(" | "));
    }
    Ok(())
}

fn per_step(time: Duration, steps: usize) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6 / steps.max(1) as f64)
}

/// Returns the time of all masks and advances.
fn with_masks(constraint: &Constraint, texts: &[&[Step]]) -> Result<Duration> {
    let started = Instant::now();
    let mut mask = constraint.new_mask();
    for text in texts {
        let mut matcher = constraint.matcher();
        for step in *text {
            matcher.fill_mask(&mut mask);
            matcher.advance(step.token)?;
        }
    }
    Ok(started.elapsed())
}

/// Returns the time of all choices, and the number of free ones that were allowed.
fn opportunistically(constraint: &Constraint, texts: &[&[Step]]) -> Result<(Duration, usize)> {
    let started = Instant::now();
    let mut allowed = 0;
    for text in texts {
        let mut matcher = constraint.matcher();
        for step in *text {
            let choose = |mask: Option<&TokenMask>| mask.map_or(step.free, |_| step.token);
            let token = matcher.sample_with(choose)?;
            ensure!(token.get() == step.token, "the free choice is allowed, and was not taken");
        }
        allowed += matcher.choices().free as usize;
    }
    Ok((started.elapsed(), allowed))
}

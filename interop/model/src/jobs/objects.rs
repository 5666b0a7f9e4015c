//! Objects by a schema: facts that the prompt states, a character that the model invents, and steps
//! of a sum in words.

use anyhow::Result;
use lrmask::Constraint;
use serde_json::Value;

use super::{common_columns, places, print_head, texts, valid, write_all};
use crate::tasks::Task;
use crate::writer::{Mode, Place, Writer};
use crate::{prompts, tasks};

/// Prints one row for each task and mode.
pub fn run(writer: &Writer, count: usize) -> Result<()> {
    print_head(&format!("task | mode | {COLUMNS}"));
    for task in [
        tasks::person_after_example(),
        tasks::person(),
        tasks::person_with_separators(),
        tasks::character(),
        tasks::character_with_separators(),
        tasks::steps(),
        tasks::steps_without_examples(),
    ] {
        let constraint = task.constraint(&writer.tokenizer.vocabulary)?;
        let bounded = task.constraint_for_models(&writer.tokenizer.vocabulary)?;
        let places = places(writer, &task, count)?;
        for (name, mask) in
            [("free", None), ("masked", Some(&constraint)), ("for models", Some(&bounded))]
        {
            print_row(writer, &task, (name, mask), &constraint, &places)?;
        }
    }
    Ok(())
}

/// The names of the columns of [`print_row`].
pub const COLUMNS: &str = "valid | right | COMMON";

/// Prints the row of a mode, with its name and its masks: how many texts are sentences of
/// `constraint`, and how many facts or answers in them are right.
pub fn print_row(
    writer: &Writer,
    task: &Task,
    (name, mask): (&str, Option<&Constraint>),
    constraint: &Constraint,
    places: &[Place],
) -> Result<()> {
    let mode = Mode { constraint: mask, ..Mode::default() };
    let written = write_all(writer, places, &mode, task.limit)?;
    let texts = texts(writer, &written);
    println!(
        "| {} | {name} | {} | {} | {} |",
        task.name,
        valid(constraint, &texts),
        right(task.name, &texts),
        common_columns(&written)
    );
    Ok(())
}

/// How many facts or answers are right, as a cell.
fn right(task: &str, texts: &[Vec<u8>]) -> String {
    let score: fn(usize, &Value) -> usize = match task {
        task if task.starts_with("person") => facts_right,
        task if task.starts_with("steps") => answer_right,
        _ => return String::new(),
    };
    let each = if task.starts_with("person") { 4 } else { 1 };
    let values = texts.iter().map(|text| serde_json::from_slice(text).unwrap_or_default());
    let right: usize = values.enumerate().map(|(index, value)| score(index, &value)).sum();
    format!("{right} of {}", each * texts.len())
}

/// Number of members that say of person `index` what the prompt says.
fn facts_right(index: usize, value: &Value) -> usize {
    let person = prompts::person(index);
    [
        value["name"] == person.name,
        value["age"] == person.age,
        value["job"] == person.job,
        value["city"] == person.city,
    ]
    .into_iter()
    .filter(|&is_right| is_right)
    .count()
}

/// 1 if the answer to sum `index` is right.
fn answer_right(index: usize, value: &Value) -> usize {
    usize::from(value["answer"].as_f64() == Some(prompts::sum_in_words(index).1 as f64))
}

//! The jobs: each lets the model write on all prompts of its tasks, and prints a table.

mod budget;
mod healing;
mod koo;
mod languages;
mod lookahead;
mod objects;
mod opportunistic;
mod regexes;
mod speculation;
mod throughput;
mod tools;

pub use languages::fence;

use anyhow::Result;
use lrmask::Constraint;
use rayon::prelude::*;

use crate::tasks::Task;
use crate::writer::{Mode, Place, Writer, Written};

/// A job: the number of prompts of each task is given.
type Job = fn(&Writer, usize) -> Result<()>;

/// All jobs, by name.
pub const ALL: &[(&str, Job)] = &[
    ("json", objects::run),
    ("languages", languages::run),
    ("tools", tools::run),
    ("lookahead", lookahead::run),
    ("opportunistic", opportunistic::run),
    ("speculation", speculation::run),
    ("throughput", throughput::run),
    ("healing", healing::run),
    ("regexes", regexes::run),
    ("koo", koo::run),
    ("budget", budget::run),
];

/// Runs `one` for each prompt, in parallel.
fn for_each<T: Send>(
    count: usize,
    one: impl Fn(usize) -> Result<T> + Send + Sync,
) -> Result<Vec<T>> {
    (0..count).into_par_iter().map(one).collect()
}

/// Reads the prompts of a task.
pub fn places(writer: &Writer, task: &Task, count: usize) -> Result<Vec<Place>> {
    for_each(count, |index| Ok(writer.read(&writer.tokenizer.encode(&(task.prompt)(index)))))
}

/// Writes a text from each place. Each thread writes its share of them side by side.
pub fn write_all(
    writer: &Writer,
    places: &[Place],
    mode: &Mode<'_>,
    limit: usize,
) -> Result<Vec<Written>> {
    write_after(writer, places, b"", mode, limit)
}

/// The same, where the prompts end in the bytes `begun` of the constraint's text.
fn write_after(
    writer: &Writer,
    places: &[Place],
    begun: &[u8],
    mode: &Mode<'_>,
    limit: usize,
) -> Result<Vec<Written>> {
    let share = places.len().div_ceil(rayon::current_num_threads()).max(1);
    let written: Result<Vec<_>> = places
        .par_chunks(share)
        .map(|places| writer.write(places.to_vec(), begun, mode, limit))
        .collect();
    Ok(written?.into_iter().flatten().collect())
}

/// Returns the texts.
fn texts(writer: &Writer, written: &[Written]) -> Vec<Vec<u8>> {
    written.iter().map(|one| writer.tokenizer.decode(&one.tokens())).collect()
}

/// Share of `part` in `whole`, in percent.
fn percent(part: usize, whole: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// Whether a text is in the constraint's language.
fn is_sentence(constraint: &Constraint, text: &[u8]) -> bool {
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(text).is_ok() && matcher.is_accepting()
}

/// Share of the texts that are in the constraint's language.
fn valid(constraint: &Constraint, texts: &[Vec<u8>]) -> String {
    percent(texts.iter().filter(|text| is_sentence(constraint, text)).count(), texts.len())
}

/// The names of [`common_columns`].
const COMMON_COLUMNS: &str = "ended | interventions | mass removed | nll | mask and advance";

/// The share of texts that end; of steps in which the mask forbade the model's first choice; the
/// mean of the probability that the mask removes, and of `-log p`; the median time of mask and
/// advance.
fn common_columns(written: &[Written]) -> String {
    let steps: Vec<_> = written.iter().flat_map(|one| &one.steps).collect();
    let ended = written.iter().filter(|one| one.is_ended).count();
    let interventions = steps.iter().filter(|step| step.token != step.free).count();
    let removed: f64 = steps.iter().map(|step| step.removed).sum();
    let surprise: f64 = steps.iter().map(|step| step.surprise).sum();
    let mut times: Vec<_> = steps.iter().map(|step| step.mask + step.advance).collect();
    times.sort_unstable();
    let median = times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e6);
    format!(
        "{} | {} | {:.1} % | {:.3} | {median:.1} µs",
        percent(ended, written.len()),
        percent(interventions, steps.len()),
        100.0 * removed / steps.len().max(1) as f64,
        surprise / steps.len().max(1) as f64,
    )
}

/// Prints the names of a table's columns.
fn print_head(columns: &str) {
    let columns = columns.replace("COMMON", COMMON_COLUMNS);
    println!("| {columns} |\n|{}", "---|".repeat(columns.split('|').count()));
}

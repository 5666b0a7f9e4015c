//! The cost of published grammars: one table, the twenty most expensive first.
//!
//! ```text
//! cargo run --release --example survey               # all, the worst twenty
//! cargo run --release --example survey -- hcl lua    # all of those with this in their names
//! ```
//!
//! Each grammar is read and compiled; then texts are drawn under `o200k`, 200 tokens in all, and
//! every mask is timed: the first one, and the longest of the others, which no text has needed
//! before. The grammars are those of the project, its tests and `examples/survey`, and the samples
//! that may be placed next to the project. Times are processor times of one thread.

#![allow(clippy::print_stdout, reason = "the table is the answer")]

mod clock;
#[path = "../../tests/corpus/mod.rs"]
mod corpus;
#[allow(dead_code, reason = "only tokens are drawn")]
#[path = "../../cli/src/sampler.rs"]
mod sampler;
mod sources;

use std::time::Duration;

use fastrand::Rng;
use lrmask::{CompiledGrammar, Constraint, Vocabulary};

use crate::clock::Clock;
use crate::sampler::Sampler;
use crate::sources::Source;

/// Number of rows that are shown if no names are given.
const SHOWN: usize = 20;

/// Number of tokens of all texts of a grammar, and of one.
const TOKENS: usize = 200;
const TOKENS_OF_A_TEXT: usize = 50;

/// Time after which no further token is drawn.
const LONG: Duration = Duration::from_secs(10);

/// Targets: the time to compile a grammar, and the time of a mask.
const COMPILED_IN: Duration = Duration::from_millis(200);
const MASK_IN: Duration = Duration::from_millis(50);

/// The cost of a grammar.
#[derive(Default)]
struct Row {
    name: String,
    build_steps: u64,
    compile: Duration,
    first: Duration,
    longest: Duration,
    /// The text before the longest mask.
    behind: String,
    masks: usize,
    all_masks: Duration,
    longest_advance: Duration,
    undecided: usize,
    dropped: usize,
}

impl Row {
    /// Returns the greatest ratio of a figure to its target.
    fn badness(&self) -> f64 {
        let part = |time: Duration, wanted: Duration| time.as_secs_f64() / wanted.as_secs_f64();
        let mask = self.first.max(self.longest).max(self.longest_advance);
        part(self.compile, COMPILED_IN).max(part(mask, MASK_IN))
    }

    fn print(&self) {
        let of_a_mask = self.all_masks / self.masks.max(1) as u32;
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | `{}` |",
            self.name,
            self.build_steps,
            milliseconds(self.compile),
            milliseconds(self.first),
            milliseconds(self.longest),
            milliseconds(of_a_mask),
            milliseconds(self.longest_advance),
            self.undecided,
            self.dropped,
            self.behind.escape_debug().to_string().replace('|', "\\|"),
        );
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let vocabulary = Vocabulary::builtin("o200k")?;
    let sampler = Sampler::new(&vocabulary);
    let mut rows: Vec<Row> = Vec::new();
    let mut refused: Vec<(String, &'static str)> = Vec::new();
    for source in sources::all() {
        if !wanted.is_empty() && !wanted.iter().any(|part| source.name.contains(part.as_str())) {
            continue;
        }
        match survey(&source, &vocabulary, &sampler) {
            Ok(row) => rows.push(row),
            Err(code) => refused.push((source.name, code)),
        }
    }
    rows.sort_by(|a, b| b.badness().total_cmp(&a.badness()));
    println!(
        "| grammar | steps of building | compile, ms | first mask | longest mask | mean \
         | longest token | undecided | dropped | the longest mask is behind |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let shown = if wanted.is_empty() { SHOWN } else { rows.len() };
    rows.iter().take(shown).for_each(Row::print);
    let over = rows.iter().filter(|row| row.badness() > 1.0).count();
    println!(
        "\n{} grammars, {} compiled; {over} take more than {} to compile or {} for a mask",
        rows.len() + refused.len(),
        rows.len(),
        milliseconds(COMPILED_IN),
        milliseconds(MASK_IN),
    );
    for (name, code) in refused {
        println!("refused, {code}: {name}");
    }
    Ok(())
}

/// Compiles a grammar and draws texts; returns the code of the first error if it is refused.
fn survey(
    source: &Source,
    vocabulary: &Vocabulary,
    sampler: &Sampler,
) -> Result<Row, &'static str> {
    let code = |error: lrmask::GrammarError| {
        let errors = error.diagnostics().iter();
        let mut codes = errors.filter(|found| found.severity == lrmask::Severity::Error);
        codes.next().map_or("", |found| found.code)
    };
    let clock = Clock::start();
    let grammar = source.read().map_err(code)?;
    let compiled = CompiledGrammar::new(&grammar).map_err(code)?;
    let compile = clock.elapsed();
    let build_steps = compiled.cost().steps;
    let constraint = compiled.constraint(vocabulary).map_err(code)?;
    let mut row = Row { name: source.name.clone(), build_steps, compile, ..Row::default() };
    let mut random = Rng::with_seed(1);
    while row.masks < TOKENS && row.all_masks < LONG {
        text(&constraint, sampler, &mut random, &mut row);
    }
    row.undecided = constraint.undecided();
    Ok(row)
}

/// Draws one text.
fn text(constraint: &Constraint, sampler: &Sampler, random: &mut Rng, row: &mut Row) {
    let mut matcher = constraint.matcher();
    let mut mask = constraint.new_mask();
    let mut written: Vec<u8> = Vec::new();
    for before in 0..TOKENS_OF_A_TEXT {
        if row.all_masks > LONG {
            break;
        }
        let clock = Clock::start();
        matcher.fill_mask(&mut mask);
        let took = clock.elapsed();
        if row.masks == 0 {
            row.first = took;
        }
        if row.masks > 0 && took > row.longest {
            row.longest = took;
            let end = String::from_utf8_lossy(&written);
            let from = end.char_indices().rev().nth(29).map_or(0, |(at, _)| at);
            row.behind = end[from..].to_owned();
        }
        row.masks += 1;
        row.all_masks += took;
        let Some(token) = sampler.draw(&mask, before, random) else { break };
        let clock = Clock::start();
        if matcher.advance(token).is_err() {
            println!("{}: refused what its mask allows behind {written:?}", row.name);
            break;
        }
        row.longest_advance = row.longest_advance.max(clock.elapsed());
        written.extend(constraint.vocabulary().bytes(token).unwrap_or_default());
    }
    row.dropped += matcher.dropped_readings();
}

fn milliseconds(time: Duration) -> String {
    match time.as_micros() {
        0..10_000 => format!("{:.2}", time.as_secs_f64() * 1e3),
        _ => format!("{:.0}", time.as_secs_f64() * 1e3),
    }
}

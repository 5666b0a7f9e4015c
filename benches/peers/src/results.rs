//! What a run found: the file that tables and plots are made from.

use serde::{Deserialize, Serialize};

use crate::measure::{Floor, Measurement, Memory, Pass};
use crate::stats::{Distribution, median};

/// A run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Results {
    /// Where and when, in prose.
    pub about: About,
    /// The vocabularies, by size.
    pub vocabularies: Vec<Vocabulary>,
    /// The workloads, in the order of tables.
    pub workloads: Vec<Workload>,
    /// One each of engine, workload and vocabulary.
    pub cells: Vec<Cell>,
}

/// Where and when.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct About {
    /// The processor, as the system calls it.
    pub processor: String,
    /// How many of it.
    pub cores: usize,
    /// The day.
    pub date: String,
    /// Each engine with its version.
    pub engines: Vec<(String, String)>,
    /// Whether the samples lay beside the project.
    pub samples: bool,
    /// Processes started for each cell, but for slow ones.
    pub repetitions: usize,
}

/// A vocabulary of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Vocabulary {
    /// Its name.
    pub name: String,
    /// The width of its masks.
    pub width: usize,
    /// What nothing can be faster than.
    pub floor: Floor,
}

/// A workload of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Workload {
    /// The directory's name.
    pub name: String,
    /// What tables call it.
    pub title: String,
    /// Its documents, and how many of them are the project's own.
    pub documents: usize,
    /// Those that are the project's own.
    pub own: usize,
}

/// An engine on a workload with a vocabulary.
#[derive(Debug, Serialize, Deserialize)]
pub struct Cell {
    /// The engine's name.
    pub engine: String,
    /// The workload's directory.
    pub workload: String,
    /// The vocabulary's name.
    pub vocabulary: String,
    /// The figures: medians over the repetitions.
    pub figures: Option<Measurement>,
    /// How many repetitions.
    pub repetitions: usize,
    /// What is to be known about it: why there is no figure, or in what the masks differ.
    pub notes: Vec<String>,
}

/// Field by field, the medians of several measurements of one thing. Faults and checks are the first one's: they
/// do not change from one to the next.
pub fn medians(several: &[Measurement]) -> Option<Measurement> {
    let first = several.first()?;
    let field = |get: fn(&Measurement) -> f64| median(several.iter().map(get));
    Some(Measurement {
        fault: first.fault.clone(),
        prepare: field(|m| m.prepare),
        compile: field(|m| m.compile),
        first_mask: field(|m| m.first_mask),
        cold: median_pass(several, |m| &m.cold),
        warm: median_pass(several, |m| &m.warm),
        memory: Memory {
            prepared: field(|m| m.memory.prepared),
            compiled: field(|m| m.memory.compiled),
            used: field(|m| m.memory.used),
            peak: field(|m| m.memory.peak),
        },
        checks: first.checks.clone(),
    })
}

fn median_pass(several: &[Measurement], pass: fn(&Measurement) -> &Pass) -> Pass {
    let field = |get: fn(&Pass) -> Distribution| {
        Distribution::median(&several.iter().map(|m| get(pass(m))).collect::<Vec<_>>())
    };
    Pass {
        steps: several.iter().map(|m| pass(m).steps).min().unwrap_or(0),
        whole: several.iter().all(|m| pass(m).whole),
        mask: field(|p| p.mask),
        advance: field(|p| p.advance),
        step: field(|p| p.step),
        start: field(|p| p.start),
    }
}

impl Results {
    /// The cell, if it was run.
    pub fn cell(&self, engine: &str, workload: &str, vocabulary: &str) -> Option<&Cell> {
        let wanted = |cell: &&Cell| {
            (&*cell.engine, &*cell.workload, &*cell.vocabulary) == (engine, workload, vocabulary)
        };
        self.cells.iter().find(wanted)
    }

    /// Puts a cell in, in place of an older one of the same.
    pub fn put(&mut self, cell: Cell) {
        self.cells.retain(|old| {
            (&old.engine, &old.workload, &old.vocabulary) != (&cell.engine, &cell.workload, &cell.vocabulary)
        });
        self.cells.push(cell);
    }
}

//! What a run found: the file that tables and plots are made from.

use serde::{Deserialize, Serialize};

use crate::measure::{Floor, Measurement, Memory, Samples};
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
    /// The system's load average over a minute when the run began: above zero, others took their
    /// share of the cores.
    pub load: f64,
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
    /// The figures, unless there are none.
    pub figures: Option<Figures>,
    /// How many repetitions.
    pub repetitions: usize,
    /// What is to be known about it: why there is no figure, or in what the masks differ.
    pub notes: Vec<String>,
}

/// What several measurements of one thing come to. Times are in nanoseconds, memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// From the bytes of the tokens to what the engine needs for any grammar.
    pub prepare: f64,
    /// From the grammar's text to what all sequences share.
    pub compile: f64,
    /// Beginning the first sequence and its first mask.
    pub first_mask: f64,
    /// The first pass over the documents.
    pub cold: Pass,
    /// The second.
    pub warm: Pass,
    /// Memory.
    pub memory: Memory,
}

/// One pass over the documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Tokens taken.
    pub steps: usize,
    /// Whether these were all.
    pub whole: bool,
    /// Filling the mask.
    pub mask: Distribution,
    /// Taking the token.
    pub advance: Distribution,
    /// Both of a step together: some engines compute the mask when they take the token before.
    pub step: Distribution,
    /// Beginning a sequence.
    pub start: Distribution,
}

impl Figures {
    /// The medians of several measurements; `None` of none. For what happens at each step, the
    /// median is taken step by step, before any percentile: all measurements take the same steps,
    /// and what disturbs one of them hardly disturbs the same step of another.
    pub fn of(several: &[Measurement]) -> Option<Self> {
        if several.is_empty() {
            return None;
        }
        let field = |get: fn(&Measurement) -> f64| median(several.iter().map(get));
        let begin = |m: &Measurement| {
            let first = m.cold.start.first().zip(m.cold.mask.first());
            first.map_or(0, |(start, mask)| start + mask) as f64
        };
        Some(Self {
            prepare: field(|m| m.prepare),
            compile: field(|m| m.compile),
            first_mask: field(begin),
            cold: Pass::of(&several.iter().map(|m| &m.cold).collect::<Vec<_>>()),
            warm: Pass::of(&several.iter().map(|m| &m.warm).collect::<Vec<_>>()),
            memory: Memory {
                prepared: field(|m| m.memory.prepared),
                compiled: field(|m| m.memory.compiled),
                used: field(|m| m.memory.used),
                peak: field(|m| m.memory.peak),
            },
        })
    }
}

impl Pass {
    fn of(several: &[&Samples]) -> Self {
        let start = medians(several, |samples| &samples.start);
        let mask = medians(several, |samples| &samples.mask);
        let advance = medians(several, |samples| &samples.advance);
        let step = mask.iter().zip(&advance).map(|(mask, advance)| mask + advance).collect();
        Self {
            steps: advance.len(),
            whole: several.iter().all(|samples| samples.whole),
            step: Distribution::of(step),
            mask: Distribution::of(mask),
            advance: Distribution::of(advance),
            start: Distribution::of(start),
        }
    }
}

/// Step by step, the medians; as many as all have.
pub(crate) fn medians<T>(several: &[&T], part: fn(&T) -> &Vec<u64>) -> Vec<u64> {
    let steps = several.iter().map(|samples| part(samples).len()).min().unwrap_or(0);
    (0..steps)
        .map(|step| median(several.iter().map(|samples| part(samples)[step] as f64)) as u64)
        .collect()
}

impl Results {
    /// The cell, if it was run.
    pub fn cell(&self, engine: &str, workload: &str, vocabulary: &str) -> Option<&Cell> {
        let wanted = |cell: &&Cell| {
            (&*cell.engine, &*cell.workload, &*cell.vocabulary) == (engine, workload, vocabulary)
        };
        self.cells.iter().find(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_taken_step_by_step() {
        let measured = |mask: [u64; 3]| Measurement {
            cold: Samples {
                whole: true,
                start: vec![5],
                mask: mask.to_vec(),
                advance: vec![1, 1, 1],
            },
            ..Measurement::default()
        };
        // Each was disturbed once, at another step.
        let several = [measured([900, 20, 30]), measured([10, 900, 30]), measured([10, 20, 900])];
        let figures = Figures::of(&several).expect("figures");
        assert_eq!(
            (figures.cold.mask.max, figures.cold.mask.mean, figures.first_mask),
            (30.0, 20.0, 15.0)
        );
        assert_eq!(
            (figures.cold.steps, figures.cold.whole, figures.cold.step.max),
            (3, true, 31.0)
        );
        assert_eq!(Figures::of(&[]), None);
    }
}

//! One engine, one grammar, one vocabulary, the documents twice: the measuring process.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::case::{Case, Documents, Loaded};
use crate::engine::{Engine, Sequence};
use crate::memory;
use crate::stats::Distribution;

/// What was measured. Times are in nanoseconds, memory in bytes over what the process had after it
/// had read its files.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measurement {
    /// What the engine said when it gave up, and where. What was measured before still stands.
    pub fault: Option<String>,
    /// From the bytes of the tokens to what the engine needs for any grammar.
    pub prepare: f64,
    /// From the grammar's text to what all sequences share.
    pub compile: f64,
    /// Memory.
    pub memory: Memory,
    /// The first pass over the documents.
    pub cold: Samples,
    /// The second.
    pub warm: Samples,
    /// For each check of the case, how many ordinary tokens the mask allows and whether the text
    /// may end.
    pub checks: Vec<Check>,
}

/// The times of one pass, step by step, over all documents.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Samples {
    /// Whether patience lasted.
    pub whole: bool,
    /// Beginning each sequence.
    pub start: Vec<u64>,
    /// Filling each mask.
    pub mask: Vec<u64>,
    /// Taking each token.
    pub advance: Vec<u64>,
}

/// Resident memory over that of the process with its files read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// With the vocabulary prepared.
    pub prepared: f64,
    /// With the grammar compiled.
    pub compiled: f64,
    /// After both passes.
    pub used: f64,
    /// The most at any time.
    pub peak: f64,
}

/// A mask in short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Tokens allowed, without those that have no bytes.
    pub allowed: u32,
    /// Whether a token that ends the text is among those allowed.
    pub ends: bool,
}

/// Measures `E` on a case.
///
/// # Errors
///
/// When the case's files cannot be read. What the engine says is part of the measurement.
pub fn measure<E: Engine>(case: &Case) -> std::io::Result<Measurement> {
    let loaded = case.load()?;
    let mut measurement = Measurement::default();
    if let Err(fault) = run::<E>(case, &loaded, &mut measurement) {
        measurement.fault = Some(fault);
    }
    Ok(measurement)
}

fn run<E: Engine>(
    case: &Case,
    loaded: &Loaded,
    measurement: &mut Measurement,
) -> Result<(), String> {
    let mut row = vec![0; loaded.words.row()];
    let patience = Duration::from_secs_f64(case.patience);
    memory::forget_peak();
    let baseline = memory::resident();
    let above = |now: u64| now.saturating_sub(baseline) as f64;

    let (vocabulary, time) = timed(|| E::prepare(&loaded.words));
    let vocabulary = vocabulary?;
    measurement.prepare = time as f64;
    measurement.memory.prepared = above(memory::resident());

    let (constraint, time) = timed(|| E::compile(&vocabulary, &loaded.grammar));
    let mut constraint = constraint?;
    measurement.compile = time as f64;
    measurement.memory.compiled = above(memory::resident());

    let documents = &loaded.documents;
    let mut pass = |samples: &mut Samples, steps: usize| {
        replay::<E>(&mut constraint, documents, &mut row, samples, steps, Instant::now() + patience)
    };
    pass(&mut measurement.cold, usize::MAX)?;
    // No further than the first pass came: what it has not seen is not warm.
    pass(&mut measurement.warm, measurement.cold.advance.len())?;
    measurement.memory.used = above(memory::resident());
    measurement.memory.peak = above(memory::peak());

    measurement.checks = check::<E>(&mut constraint, case, loaded, &mut row)?;
    Ok(())
}

/// Masks and tokens along all documents, but for `steps` steps at most and not beyond `deadline`.
fn replay<E: Engine>(
    constraint: &mut E::Constraint<'_>,
    documents: &Documents,
    row: &mut [u32],
    samples: &mut Samples,
    steps: usize,
    deadline: Instant,
) -> Result<(), String> {
    for (index, tokens) in documents.0.iter().enumerate() {
        let (sequence, time) = timed(|| E::start(constraint));
        let mut sequence = sequence?;
        samples.start.push(time);
        for (step, &token) in tokens.iter().enumerate() {
            let place = |fault: &str| format!("document {index}, token {step}: {fault}");
            let (filled, time) = timed(|| sequence.fill_mask(row));
            filled.map_err(|fault| place(&fault))?;
            samples.mask.push(time);
            black_box(&*row);
            if !allows(row, token) {
                return Err(place(&format!("refuses token {token}, which comes next")));
            }
            let (taken, time) = timed(|| sequence.advance(token));
            taken.map_err(|fault| place(&fault))?;
            samples.advance.push(time);
            if samples.advance.len() >= steps || Instant::now() > deadline {
                return Ok(());
            }
        }
    }
    samples.whole = true;
    Ok(())
}

/// Masks in numbers, at the places that the case names.
fn check<E: Engine>(
    constraint: &mut E::Constraint<'_>,
    case: &Case,
    loaded: &Loaded,
    row: &mut [u32],
) -> Result<Vec<Check>, String> {
    let mut checks = Vec::new();
    for (index, tokens) in loaded.documents.0.iter().enumerate() {
        let places = || case.checks.iter().filter(|(document, _)| *document as usize == index);
        let Some(last) = places().map(|&(_, step)| step as usize).max() else { continue };
        let mut sequence = E::start(constraint)?;
        for step in 0..=last.min(tokens.len()) {
            if places().any(|&(_, place)| place as usize == step) {
                sequence.fill_mask(row)?;
                checks.push(count(row, loaded));
            }
            if let Some(&token) = tokens.get(step) {
                sequence.advance(token)?;
            }
        }
    }
    Ok(checks)
}

fn count(row: &[u32], loaded: &Loaded) -> Check {
    let words = loaded.words.words.iter().enumerate();
    let allowed = words.filter(|(id, word)| !word.is_empty() && allows(row, *id as u32)).count();
    Check {
        allowed: allowed as u32,
        ends: loaded.words.stops.iter().any(|&stop| allows(row, stop)),
    }
}

/// Whether the mask in `row` has the token.
pub(crate) fn allows(row: &[u32], token: u32) -> bool {
    row.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1)
}

/// What `work` gives, and its nanoseconds.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let begin = Instant::now();
    let done = work();
    let time = begin.elapsed();
    (done, time.as_nanos() as u64)
}

/// What nothing can be faster than.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Floor {
    /// Copying a mask, from 64 of them in turn, into one row.
    pub copy: Distribution,
    /// Reading the clock twice: part of every time.
    pub clock: Distribution,
}

/// Measures the floor for masks of `words` words.
pub fn floor(words: usize) -> Floor {
    const MASKS: usize = 64;
    const ROUNDS: usize = 20_000;
    let masks: Vec<Vec<u32>> = (0..MASKS).map(|mask| vec![mask as u32; words]).collect();
    let mut row = vec![0; words];
    let mut copies = Vec::with_capacity(ROUNDS);
    let mut clocks = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        let ((), time) = timed(|| row.copy_from_slice(black_box(&masks[round % MASKS])));
        black_box(&row);
        copies.push(time);
        clocks.push(timed(|| ()).1);
    }
    Floor { copy: Distribution::of(copies), clock: Distribution::of(clocks) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_found_where_they_stand() {
        assert!(allows(&[0, 2], 33));
        assert!(!allows(&[0, 2], 1));
        assert!(!allows(&[0, 2], 64));
    }
}

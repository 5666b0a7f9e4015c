//! One engine, one vocabulary, all schemas: the measuring process.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::case::{Form, GrammarText, Words};
use crate::engine::{Engine, Sequence};
use crate::measure::{allows, timed};

/// What a process is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SchemaCase {
    /// The file of [`Words`].
    pub vocabulary: PathBuf,
    /// The file of a list of [`Schema`]s.
    pub schemas: PathBuf,
    /// Seconds after which the first pass over a schema's instances is cut short.
    pub patience: f64,
}

/// A schema with its instances in tokens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Schema {
    /// Its text.
    pub text: String,
    /// Instances that satisfy it.
    pub valid: Vec<Vec<u32>>,
    /// Instances that do not.
    pub invalid: Vec<Vec<u32>>,
}

/// What was measured of a schema. Times are in nanoseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SchemaMeasurement {
    /// What the engine said when it refused the schema. Then there are no times.
    pub refusal: Option<String>,
    /// From the schema's text to the first mask: compiling, beginning a sequence, its mask.
    pub first_mask: u64,
    /// Each mask along the valid instances.
    pub cold: Vec<u64>,
    /// The same once more.
    pub warm: Vec<u64>,
    /// Valid instances that the masks refuse.
    pub valid_refused: u32,
    /// Invalid instances that the masks allow.
    pub invalid_accepted: u32,
}

/// Measures `E` on a case.
///
/// # Errors
///
/// When the files cannot be read, or the engine refuses the vocabulary.
pub fn measure<E: Engine>(case: &Path) -> Result<Vec<SchemaMeasurement>, String> {
    let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let broken = |error: serde_json::Error| error.to_string();
    let case: SchemaCase = serde_json::from_slice(&read(case)?).map_err(broken)?;
    let schemas: Vec<Schema> = serde_json::from_slice(&read(&case.schemas)?).map_err(broken)?;
    let words = Words::from_bytes(&read(&case.vocabulary)?).ok_or("a broken file of words")?;
    let vocabulary = E::prepare(&words)?;
    let mut row = vec![0; words.row()];
    let measured = schemas.into_iter().map(|schema| {
        let mut measurement = SchemaMeasurement::default();
        let mut one = OneSchema { words: &words, row: &mut row, patience: case.patience };
        if let Err(refusal) = one.measure::<E>(&vocabulary, schema, &mut measurement) {
            measurement =
                SchemaMeasurement { refusal: Some(refusal), ..SchemaMeasurement::default() };
        }
        measurement
    });
    Ok(measured.collect())
}

struct OneSchema<'m> {
    words: &'m Words,
    row: &'m mut [u32],
    patience: f64,
}

impl OneSchema<'_> {
    fn measure<E: Engine>(
        &mut self,
        vocabulary: &E::Vocabulary,
        schema: Schema,
        measurement: &mut SchemaMeasurement,
    ) -> Result<(), String> {
        let text = GrammarText { form: Form::Schema, path: PathBuf::new(), text: schema.text };
        let begin = Instant::now();
        let mut constraint = E::compile(vocabulary, &text)?;
        let mut sequence = E::start(&mut constraint)?;
        let (filled, first) = timed(|| sequence.fill_mask(self.row));
        measurement.first_mask = begin.elapsed().as_nanos() as u64;
        filled?;
        black_box(&*self.row);
        drop(sequence);

        let deadline = Instant::now();
        let is_late = || deadline.elapsed().as_secs_f64() > self.patience;
        let mut followed = 0;
        for tokens in schema.valid.iter().take_while(|_| !is_late()) {
            followed += 1;
            let cold = &mut measurement.cold;
            if !accepts::<E>(&mut constraint, self.words, self.row, tokens, cold) {
                measurement.valid_refused += 1;
            }
        }
        // The first mask of all was met before.
        if let Some(mask) = measurement.cold.first_mut() {
            *mask = first;
        }
        for tokens in &schema.valid[..followed] {
            accepts::<E>(&mut constraint, self.words, self.row, tokens, &mut measurement.warm);
        }
        for tokens in &schema.invalid {
            if accepts::<E>(&mut constraint, self.words, self.row, tokens, &mut Vec::new()) {
                measurement.invalid_accepted += 1;
            }
        }
        Ok(())
    }
}

/// Whether the masks allow each token of a text, and its end behind them. An engine that gives up
/// on the way refuses the text.
fn accepts<E: Engine>(
    constraint: &mut E::Constraint<'_>,
    words: &Words,
    row: &mut [u32],
    tokens: &[u32],
    times: &mut Vec<u64>,
) -> bool {
    let Ok(mut sequence) = E::start(constraint) else { return false };
    let mut mask = |sequence: &mut E::Sequence<'_>, row: &mut [u32]| {
        let (filled, time) = timed(|| sequence.fill_mask(row));
        times.push(time);
        black_box(&*row);
        filled.is_ok()
    };
    for &token in tokens {
        if !mask(&mut sequence, row) || !allows(row, token) || sequence.advance(token).is_err() {
            return false;
        }
    }
    mask(&mut sequence, row) && words.stops.iter().any(|&stop| allows(row, stop))
}

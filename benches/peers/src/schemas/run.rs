//! A run over schemas: each engine in a process of its own, several times, in turns.

use std::time::{Duration, Instant};

use super::figures::{EngineFigures, SchemaFigures, SchemaResults, Times, Verdicts};
use super::measure::{Schema, SchemaCase, SchemaMeasurement};
use super::sample::{self, Sample};
use crate::child;
use crate::peers::{self, Peer};
use crate::run::{Plan, Scratch, about};
use crate::vocabularies::{self, Named};

/// The engine that others are held against.
const OURS: &str = "lrmask";

/// An engine whose process takes so long is run once only.
const SLOW: Duration = Duration::from_secs(300);

/// The vocabulary, unless the plan names another.
const VOCABULARY: &str = "o200k";

/// Runs the plan's engines over the schemas; `progress` is told what is being done.
///
/// # Errors
///
/// When the run itself fails. That an engine fails is a result.
pub fn run(plan: &Plan, progress: &dyn Fn(&str)) -> Result<SchemaResults, String> {
    let scratch = Scratch::new()?;
    let name = plan.vocabularies.first().map_or(VOCABULARY, String::as_str);
    let vocabulary = vocabularies::load(name, &plan.data)?
        .ok_or_else(|| format!("{name}: its file is not there"))?;
    let (samples, own) = sample::read(&plan.data, &peers::package().join("schemas"))?;
    let schemas: Option<Vec<Schema>> =
        samples.iter().map(|sample| in_tokens(sample, &vocabulary)).collect();
    let schemas = schemas.ok_or_else(|| format!("{name} cannot spell an instance"))?;
    let bytes = |value: &[Schema]| serde_json::to_vec(value).map_err(|error| error.to_string());
    let case = SchemaCase {
        vocabulary: scratch.write("vocabulary", &vocabulary.words().to_bytes())?,
        schemas: scratch.write("schemas.json", &bytes(&schemas)?)?,
        patience: plan.patience,
    };
    let case = serde_json::to_vec(&case).map_err(|error| error.to_string())?;
    let case = scratch.write("schema-case.json", &case)?;

    let mut runs: Vec<Run> =
        plan.peers().into_iter().filter(Peer::takes_schemas).map(Run::new).collect();
    for repetition in 1..=plan.repetitions {
        for run in runs.iter_mut().filter(|run| run.fault.is_none() && !run.is_slow) {
            progress(&format!("{repetition} of {}: {}", plan.repetitions, run.peer.name));
            let begun = Instant::now();
            match one_process(&run.peer, &case, plan) {
                Ok(measured) => run.measured.push(measured),
                Err(fault) => run.fault = Some(fault),
            }
            run.is_slow = begun.elapsed() > SLOW;
        }
    }
    let figures: Vec<Vec<SchemaFigures>> = runs.iter().map(Run::figures).collect();
    let ours = runs.iter().position(|run| run.peer.name == OURS);
    let ours: &[SchemaFigures] = ours.map_or(&[], |ours| &figures[ours]);
    let engines = runs.iter().zip(&figures).map(|(run, theirs)| {
        let both =
            theirs.iter().zip(ours).filter(|(theirs, ours)| theirs.passes() && ours.passes());
        EngineFigures {
            engine: run.peer.name.to_owned(),
            fault: run.fault.clone(),
            verdicts: Verdicts::of(theirs),
            all: Times::over(theirs.iter().filter(|schema| schema.is_taken())),
            shared: Times::over(both.clone().map(|(theirs, _)| theirs)),
            shared_ours: Times::over(both.map(|(_, ours)| ours)),
        }
    });
    let count =
        |get: fn(&Sample) -> &Vec<String>| samples.iter().map(|sample| get(sample).len()).sum();
    let mut about = about(plan);
    about.engines.retain(|(name, _)| runs.iter().any(|run| run.peer.name == name));
    Ok(SchemaResults {
        about,
        vocabulary: name.to_owned(),
        schemas: schemas.len(),
        instances: [count(|sample| &sample.valid), count(|sample| &sample.invalid)],
        own,
        engines: engines.collect(),
    })
}

fn in_tokens(sample: &Sample, vocabulary: &Named) -> Option<Schema> {
    let cut = |texts: &[String]| {
        texts.iter().map(|text| vocabulary.cut(text)).collect::<Option<Vec<_>>>()
    };
    Some(Schema {
        text: sample.schema.clone(),
        valid: cut(&sample.valid)?,
        invalid: cut(&sample.invalid)?,
    })
}

/// An engine's processes.
struct Run {
    peer: Peer,
    measured: Vec<Vec<SchemaMeasurement>>,
    fault: Option<String>,
    is_slow: bool,
}

impl Run {
    fn new(peer: Peer) -> Self {
        Self { peer, measured: Vec::new(), fault: None, is_slow: false }
    }

    /// Schema by schema.
    fn figures(&self) -> Vec<SchemaFigures> {
        let count = self.measured.iter().map(Vec::len).min().unwrap_or(0);
        let one = |at: usize| self.measured.iter().map(|process| &process[at]).collect::<Vec<_>>();
        (0..count).filter_map(|at| SchemaFigures::of(&one(at))).collect()
    }
}

fn one_process(
    peer: &Peer,
    case: &std::path::Path,
    plan: &Plan,
) -> Result<Vec<SchemaMeasurement>, String> {
    let output = child::run(peer.schema_command(case)?, plan.limits)?;
    serde_json::from_slice(&output).map_err(|error| format!("not understood: {error}"))
}

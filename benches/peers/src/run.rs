//! A run: every engine on every workload with every vocabulary, each in a process of its own,
//! several times.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::case::{Case, Documents};
use crate::child::{self, Limits};
use crate::measure::{self, Check, Measurement};
use crate::peers::{self, Peer};
use crate::results::{self, About, Cell, Figures, Results};
use crate::vocabularies::{self, Named};
use crate::workloads::{self, Expectation, Workload};

/// What to run, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Engines by name; all when empty.
    pub engines: Vec<String>,
    /// Workloads by directory; all when empty.
    pub workloads: Vec<String>,
    /// Vocabularies by name; all when empty.
    pub vocabularies: Vec<String>,
    /// Processes for each cell.
    pub repetitions: usize,
    /// Tokens of a workload's documents, at most; the project's own are taken whole.
    pub tokens: usize,
    /// Seconds for a pass.
    pub patience: f64,
    /// The directory of the samples.
    pub data: PathBuf,
    /// Limits of a process.
    pub limits: Limits,
}

/// A cell whose process took so long is not repeated.
const SLOW: Duration = Duration::from_secs(30);

impl Plan {
    fn wants(list: &[String], name: &str) -> bool {
        list.is_empty() || list.iter().any(|wanted| wanted == name)
    }

    /// The engines to run, in the order of tables.
    pub fn peers(&self) -> Vec<Peer> {
        peers::ALL.into_iter().filter(|peer| Self::wants(&self.engines, peer.name)).collect()
    }

    fn chosen_workloads(&self) -> Result<Vec<Workload>, String> {
        let mut all = workloads::read(&peers::package().join("workloads"))?;
        all.retain(|workload| Self::wants(&self.workloads, &workload.name));
        Ok(all)
    }

    fn chosen_vocabularies(&self) -> Result<Vec<Named>, String> {
        let names = vocabularies::names().filter(|name| Self::wants(&self.vocabularies, name));
        names.filter_map(|name| vocabularies::load(name, &self.data).transpose()).collect()
    }
}

/// A directory for the files of cases, gone when it is dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("lrmask-peers-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        Ok(Self(path))
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing is lost when the system's directory for temporary files keeps it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The documents of a workload in tokens, and how many of them are the project's own.
fn documents(
    workload: &Workload,
    vocabulary: &Named,
    plan: &Plan,
) -> Result<(Documents, usize), String> {
    let own = workload.own_documents()?;
    let mut documents = Vec::new();
    for text in &own {
        let tokens = vocabulary.cut(text);
        documents.push(tokens.ok_or_else(|| {
            format!("{} cannot spell a document of {}", vocabulary.name, workload.name)
        })?);
    }
    let mut total: usize = documents.iter().map(Vec::len).sum();
    for text in workload.samples(&plan.data)? {
        // One text is to fill no more than a quarter of the whole.
        if let Some(tokens) = vocabulary.cut(&text).filter(|tokens| tokens.len() <= plan.tokens / 4)
        {
            if total + tokens.len() > plan.tokens {
                break;
            }
            total += tokens.len();
            documents.push(tokens);
        }
    }
    Ok((Documents(documents), own.len()))
}

/// Runs the plan; `progress` is told what is being done.
///
/// # Errors
///
/// When the run itself fails. That an engine fails is a result.
pub fn run(plan: &Plan, progress: &dyn Fn(&str)) -> Result<Results, String> {
    let scratch = Scratch::new()?;
    let workloads = plan.chosen_workloads()?;
    let mut results = Results { about: about(plan), ..Results::default() };
    for vocabulary in plan.chosen_vocabularies()? {
        let words = vocabulary.words();
        results.vocabularies.push(results::Vocabulary {
            name: vocabulary.name.to_owned(),
            width: words.words.len(),
            floor: measure::floor(words.row()),
        });
        let words = scratch.write("vocabulary", &words.to_bytes())?;
        let mut slots = Vec::new();
        for workload in &workloads {
            let (documents, own) = documents(workload, &vocabulary, plan)?;
            if !results.workloads.iter().any(|known| known.name == workload.name) {
                results.workloads.push(results::Workload {
                    name: workload.name.clone(),
                    title: workload.title.clone(),
                    documents: documents.0.len(),
                    own,
                });
            }
            let file =
                scratch.write(&format!("documents-{}", workload.name), &documents.to_bytes())?;
            let expected = workload.expected()?.remove(vocabulary.name).unwrap_or_default();
            for peer in plan.peers() {
                slots.push(Slot::new(peer, workload, &words, &file, expected.clone(), plan));
            }
        }
        // Repetitions go round, so that what disturbs the machine for a while disturbs all alike.
        for repetition in 0..plan.repetitions {
            for slot in &mut slots {
                if slot.wants_another() {
                    progress(&format!(
                        "{}, {} of {}: {} on {}",
                        vocabulary.name,
                        repetition + 1,
                        plan.repetitions,
                        slot.peer.name,
                        slot.workload
                    ));
                    slot.repeat(&scratch, plan)?;
                }
            }
        }
        results.cells.extend(slots.into_iter().map(|slot| slot.cell(vocabulary.name)));
    }
    Ok(results)
}

/// A cell while it is being measured.
struct Slot {
    peer: Peer,
    workload: String,
    case: Option<Case>,
    expected: Vec<Expectation>,
    measurements: Vec<Measurement>,
    notes: Vec<String>,
    slow: bool,
}

impl Slot {
    fn new(
        peer: Peer,
        workload: &Workload,
        vocabulary: &Path,
        documents: &Path,
        expected: Vec<Expectation>,
        plan: &Plan,
    ) -> Self {
        let mut notes = Vec::new();
        let case = match workload.grammar(peer.name) {
            Err(absent) => {
                notes.push(absent);
                None
            }
            Ok(grammar) => {
                notes.extend(grammar.note);
                Some(Case {
                    form: grammar.form,
                    grammar: grammar.path,
                    vocabulary: vocabulary.to_owned(),
                    documents: documents.to_owned(),
                    checks: expected.iter().map(|place| (place.0, place.1)).collect(),
                    patience: plan.patience,
                })
            }
        };
        let workload = workload.name.clone();
        Self { peer, workload, case, expected, measurements: Vec::new(), notes, slow: false }
    }

    fn wants_another(&self) -> bool {
        self.case.is_some() && !self.slow
    }

    fn repeat(&mut self, scratch: &Scratch, plan: &Plan) -> Result<(), String> {
        let Some(case) = &self.case else { return Ok(()) };
        let content = serde_json::to_vec(case).map_err(|error| error.to_string())?;
        let file = scratch.write("case.json", &content)?;
        let begin = Instant::now();
        let output = self.peer.command(&file).and_then(|command| child::run(command, plan.limits));
        self.slow = begin.elapsed() > SLOW;
        let measured = output.and_then(|output| {
            serde_json::from_slice::<Measurement>(&output)
                .map_err(|error| format!("not understood: {error}"))
        });
        match measured {
            Ok(measurement) => {
                // A fault comes again: once is enough.
                self.slow |= measurement.fault.is_some();
                self.measurements.push(measurement);
            }
            Err(fault) => {
                self.notes.push(fault);
                self.slow = true;
            }
        }
        Ok(())
    }

    fn cell(mut self, vocabulary: &str) -> Cell {
        let first = self.measurements.first();
        self.notes.extend(
            first.map(|first| differences(&self.expected, &first.checks)).unwrap_or_default(),
        );
        let mut figures = Figures::of(&self.measurements);
        if let Some(fault) = self.measurements.iter().find_map(|measured| measured.fault.as_deref())
        {
            // Some engines add pages about their state.
            let fault = fault.lines().next().unwrap_or_default();
            self.notes.push(fault.chars().take(160).collect());
            // Who refuses the text has no times: they would be those of something else.
            figures = None;
        }
        if let Some(cold) = figures.map(|figures| figures.cold).filter(|cold| !cold.whole) {
            self.notes.push(format!("cut short after {} steps", cold.steps));
        }
        Cell {
            engine: self.peer.name.to_owned(),
            workload: self.workload,
            vocabulary: vocabulary.to_owned(),
            repetitions: self.measurements.len(),
            figures,
            notes: self.notes,
        }
    }
}

/// In what masks differ from what they must be, in a sentence or two.
fn differences(expected: &[Expectation], checks: &[Check]) -> Vec<String> {
    let pairs = || expected.iter().zip(checks);
    let mut notes = Vec::new();
    let mut say = |what: &str, differs: &dyn Fn(&Expectation, &Check) -> bool| {
        let count = pairs().filter(|(must, is)| differs(must, is)).count();
        if let Some((must, is)) = pairs().find(|(must, is)| differs(must, is)) {
            notes.push(format!(
                "{what} at {count} of {} places (document {}, token {}: {} for {})",
                checks.len(),
                must.0,
                must.1,
                is.allowed,
                must.2
            ));
        }
    };
    say("masks too wide", &|must, is| is.allowed > must.2);
    say("masks too narrow", &|must, is| is.allowed < must.2);
    let never = pairs().filter(|(must, _)| must.3).all(|(_, is)| !is.ends);
    if never && pairs().any(|(must, _)| must.3) {
        notes.push("does not say that the text may end".to_owned());
    } else {
        let wrong = pairs().filter(|(must, is)| must.3 != is.ends).count();
        if wrong > 0 {
            notes.push(format!("wrong on the text's end at {wrong} of {} places", checks.len()));
        }
    }
    notes
}

/// Writes what masks must be, for each of the plan's workloads and vocabularies: the counts that
/// lrmask finds.
///
/// # Errors
///
/// When lrmask fails, or a file cannot be written.
pub fn expect(plan: &Plan, progress: &dyn Fn(&str)) -> Result<(), String> {
    /// Places in a vocabulary and workload.
    const PLACES: usize = 48;
    let scratch = Scratch::new()?;
    let lrmask = &peers::ALL[0];
    let vocabularies = plan.chosen_vocabularies()?;
    for workload in plan.chosen_workloads()? {
        let mut expected = workload.expected()?;
        for vocabulary in &vocabularies {
            progress(&format!("{} with {}", workload.name, vocabulary.name));
            let texts = workload.own_documents()?;
            let documents: Option<Vec<_>> = texts.iter().map(|text| vocabulary.cut(text)).collect();
            let documents = Documents(documents.ok_or("a document cannot be spelt")?);
            let all: Vec<(u32, u32)> = (documents.0.iter().zip(0..))
                .flat_map(|(tokens, index)| {
                    (0..=tokens.len() as u32).map(move |step| (index, step))
                })
                .collect();
            // A stride prime to most periods of texts; and the last, where a text may end.
            let stride = all.len().div_ceil(PLACES) | 1;
            let mut checks: Vec<_> = all.iter().copied().step_by(stride).collect();
            checks.extend(all.last().filter(|last| checks.last() != Some(last)).copied());
            let grammar = workload.grammar(lrmask.name)?;
            let case = Case {
                form: grammar.form,
                grammar: grammar.path,
                vocabulary: scratch.write("vocabulary", &vocabulary.words().to_bytes())?,
                documents: scratch.write("documents", &documents.to_bytes())?,
                checks: checks.clone(),
                patience: f64::from(u32::MAX),
            };
            let content = serde_json::to_vec(&case).map_err(|error| error.to_string())?;
            let file = scratch.write("case.json", &content)?;
            let output = child::run(lrmask.command(&file)?, plan.limits)?;
            let measured: Measurement =
                serde_json::from_slice(&output).map_err(|error| error.to_string())?;
            if let Some(fault) = measured.fault {
                return Err(format!("{}: {fault}", workload.name));
            }
            let counts = checks.iter().zip(&measured.checks);
            let counts = counts
                .map(|(&(document, step), is)| Expectation(document, step, is.allowed, is.ends));
            expected.insert(vocabulary.name.to_owned(), counts.collect());
        }
        let text = one_vocabulary_a_line(&expected)?;
        fs::write(workload.expected_file(), text).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn one_vocabulary_a_line(expected: &BTreeMap<String, Vec<Expectation>>) -> Result<String, String> {
    let mut lines = Vec::new();
    for (name, counts) in expected {
        let counts = serde_json::to_string(counts).map_err(|error| error.to_string())?;
        lines.push(format!("  {name:?}: {counts}"));
    }
    Ok(format!("{{\n{}\n}}\n", lines.join(",\n")))
}

/// Where and when the plan is run.
pub(crate) fn about(plan: &Plan) -> About {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor =
        processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let date = Command::new("date").arg("+%Y-%m-%d").output();
    About {
        processor: processor.map_or_else(|| "unknown".to_owned(), |(_, name)| name.to_owned()),
        cores: std::thread::available_parallelism().map_or(1, Into::into),
        date: date.map_or_else(
            |_| String::new(),
            |date| String::from_utf8_lossy(&date.stdout).trim().to_owned(),
        ),
        engines: plan
            .peers()
            .iter()
            .map(|peer| (peer.name.to_owned(), peer.version.to_owned()))
            .collect(),
        samples: plan.data.is_dir(),
        repetitions: plan.repetitions,
        load: load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_by_kind() {
        let expected = [Expectation(0, 0, 5, false), Expectation(0, 1, 7, true)];
        let masks =
            |counts: [(u32, bool); 2]| counts.map(|(allowed, ends)| Check { allowed, ends });
        assert!(differences(&expected, &masks([(5, false), (7, true)])).is_empty());
        let wide = differences(&expected, &masks([(6, false), (7, true)]));
        assert_eq!(wide, ["masks too wide at 1 of 2 places (document 0, token 0: 6 for 5)"]);
        let endless = differences(&expected, &masks([(5, false), (6, false)]));
        assert_eq!(endless.len(), 2);
        assert!(endless[1].contains("may end"));
    }
}

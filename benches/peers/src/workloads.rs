//! Workloads: a directory each below `workloads`, read as data.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::case::Form;
use crate::samples;

/// `workload.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    /// What tables call it.
    title: String,
    /// Its place in tables.
    order: u32,
    /// Longer texts that may lie beside the project.
    #[serde(default)]
    samples: Vec<samples::Source>,
    /// Each engine's grammar.
    engines: BTreeMap<String, Entry>,
}

/// What a workload says of an engine.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Entry {
    /// It is not run, and why.
    Absent { absent: String },
    /// Its grammar; and, where its language is not quite the workload's, in what.
    Present { form: Form, grammar: PathBuf, note: Option<String> },
}

/// A grammar of a workload for an engine.
#[derive(Clone, Debug)]
pub struct EngineGrammar {
    /// How it is written.
    pub form: Form,
    /// Its file.
    pub path: PathBuf,
    /// In what its language is not quite the workload's.
    pub note: Option<String>,
}

/// A workload.
#[derive(Debug)]
pub struct Workload {
    /// The directory's name.
    pub name: String,
    /// What tables call it.
    pub title: String,
    order: u32,
    directory: PathBuf,
    samples: Vec<samples::Source>,
    engines: BTreeMap<String, Entry>,
}

/// The counts that masks must have: for a vocabulary, `[document, step, allowed, ends]` of the
/// project's own documents.
pub type Expected = BTreeMap<String, Vec<Expectation>>;

/// What a mask must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation(pub u32, pub u32, pub u32, pub bool);

/// All workloads below `directory`, in the order of tables.
///
/// # Errors
///
/// What is wrong with which file.
pub fn read(directory: &Path) -> Result<Vec<Workload>, String> {
    let entries =
        fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut workloads = Vec::new();
    for entry in entries.flatten() {
        let file = entry.path().join("workload.json");
        if let Ok(text) = fs::read(&file) {
            let description: Description = serde_json::from_slice(&text)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            workloads.push(Workload {
                name: entry.file_name().to_string_lossy().into_owned(),
                title: description.title,
                order: description.order,
                directory: entry.path(),
                samples: description.samples,
                engines: description.engines,
            });
        }
    }
    workloads.sort_by_key(|workload| workload.order);
    Ok(workloads)
}

impl Workload {
    /// The engine's grammar, or why it has none.
    ///
    /// # Errors
    ///
    /// The reason.
    pub fn grammar(&self, engine: &str) -> Result<EngineGrammar, String> {
        match self.engines.get(engine) {
            None => Err("no grammar".to_owned()),
            Some(Entry::Absent { absent }) => Err(absent.clone()),
            Some(Entry::Present { form, grammar, note }) => Ok(EngineGrammar {
                form: *form,
                path: self.directory.join(grammar),
                note: note.clone(),
            }),
        }
    }

    /// The project's own documents: each file of `documents`, but each line of one called
    /// `*.lines`.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn own_documents(&self) -> Result<Vec<String>, String> {
        let directory = self.directory.join("documents");
        let listing = fs::read_dir(&directory)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
        let mut paths: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let mut documents = Vec::new();
        for path in paths {
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            if path.extension().is_some_and(|extension| extension == "lines") {
                documents.extend(text.lines().map(str::to_owned));
            } else {
                documents.push(text);
            }
        }
        Ok(documents)
    }

    /// Longer documents, where they lie beside the project; in an order that mixes them, always the
    /// same.
    ///
    /// # Errors
    ///
    /// When a file is there and cannot be read.
    pub fn samples(&self, data: &Path) -> Result<Vec<String>, String> {
        samples::read(&self.samples, data)
    }

    /// What masks must be, where that is known.
    ///
    /// # Errors
    ///
    /// When the file is broken.
    pub fn expected(&self) -> Result<Expected, String> {
        let path = self.expected_file();
        match fs::read(&path) {
            Err(_) => Ok(Expected::new()),
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| format!("{}: {error}", path.display())),
        }
    }

    /// Where that is kept.
    pub fn expected_file(&self) -> PathBuf {
        self.directory.join("expected.json")
    }
}

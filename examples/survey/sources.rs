//! The available grammars.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::rc::Rc;

use lrmask::{Grammar, GrammarError, GrammarReader};

use crate::corpus;

/// Files by path.
type Files = Rc<BTreeMap<String, String>>;

/// A grammar that has not been read yet.
pub(crate) struct Source {
    pub(crate) name: String,
    /// Empty if it is the file's own start symbol.
    start: String,
    text: String,
    /// Files that it may import.
    files: Files,
}

impl Source {
    /// Reads it, in the notation given by its name.
    pub(crate) fn read(&self) -> Result<Grammar, GrammarError> {
        let imports =
            |path: &str| self.files.get(path).cloned().ok_or_else(|| ErrorKind::NotFound.into());
        let start = Some(self.start.as_str()).filter(|start| !start.is_empty());
        let reader = GrammarReader::new().name(&self.name).start(start).imports(&imports);
        match Path::new(&self.name).extension().and_then(|ending| ending.to_str()) {
            Some("gbnf" | "ebnf") => reader.gbnf(&self.text),
            _ => reader.lark(&self.text),
        }
    }
}

/// Returns the grammars of the project, and those next to it.
pub(crate) fn all() -> Vec<Source> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for directory in ["grammars", "tests/grammars", "tests/gbnf", "examples/survey/grammars"] {
        of_project(project, directory, &mut found);
    }
    if let Some(directory) = corpus::directory() {
        of_project(&directory, "gbnf", &mut found);
    }
    found.extend(samples());
    found
}

/// Returns the grammars below a directory.
fn of_project(root: &Path, directory: &str, found: &mut Vec<Source>) {
    let mut paths: Vec<_> = std::fs::read_dir(root.join(directory))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    for path in paths {
        let name = format!("{directory}/{}", path.file_name().unwrap_or_default().display());
        if path.is_dir() {
            of_project(root, &name, found);
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let (name, text) = match path.extension().and_then(|ending| ending.to_str()) {
            Some("lark" | "gbnf" | "ebnf") => (name, text),
            // Test cases, of which the grammar is a part.
            Some("txt") if directory.ends_with("gbnf") => {
                let Some((_, rest)) = text.split_once("== gbnf\n") else { continue };
                let grammar = rest.split("\n== ").next().unwrap_or_default();
                (name.replace(".txt", ".gbnf"), format!("{grammar}\n"))
            }
            _ => continue,
        };
        let start = String::new();
        found.push(Source { name, start, text, files: Files::default() });
    }
}

/// Returns the samples next to the project; those for Yacc lack terminals.
fn samples() -> Vec<Source> {
    let (Some(manifest), Some(files)) =
        (corpus::file("grammars/MANIFEST.tsv"), corpus::archive("grammars/grammars.tar.gz"))
    else {
        return Vec::new();
    };
    let text = |(name, text)| Some((name, String::from_utf8(text).ok()?));
    let files: Files = Rc::new(files.into_iter().filter_map(text).collect());
    let manifest = String::from_utf8_lossy(&manifest).into_owned();
    let source = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kind, file, _, _, start, ..] = fields[..] else { return None };
        let text = files.get(file).filter(|_| kind != "yacc")?.clone();
        let (name, start) = (file.to_owned(), start.to_owned());
        Some(Source { name, start, text, files: Rc::clone(&files) })
    };
    manifest.lines().filter_map(source).collect()
}

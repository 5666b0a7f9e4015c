//! Resolution of imports to files next to the grammar, or to libraries.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use crate::grammar::GrammarError;
use crate::grammar::lower::source::{At, Sources};
use crate::syntax::ast;
use crate::util::diagnostic::{Cause, Diagnostic};

/// Built-in libraries, by name. Each is written for this project, with the names of Lark's.
const LIBRARIES: &[(&str, &str)] = &[
    ("common", include_str!("../../../grammars/library/common.lark")),
    ("lark", include_str!("../../../grammars/library/lark.lark")),
    ("python", include_str!("../../../grammars/library/python.lark")),
    ("text", include_str!("../../../grammars/library/text.lark")),
    ("unicode", include_str!("../../../grammars/library/unicode.lark")),
];

/// Returns the text of an imported file by its path. The kind of the error tells whether the file
/// is missing.
pub(crate) type Imports<'a> = dyn Fn(&str) -> io::Result<String> + 'a;

/// File access for a grammar without files to import.
pub(super) const NO_FILES: fn(&str) -> io::Result<String> = |_| Err(ErrorKind::NotFound.into());

/// The files that may be imported, and those that are being read.
pub(super) struct Files<'a> {
    pub(super) imports: &'a Imports<'a>,
    /// Files that are being read, without their extension: importing one of them is a cycle.
    pub(super) reading: Vec<String>,
}

/// Location of a file.
#[derive(Clone)]
pub(super) struct Location {
    /// `None` for a library, which has no directory.
    pub(super) directory: Option<String>,
    pub(super) shown: Arc<str>,
}

/// A file that an import names.
pub(super) struct Imported {
    /// Identifies the file.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) location: Location,
}

/// Import statements of one file that name the same path.
pub(super) struct ImportGroup {
    pub(super) level: u32,
    pub(super) path: Vec<String>,
    pub(super) at: At,
    pub(super) names: Vec<(ast::Spanned<String>, ast::Spanned<String>)>,
}

impl ImportGroup {
    /// Returns the directory of the file and its path without the extension, for an importer in
    /// `directory`.
    fn file(&self, directory: &str) -> (String, String) {
        let mut directory = directory.to_owned();
        for _ in 1..self.level {
            directory = join(&directory, "..");
        }
        let Some((name, parents)) = self.path.split_last() else {
            return (directory.clone(), directory);
        };
        for part in parents {
            directory = join(&directory, part);
        }
        let path = join(&directory, name);
        (directory, path)
    }
}

/// Returns the text of the library with this path.
fn library(path: &[String]) -> Option<&'static str> {
    let [name] = path else { return None };
    LIBRARIES.iter().find(|(library, _)| library == name).map(|&(_, text)| text)
}

impl Files<'_> {
    /// Returns the file that an import names: one next to the importer, or where the dots point;
    /// otherwise, without dots, a library. A file that is already being read does not match a
    /// library's name: `python.lark` may import the library `python`.
    pub(super) fn imported(
        &self,
        sources: &Sources,
        importer: &Location,
        group: &ImportGroup,
    ) -> Result<Imported, GrammarError> {
        let error = |message: String| {
            Diagnostic::error("import-not-found", message).at(sources.place(group.at))
        };
        let library = library(&group.path).filter(|_| group.level == 0);
        let file = importer.directory.as_deref().map(|directory| group.file(directory));
        match file {
            Some((_, path)) if self.reading.contains(&path) && library.is_none() => {
                return Err(self.cycle(sources, &path, group.at));
            }
            Some((directory, path)) if !self.reading.contains(&path) => {
                let shown = format!("{path}.lark");
                if let Some(text) = self.beside(sources, &shown, group.at)? {
                    let location = Location { directory: Some(directory), shown: shown.into() };
                    return Ok(Imported { path, text, location });
                }
                if group.level > 0 {
                    return Err(error(format!("the imported file `{shown}` was not found")).into());
                }
            }
            _ => {}
        }
        let name = group.path.join(".");
        if let Some(text) = library {
            let path = format!("<{name}>");
            let location = Location { directory: None, shown: path.as_str().into() };
            return Ok(Imported { path, text: text.to_owned(), location });
        }
        let libraries: Vec<String> =
            LIBRARIES.iter().map(|(name, _)| format!("`{name}`")).collect();
        let beside = group.path.join("/");
        let message =
            format!("there is no file `{beside}.lark` next to this one, and no library `{name}`");
        Err(error(message).help(format!("the libraries are {}", libraries.join(", "))).into())
    }

    /// Returns the text of one of the caller's files, if it exists.
    pub(super) fn beside(
        &self,
        sources: &Sources,
        path: &str,
        at: At,
    ) -> Result<Option<String>, GrammarError> {
        match (self.imports)(path) {
            Ok(text) => Ok(Some(text)),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(error) => {
                let message = format!("the imported file `{path}` cannot be read: {error}");
                let unread = Diagnostic::error("import-unreadable", message).at(sources.place(at));
                Err(unread.because(Cause::Import(Arc::new(error))).into())
            }
        }
    }

    /// Creates the error for importing a file that is being read.
    fn cycle(&self, sources: &Sources, path: &str, at: At) -> GrammarError {
        let start = self.reading.iter().position(|file| file == path).unwrap_or(0);
        let cycle: Vec<String> = self.reading[start..]
            .iter()
            .map(String::as_str)
            .chain([path])
            .map(|file| format!("`{file}`"))
            .collect();
        let message = format!("files import each other in a cycle: {}", cycle.join(" imports "));
        Diagnostic::error("import-cycle", message).at(sources.place(at)).into()
    }
}

/// Adds an import statement to the group of its path.
pub(super) fn group_import(groups: &mut Vec<ImportGroup>, source: u32, import: ast::Import) {
    let path: Vec<String> = import.path.into_iter().map(|part| part.node).collect();
    let names = import.names.into_iter().map(|(name, alias)| {
        let alias = alias.unwrap_or_else(|| name.clone());
        (name, alias)
    });
    match groups.iter_mut().find(|group| group.level == import.level && group.path == path) {
        Some(group) => group.names.extend(names),
        None => groups.push(ImportGroup {
            level: import.level,
            path,
            at: At::new(source, &import.span),
            names: names.collect(),
        }),
    }
}

/// Returns `directory/name`, with `..` resolved if possible.
pub(super) fn join(directory: &str, name: &str) -> String {
    match (directory, name) {
        ("", _) => name.to_owned(),
        (_, "..") => match directory.rsplit_once('/') {
            Some((_, "..")) => format!("{directory}/.."),
            Some((parent, _)) => parent.to_owned(),
            None if directory == ".." => "../..".to_owned(),
            None => String::new(),
        },
        _ => format!("{directory}/{name}"),
    }
}

//! Grammars: built-in ones by name, others from files; and their texts, which messages show.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use lrmask::{CompiledGrammar, Diagnostic, Grammar, GrammarError};

use crate::failure::Failure;
use crate::input::{self, Inputs};
use crate::report;

/// A file of a grammar that the program carries.
struct BuiltIn {
    /// What users call it; `None` for files that others import.
    name: Option<&'static str>,
    path: &'static str,
    text: &'static str,
}

/// The grammars that the program carries, by their paths in the project.
const BUILT_IN: &[BuiltIn] = &[BuiltIn {
    name: Some("json"),
    path: "grammars/json/json.lark",
    text: include_str!("../../../grammars/json/json.lark"),
}];

/// Which grammar.
#[derive(Debug, clap::Args)]
pub(crate) struct GrammarArgument {
    /// A built-in grammar's name (json), a file in Lark's notation, a `.y` file with --terminals, or `-`. With a start
    /// symbol behind a colon: `json:value`.
    #[arg(value_name = "GRAMMAR")]
    pub(crate) grammar: String,
    /// The rule that whole texts are; it overrides the grammar's own.
    #[arg(long, value_name = "RULE")]
    pub(crate) start: Option<String>,
    /// The terminals of a Yacc grammar, in Lark's notation.
    #[arg(long, value_name = "FILE")]
    pub(crate) terminals: Option<String>,
}

/// The texts of a grammar's files, by the names that messages call them.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    texts: RefCell<BTreeMap<String, Rc<str>>>,
}

impl Sources {
    /// The text of the file that messages call `name`.
    pub(crate) fn get(&self, name: &str) -> Option<Rc<str>> {
        self.texts.borrow().get(name).cloned()
    }

    fn add(&self, name: &str, text: &str) {
        self.texts.borrow_mut().insert(name.to_owned(), text.into());
    }
}

/// Why there is no grammar to work with.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// Nothing could be read.
    Failure(Failure),
    /// The grammar is faulty.
    Refused(Vec<Diagnostic>),
}

impl From<Failure> for LoadError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<GrammarError> for LoadError {
    fn from(error: GrammarError) -> Self {
        Self::Refused(error.diagnostics().to_vec())
    }
}

/// Reads the grammar, and fills `sources` with the texts of its files.
///
/// # Errors
///
/// When a file cannot be read, or the grammar is faulty.
pub(crate) fn load(
    argument: &GrammarArgument,
    inputs: &Inputs,
    sources: &Sources,
) -> Result<Grammar, LoadError> {
    let (name, start) = split_start(argument);
    let grammar = match built_in(name) {
        Some(file) => {
            refuse_terminals(argument)?;
            sources.add(file.path, file.text);
            let reader = |path: &str| {
                let file = BUILT_IN.iter().find(|file| file.path == path)?;
                sources.add(path, file.text);
                Some(file.text.to_owned())
            };
            Grammar::from_lark_with(file.text, file.path, &reader)?
        }
        None => {
            if input::is_bare_word(name) {
                return Err(unknown(name).into());
            }
            let text = inputs.text(name)?;
            let called = input::name(name);
            sources.add(called, &text);
            let reader = |path: &str| {
                let text = std::fs::read_to_string(path).ok()?;
                sources.add(path, &text);
                Some(text)
            };
            if argument.terminals.is_some() || name.ends_with(".y") {
                yacc(&text, called, argument, inputs, sources, &reader)?
            } else {
                Grammar::from_lark_with(&text, called, &reader)?
            }
        }
    };
    Ok(match start {
        Some(start) => grammar.with_start(start)?,
        None => grammar,
    })
}

/// Reads and compiles the grammar. A faulty one is shown on standard error, as fits all commands whose question is
/// another.
///
/// # Errors
///
/// When a file cannot be read, or the grammar is faulty.
pub(crate) fn compile(argument: &GrammarArgument, inputs: &Inputs) -> Result<CompiledGrammar, Failure> {
    let sources = Sources::default();
    let refused = |diagnostics: &[Diagnostic]| Failure::Unusable(report::for_stderr(diagnostics, &sources));
    let grammar = load(argument, inputs, &sources).map_err(|error| match error {
        LoadError::Failure(failure) => failure,
        LoadError::Refused(diagnostics) => refused(&diagnostics),
    })?;
    CompiledGrammar::new(&grammar).map_err(|error| refused(error.diagnostics()))
}

/// The name and the start symbol, which may stand behind a colon.
fn split_start(argument: &GrammarArgument) -> (&str, Option<&str>) {
    let whole = argument.grammar.as_str();
    let start = argument.start.as_deref();
    if built_in(whole).is_some() || Path::new(whole).exists() {
        return (whole, start);
    }
    match whole.rsplit_once(':') {
        Some((name, rule)) if !name.is_empty() && !rule.is_empty() && !rule.contains(['/', '\\', '.']) => {
            (name, start.or(Some(rule)))
        }
        _ => (whole, start),
    }
}

fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|file| file.name == Some(name))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = BUILT_IN.iter().filter_map(|file| file.name).collect();
    Failure::unusable(format_args!(
        "no built-in grammar is called \"{}\" (there are: {}), and no such file either",
        name.escape_debug(),
        names.join(", ")
    ))
}

fn refuse_terminals(argument: &GrammarArgument) -> Result<(), Failure> {
    match argument.terminals {
        Some(_) => {
            Err(Failure::unusable("--terminals goes with a Yacc grammar, and built-in grammars have theirs"))
        }
        None => Ok(()),
    }
}

fn yacc(
    text: &str,
    called: &str,
    argument: &GrammarArgument,
    inputs: &Inputs,
    sources: &Sources,
    reader: &dyn Fn(&str) -> Option<String>,
) -> Result<Grammar, LoadError> {
    let Some(path) = &argument.terminals else {
        return Err(Failure::unusable(
            "a Yacc grammar needs --terminals FILE, its terminals in Lark's notation",
        )
        .into());
    };
    let _ = (text, called, inputs, sources, reader, path);
    Err(Failure::unusable("this program was built without the feature `yacc`").into())
}

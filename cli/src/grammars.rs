//! Grammars: built-in ones by name, others from files; and their texts, for messages.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::rc::Rc;

use lrmask::{
    CompiledGrammar, Constraint, ConstraintBuilder, Diagnostic, Grammar, GrammarError,
    GrammarReader, Ignored, Vocabulary,
};

use crate::failure::Failure;
use crate::input::{self, Inputs};
use crate::limits::LimitArguments;
use crate::notation::Notation;
use crate::output;
use crate::report;
use crate::schemas::{SchemaArguments, schema, tags};
use crate::similar;

/// A file of a built-in grammar.
struct BuiltIn {
    /// The name for users; `None` for files that are only imported.
    name: Option<&'static str>,
    path: &'static str,
    text: &'static str,
}

/// The built-in grammars, by their paths in the project.
const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: Some("json"),
        path: "grammars/json/json.lark",
        text: include_str!("../../grammars/json/json.lark"),
    },
    BuiltIn {
        name: Some("sqlite"),
        path: "grammars/sqlite/sqlite.lark",
        text: include_str!("../../grammars/sqlite/sqlite.lark"),
    },
    BuiltIn {
        name: Some("python"),
        path: "grammars/python/python.lark",
        text: include_str!("../../grammars/python/python.lark"),
    },
    BuiltIn {
        name: None,
        path: "grammars/python/identifiers.lark",
        text: include_str!("../../grammars/python/identifiers.lark"),
    },
];

/// Heading of the options of grammars in the help.
const HEADING: &str = "Grammar";

/// The grammar of a command.
#[derive(Debug, clap::Args)]
pub(crate) struct GrammarArgument {
    /// The name of a built-in grammar (json, sqlite, python), a file, or `-`. A start symbol may
    /// follow after a colon: `sqlite:query`. The extension selects the notation: .lark, .gbnf or
    /// .ebnf, .y, .regex, .choices or .txt for one text per line, .json for a JSON schema or
    /// structural tags. A file written by `lrmask index` is also accepted.
    #[arg(value_name = "GRAMMAR")]
    pub(crate) grammar: String,
    /// The start rule, which overrides that of the grammar.
    #[arg(help_heading = HEADING, long, value_name = "RULE")]
    pub(crate) start: Option<String>,
    /// The notation of the grammar, if the extension does not determine it.
    #[arg(help_heading = HEADING, long, value_name = "NOTATION")]
    pub(crate) notation: Option<Notation>,
    /// A file with the terminals of a Yacc grammar, in Lark's notation.
    #[arg(help_heading = HEADING, long, value_name = "FILE")]
    pub(crate) terminals: Option<String>,
    /// A directory of imported files, searched after the directory of the importing file. May be
    /// given several times.
    #[arg(help_heading = HEADING, long, value_name = "DIR")]
    pub(crate) import_dir: Vec<String>,
    /// The ignored text that is allowed, of that which the grammar ignores.
    #[arg(help_heading = HEADING, long, value_enum, value_name = "KINDS")]
    pub(crate) ignored: Option<IgnoredKinds>,
    /// Allow at most N characters of ignored text in a row.
    #[arg(help_heading = HEADING, long, value_name = "N")]
    pub(crate) ignored_run: Option<u32>,
    /// Set bounds so that every text ends: no comments, at most 64 characters of ignored text in a
    /// row; in schemas without bounds of their own, strings of 1,000 characters, arrays of 100
    /// items, numbers of 20 digits, and 64 blanks in a row.
    #[arg(help_heading = HEADING, long)]
    pub(crate) for_models: bool,
    #[command(flatten)]
    pub(crate) schema: SchemaArguments,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
}

/// The ignored text that is allowed.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum IgnoredKinds {
    /// All of it.
    All,
    /// White space: no comments.
    Blanks,
    /// Nothing.
    None,
}

impl GrammarArgument {
    /// Returns the builder that these options describe.
    fn builder(&self) -> ConstraintBuilder {
        let mut builder = Constraint::builder().limits(&self.limits.limits());
        if self.for_models {
            builder = builder.for_models();
        }
        if let Some(kinds) = self.ignored {
            builder = builder.ignored(match kinds {
                IgnoredKinds::All => Ignored::All,
                IgnoredKinds::Blanks => Ignored::Blanks,
                IgnoredKinds::None => Ignored::None,
            });
        }
        match self.ignored_run {
            Some(characters) => builder.ignored_run(characters),
            None => builder,
        }
    }
}

/// The texts of a grammar's files, by the names that places use for them.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    files: RefCell<BTreeMap<String, Source>>,
}

/// A file of a grammar.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The name for users.
    pub(crate) name: Rc<str>,
    pub(crate) text: Rc<str>,
}

impl Sources {
    /// Returns the file with the name `name` in places.
    pub(crate) fn get(&self, name: &str) -> Option<Source> {
        self.files.borrow().get(name).cloned()
    }

    pub(crate) fn add(&self, name: &str, text: &str) {
        self.add_as(name, name, text);
    }

    /// Adds a file with the name `name` in places and `shown` in messages.
    fn add_as(&self, name: &str, shown: &str, text: &str) {
        let source = Source { name: shown.into(), text: text.into() };
        self.files.borrow_mut().insert(name.to_owned(), source);
    }
}

/// The reason why there is no grammar.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// A file could not be read, or the use is wrong.
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
/// If a file cannot be read, or the grammar is faulty.
pub(crate) fn load(
    argument: &GrammarArgument,
    inputs: &Inputs,
    sources: &Sources,
) -> Result<Grammar, LoadError> {
    let (name, start) = split_start(argument);
    let Some(file) = built_in(name) else {
        return read(argument, name, start, inputs, sources);
    };
    refuse_terminals(argument)?;
    sources.add(file.path, file.text);
    let imports = |path: &str| {
        let file = BUILT_IN.iter().find(|file| file.path == path).ok_or(ErrorKind::NotFound)?;
        sources.add(path, file.text);
        Ok(file.text.to_owned())
    };
    let limits = argument.limits.limits();
    let reader = GrammarReader::new().name(file.path).imports(&imports).limits(&limits);
    let grammar = reader.lark(file.text)?;
    Ok(match start {
        Some(start) => grammar.with_start(start)?,
        None => grammar,
    })
}

/// Reads a grammar that is not built in.
fn read(
    argument: &GrammarArgument,
    name: &str,
    start: Option<&str>,
    inputs: &Inputs,
    sources: &Sources,
) -> Result<Grammar, LoadError> {
    if input::is_bare_word(name) {
        return Err(unknown(name).into());
    }
    if saved(argument)?.is_some() {
        let what = "is a saved grammar, which was checked when it was saved";
        return Err(
            Failure::unusable(format_args!("{name} {what}: check the grammar's own file")).into()
        );
    }
    let text = inputs.text(name)?;
    let notation = match (argument.notation, &argument.terminals) {
        (None, Some(_)) => Notation::Yacc,
        (notation, _) => notation.unwrap_or_else(|| Notation::of_file(name, &text)),
    };
    if notation != Notation::Yacc {
        refuse_terminals(argument)?;
    }
    let limits = argument.limits.limits();
    let called = input::name(name);
    sources.add(called, &text);
    let own = name.rsplit_once(['/', '\\']).map_or("", |(directory, _)| directory);
    let imports = |path: &str| {
        let text = import(path, own, &argument.import_dir)?;
        sources.add(path, &text);
        Ok(text)
    };
    let reader = GrammarReader::new().name(called).start(start).imports(&imports).limits(&limits);
    Ok(match notation {
        Notation::Lark => reader.lark(&text)?,
        Notation::Gbnf => reader.gbnf(&text)?,
        Notation::Yacc => {
            sources.add_as("<grammar>", called, &text);
            yacc(&reader, &text, argument.terminals.as_deref(), inputs, sources)?
        }
        Notation::Schema | Notation::Tags => {
            if start.is_some() {
                return Err(Failure::unusable("a JSON schema has no start rule").into());
            }
            match notation {
                Notation::Schema => {
                    sources.add_as("<schema>", called, &text);
                    schema(argument, &text, &limits, inputs, sources)?
                }
                _ => {
                    sources.add_as("<tags>", called, &text);
                    tags(argument, &text, &limits)?
                }
            }
        }
        Notation::Regex => {
            if start.is_some() {
                return Err(Failure::unusable("a regex has no start rule").into());
            }
            sources.add_as("<regex>", called, &text);
            // The line end belongs to the file, not to the regex.
            reader.regex(text.trim_end_matches(['\r', '\n']))?
        }
        Notation::Choices => {
            if start.is_some() {
                return Err(Failure::unusable("choices have no start rule").into());
            }
            reader.choices(text.lines())?
        }
    })
}

/// Returns the text of an imported file: at its path, or else at the same path, without the
/// directory `own` of the grammar, in one of `directories`.
fn import(path: &str, own: &str, directories: &[String]) -> std::io::Result<String> {
    let mut read = std::fs::read_to_string(path);
    let inner = path.strip_prefix(own).unwrap_or(path).trim_start_matches(['/', '\\']);
    for directory in directories {
        match read {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                read = std::fs::read_to_string(Path::new(directory).join(inner));
            }
            _ => break,
        }
    }
    read
}

/// Returns the content of the file, if `lrmask index` has written it.
fn saved(argument: &GrammarArgument) -> Result<Option<Vec<u8>>, Failure> {
    let name = argument.grammar.as_str();
    let mut start = [0; 10];
    let reads = |mut file: File| file.read_exact(&mut start);
    if built_in(name).is_some()
        || File::open(name).and_then(reads).is_err()
        || !lrmask::is_saved(&start)
    {
        return Ok(None);
    }
    if argument.start.is_some() || argument.terminals.is_some() {
        return Err(Failure::unusable(
            "a saved grammar contains its start symbol and terminals: leave out --start and \
             --terminals",
        ));
    }
    let unreadable = |error| Failure::unusable(format_args!("cannot read {name}: {error}"));
    std::fs::read(name).map(Some).map_err(unreadable)
}

/// Returns the constraint of the grammar on a vocabulary, as [`compile`], or the one that was
/// saved.
///
/// # Errors
///
/// As [`compile`], and if it was saved with another vocabulary.
pub(crate) fn constrain(
    argument: &GrammarArgument,
    vocabulary: &Vocabulary,
    inputs: &Inputs,
) -> Result<Constraint, Failure> {
    match saved(argument)? {
        Some(bytes) => {
            let limits = argument.limits.limits();
            Constraint::builder()
                .limits(&limits)
                .load(&bytes, vocabulary)
                .map_err(|error| not_loaded(argument, &error))
        }
        None => {
            let sources = Sources::default();
            let constraint = compile_from(argument, inputs, &sources)?.constraint(vocabulary);
            constraint.map_err(|error| refused(error.diagnostics(), &sources))
        }
    }
}

/// The tokens that masks allow.
#[derive(Debug, clap::Args)]
pub(crate) struct CanonicalArgument {
    /// Allow only the tokens that the tokenizer itself would make (BPE whose merges are known).
    #[arg(long)]
    canonical: bool,
}

impl CanonicalArgument {
    /// Narrows the constraint if this is asked for.
    ///
    /// # Errors
    ///
    /// If the tokenizer cannot be followed.
    pub(crate) fn narrow(&self, constraint: Constraint) -> Result<Constraint, Failure> {
        let narrow = || constraint.with_canonical_tokens();
        let error = |error| Failure::unusable(format_args!("--canonical: {error}"));
        if self.canonical { narrow().map_err(error) } else { Ok(constraint) }
    }
}

/// Warns on standard error if masks may be narrower than the grammar.
pub(crate) fn tell_undecided(undecided: usize) {
    if undecided > 0 {
        let s = if undecided == 1 { "" } else { "s" };
        output::note(&format!(
            "warning: {undecided} question{s} whether a text can be completed reached a limit and \
             counted as no; raise --decision-steps and --mask-steps"
        ));
    }
}

/// Tells that a text was refused whose readings were not all followed.
pub(crate) fn tell_dropped(file: &str, dropped: usize) {
    if dropped > 0 {
        let s = if dropped == 1 { "" } else { "s" };
        output::note(&format!(
            "warning: {file}: {dropped} reading{s} of the text exceeded a limit and were dropped, \
             so the text may be in the language; raise --reading-steps"
        ));
    }
}

fn not_loaded(argument: &GrammarArgument, error: &lrmask::LoadError) -> Failure {
    Failure::unusable(format_args!("{}: {error}", argument.grammar))
}

/// Reads and compiles the grammar, or loads a saved one. Faults are shown on standard error, which
/// suits all commands that are not about faults.
///
/// # Errors
///
/// If a file cannot be read, or the grammar is faulty.
pub(crate) fn compile(
    argument: &GrammarArgument,
    inputs: &Inputs,
) -> Result<CompiledGrammar, Failure> {
    if let Some(bytes) = saved(argument)? {
        let limits = argument.limits.limits();
        return Constraint::builder()
            .limits(&limits)
            .load_compiled(&bytes)
            .map_err(|error| not_loaded(argument, &error));
    }
    compile_from(argument, inputs, &Sources::default())
}

/// Reads and compiles the grammar, and fills `sources` with the texts of its files.
fn compile_from(
    argument: &GrammarArgument,
    inputs: &Inputs,
    sources: &Sources,
) -> Result<CompiledGrammar, Failure> {
    let grammar = load(argument, inputs, sources).map_err(|error| match error {
        LoadError::Failure(failure) => failure,
        LoadError::Refused(diagnostics) => refused(&diagnostics, sources),
    })?;
    argument.builder().compile(&grammar).map_err(|error| refused(error.diagnostics(), sources))
}

/// Returns the faults of a grammar, to be shown on standard error.
fn refused(diagnostics: &[Diagnostic], sources: &Sources) -> Failure {
    Failure::Unusable(report::for_stderr(diagnostics, sources))
}

/// Returns the name and the start symbol, which may follow a colon.
fn split_start(argument: &GrammarArgument) -> (&str, Option<&str>) {
    let whole = argument.grammar.as_str();
    let start = argument.start.as_deref();
    if built_in(whole).is_some() || Path::new(whole).exists() {
        return (whole, start);
    }
    match whole.rsplit_once(':') {
        Some((name, rule))
            if !name.is_empty() && !rule.is_empty() && !rule.contains(['/', '\\', '.']) =>
        {
            (name, start.or(Some(rule)))
        }
        _ => (whole, start),
    }
}

fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|file| file.name == Some(name))
}

fn unknown(name: &str) -> Failure {
    let names = || BUILT_IN.iter().filter_map(|file| file.name);
    let nearest = similar::nearest(name, names())
        .map(|nearest| format!("\nhelp: did you mean `{nearest}`?"))
        .unwrap_or_default();
    Failure::unusable(format_args!(
        "no built-in grammar is called \"{}\" (there are: {}), and no such file either{nearest}",
        name.escape_debug(),
        names().collect::<Vec<_>>().join(", ")
    ))
}

fn refuse_terminals(argument: &GrammarArgument) -> Result<(), Failure> {
    match argument.terminals {
        Some(_) => Err(Failure::unusable(
            "--terminals is only for Yacc grammars; other grammars define their own terminals",
        )),
        None => Ok(()),
    }
}

/// Reads a Yacc grammar. Without terminals the rules are checked alone.
fn yacc(
    reader: &GrammarReader<'_>,
    text: &str,
    terminals: Option<&str>,
    inputs: &Inputs,
    sources: &Sources,
) -> Result<Grammar, LoadError> {
    let Some(path) = terminals else { return Ok(reader.yacc_rules(text)?) };
    let terminals = inputs.text(path)?;
    sources.add_as("<terminals>", input::name(path), &terminals);
    Ok(reader.yacc(text, &terminals)?)
}

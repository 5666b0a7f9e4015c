//! Grammars: texts with the options for reading them.

use std::collections::BTreeMap;

use lrmask::{BuildError, Calls, CompiledGrammar, Source, StructuralTags, ToolCalls, ToolForm};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::diagnostics::Diagnostic;
use crate::errors;
use crate::limits::Limits;
use crate::options;

/// The text of a grammar with all that is needed to read it. It is read when a constraint is built.
#[pyclass(frozen, subclass, module = "lrmask._native")]
pub(crate) struct Grammar {
    pub(crate) source: Source,
    kind: String,
    texts: Vec<String>,
    start: Option<String>,
    files: BTreeMap<String, String>,
    options: Py<PyDict>,
}

fn tool_form(form: &str) -> PyResult<ToolForm> {
    Ok(match form {
        "hermes" => ToolForm::Hermes,
        "llama3" => ToolForm::Llama3,
        "python" => ToolForm::Python,
        "mistral" => ToolForm::Mistral,
        "deepseek" => ToolForm::DeepSeek,
        "kimi" => ToolForm::Kimi,
        "glm" => ToolForm::Glm,
        "harmony" => ToolForm::Harmony,
        _ => {
            return Err(PyValueError::new_err(format!(
                "no models call tools in the form {form:?}; there are hermes, llama3, python, \
                 mistral, deepseek, kimi, glm and harmony"
            )));
        }
    })
}

fn tool_calls(calls: &str) -> PyResult<Calls> {
    Ok(match calls {
        "any" => Calls::Any,
        "none" => Calls::None,
        "at_most_one" => Calls::AtMostOne,
        "at_least_one" => Calls::AtLeastOne,
        "one" => Calls::One,
        _ => {
            return Err(PyValueError::new_err(format!(
                "calls is {calls:?}; it may be any, none, at_most_one, at_least_one or one"
            )));
        }
    })
}

/// The built-in grammars: name, text, and imported files.
const BUILT_IN: [(&str, &str, &[(&str, &str)]); 3] = [
    ("json", include_str!("../../grammars/json/json.lark"), &[]),
    ("sqlite", include_str!("../../grammars/sqlite/sqlite.lark"), &[]),
    (
        "python",
        include_str!("../../grammars/python/python.lark"),
        &[("identifiers.lark", include_str!("../../grammars/python/identifiers.lark"))],
    ),
];

#[pymethods]
impl Grammar {
    /// Of the package's own use: see the class methods of `lrmask.Grammar`.
    #[new]
    #[pyo3(signature = (kind, texts, start=None, files=None, options=None))]
    fn new(
        py: Python<'_>,
        kind: String,
        texts: Vec<String>,
        start: Option<String>,
        files: Option<BTreeMap<String, String>>,
        options: Option<Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = options.unwrap_or_else(|| PyDict::new(py));
        let mut files = files.unwrap_or_default();
        let mut source = match (kind.as_str(), texts.as_slice()) {
            ("lark", [text]) => Source::lark(text),
            ("gbnf", [text]) => Source::gbnf(text),
            ("yacc", [grammar, terminals]) => Source::yacc(grammar, terminals),
            ("regex", [pattern]) => Source::regex(pattern),
            ("choices", _) => Source::choices(&texts),
            ("json_schema", [text]) => Source::json_schema(text, &options::read(&options)?),
            ("structural_tags", [text]) => {
                let tags = StructuralTags::parse(text)
                    .map_err(|error| errors::build(py, &error.into(), &[("<tags>", text)]))?;
                Source::structural_tags(&tags, &options::read(&options)?)
            }
            ("tools", [form, calls, tools @ ..]) => {
                let mut called = ToolCalls::new(tool_form(form)?, tool_calls(calls)?);
                for tool in tools.chunks_exact(2) {
                    called.add_tool(&tool[0], &tool[1]);
                }
                let tags = called.tags();
                let tags = tags.map_err(|error| errors::build(py, &error.into(), &[]))?;
                Source::structural_tags(&tags, &options::read(&options)?)
            }
            ("builtin", [name]) => {
                let found = BUILT_IN.iter().find(|(known, ..)| known == name);
                let (_, text, imported) = found.ok_or_else(|| {
                    PyValueError::new_err(format!(
                        "no built-in grammar is called {name:?}; there are json, sqlite and python"
                    ))
                })?;
                let imported = imported.iter().map(|&(name, text)| (name.into(), text.into()));
                files.extend(imported);
                Source::lark(*text)
            }
            _ => return Err(PyValueError::new_err(format!("{kind} is no kind of grammar"))),
        };
        if let Some(start) = &start {
            source = source.start(start);
        }
        for (path, text) in &files {
            source = source.file(path, text);
        }
        if kind == "builtin" {
            // They are found again by the name.
            files.clear();
        }
        Ok(Self { source, kind, texts, start, files, options: options.unbind() })
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let options = self.options.bind(py);
        (&self.kind, &self.texts, &self.start, &self.files, options).into_pyobject(py)
    }

    #[getter]
    fn kind(&self) -> &str {
        &self.kind
    }

    #[getter]
    fn text(&self) -> String {
        self.texts.join("\n")
    }

    /// Reads and compiles the grammar without a vocabulary. Returns its warnings.
    #[pyo3(signature = (limits=None))]
    fn check(&self, py: Python<'_>, limits: Option<Limits>) -> PyResult<Vec<Diagnostic>> {
        let compiled = self.compile(py, &Limits::or_default(limits))?;
        Ok(compiled.warnings().iter().map(Diagnostic::from).collect())
    }

    /// Whether the text is a sentence of the grammar.
    #[pyo3(signature = (text, limits=None))]
    fn accepts(&self, py: Python<'_>, text: &[u8], limits: Option<Limits>) -> PyResult<bool> {
        let compiled = self.compile(py, &Limits::or_default(limits))?;
        Ok(py.detach(|| {
            let mut matcher = compiled.matcher();
            matcher.advance_bytes(text).is_ok() && matcher.is_accepting()
        }))
    }

    fn __repr__(&self) -> String {
        let text: String = self.text().chars().take(40).collect();
        let dots = if self.text().len() > text.len() { "..." } else { "" };
        format!("<Grammar ({}) {text:?}{dots}>", self.kind)
    }
}

impl Grammar {
    fn compile(&self, py: Python<'_>, limits: &lrmask::Limits) -> PyResult<CompiledGrammar> {
        let compiled = py.detach(|| {
            let grammar = self.source.grammar(limits)?;
            let builder = lrmask::Constraint::builder().limits(limits);
            builder.compile(&grammar).map_err(BuildError::from)
        });
        compiled.map_err(|error| self.error(py, &error))
    }

    /// The exception, which shows the lines of this grammar.
    pub(crate) fn error(&self, py: Python<'_>, error: &BuildError) -> PyErr {
        let text = |index: usize| self.texts.get(index).map_or("", String::as_str);
        let mut files: Vec<(&str, &str)> = vec![
            ("<grammar>", text(0)),
            ("<terminals>", text(1)),
            ("<schema>", text(0)),
            ("<tags>", text(0)),
            ("<regex>", text(0)),
        ];
        files.extend(self.files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        errors::build(py, error, &files)
    }
}

//! Errors of the library as the exceptions of `lrmask._errors`.

use lrmask::{
    AdvanceError, BuildError, GrammarErrorKind, LimitReached, LoadError, RowError, VocabularyError,
    VocabularyErrorKind,
};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::diagnostics::Diagnostic;

/// Creates the exception `class` with a message and parts.
fn raise(
    py: Python<'_>,
    class: &str,
    message: String,
    parts: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    let make = || {
        let keywords = PyDict::new(py);
        parts(&keywords)?;
        py.import("lrmask._errors")?.getattr(class)?.call((message,), Some(&keywords))
    };
    match make() {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The exception of a grammar or a schema that is rejected. `files` are the texts that places refer
/// to, by name.
pub(crate) fn build(py: Python<'_>, error: &BuildError, files: &[(&str, &str)]) -> PyErr {
    let diagnostics = error.diagnostics();
    let class = match error {
        _ if error.limit().is_some() => "LimitError",
        BuildError::Schema(_) => "SchemaError",
        _ => "GrammarError",
    };
    raise(py, class, error.to_string(), |parts| {
        parts.set_item("rendered", lrmask_cli::render(&diagnostics, files))?;
        let shown: Vec<Diagnostic> = diagnostics.iter().map(Diagnostic::from).collect();
        parts.set_item("diagnostics", shown)?;
        match error {
            BuildError::Grammar(error) => parts.set_item(
                "kind",
                match error.kind() {
                    GrammarErrorKind::Limit => "limit",
                    GrammarErrorKind::Import => "import",
                    _ => "grammar",
                },
            )?,
            BuildError::Schema(error) => {
                parts.set_item("kind", error.kind().code())?;
                parts.set_item("pointer", error.pointer())?;
            }
            _ => {}
        }
        error.limit().map_or(Ok(()), |reached| limit(parts, reached))
    })
}

fn limit(parts: &Bound<'_, PyDict>, reached: &LimitReached) -> PyResult<()> {
    parts.set_item("limit", format!("{:?}", reached.kind()).to_lowercase())?;
    parts.set_item("phase", reached.phase().to_string())?;
    parts.set_item("most", reached.took_most())
}

/// The exception of saved bytes that are rejected.
pub(crate) fn load(py: Python<'_>, error: LoadError) -> PyErr {
    match error {
        LoadError::Grammar(error) => build(py, &error.into(), &[]),
        error => raise(py, "LoadError", error.to_string(), |_| Ok(())),
    }
}

/// The exception of a tokenizer that is rejected.
pub(crate) fn vocabulary(py: Python<'_>, error: &VocabularyError) -> PyErr {
    raise(py, "VocabularyError", error.to_string(), |parts| {
        let kind = match error.kind() {
            VocabularyErrorKind::Limit => "limit",
            VocabularyErrorKind::Argument => "argument",
            VocabularyErrorKind::UnknownName => "name",
            _ => "file",
        };
        parts.set_item("kind", kind)
    })
}

/// The exception of a token or a text that is rejected.
pub(crate) fn advance(py: Python<'_>, error: &AdvanceError) -> PyErr {
    raise(py, "AdvanceError", error.to_string(), |parts| {
        parts.set_item("kind", error.kind().name())?;
        parts.set_item("token", error.token().map(|token| token.get()).into_py_any(parts.py())?)?;
        parts.set_item("accepted_bytes", error.accepted_bytes())
    })
}

/// The exception of rows that cannot be filled.
pub(crate) fn row(error: &RowError) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(error.to_string())
}

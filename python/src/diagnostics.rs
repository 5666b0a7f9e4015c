//! Findings about a grammar.

use pyo3::prelude::*;

/// A finding about a grammar: what, where, an example, and what to write instead.
#[pyclass(frozen, get_all, module = "lrmask")]
#[derive(Clone)]
pub(crate) struct Diagnostic {
    severity: &'static str,
    code: &'static str,
    message: String,
    place: Option<Place>,
    related: Vec<(Place, String)>,
    example: Option<String>,
    help: Option<String>,
    /// As the library prints it.
    #[pyo3(name = "text")]
    text: String,
}

#[pymethods]
impl Diagnostic {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<Diagnostic {}[{}]: {}>", self.severity, self.code, self.message)
    }
}

/// A place in a grammar.
#[pyclass(frozen, get_all, module = "lrmask")]
#[derive(Clone)]
pub(crate) struct Place {
    source: String,
    /// Bytes from the beginning of the file.
    start: usize,
    end: usize,
    /// From 1.
    line: u32,
    column: u32,
}

#[pymethods]
impl Place {
    fn __repr__(&self) -> String {
        format!("<Place {}:{}:{}>", self.source, self.line, self.column)
    }
}

impl From<&lrmask::Place> for Place {
    fn from(place: &lrmask::Place) -> Self {
        Self {
            source: place.source.to_string(),
            start: place.span.start,
            end: place.span.end,
            line: place.line,
            column: place.column,
        }
    }
}

impl From<&lrmask::Diagnostic> for Diagnostic {
    fn from(finding: &lrmask::Diagnostic) -> Self {
        let related = finding.related.iter();
        Self {
            severity: match finding.severity {
                lrmask::Severity::Error => "error",
                _ => "warning",
            },
            code: finding.code,
            message: finding.message.clone(),
            place: finding.place.as_ref().map(Place::from),
            related: related.map(|(place, text)| (place.into(), text.clone())).collect(),
            example: finding.example.clone(),
            help: finding.help.clone(),
            text: finding.to_string(),
        }
    }
}

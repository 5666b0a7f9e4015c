//! Limits on the cost of building and running, and their cancellation.

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Stops building from another thread.
#[pyclass(frozen, module = "lrmask", from_py_object)]
#[derive(Clone, Default)]
pub(crate) struct Cancel(lrmask::Cancel);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn stop(&self) {
        self.0.stop();
    }

    #[getter]
    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    fn __repr__(&self) -> &'static str {
        if self.0.is_stopped() { "<Cancel, stopped>" } else { "<Cancel>" }
    }
}

/// Bounds on everything that can grow with an input.
#[pyclass(frozen, module = "lrmask", eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct Limits(pub(crate) lrmask::Limits);

/// Calls `$of!` with the names of all fields.
macro_rules! fields {
    ($of:ident) => {
        $of!(
            grammar_bytes,
            build_steps,
            build_bytes,
            schema_steps,
            schema_attempt_steps,
            schema_productions,
            terminal_states,
            scan_states,
            proof_steps,
            decision_steps,
            mask_steps,
            readings,
            reading_steps,
            index_bytes,
            vocabulary_bytes,
            token_bytes,
            token_ids
        )
    };
}

/// Returns limits with the given fields replaced.
fn replaced(
    mut limits: lrmask::Limits,
    fields: Option<&Bound<'_, PyDict>>,
) -> PyResult<lrmask::Limits> {
    for (name, value) in fields.into_iter().flatten() {
        let name: String = name.extract()?;
        macro_rules! set {
            ($($field:ident),*) => {
                match name.as_str() {
                    $(stringify!($field) => limits.$field(value.extract()?),)*
                    "cancel" => {
                        let cancel: Option<Cancel> = value.extract()?;
                        limits.cancel(cancel.map(|cancel| cancel.0))
                    }
                    _ => return Err(PyTypeError::new_err(format!("no limit is called {name:?}"))),
                }
            };
        }
        limits = fields!(set);
    }
    Ok(limits)
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (**fields))]
    fn new(fields: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        replaced(lrmask::Limits::default(), fields).map(Self)
    }

    #[staticmethod]
    #[pyo3(signature = (**fields))]
    fn strict(fields: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        replaced(lrmask::Limits::strict(), fields).map(Self)
    }

    #[pyo3(signature = (**fields))]
    fn replace(&self, fields: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        replaced(self.0.clone(), fields).map(Self)
    }

    fn __getattr__(&self, name: &str) -> PyResult<u64> {
        macro_rules! get {
            ($($field:ident),*) => {
                match name {
                    $(stringify!($field) => Ok(self.0.$field as u64),)*
                    _ => Err(PyAttributeError::new_err(format!("no limit is called {name:?}"))),
                }
            };
        }
        fields!(get)
    }

    fn __repr__(&self) -> String {
        let default = lrmask::Limits::default();
        let mut parts = Vec::new();
        macro_rules! show {
            ($($field:ident),*) => {
                $(if self.0.$field != default.$field {
                    parts.push(format!("{}={}", stringify!($field), self.0.$field));
                })*
            };
        }
        fields!(show);
        format!("Limits({})", parts.join(", "))
    }
}

impl Limits {
    /// The limits of an optional argument.
    pub(crate) fn or_default(limits: Option<Self>) -> lrmask::Limits {
        limits.map(|limits| limits.0).unwrap_or_default()
    }
}

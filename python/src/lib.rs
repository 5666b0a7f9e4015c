//! The native module of the Python package: the library's types as Python classes.
//!
//! Each class is immutable to Python, or locked: objects may be used from several threads. Calls
//! that compute release the interpreter's lock. What is better said in Python (types, other
//! packages' objects) is in the package's Python files.

mod batch;
mod constraint;
mod diagnostics;
mod errors;
mod grammar;
mod limits;
mod matcher;
mod options;
mod rows;
mod speculator;
mod vocabulary;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::batch::{apply_mask, fill_masks};
    #[pymodule_export]
    use super::constraint::{Constraint, ConstraintCache, TracedToken};
    #[pymodule_export]
    use super::diagnostics::{Diagnostic, Place};
    #[pymodule_export]
    use super::grammar::Grammar;
    #[pymodule_export]
    use super::limits::{Cancel, Limits};
    #[pymodule_export]
    use super::matcher::{Capture, Explanation, MaskInfo, Matcher};
    #[pymodule_export]
    use super::speculator::Speculator;
    #[pymodule_export]
    use super::vocabulary::Vocabulary;

    /// Runs the command line, and returns the exit status.
    #[pyfunction]
    fn run(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
        py.detach(|| lrmask_cli::run(arguments))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

//! Drafts without a model: what sequences of a constraint have gone on with.

use lrmask::TokenId;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::constraint::Constraint;
use crate::matcher::Matcher;

/// Counts which tokens follow which states, and proposes drafts.
#[pyclass(frozen, module = "lrmask")]
pub(crate) struct Speculator(lrmask::Speculator);

#[pymethods]
impl Speculator {
    #[new]
    #[pyo3(signature = (constraint, *, capacity=None))]
    fn new(constraint: &Constraint, capacity: Option<usize>) -> Self {
        let speculator = lrmask::Speculator::new(&constraint.inner);
        Self(match capacity {
            Some(contexts) => speculator.with_capacity(contexts),
            None => speculator,
        })
    }

    #[staticmethod]
    fn load(py: Python<'_>, saved: &[u8], constraint: &Constraint) -> PyResult<Self> {
        let loaded = py.detach(|| lrmask::Speculator::load(saved, &constraint.inner));
        let error =
            |error: lrmask::CountsError| pyo3::exceptions::PyValueError::new_err(error.to_string());
        loaded.map(Self).map_err(error)
    }

    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.save()))
    }

    fn observe(&self, py: Python<'_>, tokens: Vec<u32>) -> usize {
        py.detach(|| self.0.observe(tokens))
    }

    #[pyo3(signature = (matcher, last=None, *, most=8, probability=0.5))]
    fn propose(
        &self,
        py: Python<'_>,
        matcher: &Matcher,
        last: Option<u32>,
        most: usize,
        probability: f64,
    ) -> Vec<u32> {
        py.detach(|| {
            let last = last.map(TokenId::from);
            let tokens = self.0.propose(&matcher.now(), last, most, probability);
            tokens.into_iter().map(|token| token.get()).collect()
        })
    }

    #[getter]
    fn contexts(&self) -> usize {
        self.0.contexts()
    }

    #[getter]
    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    fn __repr__(&self) -> String {
        format!("<Speculator of {} contexts>", self.0.contexts())
    }
}

//! Constraints, and their cache.

use std::sync::{Mutex, PoisonError};

use lrmask::{BuildError, TokenId};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::diagnostics::Diagnostic;
use crate::errors;
use crate::grammar::Grammar;
use crate::limits::Limits;
use crate::matcher::Matcher;
use crate::rows::Rows;
use crate::vocabulary::Vocabulary;

/// A grammar and a vocabulary, ready to constrain any number of sequences in any number of threads.
#[pyclass(frozen, module = "lrmask")]
pub(crate) struct Constraint {
    pub(crate) inner: lrmask::Constraint,
    /// The grammar, unless it was loaded without one.
    grammar: Option<Py<PyAny>>,
    /// Whether masks are narrower in a way that saving does not keep.
    is_narrowed: bool,
}

#[pymethods]
impl Constraint {
    #[new]
    #[pyo3(signature = (grammar, vocabulary, *, limits=None, for_models=false))]
    fn new(
        grammar: &Bound<'_, Grammar>,
        vocabulary: &Vocabulary,
        limits: Option<Limits>,
        for_models: bool,
    ) -> PyResult<Self> {
        let py = grammar.py();
        let (source, limits) = (&grammar.get().source, Limits::or_default(limits));
        let builder = lrmask::Constraint::builder().limits(&limits);
        let builder = if for_models { builder.for_models() } else { builder };
        let built = py.detach(|| builder.read(source, &vocabulary.0));
        Self::built(grammar, built)
    }

    #[staticmethod]
    #[pyo3(signature = (of, vocabulary, *, form="json", limits=None))]
    fn from_type<'py>(
        of: &Bound<'py, PyAny>,
        vocabulary: Bound<'py, Vocabulary>,
        form: &str,
        limits: Option<Bound<'py, Limits>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = of.py().import("lrmask._grammar")?;
        module.call_method1("constraint_from_type", (of, vocabulary, form, limits))
    }

    #[staticmethod]
    #[pyo3(signature = (saved, vocabulary, *, grammar=None, limits=None))]
    fn load(
        py: Python<'_>,
        saved: &[u8],
        vocabulary: &Vocabulary,
        grammar: Option<Py<PyAny>>,
        limits: Option<Limits>,
    ) -> PyResult<Self> {
        let limits = Limits::or_default(limits);
        let builder = lrmask::Constraint::builder().limits(&limits);
        let inner = py.detach(|| builder.load(saved, &vocabulary.0));
        let inner = inner.map_err(|error| errors::load(py, error))?;
        Ok(Self { inner, grammar, is_narrowed: false })
    }

    fn with_canonical_tokens(&self, py: Python<'_>) -> PyResult<Self> {
        let inner = py
            .detach(|| self.inner.with_canonical_tokens())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(self.narrowed(py, inner))
    }

    fn with_lookahead(&self, py: Python<'_>, terminals: usize) -> Self {
        self.narrowed(py, self.inner.with_lookahead(terminals))
    }

    #[pyo3(signature = (samples=None))]
    fn save<'py>(&self, py: Python<'py>, samples: Option<Vec<Vec<u32>>>) -> Bound<'py, PyBytes> {
        let saved = py.detach(|| {
            let samples = ids(samples.unwrap_or_default());
            let samples: Vec<&[TokenId]> = samples.iter().map(Vec::as_slice).collect();
            self.inner.save_with_samples(&samples)
        });
        PyBytes::new(py, &saved)
    }

    #[pyo3(signature = (samples=None, *, explore=0, threads=1, progress=None))]
    fn warm(
        &self,
        py: Python<'_>,
        samples: Option<Vec<Vec<u32>>>,
        explore: usize,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<usize> {
        let raised: Mutex<Option<PyErr>> = Mutex::new(None);
        let tell = |count: usize| {
            let Some(progress) = &progress else { return };
            Python::attach(|py| {
                if let Err(error) = progress.call1(py, (count,)) {
                    raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            });
        };
        let done = py.detach(|| {
            let samples = ids(samples.unwrap_or_default());
            let samples: Vec<&[TokenId]> = samples.iter().map(Vec::as_slice).collect();
            let warmup = self.inner.warmup().threads(threads).progress(&tell);
            let followed = warmup.samples(&samples);
            followed + if explore > 0 { warmup.explore(explore) } else { 0 }
        });
        match raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(done),
        }
    }

    #[pyo3(signature = (stop_tokens=None))]
    fn matcher(&self, py: Python<'_>, stop_tokens: Option<Vec<u32>>) -> PyResult<Matcher> {
        let matcher = match stop_tokens {
            None => self.inner.matcher(),
            Some(stops) => self
                .inner
                .matcher_with_stops(stops)
                .map_err(|error| errors::vocabulary(py, &error))?,
        };
        Ok(Matcher::new(matcher))
    }

    /// Fills the mask before each token of a sequence.
    #[pyo3(signature = (tokens, mask, *, scores=None, threads=1))]
    fn trace(
        &self,
        py: Python<'_>,
        tokens: Vec<u32>,
        mask: &Bound<'_, PyAny>,
        scores: Option<&Bound<'_, PyAny>>,
        threads: usize,
    ) -> PyResult<Vec<TracedToken>> {
        let mut masks = Rows::of(mask)?.masks()?;
        let scores = scores.map(|scores| Rows::of(scores)?.floats()).transpose()?;
        let stride = masks.stride;
        py.detach(|| {
            let trace = self.inner.trace(tokens).threads(threads);
            let trace = trace.scores(scores.as_deref().unwrap_or_default());
            let traced = trace.fill(masks.words_from(0)?, stride);
            let traced = traced.map_err(|error| errors::row(&error))?;
            Ok(traced.iter().map(TracedToken::from).collect())
        })
    }

    /// Returns the value of a text, for a constraint of a type or a schema.
    fn parse<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match &self.grammar {
            Some(grammar) => grammar.bind(py).call_method1("parse", (text,)),
            None => Err(PyTypeError::new_err("a loaded constraint does not know its type")),
        }
    }

    #[getter]
    fn grammar<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.grammar.as_ref().map(|grammar| grammar.bind(py).clone())
    }

    #[getter]
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary(self.inner.vocabulary().clone())
    }

    #[getter]
    fn warnings(&self) -> Vec<Diagnostic> {
        self.inner.warnings().iter().map(Diagnostic::from).collect()
    }

    #[getter]
    fn fingerprint(&self) -> u64 {
        self.inner.compiled().fingerprint()
    }

    #[getter]
    fn undecided(&self) -> usize {
        self.inner.undecided()
    }

    #[getter]
    fn is_outgrown(&self) -> bool {
        self.inner.is_outgrown()
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.inner.bytes())
    }

    /// Pickles as [`Constraint::save`] does.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        if self.is_narrowed {
            return Err(PyTypeError::new_err(
                "canonical tokens and a lookahead are not pickled; pickle the constraint without \
                 them, and add them afterwards",
            ));
        }
        let load = py.import("lrmask._grammar")?.getattr("load_with_grammar")?;
        (load, (self.save(py, None), self.vocabulary(), &self.grammar)).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        let size = self.inner.compiled().size();
        let vocabulary = self.inner.vocabulary();
        format!("<Constraint of {size}, for {} tokens>", vocabulary.len())
    }
}

impl Constraint {
    /// Returns this constraint with narrower masks.
    fn narrowed(&self, py: Python<'_>, inner: lrmask::Constraint) -> Self {
        let grammar = self.grammar.as_ref().map(|grammar| grammar.clone_ref(py));
        Self { inner, grammar, is_narrowed: true }
    }

    fn built(
        grammar: &Bound<'_, Grammar>,
        built: Result<lrmask::Constraint, BuildError>,
    ) -> PyResult<Self> {
        let inner = built.map_err(|error| grammar.get().error(grammar.py(), &error))?;
        Ok(Self { inner, grammar: Some(grammar.clone().into_any().unbind()), is_narrowed: false })
    }
}

fn ids(samples: Vec<Vec<u32>>) -> Vec<Vec<TokenId>> {
    samples.into_iter().map(|sample| sample.into_iter().map(TokenId::from).collect()).collect()
}

/// A token of a sequence, and the mask before it.
#[pyclass(frozen, get_all, module = "lrmask")]
pub(crate) struct TracedToken {
    token: u32,
    is_allowed: bool,
    /// Tokens that the mask allows.
    allowed: usize,
    is_forced: bool,
    /// The probability of tokens outside the mask, if there are scores.
    removed: Option<f64>,
}

#[pymethods]
impl TracedToken {
    fn __repr__(&self) -> String {
        let state = if self.is_allowed { "allowed" } else { "refused" };
        format!("<TracedToken {}, {state}, one of {}>", self.token, self.allowed)
    }
}

impl From<&lrmask::TracedToken> for TracedToken {
    fn from(traced: &lrmask::TracedToken) -> Self {
        Self {
            token: traced.token.get(),
            is_allowed: traced.is_allowed,
            allowed: traced.allowed,
            is_forced: traced.is_forced,
            removed: traced.removed,
        }
    }
}

/// A bounded cache of constraints, shared by all threads of a server.
#[pyclass(frozen, module = "lrmask")]
pub(crate) struct ConstraintCache(lrmask::ConstraintCache);

#[pymethods]
impl ConstraintCache {
    #[new]
    #[pyo3(signature = (nbytes=268435456))]
    fn new(nbytes: usize) -> Self {
        Self(lrmask::ConstraintCache::new(nbytes))
    }

    #[pyo3(signature = (grammar, vocabulary, *, limits=None))]
    fn get_or_build(
        &self,
        grammar: &Bound<'_, Grammar>,
        vocabulary: &Vocabulary,
        limits: Option<Limits>,
    ) -> PyResult<Constraint> {
        let (source, limits) = (&grammar.get().source, Limits::or_default(limits));
        let built = || self.0.get_or_build(source, &vocabulary.0, &limits);
        Constraint::built(grammar, grammar.py().detach(built))
    }

    /// Drops constraints until the rest fits.
    fn shrink(&self, py: Python<'_>) {
        py.detach(|| self.0.shrink());
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.bytes())
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<ConstraintCache of {} constraints, {} bytes>", self.0.len(), self.nbytes(py))
    }
}

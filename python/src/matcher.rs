//! The state of one sequence.

use std::sync::{Arc, Mutex, PoisonError};

use lrmask::Draft;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;
use crate::rows::Rows;
use crate::vocabulary::Vocabulary;

/// The state of one sequence generated under a constraint.
///
/// Reading takes the present state and computes without a lock; a change replaces the state. So a
/// mask may be filled while another thread advances: it is that of one state or the other.
#[pyclass(frozen, module = "lrmask")]
pub(crate) struct Matcher(Mutex<Arc<lrmask::Matcher>>);

/// What is known of a mask besides its bits.
#[pyclass(frozen, get_all, eq, module = "lrmask")]
#[derive(Clone, PartialEq)]
pub(crate) struct MaskInfo {
    /// Whether no limit was reached, so that the mask is certainly exact.
    is_exact: bool,
    /// Whether every token is allowed, so that the mask need not be applied.
    is_full: bool,
}

#[pymethods]
impl MaskInfo {
    fn __repr__(&self) -> String {
        let python = |value| if value { "True" } else { "False" };
        let (is_exact, is_full) = (python(self.is_exact), python(self.is_full));
        format!("MaskInfo(is_exact={is_exact}, is_full={is_full})")
    }
}

impl From<lrmask::MaskInfo> for MaskInfo {
    fn from(info: lrmask::MaskInfo) -> Self {
        Self { is_exact: info.is_exact(), is_full: info.is_full() }
    }
}

/// A part of the text that was derived by a rule with the attribute `capture`.
#[pyclass(frozen, module = "lrmask")]
pub(crate) struct Capture(lrmask::Capture);

#[pymethods]
impl Capture {
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.bytes())
    }

    /// The bytes as text; parts of characters are replaced.
    #[getter]
    fn text(&self) -> String {
        String::from_utf8_lossy(self.0.bytes()).into_owned()
    }

    /// Where the bytes begin and end in the text.
    #[getter]
    fn span(&self) -> (usize, usize) {
        let span = self.0.span();
        (span.start, span.end)
    }

    fn __repr__(&self) -> String {
        format!("<Capture {}={:?}>", self.0.name(), self.text())
    }
}

/// Why a token or a text may not follow.
#[pyclass(frozen, get_all, module = "lrmask")]
pub(crate) struct Explanation {
    /// As the kind of an `AdvanceError`.
    kind: &'static str,
    /// The first byte that no sentence has there.
    offset: usize,
    /// The terminals that may come there.
    expected: Vec<String>,
    /// Where the lexeme in progress begins, counted from the token, and what may begin there.
    lexeme: Option<(isize, Vec<String>)>,
    text: String,
}

#[pymethods]
impl Explanation {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<Explanation: {}>", self.text)
    }
}

impl From<&lrmask::Explanation<'_>> for Explanation {
    fn from(why: &lrmask::Explanation<'_>) -> Self {
        let shown =
            |expected: &[lrmask::Expected<'_>]| expected.iter().map(ToString::to_string).collect();
        Self {
            kind: why.reason().name(),
            offset: why.offset(),
            expected: shown(why.expected()),
            lexeme: why.lexeme().map(|lexeme| (lexeme.start, shown(&lexeme.expected))),
            text: why.to_string(),
        }
    }
}

impl Matcher {
    pub(crate) fn new(matcher: lrmask::Matcher) -> Self {
        Self(Mutex::new(Arc::new(matcher)))
    }

    /// The present state.
    pub(crate) fn now(&self) -> Arc<lrmask::Matcher> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Computes without the interpreter's lock.
    fn read<T: Send>(&self, py: Python<'_>, read: impl FnOnce(&lrmask::Matcher) -> T + Send) -> T {
        py.detach(|| read(&self.now()))
    }

    /// Changes the state, without the interpreter's lock.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut lrmask::Matcher) -> T + Send,
    ) -> T {
        py.detach(|| {
            let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            change(Arc::make_mut(&mut now))
        })
    }

    fn fill(&self, py: Python<'_>, mut masks: Rows, row: usize) -> PyResult<MaskInfo> {
        self.read(py, |matcher| {
            let info = matcher.fill_mask_into(masks.words(row)?);
            info.map(MaskInfo::from).map_err(|error| errors::row(&error))
        })
    }
}

/// Bytes of an argument: bytes, or a text as UTF-8.
pub(crate) fn bytes(text: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match text.extract::<String>() {
        Ok(text) => Ok(text.into_bytes()),
        Err(_) => text
            .extract::<Vec<u8>>()
            .map_err(|_| PyTypeError::new_err("give the text as str or bytes")),
    }
}

fn numbers(tokens: Vec<lrmask::TokenId>) -> Vec<u32> {
    tokens.into_iter().map(|token| token.get()).collect()
}

#[pymethods]
impl Matcher {
    #[pyo3(signature = (mask, row=0))]
    fn fill_mask(&self, py: Python<'_>, mask: &Bound<'_, PyAny>, row: usize) -> PyResult<MaskInfo> {
        self.fill(py, Rows::of(mask)?.masks()?, row)
    }

    fn fill_mask_at(&self, py: Python<'_>, address: usize, words: usize) -> PyResult<MaskInfo> {
        self.fill(py, Rows::at(address, words)?, 0)
    }

    #[pyo3(signature = (drafts, mask, row=0, *, parents=None))]
    fn fill_draft_masks(
        &self,
        py: Python<'_>,
        drafts: Vec<u32>,
        mask: &Bound<'_, PyAny>,
        row: usize,
        parents: Option<Vec<Option<usize>>>,
    ) -> PyResult<Vec<bool>> {
        let drafts = match parents {
            None => Draft::chain(drafts),
            Some(parents) if parents.len() == drafts.len() => {
                let tokens = drafts.into_iter().zip(parents);
                tokens.map(|(token, parent)| Draft { token: token.into(), parent }).collect()
            }
            Some(_) => return Err(PyValueError::new_err("give a parent for each draft")),
        };
        let mut masks = Rows::of(mask)?.masks()?;
        let stride = masks.stride;
        self.read(py, |matcher| {
            let rows = masks.words_from(row)?;
            matcher.fill_draft_masks(&drafts, rows, stride).map_err(|error| errors::row(&error))
        })
    }

    /// The tokens that may come next.
    fn allowed_tokens(&self, py: Python<'_>) -> Vec<u32> {
        self.read(py, |matcher| {
            let mut mask = lrmask::TokenMask::default();
            matcher.fill_mask(&mut mask);
            mask.tokens().map(|token| token.get()).collect()
        })
    }

    fn allows(&self, py: Python<'_>, token: u32) -> bool {
        self.read(py, |matcher| matcher.allows(token))
    }

    fn advance(&self, py: Python<'_>, token: u32) -> PyResult<()> {
        self.change(py, |matcher| matcher.advance(token))
            .map_err(|error| errors::advance(py, &error))
    }

    /// Takes the token if it is allowed, and tells whether it was.
    fn try_advance(&self, py: Python<'_>, token: u32) -> bool {
        self.change(py, |matcher| matcher.advance(token).is_ok())
    }

    fn advance_bytes(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = bytes(text)?;
        self.change(py, |matcher| matcher.advance_bytes(&text))
            .map_err(|error| errors::advance(py, &error))
    }

    /// Why a token may not follow; `None` if it may.
    fn explain(&self, py: Python<'_>, token: u32) -> Option<Explanation> {
        self.read(py, |matcher| matcher.explain(token).map(|why| Explanation::from(&why)))
    }

    /// Why a text may not follow; `None` if it may.
    fn explain_bytes(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Explanation>> {
        let text = bytes(text)?;
        Ok(self.read(py, |matcher| matcher.explain_bytes(&text).map(|why| (&why).into())))
    }

    fn state_key(&self, py: Python<'_>) -> u64 {
        self.read(py, lrmask::Matcher::state_key)
    }

    fn retokenize(
        &self,
        text: &Bound<'_, PyAny>,
        scores: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Vec<u32>>> {
        let (text, now, mut raised) = (bytes(text)?, self.now(), None);
        // Python computes the scores, so its lock is held.
        let tokens = now.retokenize(&text, |tokens| {
            let tokens: Vec<u32> = tokens.iter().map(|token| token.get()).collect();
            let found = scores.call1((tokens,)).and_then(|scores| Rows::of(&scores)?.floats());
            found.unwrap_or_else(|error| {
                raised = Some(error);
                Vec::new()
            })
        });
        raised.map_or(Ok(tokens.map(numbers)), Err)
    }

    fn set_budget(&self, py: Python<'_>, tokens: usize) -> PyResult<()> {
        self.change(py, |matcher| matcher.set_budget(tokens))
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn clear_budget(&self, py: Python<'_>) {
        self.change(py, lrmask::Matcher::clear_budget);
    }

    #[getter]
    fn budget(&self, py: Python<'_>) -> Option<usize> {
        self.read(py, lrmask::Matcher::budget)
    }

    fn heal(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = bytes(text)?;
        self.change(py, |matcher| matcher.heal(&text));
        Ok(())
    }

    fn follow_prompt(&self, py: Python<'_>, tokens: Vec<u32>) -> bool {
        self.change(py, |matcher| matcher.follow_prompt(tokens))
    }

    #[getter]
    fn unwritten<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.now().unwritten())
    }

    fn validate(&self, py: Python<'_>, tokens: Vec<u32>) -> usize {
        self.read(py, |matcher| matcher.validate(tokens))
    }

    #[pyo3(signature = (steps=1))]
    fn rollback(&self, py: Python<'_>, steps: usize) -> usize {
        self.change(py, |matcher| matcher.rollback(steps))
    }

    fn reset(&self, py: Python<'_>) {
        self.change(py, lrmask::Matcher::reset);
    }

    /// A matcher in the same state, which goes its own way.
    fn fork(&self, py: Python<'_>) -> Self {
        Self(Mutex::new(py.detach(|| self.now())))
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.fork(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
        self.fork(py)
    }

    fn forced_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.read(py, lrmask::Matcher::forced_bytes))
    }

    #[pyo3(signature = (tokenize=None))]
    fn forced_tokens(&self, py: Python<'_>, tokenize: Option<Py<PyAny>>) -> PyResult<Vec<u32>> {
        let Some(tokenize) = tokenize else {
            return Ok(numbers(self.read(py, |matcher| {
                let longest = |text: &[u8]| matcher.vocabulary().cut_longest(text);
                matcher.forced_tokens(|text| longest(text).unwrap_or_default())
            })));
        };
        let mut raised = None;
        let tokens = self.read(py, |matcher| {
            matcher.forced_tokens(|text| {
                Python::attach(|py| {
                    let cut = tokenize.call1(py, (PyBytes::new(py, text),));
                    cut.and_then(|cut| cut.extract::<Vec<u32>>(py)).unwrap_or_else(|error| {
                        raised = Some(error);
                        Vec::new()
                    })
                })
            })
        });
        raised.map_or(Ok(numbers(tokens)), Err)
    }

    fn captures(&self, py: Python<'_>) -> Vec<Capture> {
        self.read(py, lrmask::Matcher::captures).into_iter().map(Capture).collect()
    }

    fn temperature(&self, py: Python<'_>) -> Option<f32> {
        self.read(py, lrmask::Matcher::temperature)
    }

    fn remaining_tokens(&self, py: Python<'_>) -> Option<usize> {
        self.read(py, lrmask::Matcher::remaining_tokens)
    }

    fn shortest_completion<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let bytes = self.read(py, lrmask::Matcher::shortest_completion)?;
        Some(PyBytes::new(py, &bytes))
    }

    fn expected(&self, py: Python<'_>) -> Vec<String> {
        self.read(py, |matcher| matcher.expected().iter().map(ToString::to_string).collect())
    }

    fn can_continue(&self, py: Python<'_>) -> bool {
        self.read(py, lrmask::Matcher::can_continue)
    }

    #[getter]
    fn is_accepting(&self, py: Python<'_>) -> bool {
        self.read(py, lrmask::Matcher::is_accepting)
    }

    #[getter]
    fn is_finished(&self, py: Python<'_>) -> bool {
        self.read(py, lrmask::Matcher::is_finished)
    }

    #[getter]
    fn steps(&self, py: Python<'_>) -> usize {
        self.read(py, lrmask::Matcher::steps)
    }

    #[getter]
    fn dropped_readings(&self, py: Python<'_>) -> usize {
        self.read(py, lrmask::Matcher::dropped_readings)
    }

    #[getter]
    fn stop_tokens(&self, py: Python<'_>) -> Vec<u32> {
        self.read(py, |matcher| matcher.stop_tokens().iter().map(|token| token.get()).collect())
    }

    #[getter]
    fn vocabulary(&self, py: Python<'_>) -> Vocabulary {
        self.read(py, |matcher| Vocabulary(matcher.vocabulary().clone()))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (steps, expected) = (self.steps(py), self.expected(py));
        let state = if self.is_finished(py) { "finished" } else { "next" };
        let shown: Vec<&str> = expected.iter().take(5).map(String::as_str).collect();
        let dots = if expected.len() > 5 { ", ..." } else { "" };
        format!("<Matcher after {steps} steps, {state}: {}{dots}>", shown.join(", "))
    }
}

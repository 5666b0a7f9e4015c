//! Vocabularies.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lrmask::{TakeBack, TokenId, VocabularyError, VocabularyReader};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::errors;
use crate::limits::Limits;
use crate::matcher::bytes;

/// The tokens of a model.
#[pyclass(frozen, module = "lrmask", from_py_object)]
#[derive(Clone)]
pub(crate) struct Vocabulary(pub(crate) lrmask::Vocabulary);

/// Settings that replace those of a file.
#[derive(Default)]
struct Settings {
    special: BTreeMap<u32, String>,
    stop_tokens: Option<Vec<u32>>,
    width: Option<usize>,
    leading_space: Option<bool>,
}

impl Settings {
    fn apply(self, vocabulary: lrmask::Vocabulary) -> Result<Vocabulary, VocabularyError> {
        let mut vocabulary = vocabulary.with_special_tokens(self.special)?;
        if let Some(width) = self.width {
            vocabulary = vocabulary.with_width(width)?;
        }
        if let Some(stops) = self.stop_tokens {
            vocabulary = vocabulary.with_stop_tokens(stops)?;
        }
        if let Some(leading_space) = self.leading_space {
            vocabulary = vocabulary.with_leading_space(leading_space);
        }
        Ok(Vocabulary(vocabulary))
    }
}

/// Reads as much of a file as the limits allow, and one byte more, by which a reader sees that
/// there is more. The tensors of a GGUF model are not read.
fn beginning(path: &Path, limits: Option<&Limits>) -> std::io::Result<Vec<u8>> {
    let most = Limits::or_default(limits.cloned()).vocabulary_bytes as u64;
    let mut file = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut file)?;
    Ok(file)
}

#[pymethods]
impl Vocabulary {
    #[staticmethod]
    #[pyo3(signature = (path, *, stop_tokens=None, width=None, limits=None))]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        stop_tokens: Option<Vec<u32>>,
        width: Option<usize>,
        limits: Option<Limits>,
    ) -> PyResult<Self> {
        let file = py.detach(|| beginning(&path, limits.as_ref()))?;
        Self::from_file_bytes(py, &file, stop_tokens, width, limits)
    }

    #[staticmethod]
    #[pyo3(signature = (path, *, stop_tokens=None, width=None, limits=None))]
    fn from_gguf(
        py: Python<'_>,
        path: PathBuf,
        stop_tokens: Option<Vec<u32>>,
        width: Option<usize>,
        limits: Option<Limits>,
    ) -> PyResult<Self> {
        let file = py.detach(|| beginning(&path, limits.as_ref()))?;
        let limits = Limits::or_default(limits);
        let settings = Settings { stop_tokens, width, ..Settings::default() };
        let read = || settings.apply(VocabularyReader::new().limits(&limits).gguf(&file)?);
        py.detach(read).map_err(|error| errors::vocabulary(py, &error))
    }

    #[staticmethod]
    #[pyo3(signature = (file, *, stop_tokens=None, width=None, limits=None))]
    fn from_file_bytes(
        py: Python<'_>,
        file: &[u8],
        stop_tokens: Option<Vec<u32>>,
        width: Option<usize>,
        limits: Option<Limits>,
    ) -> PyResult<Self> {
        let limits = Limits::or_default(limits);
        let settings = Settings { stop_tokens, width, ..Settings::default() };
        let read = || settings.apply(VocabularyReader::new().limits(&limits).file_bytes(file)?);
        py.detach(read).map_err(|error| errors::vocabulary(py, &error))
    }

    #[staticmethod]
    #[pyo3(signature = (
        tokens, *, special_tokens=None, stop_tokens=None, width=None, leading_space=None,
        limits=None
    ))]
    fn from_tokens(
        py: Python<'_>,
        tokens: &Bound<'_, PyAny>,
        special_tokens: Option<BTreeMap<u32, String>>,
        stop_tokens: Option<Vec<u32>>,
        width: Option<usize>,
        leading_space: Option<bool>,
        limits: Option<Limits>,
    ) -> PyResult<Self> {
        let mut bytes: Vec<Vec<u8>> = Vec::new();
        for token in tokens.try_iter()? {
            let token = token?;
            bytes.push(match token.cast::<PyBytes>() {
                Ok(token) => token.as_bytes().to_vec(),
                Err(_) if token.is_none() => Vec::new(),
                Err(_) => token.extract::<String>()?.into_bytes(),
            });
        }
        let limits = Limits::or_default(limits);
        let special = special_tokens.unwrap_or_default();
        for &id in special.keys() {
            // Their bytes would be removed again, and the trie be built twice.
            if let Some(bytes) = bytes.get_mut(id as usize) {
                bytes.clear();
            }
        }
        let settings = Settings { special, stop_tokens, width, leading_space };
        py.detach(|| settings.apply(VocabularyReader::new().limits(&limits).tokens(bytes)?))
            .map_err(|error| errors::vocabulary(py, &error))
    }

    #[staticmethod]
    #[pyo3(signature = (tokenizer, *, stop_tokens=None, width=None))]
    fn from_hf<'py>(
        tokenizer: &Bound<'py, PyAny>,
        stop_tokens: Option<&Bound<'py, PyAny>>,
        width: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = tokenizer.py();
        py.import("lrmask._tokenizers")?.call_method1("from_hf", (tokenizer, stop_tokens, width))
    }

    #[staticmethod]
    #[pyo3(signature = (encoding, *, stop_tokens=None, width=None))]
    fn from_tiktoken<'py>(
        encoding: &Bound<'py, PyAny>,
        stop_tokens: Option<&Bound<'py, PyAny>>,
        width: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = encoding.py().import("lrmask._tokenizers")?;
        module.call_method1("from_tiktoken", (encoding, stop_tokens, width))
    }

    #[staticmethod]
    fn builtin(py: Python<'_>, name: &str) -> PyResult<Self> {
        let found = py.detach(|| lrmask::Vocabulary::builtin(name));
        found.map(Self).map_err(|error| errors::vocabulary(py, &error))
    }

    /// The vocabulary with more special tokens, other stop tokens or another width.
    #[pyo3(signature = (*, special_tokens=None, stop_tokens=None, width=None))]
    fn replace(
        &self,
        py: Python<'_>,
        special_tokens: Option<BTreeMap<u32, String>>,
        stop_tokens: Option<Vec<u32>>,
        width: Option<usize>,
    ) -> PyResult<Self> {
        let special = special_tokens.unwrap_or_default();
        let settings = Settings { special, stop_tokens, width, ..Settings::default() };
        py.detach(|| settings.apply(self.0.clone())).map_err(|error| errors::vocabulary(py, &error))
    }

    fn with_merges(&self, py: Python<'_>, merges: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut pairs = Vec::new();
        for merge in merges.try_iter()? {
            let (left, right) = merge?.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            pairs.push((bytes(&left)?, bytes(&right)?));
        }
        py.detach(|| self.0.clone().with_merges(pairs))
            .map(Self)
            .map_err(|error| errors::vocabulary(py, &error))
    }

    fn with_split_pattern(&self, pattern: &str) -> Self {
        Self(self.0.clone().with_split_pattern(pattern))
    }

    #[getter]
    fn width(&self) -> usize {
        self.0.width()
    }

    #[getter]
    fn stop_tokens(&self) -> Vec<u32> {
        self.0.stop_tokens().iter().map(|token| token.get()).collect()
    }

    #[getter]
    fn special_tokens(&self) -> BTreeMap<u32, String> {
        self.0.special_tokens().map(|(id, name)| (id.get(), name.to_owned())).collect()
    }

    #[getter]
    fn has_leading_space(&self) -> bool {
        self.0.has_leading_space()
    }

    #[getter]
    fn fingerprint(&self) -> u64 {
        self.0.fingerprint()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The bytes of a token; `None` for a special token or an id without one.
    fn token_bytes<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Option<Bound<'py, PyBytes>>> {
        if id as usize >= self.0.width() {
            let message = format!("{id} is not below the width of {}", self.0.width());
            return Err(PyIndexError::new_err(message));
        }
        Ok(self.0.bytes(id).map(|bytes| PyBytes::new(py, bytes)))
    }

    /// The token that has these bytes.
    fn token(&self, bytes: &[u8]) -> Option<u32> {
        self.0.token(bytes).map(|token| token.get())
    }

    /// Whether a token is longer than these bytes and begins with them.
    fn has_longer(&self, bytes: &[u8]) -> bool {
        self.0.has_longer(bytes)
    }

    /// How many tokens of a prompt stay, and the bytes of those taken back from its end.
    #[pyo3(signature = (prompt, *, tokens=None))]
    fn take_back<'py>(
        &self,
        py: Python<'py>,
        prompt: Vec<u32>,
        tokens: Option<usize>,
    ) -> (usize, Bound<'py, PyBytes>) {
        let prompt: Vec<TokenId> = prompt.into_iter().map(TokenId::from).collect();
        let taken = self.0.take_back(&prompt, tokens.map_or(TakeBack::Word, TakeBack::Tokens));
        (taken.kept, PyBytes::new(py, &taken.bytes))
    }

    /// Bytes of a sequence of tokens; special tokens have none.
    fn decode<'py>(&self, py: Python<'py>, tokens: Vec<u32>) -> Bound<'py, PyBytes> {
        let bytes = tokens.iter().flat_map(|&token| self.0.bytes(token).unwrap_or_default());
        PyBytes::new(py, &bytes.copied().collect::<Vec<u8>>())
    }

    /// The longest tokens that spell a text, as no tokenizer cuts it.
    fn cut_longest(&self, py: Python<'_>, text: &[u8]) -> Option<Vec<u32>> {
        let tokens = py.detach(|| self.0.cut_longest(text))?;
        Some(tokens.into_iter().map(|token| token.get()).collect())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let ids = 0..self.0.width() as u32;
        let bytes = |id| PyBytes::new(py, self.0.bytes(id).unwrap_or_default());
        let tokens: Vec<_> = ids.map(bytes).collect();
        let settings = PyDict::new(py);
        settings.set_item("special_tokens", self.special_tokens())?;
        settings.set_item("stop_tokens", self.stop_tokens())?;
        settings.set_item("width", self.width())?;
        settings.set_item("leading_space", self.has_leading_space())?;
        let make = py.import("lrmask._tokenizers")?.getattr("rebuild")?;
        (make, (tokens, settings)).into_pyobject(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0.fingerprint() == self.0.fingerprint())
    }

    fn __hash__(&self) -> u64 {
        self.0.fingerprint()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Vocabulary of {} tokens, width {}, stop tokens {:?}>",
            self.0.len(),
            self.0.width(),
            self.stop_tokens()
        )
    }
}

//! Saved constraints: a grammar as JSON, with the vocabulary it was used with and samples for
//! warming up. Loading compiles the grammar. `docs/saved.md` describes the format.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{CompiledGrammar, Constraint};
use crate::grammar::{Grammar, GrammarError, fingerprint};
use crate::util::diagnostic::Diagnostic;
use crate::util::fingerprint::Fingerprint;
use crate::util::id::TokenId;
use crate::util::limits::Limits;
use crate::util::meter::{Meter, Phase};
use crate::vocab::Vocabulary;

/// Version of the format that is written. Versions up to this one can be read.
const FORM: u32 = 1;

/// The bytes at the start of every saved constraint.
const MAGIC: &[u8] = b"{\"lrmask\":";

/// Upper bound on the bytes in memory for each saved byte: the shortest production takes about 50.
const BYTES_OF_A_BYTE: usize = 8;

/// Whether bytes (the first ten are enough) begin like the output of [`Constraint::save`] and
/// [`CompiledGrammar::save`]. Only loading determines whether they are valid.
///
/// ```
/// use lrmask::{CompiledGrammar, Grammar, is_saved};
///
/// let compiled = CompiledGrammar::new(&Grammar::from_lark("start: \"a\"")?)?;
/// assert!(is_saved(&compiled.save()) && !is_saved(b"start: \"a\""));
/// # Ok::<(), lrmask::GrammarError>(())
/// ```
pub fn is_saved(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The saved format.
#[derive(Serialize, Deserialize)]
struct Saved<'b> {
    /// Version of the format.
    lrmask: u32,
    /// Fingerprint of `grammar`, to detect damage.
    fingerprint: u64,
    /// Fingerprint of the vocabulary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vocabulary: Option<u64>,
    /// Sequences of token ids, each from the beginning of a text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    samples: Vec<Vec<u32>>,
    #[serde(borrow)]
    grammar: &'b RawValue,
}

impl<'b> Saved<'b> {
    /// Parses the saved bytes and charges their cost.
    fn read(bytes: &'b [u8], meter: &Meter) -> Result<Self, LoadError> {
        /// The version alone, which every version of the format has.
        #[derive(Deserialize)]
        struct Form {
            lrmask: u32,
        }
        let charged = meter.keep(bytes.len().saturating_mul(BYTES_OF_A_BYTE));
        charged.and_then(|()| meter.step(bytes.len())).map_err(|limit| {
            LoadError::Grammar(Diagnostic::of_limit("saved-too-large", limit).into())
        })?;
        if !is_saved(bytes) {
            return Err(LoadError::NotSaved);
        }
        let form: Form = serde_json::from_slice(bytes).map_err(|_| LoadError::Damaged)?;
        if form.lrmask > FORM {
            return Err(LoadError::Version);
        }
        let saved: Self = serde_json::from_slice(bytes).map_err(|_| LoadError::Damaged)?;
        if saved.fingerprint != fingerprint(saved.grammar.get()) {
            return Err(LoadError::Damaged);
        }
        Ok(saved)
    }

    /// Compiles the grammar.
    fn compile(&self, meter: &Meter, limits: &Limits) -> Result<CompiledGrammar, LoadError> {
        let mut grammar = Grammar::from_json(self.grammar.get()).ok_or(LoadError::Damaged)?;
        grammar.cost = meter.cost();
        CompiledGrammar::compile(&grammar, limits).map_err(LoadError::Grammar)
    }
}

impl CompiledGrammar {
    /// Returns the grammar as bytes, for [`CompiledGrammar::load`] and [`Constraint::load`]. Later
    /// versions of the crate can read them. Costs the grammar's size.
    pub fn save(&self) -> Vec<u8> {
        self.saved(None, &[])
    }

    fn saved(&self, vocabulary: Option<&Vocabulary>, samples: &[&[TokenId]]) -> Vec<u8> {
        let grammar = self.given.to_json();
        let samples = samples.iter().map(|sample| sample.iter().map(|token| token.0).collect());
        let saved = RawValue::from_string(grammar).and_then(|grammar| {
            serde_json::to_vec(&Saved {
                lrmask: FORM,
                fingerprint: fingerprint(grammar.get()),
                vocabulary: vocabulary.map(Vocabulary::fingerprint),
                samples: samples.collect(),
                grammar: &grammar,
            })
        });
        debug_assert!(saved.is_ok(), "writes to memory succeed, and every key is a string");
        saved.unwrap_or_default()
    }

    /// Loads a grammar saved by [`CompiledGrammar::save`] or [`Constraint::save`], and compiles it
    /// with the default [`Limits`].
    ///
    /// # Errors
    ///
    /// If the bytes are in another format or of a later version, if they are damaged, and as
    /// [`CompiledGrammar::new`]. Untrusted bytes are safe to load: they are read within the limits,
    /// like the text of a grammar.
    pub fn load(saved: impl AsRef<[u8]>) -> Result<Self, LoadError> {
        Constraint::builder().load_compiled(saved)
    }

    /// Loads a compiled grammar within `limits`.
    pub(super) fn loaded(saved: &[u8], limits: &Limits) -> Result<Self, LoadError> {
        let meter = Meter::new(limits).at(Phase::Notation);
        Saved::read(saved, &meter)?.compile(&meter, limits)
    }
}

impl Constraint {
    /// Returns the constraint as bytes: its grammar, and the fingerprint of its vocabulary. Later
    /// versions of the crate can read them. Costs the grammar's size.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["a", "b"])?;
    /// let constraint = Constraint::new(&Grammar::from_lark("start: \"a\" \"b\"*")?, &vocabulary)?;
    /// let saved = constraint.save();
    ///
    /// let loaded = Constraint::load(&saved, &vocabulary)?;
    /// assert!(loaded.matcher().allows(0) && !loaded.matcher().allows(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self) -> Vec<u8> {
        self.save_with_samples(&[])
    }

    /// Returns the constraint as bytes, with samples of typical sequences, each from the beginning
    /// of a text. Loading [warms up](crate::Warmup::samples) with them.
    pub fn save_with_samples(&self, samples: &[&[TokenId]]) -> Vec<u8> {
        self.compiled.saved(Some(self.vocabulary()), samples)
    }

    /// Returns the fingerprint of the grammar and the vocabulary. Costs the grammar's size.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut key = Fingerprint::from(self.compiled.fingerprint());
        key.number(self.vocabulary().fingerprint());
        key.value()
    }

    /// Loads a constraint saved by [`Constraint::save`], with the vocabulary it was saved with. A
    /// grammar saved by [`CompiledGrammar::save`] can be loaded with any vocabulary. Costs the
    /// compilation of the grammar, and the masks along the samples.
    ///
    /// # Errors
    ///
    /// As [`CompiledGrammar::load`], and if the vocabulary is a different one.
    pub fn load(saved: impl AsRef<[u8]>, vocabulary: &Vocabulary) -> Result<Self, LoadError> {
        Self::builder().load(saved, vocabulary)
    }

    /// Loads a constraint within `limits`.
    pub(super) fn loaded(
        saved: &[u8],
        vocabulary: &Vocabulary,
        limits: &Limits,
    ) -> Result<Self, LoadError> {
        let meter = Meter::new(limits).at(Phase::Notation);
        let saved = Saved::read(saved, &meter)?;
        if saved.vocabulary.is_some_and(|other| other != vocabulary.fingerprint()) {
            return Err(LoadError::OtherVocabulary);
        }
        let constraint = saved.compile(&meter, limits)?.constraint(vocabulary);
        let constraint = constraint.map_err(LoadError::Grammar)?;
        let samples: Vec<Vec<TokenId>> = saved.samples.into_iter().map(ids).collect();
        let samples: Vec<&[TokenId]> = samples.iter().map(Vec::as_slice).collect();
        constraint.warmup().samples(&samples);
        Ok(constraint)
    }
}

fn ids(sample: Vec<u32>) -> Vec<TokenId> {
    sample.into_iter().map(TokenId).collect()
}

/// The reason why saved bytes were refused.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The bytes are in another format.
    NotSaved,
    /// They were saved by a later version of this crate.
    Version,
    /// They are cut off, or a byte has changed since they were saved.
    Damaged,
    /// They were saved with another vocabulary.
    OtherVocabulary,
    /// The grammar does not compile: it exceeds a limit, or names a token that the vocabulary
    /// lacks.
    Grammar(GrammarError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSaved => "this is not a saved constraint",
            Self::Version => {
                "a later version of lrmask saved this constraint; load it with that version"
            }
            Self::Damaged => {
                "the saved constraint is truncated or damaged; compile the grammar and save it \
                 again"
            }
            Self::OtherVocabulary => {
                "the constraint was saved with a different vocabulary (or different special \
                 tokens, stop tokens or width of the logits); load it with that vocabulary, or \
                 build a constraint for this one"
            }
            Self::Grammar(error) => return error.fmt(f),
        })
    }
}

/// Formats like `Display`, because `main` prints a returned error with `Debug`.
impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Grammar(error) => Some(error),
            _ => None,
        }
    }
}

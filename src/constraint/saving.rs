//! Saving and loading.

use std::sync::{Arc, OnceLock};

use super::load_error::{LoadError, LoadErrorKind};
use super::saved::{Fingerprints, Saved, Section, put_together};
use super::{CompiledGrammar, Constraint};
use crate::grammar::Grammar;
use crate::index::Index;
use crate::scanner::{Bounds, Marks, Scanner};
use crate::util::diagnostic::Diagnostic;
use crate::util::limits::Limits;
use crate::util::meter::Meter;
use crate::util::saving::{Malformed, SavedNumbers, Source, Writer};
use crate::vocab::Vocabulary;

/// What a byte of what is kept may come to where it is loaded: numbers of one byte become four, and
/// lists have their places.
const BYTES_OF_A_BYTE: usize = 8;

impl CompiledGrammar {
    /// The compiled grammar as bytes, to be [loaded](CompiledGrammar::load) in a fraction
    /// of the time that compiling takes. `docs/saved.md` describes them; they are for this version
    /// of the crate only.
    pub fn save(&self) -> Vec<u8> {
        let of = Fingerprints { grammar: self.fingerprint(), vocabulary: None };
        put_together(of, self.sections(&self.warnings))
    }

    /// Loads what [`CompiledGrammar::save`] or [`Constraint::save`] gave. Limits are not saved:
    /// those of running are the default ones.
    ///
    /// # Errors
    ///
    /// When the bytes are of something else or of another version, or any of them is wrong. No
    /// bytes make it panic or take more memory than a small multiple of their length, nor make any
    /// later call panic or go on for ever. But load only what you have saved: bytes that were made
    /// to deceive can hold any tables.
    pub fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        Constraint::builder().load_compiled(bytes)
    }

    /// The same within `limits`.
    pub(super) fn loaded(bytes: &[u8], limits: &Limits) -> Result<Self, LoadError> {
        Ok(Self::from_saved(&Saved::open(bytes)?, limits)?.0)
    }

    fn sections(&self, warnings: &[Diagnostic]) -> Vec<(Section, Vec<u8>)> {
        let written = |write: &dyn Fn(&mut Writer)| {
            let mut writer = Writer::default();
            write(&mut writer);
            writer.into_bytes()
        };
        vec![
            (Section::Grammar, written(&|w| self.grammar.save(w))),
            (Section::Scanner, written(&|w| self.scanner.save(w))),
            (
                Section::Findings,
                written(&|w| {
                    w.list(&self.warnings, |w, warning| warning.save(w));
                    w.list(&warnings[self.warnings.len()..], |w, warning| warning.save(w));
                }),
            ),
        ]
    }

    /// The grammar, and what else a constraint was warned of.
    fn from_saved(
        saved: &Saved<'_>,
        limits: &Limits,
    ) -> Result<(Self, Vec<Diagnostic>), LoadError> {
        let meter = Meter::new(limits);
        let bytes = saved.read_bytes().saturating_mul(BYTES_OF_A_BYTE);
        let counted = meter.keep(bytes).and_then(|()| meter.step(bytes));
        counted.map_err(|_| LoadError::of(LoadErrorKind::Limit))?;
        let mut content = saved.section(Section::Grammar)?;
        let grammar = Grammar::load(&mut content)?;
        content.finish()?;
        let mut content = saved.section(Section::Scanner)?;
        let scanner = Scanner::load(&mut content, &grammar, limits.bounds(), &meter)?;
        content.finish()?;
        let mut content = saved.section(Section::Findings)?;
        let warnings = content.list(20, Diagnostic::load)?;
        let more = content.list(20, Diagnostic::load)?;
        content.finish()?;
        let marks = Marks::new(&grammar, &meter);
        let marks = marks.map_err(|_| Malformed { what: "what is captured" })?.map(Arc::new);
        let (scanner, grammar, cost) = (Arc::new(scanner), Arc::new(grammar), meter.cost());
        let (fingerprint, limits) = (OnceLock::from(saved.of.grammar), limits.clone());
        Ok((Self { marks, scanner, grammar, fingerprint, warnings, limits, cost }, more))
    }
}

impl Constraint {
    /// The constraint as bytes: the compiled grammar, and all that has been computed of it and the
    /// vocabulary so far. The vocabulary itself is not in it. `docs/saved.md` describes the bytes;
    /// they are for this version of the crate only.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens([b"a".to_vec(), b"b".to_vec()])?;
    /// let constraint = Constraint::new(&Grammar::from_lark("start: \"a\" \"b\"*")?, &vocabulary)?;
    /// let saved = constraint.save();
    ///
    /// let loaded = Constraint::load(saved, &vocabulary)?;
    /// assert!(loaded.matcher().allows(0) && !loaded.matcher().allows(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self) -> Vec<u8> {
        let compiled = self.compiled();
        let vocabulary = Some(self.vocabulary().fingerprint());
        let of = Fingerprints { grammar: compiled.fingerprint(), vocabulary };
        // Before the scanner, in whose terms it is.
        let (index, tokens) = self.index.save();
        let mut sections = compiled.sections(&self.warnings);
        sections.push((Section::Index, index.into_bytes()));
        sections.push((Section::Tokens, tokens.into_bytes()));
        put_together(of, sections)
    }

    /// Loads what [`Constraint::save`] gave, with the vocabulary that it was saved with.
    ///
    /// `saved` may be anything that holds bytes: a `Vec<u8>`, a `&'static [u8]` that the program
    /// carries, or a file that is mapped into memory. Sets of tokens, which are most of it, stay
    /// there and are read in place.
    ///
    /// # Errors
    ///
    /// As [`CompiledGrammar::load`], and when the vocabulary is another one, or there was none.
    pub fn load(
        saved: impl AsRef<[u8]> + Send + Sync + 'static,
        vocabulary: &Vocabulary,
    ) -> Result<Self, LoadError> {
        Self::builder().load(saved, vocabulary)
    }

    /// The same within `limits`.
    pub(super) fn loaded(
        saved: impl AsRef<[u8]> + Send + Sync + 'static,
        vocabulary: &Vocabulary,
        limits: &Limits,
    ) -> Result<Self, LoadError> {
        let source: Source = Arc::new(saved);
        let saved = Saved::open((*source).as_ref())?;
        match saved.of.vocabulary {
            None => return Err(LoadError::of(LoadErrorKind::NoVocabulary)),
            Some(other) if other != vocabulary.fingerprint() => {
                return Err(LoadError::of(LoadErrorKind::OtherVocabulary));
            }
            Some(_) => {}
        }
        let (compiled, more) = CompiledGrammar::from_saved(&saved, limits)?;
        let spelled = compiled.spelled(vocabulary);
        let warnings = compiled.warnings.iter().cloned().chain(more).collect();
        let mut content = saved.section(Section::Index)?;
        let numbers = SavedNumbers::new(source.clone(), saved.place(Section::Tokens)?);
        let (scanner, budget) = (compiled.scanner.clone(), compiled.limits.index_bytes);
        let index =
            Index::load(&mut content, &numbers, scanner, spelled, budget, compiled.marks.clone())?;
        content.finish()?;
        Ok(Self { compiled, index: Arc::new(index), warnings })
    }
}

impl Limits {
    /// Those that hold while texts are read.
    pub(super) fn bounds(&self) -> Bounds {
        let Self { decision_steps, mask_steps, readings, reading_steps, .. } = *self;
        Bounds { decision_steps, mask_steps, readings: readings.max(1), reading_steps }
    }
}

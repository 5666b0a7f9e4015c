//! The façade: a grammar and a vocabulary become a constraint.

mod compiled;
mod disjoint;
mod empty;
mod error;
mod explore;
mod lexemes;
mod load_error;
mod saved;
mod saving;
#[cfg(test)]
mod tests;
mod texts;
mod tokens;
mod warm;

use std::sync::Arc;

use crate::grammar::Grammar;
use crate::index::Index;
use crate::matcher::{Matcher, TokenMask};
use crate::schema::SchemaOptions;
use crate::util::diagnostic::{Diagnostic, Severity};
use crate::vocab::Vocabulary;

pub use crate::index::IndexSize;
pub use compiled::{CompiledGrammar, Stage};
pub use error::BuildError;
pub use load_error::{LoadError, LoadErrorKind};

/// Bounds on what a grammar can make grow when it is compiled, and on the index. The defaults suit
/// a server that takes grammars from strangers: the largest take a second and some hundred
/// megabytes before they are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// States of one terminal's DFA. Default 200,000.
    pub terminal_states: usize,
    /// Scan states: of all terminals together. Default 500,000.
    pub scan_states: usize,
    /// Steps of each part of the proof that every viable text can be completed. What takes more is
    /// not proved, but decided while texts are read, which takes time there. Default 20,000,000.
    pub proof_steps: usize,
    /// Steps of one decision whether a text can be completed, where that is not proved. What takes
    /// more counts as a no, and [`Constraint::undecided`] counts it. Default 1,000,000: about a
    /// second, and the limit of a memory that many decisions share.
    pub decision_steps: usize,
    /// Readings of one text that are kept from one token to the next. Of more the first ones are
    /// kept, and [`Matcher::dropped_readings`] counts the others. Default 65,536.
    pub readings: usize,
    /// Bytes that masks and token classes may take before they are dropped and built anew. Default
    /// 256 MiB.
    pub index_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            terminal_states: 200_000,
            scan_states: 500_000,
            proof_steps: 20_000_000,
            decision_steps: 1_000_000,
            readings: 65_536,
            index_bytes: 256 << 20,
        }
    }
}

/// A grammar and a vocabulary, ready to constrain any number of sequences in any number of threads.
///
/// Cloning shares. What is computed for one sequence serves all.
#[derive(Clone, Debug)]
pub struct Constraint {
    compiled: CompiledGrammar,
    index: Arc<Index>,
    warnings: Vec<Diagnostic>,
}

impl Constraint {
    /// The constraint that `grammar` puts on `vocabulary`, with the default [`Limits`].
    ///
    /// Costs the grammar's tables and scanners, milliseconds for a programming language; nothing
    /// that grows with the vocabulary.
    ///
    /// # Errors
    ///
    /// When the engine cannot do the grammar exactly, a limit is exceeded, or the vocabulary lacks
    /// a token that the grammar names: the error says where and what to write instead.
    pub fn new(grammar: &Grammar, vocabulary: &Vocabulary) -> Result<Self, BuildError> {
        let constraint = CompiledGrammar::new(grammar)?.constraint(vocabulary);
        match constraint.warnings.iter().any(|finding| finding.severity == Severity::Error) {
            true => Err(BuildError::errors_first(constraint.warnings)),
            false => Ok(constraint),
        }
    }

    /// The constraint that a JSON schema puts on `vocabulary`, with the default [`Limits`].
    ///
    /// # Errors
    ///
    /// As [`JsonSchema::parse`](crate::JsonSchema::parse) and [`Constraint::new`].
    pub fn from_schema(
        text: &str,
        options: &SchemaOptions,
        vocabulary: &Vocabulary,
    ) -> Result<Self, BuildError> {
        let grammar = Grammar::from_schema(text, options);
        let grammar = grammar.map_err(|error| BuildError::new(vec![error.diagnostic()]))?;
        Self::new(&grammar, vocabulary)
    }

    /// How many questions whether a text can be completed took more than
    /// [`Limits::decision_steps`]. Each counts as a no: as long as this is 0 masks are exact, and
    /// else some may be too narrow. None is ever too wide.
    pub fn undecided(&self) -> usize {
        self.compiled.scanner.undecided()
    }

    /// A matcher for one sequence.
    pub fn matcher(&self) -> Matcher {
        Matcher::new(self.index.clone())
    }

    /// A mask of the right width, to be filled again and again.
    pub fn new_mask(&self) -> TokenMask {
        TokenMask::new(self.index.vocabulary().width())
    }

    /// The compiled grammar, which can be joined with other vocabularies.
    pub fn grammar(&self) -> &CompiledGrammar {
        &self.compiled
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        self.index.vocabulary()
    }

    /// What the grammar's author should know, and what of the grammar the vocabulary cannot spell.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// How large the index has become.
    pub fn index_size(&self) -> IndexSize {
        self.index.size()
    }
}

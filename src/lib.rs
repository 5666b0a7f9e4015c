//! Keeps a language model's output inside a grammar.

pub(crate) mod constraint;
pub(crate) mod grammar;
pub(crate) mod index;
pub(crate) mod lexer;
pub(crate) mod lr;
pub(crate) mod matcher;
pub(crate) mod scanner;
pub(crate) mod syntax;
pub(crate) mod util;
pub(crate) mod vocab;

pub use constraint::{BuildError, CompiledGrammar, Constraint, IndexSize, Limits, Stage};
pub use grammar::{Grammar, GrammarError};
pub use matcher::{Matcher, RejectedToken, TokenMask};
pub use util::diagnostic::{Diagnostic, Severity};
pub use util::id::TokenId;
pub use vocab::{Vocabulary, VocabularyError, VocabularyErrorKind};

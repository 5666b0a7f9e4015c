//! The model's vocabulary: the bytes of each token.
//!
//! A [`Vocabulary`] is created by a loader from a tokenizer's file (`load`). It contains the bytes
//! of the tokens, and the [`trie::Trie`] over them that every walk over the vocabulary follows. It
//! does not depend on grammars.

mod bpe;
mod builder;
mod cut;
mod error;
mod healing;
mod load;
pub(crate) mod nodes;
mod reader;
mod spelled;
mod stops;
mod tokens;
pub(crate) mod trie;
mod vocabulary;

pub use bpe::CanonicalError;
pub(crate) use bpe::{Begin, Canonical, CanonicalTokens, States};
pub use error::{VocabularyError, VocabularyErrorKind};
pub use healing::{TakeBack, TakenBack};
pub use reader::VocabularyReader;
pub(crate) use spelled::Spelled;
pub use vocabulary::Vocabulary;

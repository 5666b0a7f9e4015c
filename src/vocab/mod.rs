//! The model's vocabulary: which bytes each token stands for.
//!
//! A [`Vocabulary`] is made by a loader from a tokenizer's file (`load`), holds the tokens as
//! bytes, and the [`trie::Trie`] over them that every walk over the vocabulary follows. It knows
//! nothing of grammars.

mod builder;
mod cut;
mod error;
pub(crate) mod families;
mod load;
pub(crate) mod nodes;
pub(crate) mod piece_counts;
mod reader;
pub(crate) mod rests;
mod spelled;
mod stops;
mod tokens;
pub(crate) mod trie;
mod vocabulary;

pub use error::{VocabularyError, VocabularyErrorKind};
pub use reader::VocabularyReader;
pub(crate) use spelled::Spelled;
pub use vocabulary::Vocabulary;

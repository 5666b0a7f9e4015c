//! Readers of tokenizer files, one a format.

mod list;

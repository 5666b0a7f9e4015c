//! The integration tests, as one binary: each module is a file of tests, and the modules that
//! several of them share are compiled once.
//!
//! `cargo test --release --test it NAME::` runs one file. `tidy`, `limits`, `memory` and `threads`
//! are binaries of their own: the first reads the sources, the next two count the heap, and the
//! last runs under Miri.

// A test fails by panicking; the lint only knows that of the test functions themselves.
#![allow(clippy::unwrap_used)]

mod corpus;
mod forging;
mod oracle;
mod schema_oracle;
mod sqlite_oracle;
mod tools;

mod api;
mod batch;
mod budget;
mod canonical;
mod exhaustive;
mod explain;
mod explore;
mod gbnf;
mod gbnf_functions;
mod gguf;
mod healing;
mod hostile;
mod ignored;
mod indentation;
mod json;
mod key_orders;
mod lark_grammars;
mod llguidance;
mod long_strings;
mod messages;
mod model;
mod oracle_itself;
mod python;
mod random;
mod readings;
mod regressions;
mod samples;
mod saved;
mod schema;
mod schema_cost;
mod schema_verdicts;
mod speculation;
mod sqlite;
mod tag_formats;
mod tags;
mod text_library;
mod tokenizers;
mod tool_calls;
mod trees;
mod unique_items;
mod vocabularies;
mod worked_examples;

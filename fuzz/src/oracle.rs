//! The definition of the language, executed slowly: shared with the tests, but for what needs their tools.
#![allow(dead_code)]

#[path = "../../tests/oracle/earley.rs"]
pub mod earley;
#[path = "../../tests/oracle/language.rs"]
pub mod language;
#[path = "../../tests/oracle/layout.rs"]
pub mod layout;
#[path = "../../tests/oracle/spec.rs"]
pub mod spec;
#[path = "../../tests/oracle/viability.rs"]
pub mod viability;

//! The definition of the language, executed slowly: shared with the tests, but for what needs their
//! tools.
#![allow(dead_code)]

#[path = "../../tests/oracle/automaton.rs"]
pub mod automaton;
#[path = "../../tests/oracle/language.rs"]
pub mod language;
#[path = "../../tests/oracle/layout.rs"]
pub mod layout;
#[path = "../../tests/oracle/open.rs"]
pub mod open;
#[path = "../../tests/oracle/pattern.rs"]
pub mod pattern;
#[path = "../../tests/oracle/quoted.rs"]
pub mod quoted;
#[path = "../../tests/oracle/search.rs"]
pub mod search;
#[path = "../../tests/oracle/spec.rs"]
pub mod spec;
#[path = "../../tests/oracle/stacks.rs"]
pub mod stacks;
#[path = "../../tests/oracle/viability.rs"]
pub mod viability;

//! Tests of grammars, vocabularies and the index together.

mod shortcut_costs;
mod shortcuts;

//! Tests of grammars, vocabularies and the index together.

mod shortcuts;

//! The notations that grammars are written in.

use std::path::Path;

/// A notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Notation {
    /// Lark's, with directives (`.lark`, and what has no other's extension).
    Lark,
    /// llama.cpp's, and the other notations that define rules by `::=` (`.gbnf`, `.ebnf`).
    Gbnf,
    /// Yacc's and Bison's (`.y`).
    Yacc,
    /// One regular expression, in Python's syntax, that the whole text matches (`.regex`).
    Regex,
    /// JSON Schema (`.json`).
    Schema,
    /// Structural tags: free text with tagged JSON in it.
    Tags,
}

impl Notation {
    /// The notation of the file at `path`, by its extension.
    pub(crate) fn of(path: &str) -> Self {
        match Path::new(path).extension().and_then(|extension| extension.to_str()) {
            Some("gbnf" | "ebnf") => Self::Gbnf,
            Some("y" | "yy" | "yacc") => Self::Yacc,
            Some("regex") => Self::Regex,
            Some("json") => Self::Schema,
            _ => Self::Lark,
        }
    }
}

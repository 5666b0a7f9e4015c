//! The notations that grammars are written in.

use std::path::Path;

use serde_json::Value;

/// A notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Notation {
    /// Lark's, with directives (`.lark`, and any file without the extension of another notation).
    Lark,
    /// llama.cpp's, and the other notations that define rules by `::=` (`.gbnf`, `.ebnf`).
    Gbnf,
    /// Yacc's and Bison's (`.y`).
    Yacc,
    /// One regular expression, in Python's syntax, that the whole text matches (`.regex`).
    Regex,
    /// JSON Schema (`.json`).
    Schema,
    /// Structural tags: free text with tagged JSON in it (`.json` that has `triggers` or
    /// `structures`, is of type `structural_tag`, or has an object `format` with a type).
    Tags,
    /// Fixed texts, one per line (`.choices`, `.txt`).
    Choices,
}

impl Notation {
    /// Returns the notation of the file at `path` with this content, by its extension; for JSON
    /// also by its members.
    pub(crate) fn of_file(path: &str, text: &str) -> Self {
        match Self::of(path) {
            Self::Schema if has_tags(text) => Self::Tags,
            notation => notation,
        }
    }

    /// Returns the notation of the file at `path`, by its extension.
    fn of(path: &str) -> Self {
        match Path::new(path).extension().and_then(|extension| extension.to_str()) {
            Some("gbnf" | "ebnf") => Self::Gbnf,
            Some("y" | "yy" | "yacc") => Self::Yacc,
            Some("regex") => Self::Regex,
            Some("json") => Self::Schema,
            Some("choices" | "txt") => Self::Choices,
            _ => Self::Lark,
        }
    }
}

/// Returns whether a JSON text is structural tags. No keyword of JSON Schema has these names, and
/// `format` is a string there.
fn has_tags(text: &str) -> bool {
    let names = ["\"triggers\"", "\"structures\"", "\"structural_tag\"", "\"format\""];
    if !names.iter().any(|name| text.contains(name)) {
        return false;
    }
    let Ok(Value::Object(members)) = serde_json::from_str(text) else { return false };
    let is_list = |name: &str| members.get(name).is_some_and(Value::is_array);
    is_list("triggers")
        || is_list("structures")
        || members.get("type").is_some_and(|kind| kind == "structural_tag")
        || members.get("format").is_some_and(|format| format["type"].is_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structural_tags_are_told_from_schemas_by_their_members() {
        let of = |text| Notation::of_file("a.json", text);
        assert_eq!(of(r#"{"triggers": ["<"], "structures": []}"#), Notation::Tags);
        assert_eq!(of(r#"{"type": "structural_tag", "format": {}}"#), Notation::Tags);
        assert_eq!(of(r#"{"format": {"type": "any_text"}}"#), Notation::Tags);
        assert_eq!(of(r#"{"type": "string", "format": "date"}"#), Notation::Schema);
        let schema = r#"{"properties": {"triggers": {"type": "array"}}}"#;
        assert_eq!(of(schema), Notation::Schema);
        assert_eq!(of(r#"{"triggers": "#), Notation::Schema);
    }
}

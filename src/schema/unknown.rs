//! Keywords that have no effect but were meant to: misspelt ones, those of a later draft than the
//! schema's, and `nullable`, which is OpenAPI's.
//!
//! Each gives a warning, once. The schema is read according to the standard.

use crate::schema::draft::Draft;
use crate::schema::json::{NodeId, Value};
use crate::schema::refs::Schemas;
use crate::schema::vocabulary;
use crate::util::diagnostic::Diagnostic;

/// Keyword of OpenAPI.
const NULLABLE: &str = "nullable";

impl Schemas<'_> {
    /// Checks the keywords of the schema `node`.
    pub(super) fn look_for_unknown(&mut self, node: NodeId, draft: Draft) {
        let Value::Object(members) = self.json.value(node) else { return };
        let mut found = Vec::new();
        let mut nullable = None;
        for (key, value) in members {
            if key == NULLABLE {
                nullable = Some(*value);
            } else if let Some(first) = vocabulary::first_draft(key, draft) {
                let message = format!(
                    "`{key}` has no effect in {}: it belongs to {first} and later",
                    draft.name(),
                    first = first.name()
                );
                found.push((*value, message, "change or remove `$schema`".to_owned()));
            } else if !vocabulary::asks(key) && !self.met.contains(&**key) {
                self.met.insert(key.clone().into_owned());
                let Some(meant) = vocabulary::meant_keyword(key) else { continue };
                let message =
                    format!("`{}` is not a keyword and has no effect", key.escape_debug());
                found.push((*value, message, format!("did you mean `{meant}`?")));
            }
        }
        for (value, message, help) in found {
            self.warn_once(value, Diagnostic::warning("unknown-keyword", message).help(help));
        }
        if let Some(value) = nullable {
            self.nullable(node, value);
        }
    }

    /// Adds `null` to the types of a schema, as OpenAPI 3.0 defines `nullable`.
    fn nullable(&mut self, node: NodeId, value: NodeId) {
        if !matches!(self.json.value(value), Value::Boolean(true)) {
            return;
        }
        if !self.options.nullable {
            let message = "`nullable` is a keyword of OpenAPI and has no effect in JSON Schema";
            let help = "write `\"type\": [..., \"null\"]`, or set `SchemaOptions::nullable`";
            return self
                .warn_once(value, Diagnostic::warning("unknown-keyword", message).help(help));
        }
        let Some(types) = self.json.get(node, "type") else {
            let message = "`nullable` has no effect without a `type`";
            let help = "write `\"anyOf\": [..., {\"type\": \"null\"}]`";
            return self
                .warn_once(value, Diagnostic::warning("unknown-keyword", message).help(help));
        };
        let mut names = match self.json.value(types).clone() {
            Value::Array(names) => names,
            only => vec![self.json.add(types, only)],
        };
        if !names.iter().any(|&name| self.json.string(name) == Some("null")) {
            names.push(self.json.add(types, Value::String("null".into())));
            self.json.set(types, Value::Array(names));
        }
    }

    /// Adds a warning at a value, unless there is one with this message.
    pub(super) fn warn_once(&mut self, at: NodeId, warning: Diagnostic) {
        if self.warnings.iter().all(|known| known.message != warning.message) {
            self.warnings.push(warning.at(self.json.place(at)));
        }
    }
}

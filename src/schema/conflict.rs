//! Explains why no value satisfies a schema: a minimal set of contradictory keywords.

use crate::schema::draft::Draft;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::FormulaId;
use crate::schema::json::{NodeId, Value};
use crate::schema::keywords::Reader;
use crate::schema::machine::Machine;

use FormulaId as F;

/// A keyword: its name, its value, and its formula on its own.
type Part = (String, NodeId, F);

/// Maximum number of keywords that are searched.
const MOST_PARTS: usize = 64;

/// Depth to which `allOf` and `$ref` are followed.
const DEPTH: usize = 16;

impl Machine<'_> {
    /// Returns the error of a schema that no value satisfies. Names a minimal set of contradictory
    /// keywords of the innermost schema that is to blame; costs one analysis for each keyword.
    pub(super) fn unsatisfiable(&mut self, root: NodeId) -> SchemaError {
        let mut root = root;
        for _ in 0..DEPTH {
            let Some(parts) = self.conflict(root) else { break };
            let Some(inner) = self.blamed(&parts) else { break };
            root = inner;
        }
        let place = (self.reader.schemas.json.pointer(root), self.reader.schemas.json.place(root));
        let error = |message: String| {
            SchemaError::new(SchemaErrorKind::Unsatisfiable, message)
                .at(place.0.clone(), place.1.clone())
        };
        let Some(parts) = self.conflict(root) else {
            return error("no value satisfies the schema".to_owned());
        };
        let names: Vec<String> = parts.iter().map(|(name, ..)| format!("`{name}`")).collect();
        let json = &self.reader.schemas.json;
        let places: Vec<String> =
            parts.iter().map(|&(_, node, _)| format!("#{}", json.pointer(node))).collect();
        match &names[..] {
            [] => error("no value satisfies the schema".to_owned()),
            [only] => error(format!("no value satisfies {only}")).example(places.join(", ")),
            [first @ .., last] => {
                error(format!("no value satisfies {} and {last} together", first.join(", ")))
                    .example(places.join(", "))
                    .help("remove one of them, or make them compatible")
            }
        }
    }

    /// Returns a schema within these keywords that no value satisfies and that is not just `false`.
    fn blamed(&mut self, parts: &[Part]) -> Option<NodeId> {
        let mut inner = Vec::new();
        for (name, value, _) in parts {
            let json = &self.reader.schemas.json;
            match (name.as_str(), json.value(*value)) {
                ("properties" | "patternProperties", Value::Object(members)) => {
                    inner.extend(members.iter().map(|&(_, schema)| schema));
                }
                ("items" | "prefixItems", Value::Array(schemas)) => inner.extend(schemas),
                // If there are several, each is unsatisfiable for a different reason.
                ("anyOf" | "oneOf", Value::Array(schemas)) if schemas.len() == 1 => {
                    inner.extend(schemas);
                }
                (
                    "items"
                    | "additionalItems"
                    | "additionalProperties"
                    | "contains"
                    | "unevaluatedItems"
                    | "unevaluatedProperties",
                    Value::Object(_),
                ) => inner.push(*value),
                _ => {}
            }
        }
        inner.truncate(MOST_PARTS);
        inner.into_iter().find(|&schema| {
            matches!(self.reader.schemas.json.value(schema), Value::Object(_))
                && self.is_empty(schema)
        })
    }

    /// Whether it is certain that no value satisfies the schema.
    fn is_empty(&mut self, schema: NodeId) -> bool {
        let said = self.reader.child(schema);
        said.is_ok_and(|said| matches!(self.is_inhabited(said), Ok(false)))
    }

    /// Returns a minimal set of keywords that no value satisfies together. `None` if the search is
    /// too expensive.
    fn conflict(&mut self, root: NodeId) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        self.reader.parts(root, 0, &mut parts).ok()?;
        if parts.len() > MOST_PARTS {
            return None;
        }
        let mut at = 0;
        while at < parts.len() {
            let others =
                parts.iter().enumerate().filter(|&(other, _)| other != at).map(|(_, part)| part.2);
            let others: Vec<F> = others.collect();
            let rest = self.reader.formulas.and(others);
            match self.is_inhabited(rest).ok()? {
                true => at += 1,
                false => drop(parts.remove(at)),
            }
        }
        Some(parts)
    }
}

impl Reader<'_> {
    /// Collects the formula of each keyword of a schema, including those in `allOf` and in targets
    /// of `$ref`.
    fn parts(
        &mut self,
        node: NodeId,
        depth: usize,
        parts: &mut Vec<Part>,
    ) -> Result<(), SchemaError> {
        let Value::Object(members) = self.schemas.json.value(node).clone() else { return Ok(()) };
        // Older drafts ignore the keywords next to a reference.
        let is_reference = self.schemas.draft(node) <= Draft::Seven
            && self.schemas.json.get(node, "$ref").is_some();
        for member in members.into_iter().filter(|(key, _)| !is_reference || key == "$ref") {
            let (key, value) = &member;
            if let ("allOf", Value::Array(all)) = (&**key, self.schemas.json.value(*value).clone())
                && depth < DEPTH
            {
                all.into_iter().try_for_each(|schema| self.parts(schema, depth + 1, parts))?;
                continue;
            }
            if let ("$ref", Some(text)) =
                (&**key, self.schemas.json.string(*value).map(str::to_owned))
                && depth < DEPTH
            {
                let target = self.schemas.resolve(node, *value, &text)?;
                self.parts(target, depth + 1, parts)?;
                continue;
            }
            let said = self.keyword_alone(node, &member)?;
            if said != F::TRUE && parts.len() <= MOST_PARTS {
                parts.push((key.clone().into_owned(), *value, said));
            }
        }
        Ok(())
    }
}

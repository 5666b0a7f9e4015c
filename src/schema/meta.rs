//! The keywords of the drafts, and the meta-schemas generated from them, which `$ref` may refer to
//! without a document.
//!
//! Since draft 2019-09, a meta-schema consists of vocabularies that refer to one another
//! dynamically. A reference to the standard's own meta-schema can only mean this combination, so it
//! is one schema here.

use std::fmt::Write as _;

use crate::schema::draft::Draft;

use Draft::{Eight, Four, Nine, Seven, Six, Three};

/// Kind of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Schema,
    SchemaOrBoolean,
    /// A non-empty list of schemas.
    List,
    /// A schema or a list of schemas.
    SchemaOrList,
    /// Schemas by name.
    Named,
    /// Schemas by regular expression.
    ByPattern,
    /// A schema, or names, by name.
    Dependencies,
    /// Names by name.
    NamesByName,
    Names,
    /// A non-empty list of names.
    SomeNames,
    Text,
    /// Strings of a format.
    Of(&'static str),
    Anchor,
    Boolean,
    BooleanByUri,
    Number,
    Positive,
    Count,
    Type,
    Types,
    Values,
    /// A non-empty list of distinct values.
    SomeValues,
    Any,
}

/// Keywords, with the first and last draft whose meta-schema has them, and the kinds of their
/// values.
const KEYWORDS: &[(&str, Draft, Draft, Kind)] = &[
    ("id", Four, Four, Kind::Text),
    ("$id", Six, Nine, Kind::Of("uri-reference")),
    ("$schema", Four, Four, Kind::Text),
    ("$schema", Six, Nine, Kind::Of("uri")),
    ("$ref", Six, Nine, Kind::Of("uri-reference")),
    ("$anchor", Eight, Nine, Kind::Anchor),
    ("$recursiveRef", Eight, Eight, Kind::Of("uri-reference")),
    ("$recursiveAnchor", Eight, Eight, Kind::Boolean),
    ("$dynamicRef", Nine, Nine, Kind::Of("uri-reference")),
    ("$dynamicAnchor", Nine, Nine, Kind::Anchor),
    ("$vocabulary", Eight, Nine, Kind::BooleanByUri),
    ("$comment", Seven, Nine, Kind::Text),
    ("$defs", Eight, Nine, Kind::Named),
    ("title", Four, Nine, Kind::Text),
    ("description", Four, Nine, Kind::Text),
    ("default", Four, Nine, Kind::Any),
    ("deprecated", Eight, Nine, Kind::Boolean),
    ("readOnly", Seven, Nine, Kind::Boolean),
    ("writeOnly", Seven, Nine, Kind::Boolean),
    ("examples", Six, Nine, Kind::Values),
    ("multipleOf", Four, Nine, Kind::Positive),
    ("maximum", Four, Nine, Kind::Number),
    ("exclusiveMaximum", Four, Four, Kind::Boolean),
    ("exclusiveMaximum", Six, Nine, Kind::Number),
    ("minimum", Four, Nine, Kind::Number),
    ("exclusiveMinimum", Four, Four, Kind::Boolean),
    ("exclusiveMinimum", Six, Nine, Kind::Number),
    ("maxLength", Four, Nine, Kind::Count),
    ("minLength", Four, Nine, Kind::Count),
    ("pattern", Four, Nine, Kind::Of("regex")),
    ("prefixItems", Nine, Nine, Kind::List),
    ("additionalItems", Six, Eight, Kind::Schema),
    ("items", Four, Eight, Kind::SchemaOrList),
    ("items", Nine, Nine, Kind::Schema),
    ("unevaluatedItems", Eight, Nine, Kind::Schema),
    ("maxItems", Four, Nine, Kind::Count),
    ("minItems", Four, Nine, Kind::Count),
    ("uniqueItems", Four, Nine, Kind::Boolean),
    ("contains", Six, Nine, Kind::Schema),
    ("maxContains", Eight, Nine, Kind::Count),
    ("minContains", Eight, Nine, Kind::Count),
    ("maxProperties", Four, Nine, Kind::Count),
    ("minProperties", Four, Nine, Kind::Count),
    ("required", Four, Four, Kind::SomeNames),
    ("required", Six, Nine, Kind::Names),
    ("additionalProperties", Six, Nine, Kind::Schema),
    ("unevaluatedProperties", Eight, Nine, Kind::Schema),
    ("definitions", Four, Nine, Kind::Named),
    ("properties", Four, Nine, Kind::Named),
    ("patternProperties", Four, Four, Kind::Named),
    ("patternProperties", Six, Nine, Kind::ByPattern),
    ("dependencies", Four, Nine, Kind::Dependencies),
    ("dependentSchemas", Eight, Nine, Kind::Named),
    ("dependentRequired", Eight, Nine, Kind::NamesByName),
    ("propertyNames", Six, Nine, Kind::Schema),
    ("const", Six, Nine, Kind::Any),
    ("enum", Four, Six, Kind::SomeValues),
    ("enum", Seven, Nine, Kind::Values),
    ("type", Four, Nine, Kind::Types),
    ("format", Four, Nine, Kind::Text),
    ("contentMediaType", Seven, Nine, Kind::Text),
    ("contentEncoding", Seven, Nine, Kind::Text),
    ("contentSchema", Eight, Nine, Kind::Schema),
    ("if", Seven, Nine, Kind::Schema),
    ("then", Seven, Nine, Kind::Schema),
    ("else", Seven, Nine, Kind::Schema),
    ("allOf", Four, Nine, Kind::List),
    ("anyOf", Four, Nine, Kind::List),
    ("oneOf", Four, Nine, Kind::List),
    ("not", Four, Nine, Kind::Schema),
    // In draft 4, only these keywords allow a boolean in place of a schema.
    ("additionalItems", Four, Four, Kind::SchemaOrBoolean),
    ("additionalProperties", Four, Four, Kind::SchemaOrBoolean),
    ("$ref", Three, Three, Kind::Text),
    ("disallow", Three, Three, Kind::Types),
    ("divisibleBy", Three, Three, Kind::Positive),
    ("extends", Three, Three, Kind::SchemaOrList),
];

/// Returns all keywords, some of them several times.
pub(super) fn keywords() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|(name, ..)| *name)
}

/// Returns the first draft that has a keyword. Draft 3 has those of draft 4.
pub(super) fn first_draft(key: &str) -> Option<Draft> {
    let rows = KEYWORDS.iter().filter(|(name, ..)| *name == key);
    let first = rows.map(|&(_, first, ..)| first).min()?;
    Some(if first == Four { Three } else { first })
}

/// Returns the kind of a keyword's value in the latest draft that has it.
pub(super) fn kind(key: &str) -> Option<Kind> {
    let rows = KEYWORDS.iter().filter(|(name, ..)| *name == key);
    rows.max_by_key(|&&(_, _, last, _)| last).map(|&(.., kind)| kind)
}

/// Addresses of the meta-schemas.
const ADDRESSES: [(&str, Draft); 5] = [
    ("http://json-schema.org/draft-04/schema", Four),
    ("http://json-schema.org/draft-06/schema", Six),
    ("http://json-schema.org/draft-07/schema", Seven),
    ("https://json-schema.org/draft/2019-09/schema", Eight),
    ("https://json-schema.org/draft/2020-12/schema", Nine),
];

/// Returns the meta-schema at `address`, which has no fragment.
pub(super) fn document(address: &str) -> Option<String> {
    let &(name, draft) = ADDRESSES.iter().find(|(known, _)| {
        // Both URI schemes are used for all of them.
        known.split_once("://").map(|(_, rest)| rest)
            == address.split_once("://").map(|(_, rest)| rest)
    })?;
    let id = if draft == Four { "id" } else { "$id" };
    let fragment = if draft <= Seven { "#" } else { "" };
    let of = if draft == Four { r#""object""# } else { r#"["object", "boolean"]"# };
    let place = if draft <= Seven { "definitions" } else { "$defs" };
    let mut text = format!(
        r#"{{"{id}": "{name}{fragment}", "$schema": "{name}{fragment}", "type": {of}, "{place}": {{"#
    );
    for (number, (name, kind)) in DEFINITIONS.iter().enumerate() {
        let comma = if number > 0 { ", " } else { "" };
        let _ = write!(text, "{comma}\"{name}\": {}", kind.schema(draft, true));
    }
    text.push_str("}, \"properties\": {");
    let keywords = KEYWORDS.iter().filter(|&&(_, from, to, _)| from <= draft && draft <= to);
    for (number, (name, .., kind)) in keywords.enumerate() {
        let comma = if number > 0 { ", " } else { "" };
        let _ = write!(text, "{comma}\"{name}\": {}", kind.schema(draft, false));
    }
    if draft == Four {
        text.push_str(
            r#"}, "dependencies": {"exclusiveMaximum": ["maximum"], "exclusiveMinimum": ["minimum"]"#,
        );
    }
    text.push_str("}}");
    Some(text)
}

/// Definitions that other schemas refer to by name.
const DEFINITIONS: [(&str, Kind); 7] = [
    ("schemaArray", Kind::List),
    ("nonNegativeInteger", Kind::Count),
    ("nonNegativeIntegerDefault0", Kind::Count),
    ("positiveInteger", Kind::Count),
    ("positiveIntegerDefault0", Kind::Count),
    ("simpleTypes", Kind::Type),
    ("stringArray", Kind::Names),
];

impl Kind {
    /// Returns the schema of such values: in full for the definitions, otherwise a reference if
    /// there is a definition.
    fn schema(self, draft: Draft, is_definition: bool) -> String {
        let place = if draft <= Seven { "definitions" } else { "$defs" };
        let defined =
            DEFINITIONS.iter().find(|&&(_, kind)| kind == self).filter(|_| !is_definition);
        if let Some((name, _)) = defined {
            return format!(r##"{{"$ref": "#/{place}/{name}"}}"##);
        }
        let schema = r##"{"$ref": "#"}"##;
        let names = r#"{"type": "array", "items": {"type": "string"}, "uniqueItems": true}"#;
        let map = |of: &str| format!(r#"{{"type": "object", "additionalProperties": {of}}}"#);
        match self {
            Kind::Schema => schema.to_owned(),
            Kind::SchemaOrBoolean => format!(r#"{{"anyOf": [{{"type": "boolean"}}, {schema}]}}"#),
            Kind::List => format!(r#"{{"type": "array", "minItems": 1, "items": {schema}}}"#),
            Kind::SchemaOrList => {
                format!(r#"{{"anyOf": [{schema}, {}]}}"#, Kind::List.schema(draft, false))
            }
            Kind::Named => map(schema),
            Kind::ByPattern => format!(
                r#"{{"type": "object", "additionalProperties": {schema}, "propertyNames": {{"format": "regex"}}}}"#
            ),
            Kind::Dependencies => {
                let names = if draft == Four { Kind::SomeNames } else { Kind::Names };
                map(&format!(r#"{{"anyOf": [{schema}, {}]}}"#, names.schema(draft, false)))
            }
            Kind::NamesByName => map(&Kind::Names.schema(draft, false)),
            Kind::Names if draft == Four => Kind::SomeNames.schema(draft, false),
            Kind::Names => names.to_owned(),
            Kind::SomeNames => names.replace("\"uniqueItems\"", "\"minItems\": 1, \"uniqueItems\""),
            Kind::Text => r#"{"type": "string"}"#.to_owned(),
            Kind::Of(format) => format!(r#"{{"type": "string", "format": "{format}"}}"#),
            Kind::Anchor => r#"{"type": "string", "pattern": "^[A-Za-z_][-A-Za-z0-9._]*$"}"#.to_owned(),
            Kind::Boolean => r#"{"type": "boolean"}"#.to_owned(),
            Kind::BooleanByUri => {
                r#"{"type": "object", "propertyNames": {"format": "uri"}, "additionalProperties": {"type": "boolean"}}"#
                    .to_owned()
            }
            Kind::Number => r#"{"type": "number"}"#.to_owned(),
            Kind::Positive if draft == Four => {
                r#"{"type": "number", "minimum": 0, "exclusiveMinimum": true}"#.to_owned()
            }
            Kind::Positive => r#"{"type": "number", "exclusiveMinimum": 0}"#.to_owned(),
            Kind::Count => r#"{"type": "integer", "minimum": 0}"#.to_owned(),
            Kind::Type => {
                r#"{"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}"#
                    .to_owned()
            }
            Kind::Types => {
                let one = Kind::Type.schema(draft, false);
                format!(
                    r#"{{"anyOf": [{one}, {{"type": "array", "items": {one}, "minItems": 1, "uniqueItems": true}}]}}"#
                )
            }
            Kind::Values => r#"{"type": "array"}"#.to_owned(),
            Kind::SomeValues => r#"{"type": "array", "minItems": 1, "uniqueItems": true}"#.to_owned(),
            Kind::Any => "{}".to_owned(),
        }
    }
}

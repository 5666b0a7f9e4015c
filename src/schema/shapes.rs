//! Schemas of common shapes, built without their text: records, and JSON of a bounded depth (Koo,
//! Liu and He, "Automata-based constraints for language model decoding", COLM 2024, section 5.2).

use crate::schema::JsonSchema;
use crate::schema::error::SchemaError;
use crate::schema::options::SchemaOptions;
use crate::schema::text;

impl JsonSchema {
    /// Returns the schema of objects with exactly these members, each given by its name and schema.
    ///
    /// ```
    /// use lrmask::{JsonSchema, SchemaOptions};
    ///
    /// let members = [("name", r#"{"type": "string"}"#), ("age", r#"{"type": "integer"}"#)];
    /// let person = JsonSchema::record(members, &SchemaOptions::default())?;
    /// # Ok::<(), lrmask::SchemaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`JsonSchema::parse`]; also when two members have the same name.
    pub fn record<'a>(
        members: impl IntoIterator<Item = (&'a str, &'a str)>,
        options: &SchemaOptions,
    ) -> Result<Self, SchemaError> {
        let members = members.into_iter().map(|(name, schema)| (text::spelling(name), schema));
        let members: Vec<(String, &str)> = members.collect();
        let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        let properties: Vec<String> =
            members.iter().map(|(name, schema)| format!("{name}: {schema}")).collect();
        let (properties, names) = (properties.join(", "), names.join(", "));
        let text = format!(
            r#"{{"type": "object", "properties": {{{properties}}}, "required": [{names}], "additionalProperties": false}}"#
        );
        Self::parse(&text, options)
    }

    /// Returns the schema of all values whose arrays and objects nest at most `depth` deep: only
    /// scalars at 0.
    ///
    /// ```
    /// use lrmask::{JsonSchema, SchemaOptions};
    ///
    /// let shallow = JsonSchema::of_depth(3, &SchemaOptions::default())?;
    /// # Ok::<(), lrmask::SchemaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the depth exceeds a limit.
    pub fn of_depth(depth: usize, options: &SchemaOptions) -> Result<Self, SchemaError> {
        let mut text = r##"{"$ref": "#/$defs/"##.to_owned();
        text.push_str(&depth.to_string());
        text.push_str(r#"", "$defs": {"0": {"not": {"type": ["array", "object"]}}"#);
        for level in 1..=depth {
            let inner = format!(r##"{{"$ref": "#/$defs/{}"}}"##, level - 1);
            let own =
                format!(r#", "{level}": {{"items": {inner}, "additionalProperties": {inner}}}"#);
            text.push_str(&own);
        }
        text.push_str("}}");
        Self::parse(&text, options)
    }
}

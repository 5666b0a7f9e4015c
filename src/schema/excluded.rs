//! `excludes` of a schema among structural tags: texts that no string in the value may contain.

use serde_json::{Value, json};

/// Returns the schema with a condition on all strings in the value, names of members among them:
/// none contains one of `texts`.
pub(super) fn without_texts(schema: &str, texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| escaped(text)).collect();
    let pattern = texts.join("|");
    // The schema stays a document of its own, so that its references find what they found before.
    // It is edited as text, because the order of its keys counts.
    let has_id =
        serde_json::from_str(schema).is_ok_and(|schema: Value| schema.get("$id").is_some());
    let schema = match schema.trim().strip_prefix('{') {
        Some(members) if !has_id => {
            let comma = if members.trim_start().starts_with('}') { "" } else { "," };
            format!(r#"{{"$id":"urn:lrmask:schema"{comma}{members}"#)
        }
        _ => schema.to_owned(),
    };
    let reference = json!({"$ref": "#/$defs/strings"});
    let strings = json!({
        "not": {"type": "string", "pattern": pattern},
        "propertyNames": {"not": {"pattern": pattern}},
        "additionalProperties": reference,
        "items": reference,
    });
    format!(r#"{{"allOf":[{schema},{reference}],"$defs":{{"strings":{strings}}}}}"#)
}

/// Returns a pattern of ECMA-262 that matches this text.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\^$.*+?()[]{}|/".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

//! `x-guidance`: options for separators, whitespace and escapes in the schema itself, by
//! llguidance's names. There, separators and whitespace are regular expressions.

use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::foreign;
use crate::schema::json::{Json, NodeId, Value};
use crate::schema::options::{ESCAPE_LETTERS, SchemaOptions, Separator, StringEscapes, Whitespace};

const KEYWORD: &str = "x-guidance";

/// Returns the options as changed by the schema `text`; `None` if it changes none. Text that is not
/// JSON changes none.
///
/// # Errors
///
/// If the keyword has a member that is unknown or has a value of the wrong kind.
pub(super) fn options(
    text: &str,
    options: &SchemaOptions,
) -> Result<Option<SchemaOptions>, SchemaError> {
    // Avoids reading most schemas twice.
    if !text.contains(KEYWORD) {
        return Ok(None);
    }
    let mut json = Json::default();
    let Ok(root) = json.read("<schema>", text) else { return Ok(None) };
    let schema = foreign::unwrapped(&json, root);
    let guidance = json.get(schema, KEYWORD).or_else(|| json.get(root, KEYWORD));
    let Some(guidance) = guidance else { return Ok(None) };
    let invalid = |node: NodeId, message: String| {
        SchemaError::new(SchemaErrorKind::InvalidSchema, message)
            .at(json.pointer(node), json.place(node))
    };
    let Value::Object(members) = json.value(guidance) else {
        return Err(invalid(guidance, format!("`{KEYWORD}` must be an object")));
    };
    let mut changed = options.clone();
    let mut pattern = None;
    for (name, node) in members {
        match (&**name, json.value(*node)) {
            ("item_separator", Value::String(text)) => {
                changed.item_separator = separator(text);
            }
            ("key_separator", Value::String(text)) => {
                changed.key_separator = separator(text);
            }
            ("whitespace_flexible", Value::Boolean(true)) => changed.whitespace = Whitespace::Any,
            ("whitespace_flexible", Value::Boolean(false)) => changed.whitespace = Whitespace::None,
            ("whitespace_pattern", Value::String(text)) => {
                pattern = Some(text.clone().into_owned());
            }
            ("whitespace_pattern", Value::Null) => {}
            ("json_allowed_escapes", Value::String(letters)) => {
                if let Some(other) =
                    letters.chars().find(|&letter| !ESCAPE_LETTERS.contains(letter))
                {
                    let message =
                        format!("JSON has no escape with the letter `{}`", other.escape_debug());
                    return Err(invalid(*node, message));
                }
                letters.as_ref().clone_into(&mut changed.escape_letters);
            }
            ("json_allowed_escapes", Value::Null) => {}
            ("json_allow_general_unicode_escapes", Value::Boolean(true)) => {
                changed.escapes = StringEscapes::General;
            }
            ("json_allow_general_unicode_escapes", Value::Boolean(false)) => {
                changed.escapes = StringEscapes::Needed;
            }
            // `oneOf` always means exactly one, and unsupported keywords are never ignored.
            ("coerce_one_of" | "lenient", Value::Boolean(_)) => {}
            _ => {
                let message =
                    format!("`{KEYWORD}` does not take `{}` with this value", name.escape_debug());
                let known = "its members are item_separator, key_separator, whitespace_flexible, \
                             whitespace_pattern, json_allowed_escapes, \
                             json_allow_general_unicode_escapes, coerce_one_of and lenient";
                return Err(invalid(*node, message).help(known));
            }
        }
    }
    if let Some(pattern) = pattern {
        // Whitespace is optional.
        changed.whitespace = Whitespace::Pattern(format!("(?:{pattern})?"));
    }
    Ok(Some(changed))
}

/// Returns the separator that a regular expression describes.
fn separator(pattern: &str) -> Separator {
    match pattern.contains(|letter: char| r"\.+*?()|[]{}^$".contains(letter)) {
        true => Separator::Pattern(pattern.to_owned()),
        false => Separator::Text(pattern.to_owned()),
    }
}

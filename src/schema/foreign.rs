//! Wrappers around a schema, such as requests and tools of APIs, and documents of definitions of
//! which one is meant.
//!
//! By the standard, these contain no constraints, so any JSON would satisfy them. That is never the
//! intention. Each is read as it is meant, with a warning; a document with constraints is a schema
//! and stays unchanged.

use rustc_hash::FxHashSet;

use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::json::{Json, NodeId, Value};
use crate::schema::vocabulary;
use crate::util::diagnostic::Diagnostic;

/// Keys under which wrappers contain a schema, and whether the key alone identifies a wrapper. A
/// key that has other uses also needs a `name`, a `strict` or a wrapper's `type` next to it.
const WRAPPED: [(&str, bool); 17] = [
    ("response_format", true),
    ("generationConfig", true),
    ("generation_config", true),
    ("guided_json", true),
    ("outputSchema", true),
    ("output_schema", true),
    ("text", true),
    ("format", true),
    ("json_schema", true),
    ("jsonSchema", true),
    ("inputSchema", true),
    ("input_schema", true),
    ("responseSchema", true),
    ("response_schema", true),
    ("function", true),
    ("schema", true),
    ("parameters", false),
];
/// Values of `type` in wrappers.
const TYPES: [&str; 4] = ["json_schema", "function", "custom", "tool"];
/// Maximum nesting depth of wrappers.
const DEPTH: usize = 4;
/// Maximum number of definitions named in a message.
const SHOWN: usize = 5;

/// Returns the document that is meant by the given one, and the schema in it that is meant; adds a
/// warning if they are other values.
///
/// `definition` is the name of the definition that the caller asks for, or a JSON pointer.
///
/// # Errors
///
/// If there is no such definition.
pub(super) fn meant(
    json: &Json<'_>,
    outermost: NodeId,
    definition: Option<&str>,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(NodeId, NodeId), SchemaError> {
    let root = unwrapped(json, outermost);
    if root != outermost {
        let message =
            format!("the schema is inside another object; only #{} is read", json.pointer(root));
        let warning = Diagnostic::warning("read-as-meant", message).at(json.place(outermost));
        warnings.push(warning.help("pass only the schema"));
    }
    if let Some(definition) = definition {
        return Ok((root, named(json, root, definition)?));
    }
    let known = definitions(json, root);
    if !asks_nothing(json, root) {
        return Ok((root, root));
    }
    if known.is_empty() {
        warnings.extend(allows_any(json, root));
        return Ok((root, root));
    }
    let found = main_definition(json, root, &known);
    let help = format!(
        "refer to the intended one with `$ref`, or name it in `SchemaOptions::definition`: {}",
        listed(&known)
    );
    let warning = match found {
        Some(found) => {
            let pointer = json.pointer(found);
            let message = format!("the schema contains only definitions; #{pointer} is read");
            Diagnostic::warning("read-as-meant", message)
        }
        None => {
            let message = "the schema contains only definitions and allows any JSON";
            Diagnostic::warning("allows-any", message)
        }
    };
    warnings.push(warning.at(json.place(root)).help(help));
    Ok((root, found.unwrap_or(root)))
}

/// Returns the definition that a caller asks for, by its name or by a JSON pointer.
fn named(json: &Json<'_>, root: NodeId, definition: &str) -> Result<NodeId, SchemaError> {
    let known = definitions(json, root);
    if let Some(&(_, found)) = known.iter().find(|(name, _)| *name == definition) {
        return Ok(found);
    }
    let pointer = definition.strip_prefix('#').unwrap_or(definition);
    if let Some(found) = json.follow(root, pointer).and_then(|way| way.last().copied()) {
        return Ok(found);
    }
    let message = format!("the schema has no definition `{}`", definition.escape_debug());
    let error = SchemaError::new(SchemaErrorKind::UnresolvedReference, message)
        .at(json.pointer(root), json.place(root));
    Err(match known.is_empty() {
        true => error,
        false => error.help(format!("it has {}", listed(&known))),
    })
}

/// Returns the value inside all wrappers.
pub(super) fn unwrapped(json: &Json<'_>, outermost: NodeId) -> NodeId {
    let mut root = outermost;
    for _ in 0..DEPTH {
        let Some(inner) = wrapped(json, root) else { break };
        root = inner;
    }
    root
}

/// Returns the value inside a wrapper, if `node` is one.
fn wrapped(json: &Json<'_>, node: NodeId) -> Option<NodeId> {
    let Value::Object(members) = json.value(node) else { return None };
    let text = |key: &str| json.get(node, key).and_then(|value| json.string(value));
    let is_wrapper = text("type").is_some_and(|own| TYPES.contains(&own));
    let is_object = |node: NodeId| matches!(json.value(node), Value::Object(_));
    let asks = |key: &str, value: NodeId| match key {
        "type" => !is_wrapper,
        // The keyword's value is a text.
        "format" => !is_object(value),
        _ => vocabulary::asks(key),
    };
    if members.iter().any(|(key, value)| asks(key, *value)) {
        return None;
    }
    let has_company = is_wrapper || text("name").is_some() || json.get(node, "strict").is_some();
    let (_, inner) = WRAPPED
        .iter()
        .filter(|&&(_, alone)| alone || has_company)
        .filter_map(|&(key, _)| Some((key, json.get(node, key)?)))
        .find(|&(_, inner)| matches!(json.value(inner), Value::Object(_) | Value::Boolean(_)))?;
    Some(inner)
}

/// Returns the definitions of a document by name, in document order.
fn definitions<'j>(json: &'j Json<'_>, root: NodeId) -> Vec<(&'j str, NodeId)> {
    let places = ["$defs", "definitions"].into_iter().filter_map(|key| json.get(root, key));
    let members = places.filter_map(|place| match json.value(place) {
        Value::Object(members) => Some(members),
        _ => None,
    });
    members.flatten().map(|(name, node)| (&**name, *node)).collect()
}

/// Whether the schema is an object without any keyword that constrains values.
fn asks_nothing(json: &Json<'_>, root: NodeId) -> bool {
    match json.value(root) {
        Value::Object(members) => !members.iter().any(|(key, _)| vocabulary::asks(key)),
        _ => false,
    }
}

/// Returns a warning for an object that has no keywords, but other values with parts.
fn allows_any(json: &Json<'_>, root: NodeId) -> Option<Diagnostic> {
    let Value::Object(members) = json.value(root) else { return None };
    let has_parts = |node: NodeId| matches!(json.value(node), Value::Object(_) | Value::Array(_));
    let (key, _) = members.iter().find(|(key, value)| {
        has_parts(*value) && !vocabulary::annotates(key) && vocabulary::meant_keyword(key).is_none()
    })?;
    let message = format!(
        "no keyword of the schema has an effect, so any JSON is allowed; `{}` is not a keyword",
        key.escape_debug()
    );
    let help = "pass the schema itself, not the object that contains it";
    Some(Diagnostic::warning("allows-any", message).at(json.place(root)).help(help))
}

/// Returns the definition meant by a document that only defines others: the one whose name is the
/// document's title, or the only one that no other refers to.
fn main_definition(json: &Json<'_>, root: NodeId, known: &[(&str, NodeId)]) -> Option<NodeId> {
    if let Some(title) = json.get(root, "title").and_then(|title| json.string(title))
        && let Some(&(_, found)) = known.iter().find(|(name, _)| *name == title)
    {
        return Some(found);
    }
    let mut referred = FxHashSet::default();
    for &(name, node) in known {
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            match json.value(node) {
                Value::Object(members) => {
                    let reference = members.iter().find(|(key, _)| key == "$ref");
                    let target = reference.and_then(|&(_, value)| json.string(value));
                    let target = target.and_then(|target| target.rsplit(['/', '#']).next());
                    referred.extend(target.filter(|&target| target != name));
                    pending.extend(members.iter().map(|&(_, value)| value));
                }
                Value::Array(items) => pending.extend(items),
                _ => {}
            }
        }
    }
    let mut free = known.iter().filter(|(name, _)| !referred.contains(name));
    match (free.next(), free.next()) {
        (Some(&(_, found)), None) => Some(found),
        _ if known.len() == 1 => Some(known[0].1),
        _ => None,
    }
}

/// Lists some of the definitions by name.
fn listed(known: &[(&str, NodeId)]) -> String {
    let mut names: Vec<String> =
        known.iter().take(SHOWN).map(|(name, _)| format!("`{}`", name.escape_debug())).collect();
    if known.len() > SHOWN {
        names.push("...".to_owned());
    }
    names.join(", ")
}

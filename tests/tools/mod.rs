//! The numbered tools of a realistic server: names, nested objects, lists, enums, lengths, patterns
//! and formats, as in descriptions of servers of the Model Context Protocol.

use std::fmt::Write;

use lrmask::{SchemaError, StructuralTags};

const VERBS: [&str; 8] = ["get", "list", "create", "update", "delete", "search", "merge", "assign"];
const NOUNS: [&str; 11] = [
    "issue",
    "pull_request",
    "branch",
    "commit",
    "file_contents",
    "release",
    "workflow_run",
    "repository",
    "notification",
    "label",
    "discussion",
];
const NAMES: [&str; 12] = [
    "owner", "repo", "title", "body", "path", "ref", "state", "labels", "page", "per_page",
    "since", "query",
];

/// Returns the name of a tool.
pub(crate) fn name(tool: usize) -> String {
    let (verb, noun) = (VERBS[tool % VERBS.len()], NOUNS[tool / VERBS.len() % NOUNS.len()]);
    match tool / (VERBS.len() * NOUNS.len()) {
        0 => format!("{verb}_{noun}"),
        more => format!("{verb}_{noun}_{more}"),
    }
}

/// Returns the schema of its arguments.
pub(crate) fn schema(tool: usize) -> String {
    let mut properties = String::new();
    let count = 3 + tool * 7 % 6;
    for at in 0..count {
        let name = NAMES[(tool * 5 + at) % NAMES.len()];
        let comma = if at == 0 { "" } else { ", " };
        let value = value(tool * 31 + at * 17, 2);
        let _ = write!(
            properties,
            r#"{comma}"{name}": {{"description": "The {name} of the {noun}.", {value}}}"#,
            noun = NOUNS[tool % NOUNS.len()]
        );
    }
    let required = NAMES[tool * 5 % NAMES.len()];
    let closed = if tool.is_multiple_of(3) { r#", "additionalProperties": false"# } else { "" };
    format!(
        r#"{{"type": "object", "properties": {{{properties}}}, "required": ["{required}"]{closed}}}"#
    )
}

/// Returns the keywords for an argument.
fn value(seed: usize, depth: usize) -> String {
    let length = [39, 100, 256, 1024, 4096, 8000][seed / 11 % 6];
    match seed % if depth == 0 { 7 } else { 10 } {
        0 => r#""type": "string""#.to_owned(),
        1 => format!(r#""type": "string", "minLength": 1, "maxLength": {length}"#),
        2 => format!(r#""type": "integer", "minimum": 1, "maximum": {}"#, 50 + seed % 51),
        3 => r#""type": "boolean""#.to_owned(),
        4 => format!(r#""enum": ["open", "closed", "all", "only_{}"]"#, seed % 13),
        5 => format!(
            r#""type": "string", "pattern": "^[a-z0-9-]+$", "maxLength": {}"#,
            20 + seed % 9
        ),
        6 => r#""type": "string", "format": "date-time""#.to_owned(),
        7 => format!(
            r#""type": "array", "maxItems": {}, "items": {{{}}}"#,
            5 + seed % 6,
            value(seed / 3, depth - 1)
        ),
        _ => {
            let inner = |at: usize| {
                let name = NAMES[(seed + at) % NAMES.len()];
                format!(r#""{name}": {{{}}}"#, value(seed / 5 + at, depth - 1))
            };
            format!(
                r#""type": "object", "properties": {{{}, {}}}, "additionalProperties": false"#,
                inner(0),
                inner(3)
            )
        }
    }
}

/// Returns this many tools as structural tags with one trigger.
pub(crate) fn tags(count: usize) -> StructuralTags {
    let mut tags = StructuralTags::new(["<function="]);
    for tool in 0..count {
        tags.add_tag(&format!("<function={}>", name(tool)), &schema(tool), "</function>");
    }
    tags
}

/// Returns the same in the newer form: free text with triggered tags in it.
pub(crate) fn formats(count: usize) -> Result<StructuralTags, SchemaError> {
    let mut tags = String::new();
    for tool in 0..count {
        let comma = if tool == 0 { "" } else { ", " };
        let _ = write!(
            tags,
            r#"{comma}{{"begin": "<function={}>", "content": {{"type": "json_schema", "json_schema": {}}}, "end": "</function>"}}"#,
            name(tool),
            schema(tool)
        );
    }
    StructuralTags::parse(&format!(
        r#"{{"type": "structural_tag", "format": {{"type": "triggered_tags", "triggers": ["<function="], "tags": [{tags}]}}}}"#
    ))
}

//! Parse trees, for people and for programs.

use std::fmt::Write as _;

use lrmask::{ParseTree, TreeNode};
use serde_json::value::RawValue;

use crate::output::Quoted;

/// Maximum number of bytes of a terminal that are shown to people.
const SHOWN: usize = 60;

/// Formats a tree: one line for each node, terminals with their text.
pub(crate) fn describe(tree: &ParseTree, text: &[u8]) -> String {
    let mut lines = String::new();
    for TreeNode { name, is_terminal, span, depth, .. } in tree.nodes() {
        let own = text.get(span.clone()).unwrap_or_default();
        let _ = write!(lines, "{:indent$}{name}", "", indent = 2 * (depth + 1));
        let is_literal = name.len() == own.len() + 2 && name.as_bytes()[1..].starts_with(own);
        if *is_terminal && !own.is_empty() && !is_literal {
            let more = if own.len() > SHOWN { "…" } else { "" };
            let _ = write!(lines, " {}{more}", Quoted(&own[..own.len().min(SHOWN)]));
        }
        lines.push('\n');
    }
    lines
}

/// Returns a tree as nested objects. Written in a loop, because trees may be very deep.
pub(crate) fn nested(tree: &ParseTree, text: &[u8]) -> Option<Box<RawValue>> {
    let mut json = String::new();
    let mut open = 0;
    let mut before = false;
    for TreeNode { name, is_terminal, span, depth, .. } in tree.nodes() {
        while open > *depth {
            json.push_str("]}");
            open -= 1;
            before = true;
        }
        if before {
            json.push(',');
        }
        let kind = if *is_terminal { "terminal" } else { "rule" };
        let (name, (start, end)) = (serde_json::Value::from(&name[..]), (span.start, span.end));
        let _ = write!(json, "{{\"{kind}\":{name},\"start\":{start},\"end\":{end}");
        if *is_terminal {
            let own = String::from_utf8_lossy(text.get(span.clone()).unwrap_or_default());
            let _ = write!(json, ",\"text\":{}}}", serde_json::Value::from(own));
        } else {
            json.push_str(",\"children\":[");
            open += 1;
        }
        before = *is_terminal;
    }
    json.push_str(&"]}".repeat(open));
    RawValue::from_string(json).ok()
}

//! The parse tree of a text.

use std::fmt;
use std::ops::Range;

/// The parse tree of a text, as a flat list: [`Listener::finish`](crate::Listener::finish).
///
/// Displayed as one line for each node, indented by its depth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParseTree {
    pub(super) nodes: Vec<TreeNode>,
}

/// A rule or a terminal with the bytes that it derives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeNode {
    /// The name in the grammar; a literal in quotes.
    pub name: String,
    /// Whether it is a terminal.
    pub is_terminal: bool,
    /// Its bytes in the text, where special tokens have none. Empty for an empty rule, and for the
    /// terminals that stand for the blocks of `%indent`.
    pub span: Range<usize>,
    /// Number of nodes around it.
    pub depth: usize,
}

impl ParseTree {
    /// Returns the nodes, each before those within it, from left to right. A list, because trees
    /// may be a million nodes deep.
    pub fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }
}

impl fmt::Display for ParseTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for TreeNode { name, span, depth, .. } in &self.nodes {
            writeln!(f, "{:indent$}{name} {}..{}", "", span.start, span.end, indent = 2 * depth)?;
        }
        Ok(())
    }
}

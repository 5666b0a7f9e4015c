//! Rules that are one lexeme: their bodies as terminals.

use crate::grammar::lower::source::At;
use crate::grammar::lower::tree::{Body, Item, Leaf, Node, Sequence};
use crate::grammar::pattern::RegexFlags;

fn one(node: Node, at: At) -> Body {
    sequence(vec![Item { node, at }], at)
}

fn sequence(items: Vec<Item>, at: At) -> Body {
    vec![Sequence { items, precedence: None, at }]
}

/// Returns the shortest matches of `body`.
pub(crate) fn first_match(body: Body, at: At) -> Body {
    one(Node::Shortest(Box::new(Item { node: Node::Group(body), at })), at)
}

/// Returns `body`, up to and with the first `end` that can follow it.
pub(crate) fn up_to(body: Body, end: Item, at: At) -> Body {
    first_match(sequence(vec![Item { node: Node::Group(body), at }, end], at), at)
}

/// Returns the texts of `body` that contain no `end` which can follow a text of `body`.
pub(crate) fn before(body: Body, end: Item, at: At) -> Body {
    let flags = RegexFlags { dot_all: true, ..RegexFlags::default() };
    let anything = Item { node: Node::Leaf(Leaf::Regex { pattern: ".*".to_owned(), flags }), at };
    let group = Item { node: Node::Group(body.clone()), at };
    let ended = Item { node: Node::Group(sequence(vec![group, end, anything], at)), at };
    one(Node::Intersection(vec![body, one(Node::Complement(Box::new(ended)), at)]), at)
}

/// Whether `body` contains no rule and no token of the vocabulary.
pub(crate) fn can_be(body: &Body) -> bool {
    let mut items: Vec<&Item> = body.iter().flat_map(|sequence| &sequence.items).collect();
    while let Some(item) = items.pop() {
        match &item.node {
            Node::Rule(_)
            | Node::Parameter(_)
            | Node::Call { .. }
            | Node::Value(_)
            | Node::If(_)
            | Node::Leaf(Leaf::Tokens(_)) => {
                return false;
            }
            Node::Terminal(_) | Node::Leaf(_) => {}
            Node::Group(body) => items.extend(body.iter().flat_map(|sequence| &sequence.items)),
            Node::Repeat { item, .. } | Node::Complement(item) | Node::Shortest(item) => {
                items.push(item);
            }
            Node::Intersection(parts) => {
                items.extend(parts.iter().flatten().flat_map(|sequence| &sequence.items));
            }
        }
    }
    true
}

//! Rules that are one lexeme: their bodies as terminals.

use crate::grammar::lower::source::At;
use crate::grammar::lower::tree::{Body, Leaf, Node, Sequence, Term};
use crate::grammar::pattern::RegexFlags;

fn one(node: Node, at: At) -> Body {
    sequence(vec![Term { node, at }], at)
}

fn sequence(terms: Vec<Term>, at: At) -> Body {
    vec![Sequence { terms, precedence: None, at }]
}

/// Returns the shortest matches of `body`.
pub(crate) fn first_match(body: Body, at: At) -> Body {
    one(Node::Shortest(Box::new(Term { node: Node::Group(body), at })), at)
}

/// Returns `body`, up to and with the first `end` that can follow it.
pub(crate) fn up_to(body: Body, end: Term, at: At) -> Body {
    first_match(sequence(vec![Term { node: Node::Group(body), at }, end], at), at)
}

/// Returns the texts of `body` that contain no `end` which can follow a text of `body`.
pub(crate) fn before(body: Body, end: Term, at: At) -> Body {
    let flags = RegexFlags { dot_all: true, ..RegexFlags::default() };
    let anything = Term { node: Node::Leaf(Leaf::Regex { pattern: ".*".to_owned(), flags }), at };
    let group = Term { node: Node::Group(body.clone()), at };
    let ended = Term { node: Node::Group(sequence(vec![group, end, anything], at)), at };
    one(Node::Intersection(vec![body, one(Node::Complement(Box::new(ended)), at)]), at)
}

/// Whether `body` contains no rule and no token of the vocabulary.
pub(crate) fn can_be(body: &Body) -> bool {
    let mut terms: Vec<&Term> = body.iter().flat_map(|sequence| &sequence.terms).collect();
    while let Some(term) = terms.pop() {
        match &term.node {
            Node::Rule(_)
            | Node::Parameter(_)
            | Node::Call { .. }
            | Node::Value(_)
            | Node::If(_)
            | Node::Leaf(Leaf::Tokens(_) | Leaf::Schema(_)) => {
                return false;
            }
            Node::Terminal(_) | Node::Leaf(_) => {}
            Node::Group(body) => terms.extend(body.iter().flat_map(|sequence| &sequence.terms)),
            Node::Repeat { term, .. } | Node::Complement(term) | Node::Shortest(term) => {
                terms.push(term);
            }
            Node::Intersection(parts) => {
                terms.extend(parts.iter().flatten().flat_map(|sequence| &sequence.terms));
            }
        }
    }
    true
}

//! Ignored terminals, in case nested grammars ignore other things than the outer one.
//!
//! The IR ignores everywhere or nowhere, and any number of times. If all grammars ignore the same,
//! any number of times, it is ignored everywhere; otherwise nothing is, and each terminal in a rule
//! may be followed by the ignored terminals of its own grammar.

use std::collections::{BTreeMap, BTreeSet};

use crate::grammar::lower::Context;
use crate::grammar::lower::resolve::Ignore;
use crate::grammar::lower::table::{MadeTerminal, TerminalTable};
use crate::grammar::lower::tree::{
    Body, ClassIndex, Node, Order, Rule, Sequence, Term, TerminalIndex,
};

/// Returns the terminals that are ignored everywhere, or `None` if an error was reported.
pub(crate) fn place(
    context: &mut Context,
    table: &mut TerminalTable<'_>,
    rules: &mut [Rule],
    ignores: &[Ignore],
    once: bool,
) -> Option<Vec<TerminalIndex>> {
    let mut by_class: BTreeMap<ClassIndex, BTreeSet<TerminalIndex>> =
        rules.iter().map(|rule| (rule.class, BTreeSet::new())).collect();
    let mut all = Vec::new();
    for ignore in ignores {
        let terminal = terminal(context, table, ignore)?;
        all.push(terminal);
        by_class.entry(ignore.class).or_default().insert(terminal);
    }
    let mut sets = by_class.values();
    let first = sets.next();
    if !once && sets.all(|set| Some(set) == first) {
        return Some(all);
    }
    for rule in rules {
        let skipped = by_class.get(&rule.class).filter(|skipped| !skipped.is_empty());
        if let Some(skipped) = skipped {
            follow(&mut rule.body, skipped, once.then_some(1));
        }
    }
    Some(Vec::new())
}

/// Returns the terminal of an `%ignore`, and makes one for an expression.
fn terminal(
    context: &mut Context,
    table: &mut TerminalTable<'_>,
    ignore: &Ignore,
) -> Option<TerminalIndex> {
    let Ignore { body, at, .. } = ignore;
    let order = Order { offset: at.start(), sequence: 0 };
    let single = match &body[..] {
        [sequence] if sequence.terms.len() == 1 && sequence.precedence.is_none() => {
            Some(&sequence.terms[0].node)
        }
        _ => None,
    };
    Some(match single {
        Some(Node::Terminal(terminal)) => *terminal,
        Some(Node::Leaf(leaf)) => table.of_leaf(context, leaf, *at, order),
        _ => {
            let pattern = table.patterns.write_out_body(context, body, *at)?;
            let name = table.fresh_name("__IGNORE");
            table.make(MadeTerminal { name, pattern, order, at: *at })
        }
    })
}

/// Lets each terminal be followed by the ignored ones, at most `most` times.
fn follow(body: &mut Body, skipped: &BTreeSet<TerminalIndex>, most: Option<u32>) {
    for term in body.iter_mut().flat_map(|sequence| &mut sequence.terms) {
        let at = term.at;
        match &mut term.node {
            Node::Terminal(terminal) => {
                let alternative = |&skipped: &TerminalIndex| Sequence {
                    terms: vec![Term { node: Node::Terminal(skipped), at }],
                    precedence: None,
                    at,
                };
                let any = Term { node: Node::Group(skipped.iter().map(alternative).collect()), at };
                let skip =
                    Term { node: Node::Repeat { term: Box::new(any), min: 0, max: most }, at };
                let terms = vec![Term { node: Node::Terminal(*terminal), at }, skip];
                term.node = Node::Group(vec![Sequence { terms, precedence: None, at }]);
            }
            Node::Group(body) => follow(body, skipped, most),
            Node::Repeat { term, .. } => {
                let inner = std::mem::replace(&mut term.node, Node::Group(Vec::new()));
                let mut body = vec![Sequence {
                    terms: vec![Term { node: inner, at: term.at }],
                    precedence: None,
                    at: term.at,
                }];
                follow(&mut body, skipped, most);
                term.node = Node::Group(body);
            }
            _ => {}
        }
    }
}

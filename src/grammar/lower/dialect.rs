//! What of llguidance's dialect a file uses: that, and grammars within grammars, are known before
//! names are resolved.

use crate::syntax::ast::{Directive, Expansions, Expr, ExprKind, File, Item, Span};

/// A grammar within a grammar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Grammar<'a> {
    /// `%lark {...}`.
    Nested(&'a File),
    /// `@name`.
    Named(&'a str),
}

/// The grammars that stand in the rules of a file, each where it stands; not those within these.
pub(crate) fn grammars(file: &File) -> Vec<(Grammar<'_>, &Span)> {
    let mut found = Vec::new();
    every(file, &mut |expr| match &expr.node {
        ExprKind::Nested(file) => found.push((Grammar::Nested(file), &expr.span)),
        ExprKind::Grammar(name) => found.push((Grammar::Named(name), &expr.span)),
        _ => {}
    });
    found.sort_by_key(|(_, span): &(_, &Span)| span.start);
    found
}

/// Whether a file has what only the dialect has, counts in braces left aside.
pub(crate) fn is_used(file: &File) -> bool {
    let mut used = file.items.iter().any(|item| match item {
        Item::Rule(rule) => !rule.attributes.is_empty(),
        Item::Directive(directive) => matches!(directive.node, Directive::Options(_)),
        _ => false,
    });
    every(file, &mut |expr| {
        used |= matches!(
            expr.node,
            ExprKind::And(_)
                | ExprKind::Not(_)
                | ExprKind::Tokens(_)
                | ExprKind::Substring(_)
                | ExprKind::Grammar(_)
                | ExprKind::Json(_)
                | ExprKind::Nested(_)
                | ExprKind::Parametric { .. }
                | ExprKind::If(_)
        );
    });
    used
}

/// Shows all expressions of a file, but those of grammars within it.
fn every<'a>(file: &'a File, show: &mut impl FnMut(&'a Expr)) {
    let bodies = file.items.iter().filter_map(|item| match item {
        Item::Rule(rule) => Some(&rule.body),
        Item::Terminal(terminal) => Some(&terminal.body),
        Item::Ignore(ignore) => Some(&ignore.node),
        Item::Import(_) | Item::Declare(_) | Item::Directive(_) => None,
    });
    let mut pending: Vec<&Expr> = bodies.flat_map(items).collect();
    while let Some(expr) = pending.pop() {
        show(expr);
        match &expr.node {
            ExprKind::Group(body) | ExprKind::Maybe(body) => pending.extend(items(body)),
            ExprKind::And(parts) => pending.extend(parts.iter().flat_map(items)),
            ExprKind::Repeat { expr, .. } | ExprKind::Not(expr) => pending.push(expr),
            ExprKind::Template { arguments, .. } => pending.extend(arguments),
            _ => {}
        }
    }
}

fn items(body: &Expansions) -> impl Iterator<Item = &Expr> {
    body.alternatives.iter().flat_map(|alternative| &alternative.items)
}

//! Detection of llguidance's dialect in a file. Its use, and nested grammars, are found before
//! names are resolved.

use crate::syntax::ast::{Directive, Expansions, Expr, ExprKind, File, Span, Statement};

/// A grammar within a grammar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Grammar<'a> {
    /// `%lark {...}`.
    Nested(&'a File),
    /// `@name`.
    Named(&'a str),
}

/// Returns the grammars in the rules of a file, each with its span; not those nested in them.
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

/// Whether a file uses syntax that only the dialect has, apart from counts in braces.
pub(crate) fn is_used(file: &File) -> bool {
    let mut used = file.items.iter().any(|statement| match statement {
        Statement::Rule(rule) => !rule.attributes.is_empty(),
        Statement::Directive(directive) => matches!(directive.node, Directive::Options(_)),
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

/// Calls `show` with all expressions of a file, except those of nested grammars.
fn every<'a>(file: &'a File, show: &mut impl FnMut(&'a Expr)) {
    let bodies = file.items.iter().filter_map(|statement| match statement {
        Statement::Rule(rule) => Some(&rule.body),
        Statement::Terminal(terminal) => Some(&terminal.body),
        Statement::Ignore(ignore) => Some(&ignore.node),
        Statement::Import(_) | Statement::Declare(_) | Statement::Directive(_) => None,
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

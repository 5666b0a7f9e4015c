//! Finds, reports and drops rules that no text reaches, before anything is written out.

use crate::grammar::characters::expr::{Expr, ExprId, Exprs};
use crate::grammar::characters::resolve::Rule;
use crate::grammar::lower::Context;
use crate::util::diagnostic::Diagnostic;
use crate::util::lists::Lists;

/// Reports rules without texts, and those that `start` does not reach if `reports_unreached`.
///
/// AFTER THIS: every rule that is referred to derives some text; alternatives that referred to
/// other rules are dropped.
pub(super) fn trim(
    context: &mut Context,
    exprs: &mut Exprs,
    rules: &mut [Rule],
    start: usize,
    reports_unreached: bool,
) {
    let productive = productive(exprs, rules);
    let reached = reached(exprs, rules, start);
    let used = used(exprs, rules.len());
    for (number, rule) in rules.iter().enumerate() {
        if rule.is_made() {
            continue;
        }
        let place = context.sources.place(rule.at);
        if !productive[number] && reached[number] {
            let help = "add an alternative that ends the recursion and matches a text";
            let message = if number == start {
                format!("the start symbol `{}` derives no text", rule.name)
            } else {
                format!(
                    "rule `{}` derives no text; alternatives that need it are left out",
                    rule.name
                )
            };
            context.report(match productive[start] {
                true => Diagnostic::warning("unproductive", message).at(place).help(help),
                false => Diagnostic::error("unproductive", message).at(place).help(help),
            });
        } else if !reached[number] && reports_unreached {
            let diagnostic = if used[number] {
                let message = format!(
                    "rule `{}` is not reachable from the start symbol and is left out",
                    rule.name
                );
                Diagnostic::warning("unreachable", message)
            } else {
                let message = format!("rule `{}` is not used and is left out", rule.name);
                Diagnostic::warning("unused-rule", message)
            };
            context.report(diagnostic.at(place));
        }
    }
    if productive.contains(&false) {
        let mut known = hashbrown::HashMap::new();
        for rule in rules {
            rule.body = without(exprs, rule.body, &productive, &mut known);
        }
    }
}

/// Marks the rules that derive a text.
fn productive(exprs: &Exprs, rules: &[Rule]) -> Vec<bool> {
    let has_text = |leaf: &Expr| !matches!(leaf, Expr::Class(set) if set.ranges().is_empty());
    derivable(exprs, rules, has_text)
}

/// Marks the rules that derive the empty text.
pub(super) fn nullable(exprs: &Exprs, rules: &[Rule]) -> Vec<bool> {
    derivable(exprs, rules, |_| false)
}

/// Marks the rules that derive a text from the leaves with a fact: a work list over expressions,
/// each of which waits for its parts. Linear.
fn derivable(exprs: &Exprs, rules: &[Rule], leaf: impl Fn(&Expr) -> bool) -> Vec<bool> {
    // Rules are numbered after the expressions.
    let count = exprs.iter().count();
    let mut missing = vec![1usize; count + rules.len()];
    let mut uses: Vec<(u32, usize)> = Vec::new();
    let mut pending = Vec::new();
    for (number, expr) in exprs.iter().enumerate() {
        let mut use_of = |part: usize| uses.push((part as u32, number));
        match expr {
            Expr::Class(_) | Expr::Search(_) | Expr::Token(_) | Expr::Schema(_) => {
                missing[number] = usize::from(!leaf(expr));
            }
            Expr::Rule(rule) => use_of(count + rule),
            Expr::Concat(parts) => {
                missing[number] = parts.len();
                parts.iter().for_each(|part| use_of(part.index()));
            }
            Expr::Choice(parts) => parts.iter().for_each(|part| use_of(part.index())),
            Expr::Repeat { min: 0, .. } => missing[number] = 0,
            Expr::Repeat { inner, .. } => use_of(inner.index()),
        }
        if missing[number] == 0 {
            pending.push(number);
        }
    }
    uses.extend(
        rules.iter().enumerate().map(|(number, rule)| (rule.body.index() as u32, count + number)),
    );
    let uses = Lists::from_pairs(count + rules.len(), &uses);
    while let Some(done) = pending.pop() {
        for &user in uses.get(done) {
            // A choice may be completed several times.
            if missing[user] > 0 {
                missing[user] -= 1;
                if missing[user] == 0 {
                    pending.push(user);
                }
            }
        }
    }
    missing[count..].iter().map(|&missing| missing == 0).collect()
}

fn reached(exprs: &Exprs, rules: &[Rule], start: usize) -> Vec<bool> {
    let mut reached = vec![false; rules.len()];
    let mut seen = hashbrown::HashSet::new();
    reached[start] = true;
    let mut pending = vec![rules[start].body];
    while let Some(expr) = pending.pop() {
        if exprs.is_regular(expr) || !seen.insert(expr) {
            continue;
        }
        match exprs.get(expr) {
            Expr::Rule(rule) => {
                if !std::mem::replace(&mut reached[*rule], true) {
                    pending.push(rules[*rule].body);
                }
            }
            Expr::Concat(parts) | Expr::Choice(parts) => pending.extend(parts),
            Expr::Repeat { inner, .. } => pending.push(*inner),
            Expr::Class(_) | Expr::Search(_) | Expr::Token(_) | Expr::Schema(_) => {}
        }
    }
    reached
}

/// Marks the rules that are referred to anywhere.
fn used(exprs: &Exprs, rules: usize) -> Vec<bool> {
    let mut used = vec![false; rules];
    for expr in exprs.iter() {
        if let Expr::Rule(rule) = expr {
            used[*rule] = true;
        }
    }
    used
}

/// Returns `expr` without the alternatives that refer to rules without texts.
fn without(
    exprs: &mut Exprs,
    expr: ExprId,
    productive: &[bool],
    known: &mut hashbrown::HashMap<ExprId, ExprId>,
) -> ExprId {
    if exprs.is_regular(expr) {
        return expr;
    }
    if let Some(&known) = known.get(&expr) {
        return known;
    }
    let written = match exprs.get(expr).clone() {
        Expr::Class(_) | Expr::Search(_) | Expr::Token(_) | Expr::Schema(_) => expr,
        Expr::Rule(rule) if productive[rule] => expr,
        Expr::Rule(_) => exprs.nothing(),
        Expr::Concat(parts) => {
            let parts =
                parts.into_iter().map(|part| without(exprs, part, productive, known)).collect();
            exprs.concat(parts)
        }
        Expr::Choice(parts) => {
            let parts =
                parts.into_iter().map(|part| without(exprs, part, productive, known)).collect();
            exprs.choice(parts)
        }
        Expr::Repeat { inner, min, max } => {
            let inner = without(exprs, inner, productive, known);
            exprs.repeat(inner, min, max)
        }
    };
    known.insert(expr, written);
    written
}

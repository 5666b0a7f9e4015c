//! Writes out rules whose language is regular where they are used.
//!
//! A rule is regular if it uses no tokens and only regular rules, or if it and the rules that it is
//! recursive with use each other only at the end of their alternatives (right-linear), or only at
//! the beginning (left-linear). Such rules are equations `X = A X | B`, whose least solution is
//! `A* B` (Arden, *Delayed-Logic and Finite-State Machines*, 1961); systems are solved by Gaussian
//! elimination. A rule that would grow too large stays a rule.

use hashbrown::HashMap;

use crate::grammar::characters::equations::{Equation, Equations, MAX_PARTS, Side, is_small};
use crate::grammar::characters::expr::{Expr, ExprId, Exprs};
use crate::grammar::characters::resolve::Rule;
use crate::grammar::characters::shortest::shortest;
use crate::grammar::lower::Context;
use crate::util::components::strong_components;
use crate::util::diagnostic::Diagnostic;
use crate::util::lists::Lists;

/// Maximum number of rules in one recursion.
const MAX_EQUATIONS: usize = 40;

/// Writes out regular rules in the bodies of all rules.
///
/// AFTER THIS: a body that [`Exprs::is_regular`] is that of a regular rule, and other rules refer
/// to none of these.
pub(super) fn write_out(context: &mut Context, exprs: &mut Exprs, rules: &mut [Rule]) {
    let mut regular: Vec<Option<ExprId>> = vec![None; rules.len()];
    let components = components(exprs, rules);
    for number in 0..components.len() {
        let members = components.get(number);
        let mut writer = Writer { exprs, regular: &regular, seen: HashMap::new() };
        for &rule in members {
            rules[rule].body = writer.substitute(rules[rule].body);
        }
        let solutions = solve(exprs, rules, members);
        let solutions = solutions.and_then(|solutions| {
            let cut = |(&rule, solution): (&usize, ExprId)| match rules[rule].lazy {
                true if !exprs.is_regular(rules[rule].body) => None,
                true => shortest(exprs, solution),
                false => Some(solution),
            };
            members.iter().zip(solutions).map(cut).collect::<Option<Vec<_>>>()
        });
        if solutions.is_none() {
            members.iter().for_each(|&rule| refuse_lazy(context, &rules[rule]));
        }
        if let Some(solutions) = solutions {
            for (&rule, solution) in members.iter().zip(solutions) {
                rules[rule].body = solution;
                regular[rule] = is_small(exprs, solution).then_some(solution);
            }
        }
    }
}

/// Reports a lazy rule that is not regular: the first ends of its texts are unknown.
fn refuse_lazy(context: &mut Context, rule: &Rule) {
    if rule.lazy {
        let message =
            format!("lazy rule `{}` is not regular, or its automaton is too large", rule.name);
        let place = context.sources.place(rule.at);
        context.report(
            Diagnostic::error("lazy-rule", message)
                .at(place)
                .help("use only strings, classes, repetitions and rules that are not recursive"),
        );
    }
}

/// Returns the strong components of rules, each after those that it refers to.
fn components(exprs: &Exprs, rules: &[Rule]) -> Lists<usize> {
    let mut edges = Lists::new();
    for rule in rules {
        let mut seen = hashbrown::HashSet::new();
        let mut pending = vec![rule.body];
        while let Some(expr) = pending.pop() {
            if exprs.is_regular(expr) || !seen.insert(expr) {
                continue;
            }
            match exprs.get(expr) {
                Expr::Rule(rule) => edges.push(*rule),
                Expr::Concat(parts) | Expr::Choice(parts) => pending.extend(parts),
                Expr::Repeat { inner, .. } => pending.push(*inner),
                Expr::Class(_) | Expr::Search(_) | Expr::Token(_) | Expr::Schema(_) => {}
            }
        }
        edges.close();
    }
    strong_components(&edges)
}

/// Substitutes regular rules for references to them.
struct Writer<'a> {
    exprs: &'a mut Exprs,
    regular: &'a [Option<ExprId>],
    seen: HashMap<ExprId, ExprId>,
}

impl Writer<'_> {
    fn substitute(&mut self, expr: ExprId) -> ExprId {
        if self.exprs.is_regular(expr) || self.exprs.parts() > MAX_PARTS {
            return expr;
        }
        if let Some(&known) = self.seen.get(&expr) {
            return known;
        }
        let written = match self.exprs.get(expr).clone() {
            Expr::Class(_) | Expr::Search(_) | Expr::Token(_) | Expr::Schema(_) => expr,
            Expr::Rule(rule) => self.regular[rule].unwrap_or(expr),
            Expr::Concat(parts) => {
                let parts = parts.into_iter().map(|part| self.substitute(part)).collect();
                self.exprs.concat(parts)
            }
            Expr::Choice(parts) => {
                let parts = parts.into_iter().map(|part| self.substitute(part)).collect();
                self.exprs.choice(parts)
            }
            Expr::Repeat { inner, min, max } => {
                let inner = self.substitute(inner);
                self.exprs.repeat(inner, min, max)
            }
        };
        self.seen.insert(expr, written);
        written
    }
}

/// Returns the language of each of `members`, if all of them are regular.
fn solve(exprs: &mut Exprs, rules: &[Rule], members: &[usize]) -> Option<Vec<ExprId>> {
    if let [rule] = members
        && exprs.is_regular(rules[*rule].body)
    {
        return Some(vec![rules[*rule].body]);
    }
    if members.len() > MAX_EQUATIONS {
        return None;
    }
    [Side::Right, Side::Left].into_iter().find_map(|side| {
        let mut equations = Equations { exprs, members, side };
        let system: Option<Vec<Equation>> =
            members.iter().map(|&rule| equations.linear(rules[rule].body)).collect();
        equations.solve(system?)
    })
}

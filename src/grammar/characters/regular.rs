//! Second pass: rules whose language is regular are written out where they are named.
//!
//! A rule is regular if it names no tokens, and regular rules only, or if it and the rules that it
//! is recursive with name each other only at the end of their alternatives (right-linear), or only
//! at the beginning (left-linear). Such rules are equations `X = A X | B`, whose least solution is
//! `A* B` (Arden, *Delayed-Logic and Finite-State Machines*, 1961); several are solved one after
//! the other, as Gauss does. What would grow too large stays a rule.

use hashbrown::HashMap;

use crate::grammar::characters::expr::{Expr, ExprId, Exprs, MAX_DEPTH};
use crate::grammar::characters::resolve::Rule;
use crate::util::components::strong_components;
use crate::util::lists::Lists;

/// How large an expression may be written out. Its automaton has about as many states.
const MAX_SIZE: u64 = 20_000;
/// How large all expressions together may be.
const MAX_PARTS: usize = 4_000_000;
/// Rules of one recursion.
const MAX_EQUATIONS: usize = 40;

/// Writes regular rules out in the bodies of all rules.
///
/// AFTER THIS: a body that [`Exprs::is_regular`] is that of a regular rule, and other rules name
/// none of these.
pub(super) fn write_out(exprs: &mut Exprs, rules: &mut [Rule]) {
    let mut regular: Vec<Option<ExprId>> = vec![None; rules.len()];
    let components = components(exprs, rules);
    for number in 0..components.len() {
        let members = components.get(number);
        let mut writer = Writer { exprs, regular: &regular, seen: HashMap::new() };
        for &rule in members {
            rules[rule].body = writer.substitute(rules[rule].body);
        }
        if let Some(solutions) = solve(exprs, rules, members) {
            for (&rule, solution) in members.iter().zip(solutions) {
                rules[rule].body = solution;
                regular[rule] = is_small(exprs, solution).then_some(solution);
            }
        }
    }
}

fn is_small(exprs: &Exprs, expr: ExprId) -> bool {
    exprs.size(expr) <= MAX_SIZE && exprs.depth(expr) <= MAX_DEPTH && exprs.parts() <= MAX_PARTS
}

/// Rules that are recursive with each other, each behind those that it names.
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
                Expr::Class(_) | Expr::Token(_) => {}
            }
        }
        edges.close();
    }
    strong_components(&edges)
}

/// Puts regular rules in the place of their names.
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
            Expr::Class(_) | Expr::Token(_) => expr,
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

/// What each of `members` stands for, where all of them are regular.
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

/// Where the names of recursive rules stand in alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Right,
    Left,
}

/// `A X | B Y | C`: by unknown what stands before it, or behind it; and the rest.
#[derive(Clone, Debug)]
struct Equation {
    coefficients: Vec<Option<ExprId>>,
    constant: ExprId,
}

struct Equations<'a> {
    exprs: &'a mut Exprs,
    members: &'a [usize],
    side: Side,
}

impl Equations<'_> {
    fn constant(&self, constant: ExprId) -> Equation {
        Equation { coefficients: vec![None; self.members.len()], constant }
    }

    /// `expr` as an equation; `None` where it is not linear.
    fn linear(&mut self, expr: ExprId) -> Option<Equation> {
        if self.exprs.is_regular(expr) {
            return Some(self.constant(expr));
        }
        match self.exprs.get(expr).clone() {
            Expr::Class(_) => Some(self.constant(expr)),
            Expr::Token(_) => None,
            Expr::Rule(rule) => {
                let unknown = self.members.iter().position(|&member| member == rule)?;
                let nothing = self.exprs.nothing();
                let mut equation = self.constant(nothing);
                equation.coefficients[unknown] = Some(self.exprs.empty());
                Some(equation)
            }
            Expr::Concat(parts) => {
                let (recursive, others) = match self.side {
                    Side::Right => parts.split_last()?,
                    Side::Left => parts.split_first()?,
                };
                if !others.iter().all(|&part| self.exprs.is_regular(part)) {
                    return None;
                }
                let mut equation = self.linear(*recursive)?;
                let other = self.exprs.concat(others.to_vec());
                self.multiply(&mut equation, other);
                Some(equation)
            }
            Expr::Choice(parts) => {
                let nothing = self.exprs.nothing();
                let mut sum = self.constant(nothing);
                for part in parts {
                    let equation = self.linear(part)?;
                    self.add(&mut sum, &equation);
                }
                Some(sum)
            }
            Expr::Repeat { inner, min, max: Some(1) } => {
                let mut equation = self.linear(inner)?;
                if min == 0 {
                    let empty = self.exprs.empty();
                    equation.constant = self.exprs.choice(vec![equation.constant, empty]);
                }
                Some(equation)
            }
            Expr::Repeat { .. } => None,
        }
    }

    /// `other` before all of `equation`, or behind it.
    fn multiply(&mut self, equation: &mut Equation, other: ExprId) {
        let (exprs, side) = (&mut *self.exprs, self.side);
        let mut with = |expr: ExprId| match side {
            Side::Right => exprs.concat(vec![other, expr]),
            Side::Left => exprs.concat(vec![expr, other]),
        };
        equation.constant = with(equation.constant);
        for coefficient in equation.coefficients.iter_mut().flatten() {
            *coefficient = with(*coefficient);
        }
    }

    fn add(&mut self, sum: &mut Equation, more: &Equation) {
        sum.constant = self.exprs.choice(vec![sum.constant, more.constant]);
        for (sum, &more) in sum.coefficients.iter_mut().zip(&more.coefficients) {
            *sum = match (*sum, more) {
                (Some(one), Some(other)) => Some(self.exprs.choice(vec![one, other])),
                (one, other) => one.or(other),
            };
        }
    }

    /// The least solution; `None` where it grows too large.
    fn solve(&mut self, mut system: Vec<Equation>) -> Option<Vec<ExprId>> {
        for unknown in 0..system.len() {
            // X = A X | rest is A* rest.
            if let Some(own) = system[unknown].coefficients[unknown].take() {
                let star = self.exprs.repeat(own, 0, None);
                let mut equation = system[unknown].clone();
                self.multiply(&mut equation, star);
                system[unknown] = equation;
            }
            let solved = system[unknown].clone();
            for other in (0..system.len()).filter(|&other| other != unknown) {
                if let Some(coefficient) = system[other].coefficients[unknown].take() {
                    let mut part = solved.clone();
                    self.multiply(&mut part, coefficient);
                    let mut equation = system[other].clone();
                    self.add(&mut equation, &part);
                    system[other] = equation;
                }
            }
            let parts = system.iter().flat_map(|equation| {
                equation.coefficients.iter().flatten().copied().chain([equation.constant])
            });
            if parts.into_iter().any(|expr| !is_small(self.exprs, expr)) {
                return None;
            }
        }
        Some(system.into_iter().map(|equation| equation.constant).collect())
    }
}

//! Equations between regular languages, `X = A X | B`, and their least solution.

use crate::grammar::characters::expr::{Expr, ExprId, Exprs, MAX_DEPTH};

/// Maximum size of an expanded expression. Its automaton has about as many states.
const MAX_SIZE: u64 = 20_000;
/// Maximum size of all expressions together.
pub(super) const MAX_PARTS: usize = 4_000_000;

/// Whether an expression may be expanded.
pub(super) fn is_small(exprs: &Exprs, expr: ExprId) -> bool {
    exprs.size(expr) <= MAX_SIZE && exprs.depth(expr) <= MAX_DEPTH && exprs.parts() <= MAX_PARTS
}

/// Position of recursive rules in alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Right,
    Left,
}

/// `A X | B Y | C`: by unknown the expression before or after it; and the remainder.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    pub(super) coefficients: Vec<Option<ExprId>>,
    pub(super) constant: ExprId,
}

/// Returns the least solution of these equations, in which all unknowns are at the end, or `None`
/// if it grows too large.
pub(super) fn right_linear(exprs: &mut Exprs, system: Vec<Equation>) -> Option<Vec<ExprId>> {
    Equations { exprs, members: &[], side: Side::Right }.solve(system)
}

/// Builder of equations, with the rules that are their unknowns.
pub(super) struct Equations<'a> {
    pub(super) exprs: &'a mut Exprs,
    pub(super) members: &'a [usize],
    pub(super) side: Side,
}

impl Equations<'_> {
    fn constant(&self, constant: ExprId) -> Equation {
        Equation { coefficients: vec![None; self.members.len()], constant }
    }

    /// Returns `expr` as an equation, or `None` if it is not linear.
    pub(super) fn linear(&mut self, expr: ExprId) -> Option<Equation> {
        if self.exprs.is_regular(expr) {
            return Some(self.constant(expr));
        }
        match self.exprs.get(expr).clone() {
            Expr::Class(_) | Expr::Search(_) => Some(self.constant(expr)),
            Expr::Token(_) | Expr::Schema(_) => None,
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

    /// Puts `other` before or after all of `equation`.
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

    /// Returns the least solution, or `None` if it grows too large.
    pub(super) fn solve(&mut self, mut system: Vec<Equation>) -> Option<Vec<ExprId>> {
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

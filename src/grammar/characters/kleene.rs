//! Simplifies rules by identities of Kleene algebra (Kozen, *A Completeness Theorem for Kleene
//! Algebras and the Algebra of Regular Events*, Information and Computation 110, 1994). Each
//! identity keeps the language and removes derivations; a step follows all derivations of a text.
//!
//! * In an unbounded repetition, parts that may be empty count for nothing: `(x?)*` is `x*`, and if
//!   both `x` and `y` may be empty, `(x y)*` is `(x | y)*`. Let the *atoms* of a repetition be the
//!   alternatives that remain. A part at the end of an atom is redundant if it may be empty and has
//!   no atoms but those of the repetition: it is itself such a repetition of shorter texts.
//! * `x* y*` is `y*` if `y` has all atoms of `x`, whatever the rule derives in which they stand.
//!   Its own body says that in `A: "a"? B`, `B: A*` all atoms of `"a"?` are in `B`; but `A: B`
//!   derives only the empty text. So that rule counts as an atom here.
//! * A rule `A: C | P A | A Q | A S A` is `P* C (Q | S P* C)*`. That is the least solution: it
//!   contains each right side with itself for `A`, and only texts that the rule derives. `P` to `S`
//!   may contain `A` (`μA.f(A, A)` is `μA.μX.f(A, X)`).

use hashbrown::{HashMap, HashSet};

use crate::grammar::characters::charset::CharSet;
use crate::grammar::characters::expr::{Expr, ExprId, Exprs};
use crate::grammar::characters::reach;
use crate::grammar::characters::resolve::Rule;
use crate::grammar::lower::Context;

/// Maximum number of expressions that the search for atoms visits. Further repetitions are not
/// simplified.
const MAX_STEPS: usize = 200_000;
/// Steps of the meter for one of these.
const STEPS_OF_A_STEP: usize = 4;
/// Maximum number of passes over all rules.
const MAX_ROUNDS: usize = 3;

/// Simplifies the bodies of rules.
///
/// AFTER THIS: the same languages.
pub(super) fn simplify(context: &mut Context, exprs: &mut Exprs, rules: &mut [Rule]) {
    let nullable = reach::nullable(exprs, rules);
    let mut simplifier = Simplifier {
        exprs,
        bodies: rules.iter().map(|rule| rule.body).collect(),
        is_lazy: rules.iter().map(|rule| rule.lazy).collect(),
        nullable,
        current: 0,
        seen: HashMap::new(),
        left: MAX_STEPS,
    };
    for _ in 0..MAX_ROUNDS {
        let before = simplifier.bodies.clone();
        for rule in 0..rules.len() {
            simplifier.rule(rule);
        }
        if simplifier.bodies == before {
            break;
        }
    }
    context.count(STEPS_OF_A_STEP * (MAX_STEPS - simplifier.left), 0);
    for (rule, body) in rules.iter_mut().zip(simplifier.bodies) {
        rule.body = body;
    }
}

struct Simplifier<'a> {
    exprs: &'a mut Exprs,
    /// By rule.
    bodies: Vec<ExprId>,
    is_lazy: Vec<bool>,
    /// By rule: whether it derives the empty text.
    nullable: Vec<bool>,
    /// The rule that is rewritten.
    current: usize,
    /// Its simplified expressions.
    seen: HashMap<ExprId, ExprId>,
    /// Steps that may still be taken.
    left: usize,
}

impl Simplifier<'_> {
    fn rule(&mut self, rule: usize) {
        if self.is_lazy[rule] {
            return;
        }
        self.current = rule;
        self.seen.clear();
        let body = self.simplified(self.bodies[rule]);
        let body = match self.operators(rule, body) {
            Some(body) => self.simplified(body),
            None => body,
        };
        self.bodies[rule] = match *self.exprs.get(body) {
            Expr::Repeat { inner, min: 0, max: None } => self.star(inner, Some(rule)),
            _ => body,
        };
    }

    /// Recurses as deep as `expr` nests.
    fn simplified(&mut self, expr: ExprId) -> ExprId {
        if self.exprs.is_regular(expr) {
            return expr;
        }
        if let Some(&known) = self.seen.get(&expr) {
            return known;
        }
        let simplified = match self.exprs.get(expr).clone() {
            Expr::Class(_) | Expr::Search(_) | Expr::Rule(_) | Expr::Token(_) | Expr::Schema(_) => {
                expr
            }
            Expr::Concat(parts) => {
                let parts = parts.into_iter().map(|part| self.simplified(part)).collect();
                let parts = self.absorbed(parts);
                self.exprs.concat(parts)
            }
            Expr::Choice(parts) => {
                let mut parts: Vec<ExprId> =
                    parts.into_iter().map(|part| self.simplified(part)).collect();
                let empty = self.exprs.empty();
                if parts.iter().any(|&part| part != empty && self.is_plainly_nullable(part)) {
                    parts.retain(|&part| part != empty);
                }
                self.exprs.choice(parts)
            }
            Expr::Repeat { inner, min, max } => {
                let inner = self.simplified(inner);
                match (min, max) {
                    (0, None) => self.star(inner, None),
                    (_, None) if self.is_nullable(inner) => self.star(inner, None),
                    _ if self.is_star(inner) => inner,
                    (_, Some(1)) if self.is_plainly_nullable(inner) => inner,
                    (_, Some(_)) if self.is_nullable(inner) => self.exprs.repeat(inner, 0, max),
                    _ => self.exprs.repeat(inner, min, max),
                }
            }
        };
        self.seen.insert(expr, simplified);
        simplified
    }

    /// Whether it matches the empty text. Recurses as deep as `expr` nests.
    fn is_nullable(&self, expr: ExprId) -> bool {
        match self.exprs.get(expr) {
            _ if self.exprs.is_regular(expr) => self.exprs.is_nullable(expr),
            Expr::Class(_) | Expr::Search(_) | Expr::Token(_) | Expr::Schema(_) => false,
            Expr::Rule(rule) => self.nullable[*rule],
            Expr::Concat(parts) => parts.iter().all(|&part| self.is_nullable(part)),
            Expr::Choice(parts) => parts.iter().any(|&part| self.is_nullable(part)),
            Expr::Repeat { inner, min, .. } => *min == 0 || self.is_nullable(*inner),
        }
    }

    /// Whether it matches the empty text whatever rules derive, other than those that are
    /// repetitions. Where it stands, another alternative that is empty may go: the rules may be
    /// empty only because of that one. Recurses as deep as `expr` nests.
    fn is_plainly_nullable(&self, expr: ExprId) -> bool {
        match self.exprs.get(expr) {
            Expr::Rule(_) => self.is_star(expr),
            Expr::Concat(parts) => parts.iter().all(|&part| self.is_plainly_nullable(part)),
            Expr::Choice(parts) => parts.iter().any(|&part| self.is_plainly_nullable(part)),
            Expr::Repeat { inner, min, .. } => *min == 0 || self.is_plainly_nullable(*inner),
            _ => false,
        }
    }

    /// Whether it is an unbounded repetition, possibly as a rule.
    fn is_star(&self, expr: ExprId) -> bool {
        let body = match *self.exprs.get(expr) {
            Expr::Rule(rule) if !self.is_lazy[rule] => self.bodies[rule],
            _ => expr,
        };
        matches!(self.exprs.get(body), Expr::Repeat { min: 0, max: None, .. })
    }

    /// Returns expressions without the empty text whose repetition is that of `expr`; `own` is a
    /// rule that counts as such. `None` if that takes too many steps.
    fn atoms(&mut self, expr: ExprId, own: Option<usize>) -> Option<Vec<ExprId>> {
        let mut atoms = Vec::new();
        let mut seen = HashSet::new();
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            if !seen.insert(expr) {
                continue;
            }
            self.left = self.left.checked_sub(1)?;
            match self.exprs.get(expr) {
                Expr::Choice(parts) => pending.extend(parts.iter().rev()),
                Expr::Concat(parts) if parts.iter().all(|&part| self.is_nullable(part)) => {
                    pending.extend(parts.iter().rev());
                }
                &Expr::Repeat { inner, min, .. } if min <= 1 || self.is_nullable(inner) => {
                    pending.push(inner);
                }
                &Expr::Rule(rule)
                    if Some(rule) != own && self.nullable[rule] && !self.is_lazy[rule] =>
                {
                    pending.push(self.bodies[rule]);
                }
                _ => atoms.push(expr),
            }
        }
        Some(atoms)
    }

    /// Returns the unbounded repetition of `inner`, which is all of the rule `own`, if that is one.
    fn star(&mut self, inner: ExprId, own: Option<usize>) -> ExprId {
        let whole = self.exprs.repeat(inner, 0, None);
        if self.exprs.is_regular(inner) {
            return whole;
        }
        self.star_of_atoms(inner, own).unwrap_or(whole)
    }

    fn star_of_atoms(&mut self, mut inner: ExprId, own: Option<usize>) -> Option<ExprId> {
        let mut known: HashSet<ExprId> = HashSet::new();
        known.extend(own.map(|own| self.exprs.rule(own)));
        loop {
            let atoms = self.atoms(inner, own)?;
            known.extend(&atoms);
            let mut filled = Vec::with_capacity(atoms.len());
            let is_own = |expr: &Expr| matches!(expr, Expr::Rule(rule) if Some(*rule) == own);
            for atom in atoms {
                if !is_own(self.exprs.get(atom)) {
                    filled.push(self.without_ends(atom, own, &known)?);
                }
            }
            let next = self.exprs.choice(filled);
            if next == inner {
                return Some(self.exprs.repeat(inner, 0, None));
            }
            inner = next;
        }
    }

    /// Returns an atom without the parts at its ends that may be empty and have only `known` atoms.
    fn without_ends(
        &mut self,
        atom: ExprId,
        own: Option<usize>,
        known: &HashSet<ExprId>,
    ) -> Option<ExprId> {
        let Expr::Concat(parts) = self.exprs.get(atom).clone() else { return Some(atom) };
        let mut parts = &parts[..];
        while let [rest @ .., last] = parts
            && self.is_redundant(*last, own, known)?
        {
            parts = rest;
        }
        while let [first, rest @ ..] = parts
            && self.is_redundant(*first, own, known)?
        {
            parts = rest;
        }
        Some(self.exprs.concat(parts.to_vec()))
    }

    fn is_redundant(
        &mut self,
        part: ExprId,
        own: Option<usize>,
        known: &HashSet<ExprId>,
    ) -> Option<bool> {
        if !self.is_nullable(part) {
            return Some(false);
        }
        Some(self.atoms(part, own)?.iter().all(|&atom| self.is_among(atom, known)))
    }

    /// Returns the parts of a concatenation without those that an adjacent repetition contains.
    fn absorbed(&mut self, parts: Vec<ExprId>) -> Vec<ExprId> {
        let mut kept: Vec<ExprId> = Vec::with_capacity(parts.len());
        'parts: for part in parts {
            while let Some(&before) = kept.last() {
                if self.contains(before, part) {
                    continue 'parts;
                }
                if !self.contains(part, before) {
                    break;
                }
                kept.pop();
            }
            kept.push(part);
        }
        kept
    }

    /// Whether it is one of `atoms`, or has only characters of one.
    fn is_among(&self, atom: ExprId, atoms: &HashSet<ExprId>) -> bool {
        let class = |expr: ExprId| match self.exprs.get(expr) {
            Expr::Class(set) => Some(set),
            _ => None,
        };
        let has_all = |set: &CharSet| {
            let mut others = atoms.iter().filter_map(|&other| class(other));
            others.any(|other| set.intersection(other) == *set)
        };
        atoms.contains(&atom) || class(atom).is_some_and(has_all)
    }

    /// Whether `star` is a repetition with all atoms of `part`, which may be empty.
    fn contains(&mut self, star: ExprId, part: ExprId) -> bool {
        self.is_star(star) && self.is_nullable(part) && self.has_atoms(star, part) == Some(true)
    }

    fn has_atoms(&mut self, star: ExprId, part: ExprId) -> Option<bool> {
        let own = Some(self.current);
        let all: HashSet<ExprId> = self.atoms(star, own)?.into_iter().collect();
        let atoms = self.atoms(part, own)?;
        let known: HashSet<ExprId> = all.iter().chain(&atoms).copied().collect();
        for atom in atoms {
            let filled = self.without_ends(atom, own, &known)?;
            if !self.is_among(atom, &all) && !self.is_among(filled, &all) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns the body of `rule` as operands and operators, if it is recursive at both ends.
    fn operators(&mut self, rule: usize, body: ExprId) -> Option<ExprId> {
        let own = self.exprs.rule(rule);
        let ways = match self.exprs.get(body) {
            Expr::Choice(ways) => ways.clone(),
            _ => vec![body],
        };
        let (mut prefixes, mut operands, mut postfixes) = (Vec::new(), Vec::new(), Vec::new());
        let mut between = Vec::new();
        for way in ways {
            let parts = match self.exprs.get(way) {
                Expr::Concat(parts) => parts.clone(),
                _ => vec![way],
            };
            match &parts[..] {
                [only] if *only == own => {}
                [first, rest @ .., last] if *first == own && *last == own => {
                    between.push(self.exprs.concat(rest.to_vec()));
                }
                [first, rest @ ..] if *first == own => {
                    postfixes.push(self.exprs.concat(rest.to_vec()));
                }
                [rest @ .., last] if *last == own => {
                    prefixes.push(self.exprs.concat(rest.to_vec()));
                }
                _ => operands.push(way),
            }
        }
        let both = !between.is_empty() || !prefixes.is_empty() && !postfixes.is_empty();
        if !both || operands.is_empty() {
            return None;
        }
        let prefixes = self.exprs.choice(prefixes);
        let prefixes = self.exprs.repeat(prefixes, 0, None);
        let operand = self.exprs.choice(operands);
        let operand = self.exprs.concat(vec![prefixes, operand]);
        for between in between {
            postfixes.push(self.exprs.concat(vec![between, operand]));
        }
        let postfixes = self.exprs.choice(postfixes);
        let postfixes = self.exprs.repeat(postfixes, 0, None);
        Some(self.exprs.concat(vec![operand, postfixes]))
    }
}

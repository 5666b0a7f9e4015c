//! Builds the IR from terminals and productions.

use std::fmt::Write as _;

use hashbrown::HashSet;
use smallvec::SmallVec;

use crate::grammar::Grammar;
use crate::grammar::characters::cut::{CutRules, Lexeme};
use crate::grammar::characters::expr::{Expr, ExprId, Exprs};
use crate::grammar::characters::print;
use crate::grammar::characters::resolve::Rule;
use crate::grammar::ir::{Conflicts, Nonterminal, Production, Terminal};
use crate::grammar::lower::Context;
use crate::grammar::lower::expand::Productions;
use crate::grammar::pattern::Pattern;
use crate::util::bitset::BitSet;
use crate::util::id::ProductionId;

/// Maximum length of a literal in a terminal's name, in characters.
const NAME_LENGTH: usize = 40;

/// Returns the IR; rule 0 is the start.
pub(super) fn assemble(
    context: &Context,
    exprs: &mut Exprs,
    rules: &[Rule],
    parts: &CutRules,
    every_match: &BitSet,
    productions: &Productions,
) -> Grammar {
    let mut names = Names { taken: rules.iter().map(|rule| rule.name.to_string()).collect() };
    let mut terminals = Vec::with_capacity(parts.terminals.len());
    for (rank, (lexeme, &origin)) in (0..).zip(parts.terminals.iter().zip(&parts.origins)) {
        let (name, pattern) =
            (names.name(exprs, rules, lexeme, origin), Some(pattern(exprs, lexeme)));
        let place = Some(context.sources.place(rules[origin].at));
        let every_match = every_match.contains(rank as usize);
        let plain =
            Terminal::plain(name, pattern, rank).described(&description(exprs, rules, lexeme));
        terminals.push(Terminal { place, every_match, ..plain });
    }
    let new = |new: &crate::grammar::lower::expand::NewNonterminal| Nonterminal {
        name: new.name.as_str().into(),
        productions: SmallVec::new(),
        marks: None,
        place: Some(context.sources.place(new.at)),
    };
    let mut nonterminals: Vec<Nonterminal> = productions.nonterminals.iter().map(new).collect();
    let productions = productions.productions.iter().enumerate().map(|(number, production)| {
        nonterminals[production.lhs.index()].productions.push(ProductionId::new(number));
        Production {
            lhs: production.lhs,
            rhs: production.rhs.as_slice().into(),
            precedence: None,
            priority: 0,
            place: Some(context.sources.place(production.at)),
        }
    });
    let productions = productions.collect();
    Grammar::plain(terminals, nonterminals, productions, Conflicts::Silent)
}

fn pattern(exprs: &mut Exprs, lexeme: &Lexeme) -> Pattern {
    let mut others: Vec<Pattern> =
        lexeme.without.iter().map(|&other| exprs.pattern(other)).collect();
    let pattern = match exprs.without_empty(lexeme.expr) {
        Some(filled) => exprs.pattern(filled),
        None => {
            others.push(Pattern::Concat(Vec::new()));
            exprs.pattern(lexeme.expr)
        }
    };
    if others.is_empty() {
        return pattern;
    }
    Pattern::Intersection(vec![
        pattern,
        Pattern::Complement(Box::new(Pattern::Alternation(others))),
    ])
}

/// Returns the name of the texts in messages: their rule if there is one, otherwise the expression.
/// Texts of the start rule are also described by the expression: its name would not help.
fn description(exprs: &Exprs, rules: &[Rule], lexeme: &Lexeme) -> String {
    let is_plain =
        matches!(exprs.get(lexeme.expr), Expr::Class(_) | Expr::Token(_) | Expr::Schema(_))
            || text(exprs, lexeme.expr).is_some();
    let rule = rules.iter().skip(1).find(|rule| rule.body == lexeme.expr && !is_plain);
    rule.map_or_else(|| print::shown(exprs, rules, lexeme.expr), |rule| rule.name.to_string())
}

/// Names of terminals, each assigned once.
struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Names a text or a class by itself, and anything else by the rule that contains it.
    fn name(&mut self, exprs: &Exprs, rules: &[Rule], lexeme: &Lexeme, origin: usize) -> String {
        let mut name = match text(exprs, lexeme.expr) {
            Some(text) if text.chars().count() <= NAME_LENGTH => format!("{text:?}"),
            _ => match exprs.get(lexeme.expr) {
                Expr::Class(set) if set.ranges().len() <= 4 => set.to_string(),
                Expr::Token(_) | Expr::Schema(_) => exprs.pattern(lexeme.expr).to_string(),
                _ => rules.iter().find(|rule| rule.body == lexeme.expr).map_or_else(
                    || format!("{}_part", rules[origin].name),
                    |rule| format!("{}_text", rule.name),
                ),
            },
        };
        let length = name.len();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name.truncate(length);
            // Writing to a string does not fail.
            let _ = write!(name, "_{number}");
        }
        name
    }
}

/// Returns the only text that the expression matches, if its form shows that.
fn text(exprs: &Exprs, expr: ExprId) -> Option<String> {
    let single = |&part: &ExprId| match exprs.get(part) {
        Expr::Class(set) => set.single(),
        _ => None,
    };
    match exprs.get(expr) {
        Expr::Class(_) => single(&expr).map(String::from),
        Expr::Concat(parts) => parts.iter().map(single).collect(),
        _ => None,
    }
}

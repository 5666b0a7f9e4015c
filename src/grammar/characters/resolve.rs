//! First pass: names become numbers, and the tree expressions.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::grammar::characters::charset::CharSet;
use crate::grammar::characters::expr::{ExprId, Exprs};
use crate::grammar::lower::source::At;
use crate::grammar::lower::{Context, did_you_mean};
use crate::grammar::tokens::Tokens;
use crate::syntax::gbnf::ast::{self, ExprKind, TokenName};
use crate::util::diagnostic::Diagnostic;

/// Tokens each of which all others are named by: every other token has a spelling for each of them.
const MAX_NEGATIONS: usize = 32;

/// A rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: Arc<str>,
    pub(super) at: At,
    pub(super) body: ExprId,
}

/// The rules of `file`, which is source `source`.
///
/// AFTER THIS: no names and no assertions; every rule has one definition, the last one in the file,
/// as llama.cpp has it.
pub(super) fn resolve(
    context: &mut Context,
    source: u32,
    file: &ast::File,
    exprs: &mut Exprs,
) -> Vec<Rule> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut defined: Vec<&ast::Rule> = Vec::new();
    for rule in &file.rules {
        let next = defined.len();
        let number = *numbers.entry(&rule.name.node).or_insert(next);
        if number == next {
            defined.push(rule);
        } else {
            let first = std::mem::replace(&mut defined[number], rule);
            duplicate(context, source, rule, first);
        }
    }
    let negations = HashSet::new();
    let mut resolver = Resolver { context, source, numbers: &numbers, exprs, negations };
    let rules = defined.iter().map(|rule| Rule {
        name: rule.name.node.as_str().into(),
        at: At::new(source, &rule.name.span),
        body: resolver.body(&rule.body),
    });
    rules.collect()
}

fn duplicate(context: &mut Context, source: u32, rule: &ast::Rule, first: &ast::Rule) {
    let [place, first] =
        [rule, first].map(|rule| context.sources.place(At::new(source, &rule.name.span)));
    let message = format!("`{}` is defined twice, and this definition counts", rule.name.node);
    context.report(
        Diagnostic::warning("duplicate-definition", message)
            .at(place)
            .related(first, "first defined here")
            .help("rename one, or make them alternatives of one rule"),
    );
}

struct Resolver<'a> {
    context: &'a mut Context,
    source: u32,
    numbers: &'a HashMap<&'a str, usize>,
    exprs: &'a mut Exprs,
    /// What names every token but one.
    negations: HashSet<ExprId>,
}

impl Resolver<'_> {
    /// Recurses as deep as brackets nest, which the reader bounds.
    fn body(&mut self, body: &ast::Body) -> ExprId {
        let ways = body.iter().map(|sequence| {
            let parts = sequence.iter().map(|expr| self.expr(expr)).collect();
            self.exprs.concat(parts)
        });
        let ways = ways.collect();
        self.exprs.choice(ways)
    }

    fn expr(&mut self, expr: &ast::Expr) -> ExprId {
        let at = At::new(self.source, &expr.span);
        match &expr.node {
            ExprKind::Rule(name) => match self.numbers.get(name.as_str()) {
                Some(&rule) => self.exprs.rule(rule),
                None => {
                    let diagnostic =
                        Diagnostic::error("undefined-symbol", format!("there is no rule `{name}`"));
                    let diagnostic = did_you_mean(diagnostic, name, self.numbers.keys().copied());
                    self.report(diagnostic, at);
                    self.exprs.nothing()
                }
            },
            ExprKind::Literal(text) => self.exprs.literal(text),
            ExprKind::Class(class) => {
                let mut ranges = class.ranges.clone();
                ranges.retain(|(first, last)| first <= last);
                if ranges.len() < class.ranges.len() {
                    let message = "a range whose ends are reversed holds no character";
                    let help = "write the smaller character first, and a `-` as itself as `\\-`";
                    self.report(Diagnostic::warning("reversed-range", message).help(help), at);
                }
                let set = CharSet::new(&ranges);
                self.exprs.class(if class.negated { set.complement() } else { set })
            }
            ExprKind::Token(reference) => {
                let tokens = match &reference.token {
                    TokenName::Id(id) => Tokens::Ids(vec![(*id, *id)]),
                    TokenName::Text(text) => Tokens::Name(format!("<{text}>")),
                };
                if !reference.negated {
                    return self.exprs.token(tokens);
                }
                let expr = self.exprs.token(Tokens::Others(Box::new(tokens)));
                self.negations.insert(expr);
                if self.negations.len() == MAX_NEGATIONS + 1 {
                    let message = format!("more than {MAX_NEGATIONS} tokens are negated");
                    let help = "each makes a vocabulary as large again; name the tokens that may \
                        stand there";
                    self.report(Diagnostic::error("grammar-too-large", message).help(help), at);
                }
                expr
            }
            ExprKind::Group(body) => self.body(body),
            ExprKind::Repeat { expr, min, max } => {
                let inner = self.expr(expr);
                self.exprs.repeat(inner, *min, *max)
            }
            ExprKind::Assertion(body) => {
                // What stands in it must be sound, too.
                self.body(body);
                let message = "this assertion changes no language, and is passed over";
                let diagnostic = Diagnostic::warning("lookahead-assertion", message);
                let help = "XGrammar takes it on trust, to save time; leave it out";
                self.report(diagnostic.help(help), at);
                self.exprs.empty()
            }
        }
    }

    fn report(&mut self, diagnostic: Diagnostic, at: At) {
        let place = self.context.sources.place(at);
        self.context.report(diagnostic.at(place));
    }
}

//! Resolves names to numbers, and turns the tree into expressions.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::grammar::characters::charset::CharSet;
use crate::grammar::characters::expr::{ExprId, Exprs};
use crate::grammar::lower::source::At;
use crate::grammar::lower::{Context, did_you_mean};
use crate::grammar::tokens::Tokens;
use crate::syntax::gbnf::ast::{self, ExprKind, TokenName};
use crate::util::diagnostic::Diagnostic;

/// Maximum number of negated tokens: every other token has a spelling for each of them.
const MAX_NEGATIONS: usize = 32;

/// A rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: Arc<str>,
    pub(super) at: At,
    pub(super) body: ExprId,
    /// Whether a text ends as soon as it can: the rule has the texts of its body that have no other
    /// one as a proper prefix.
    pub(super) lazy: bool,
}

impl Rule {
    /// Whether the rule is generated: no name in a file has brackets.
    pub(super) fn is_made(&self) -> bool {
        self.name.starts_with("made(")
    }
}

/// Returns the rules of `file`, which is source `source`.
///
/// AFTER THIS: no names and no assertions; every rule has one definition, the last one in the file,
/// as in llama.cpp.
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
    let made = GeneratedRules { first: defined.len(), rules: Vec::new() };
    let negations = HashSet::new();
    let mut resolver = Resolver { context, source, numbers: &numbers, exprs, made, negations };
    let mut rules: Vec<Rule> = Vec::with_capacity(defined.len());
    for rule in defined {
        resolver.attributes(rule);
        rules.push(Rule {
            name: rule.name.node.as_str().into(),
            at: At::new(source, &rule.name.span),
            body: resolver.body(&rule.body),
            lazy: rule.attributes.lazy,
        });
    }
    rules.extend(resolver.made.rules);
    rules
}

/// Generated rules, numbered after those that are defined.
pub(super) struct GeneratedRules {
    first: usize,
    rules: Vec<Rule>,
}

impl GeneratedRules {
    /// Adds a rule that derives nothing yet, and returns its number.
    pub(super) fn add(&mut self, exprs: &mut Exprs, at: At) -> usize {
        let number = self.first + self.rules.len();
        // No name in a file has brackets.
        let name = format!("made({number})").into();
        self.rules.push(Rule { name, at, body: exprs.nothing(), lazy: false });
        number
    }

    /// Sets the body of an added rule.
    pub(super) fn define(&mut self, rule: usize, body: ExprId) {
        self.rules[rule - self.first].body = body;
    }
}

fn duplicate(context: &mut Context, source: u32, rule: &ast::Rule, first: &ast::Rule) {
    let [place, first] =
        [rule, first].map(|rule| context.sources.place(At::new(source, &rule.name.span)));
    let message = format!("`{}` is defined twice; this definition is used", rule.name.node);
    context.report(
        Diagnostic::warning("duplicate-definition", message)
            .at(place)
            .related(first, "first defined here")
            .help("rename one of them, or make them alternatives of one rule"),
    );
}

pub(super) struct Resolver<'a> {
    pub(super) context: &'a mut Context,
    pub(super) source: u32,
    numbers: &'a HashMap<&'a str, usize>,
    pub(super) exprs: &'a mut Exprs,
    pub(super) made: GeneratedRules,
    /// Expressions for all tokens but some.
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
            ExprKind::Rule(name) => self.rule(name, at),
            ExprKind::Call(call) => self.call(call, at),
            ExprKind::Schema(schema) => self.exprs.schema(schema.clone()),
            ExprKind::Literal(text) => self.exprs.literal(text),
            ExprKind::Class(class) => {
                let mut ranges = class.ranges.clone();
                ranges.retain(|(first, last)| first <= last);
                if ranges.len() < class.ranges.len() {
                    let message = "the ends of this range are reversed, so it contains no \
                                   character";
                    let help = "write the smaller character first, and a literal `-` as `\\-`";
                    self.report(Diagnostic::warning("reversed-range", message).help(help), at);
                }
                let set = CharSet::new(&ranges);
                self.exprs.class(if class.negated { set.complement() } else { set })
            }
            ExprKind::Token(reference) => {
                let tokens = match &reference.token {
                    TokenName::Id(id) => Tokens::Ids(vec![(*id, *id)]),
                    TokenName::Text(text) => Tokens::Name(text.clone()),
                    TokenName::Special(name) => Tokens::Special(name.clone()),
                };
                if !reference.negated {
                    return self.exprs.token(tokens);
                }
                self.others(tokens, at)
            }
            ExprKind::Group(body) => self.body(body),
            ExprKind::Repeat { expr, min, max } => {
                let inner = self.expr(expr);
                self.exprs.repeat(inner, *min, *max)
            }
            ExprKind::Assertion(body) => {
                // Its contents must be valid, too.
                self.body(body);
                let message = "this assertion does not change the language and is ignored";
                let diagnostic = Diagnostic::warning("lookahead-assertion", message);
                let help = "remove it; XGrammar trusts it without a check, to save time";
                self.report(diagnostic.help(help), at);
                self.exprs.empty()
            }
        }
    }

    /// Returns the rule of this name.
    pub(super) fn rule(&mut self, name: &str, at: At) -> ExprId {
        if let Some(&rule) = self.numbers.get(name) {
            return self.exprs.rule(rule);
        }
        let message = format!("there is no rule `{name}`");
        let diagnostic = Diagnostic::error("undefined-symbol", message);
        let diagnostic = did_you_mean(diagnostic, name, self.numbers.keys().copied());
        self.report(diagnostic, at);
        self.exprs.nothing()
    }

    /// Returns the expression for any token but these.
    pub(super) fn others(&mut self, tokens: Tokens, at: At) -> ExprId {
        let expr = self.exprs.token(Tokens::Others(Box::new(tokens)));
        self.negations.insert(expr);
        if self.negations.len() == MAX_NEGATIONS + 1 {
            let message = format!("the grammar has more than {MAX_NEGATIONS} negated tokens");
            let help = "list the allowed tokens instead: each negation takes as much memory as \
                        the vocabulary";
            self.report(Diagnostic::error("grammar-too-large", message).help(help), at);
        }
        expr
    }

    /// Reports attributes that are not supported.
    fn attributes(&mut self, rule: &ast::Rule) {
        const WITHOUT_EFFECT: [&str; 7] = [
            "capture",
            "temperature",
            "stop_capture",
            "capture_hidden_suffix_bytes",
            "capture_hidden_stop_bytes",
            "capture_hidden_body_rule_id",
            "capture_hidden_marker_rule_id",
        ];
        for other in &rule.attributes.others {
            let name = &other.node;
            let at = At::new(self.source, &other.span);
            let diagnostic = if WITHOUT_EFFECT.contains(&name.as_str()) {
                let message = format!("`{name}` does not change the language and is ignored");
                Diagnostic::warning("attribute-without-effect", message)
            } else {
                let message = format!("rules have no attribute `{name}` in this notation");
                let help = "use `lazy` or no attribute; `max_tokens` is available in Lark's \
                            notation";
                Diagnostic::error("unknown-attribute", message).help(help)
            };
            self.report(diagnostic, at);
        }
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic, at: At) {
        let place = self.context.sources.place(at);
        self.context.report(diagnostic.at(place));
    }
}

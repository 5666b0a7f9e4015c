//! Grammars of the formats of structural tags: each format is a rule.

use std::ops::Range;

use crate::grammar::characters::lower_file;
use crate::grammar::lower::Context;
use crate::grammar::lower::source::At;
use crate::grammar::{Grammar, GrammarError};
use crate::syntax::ast::Spanned;
use crate::syntax::gbnf::ast::{
    Argument, Attributes, Body, Call, Expr, ExprKind, File, Function, Rule, Sequence, TokenName,
    TokenReference, Value,
};
use crate::syntax::parse_gbnf;
use crate::util::diagnostic::Diagnostic;
use crate::util::limits::Limits;

/// A format of structural tags; messages use its name.
#[derive(Clone, Debug)]
pub(crate) struct TagFormat {
    pub(crate) name: &'static str,
    /// Its place in the text that contains all formats.
    pub(crate) span: Range<usize>,
    pub(crate) kind: TagFormatKind,
}

/// The content of a format. Other formats are referred to by number.
#[derive(Clone, Debug)]
pub(crate) enum TagFormatKind {
    /// A text, or a special token of the vocabulary that is called so.
    Text(String),
    /// A value of a JSON schema.
    Schema(String),
    /// A text that the regex matches, as XGrammar reads it.
    Regex(String),
    /// A text of a grammar in GBNF.
    Grammar(String),
    /// One after the other.
    Sequence(Vec<usize>),
    /// Any of them, one at least.
    Choice(Vec<usize>),
    Repeat {
        piece: usize,
        min: u32,
        max: Option<u32>,
    },
    /// Text without the excluded ones. After the first of the tags in it, or a special token that
    /// is called so, comes a format, and where it loops, all of that again.
    Dispatch {
        tags: Vec<(String, usize)>,
        excludes: Vec<String>,
        loops: bool,
    },
    /// The token of this number.
    Id(u32),
    /// The tokens of this name.
    Token(String),
    /// Any token but those of this name.
    NotToken(String),
    /// Any token but those of these numbers, of which there is one at least.
    NotIds(Vec<u32>),
}

/// Lowers the formats of `text`, which its caller calls `name`. A text is the format `root`.
pub(crate) fn lower_tag_formats(
    text: &str,
    name: &str,
    (pieces, root): (&[TagFormat], usize),
    limits: &Limits,
) -> Result<Grammar, GrammarError> {
    let mut context = Context::named(name, limits);
    context.count_file(text)?;
    let source = context.sources.add(name.into(), text);
    let span = pieces.get(root).map_or(0..0, |piece| piece.span.clone());
    let whole = vec![vec![Spanned { node: ExprKind::Rule(rule_name(pieces, root)), span }]];
    let mut file = File::default();
    file.rules.push(rule("root".to_owned(), 0..0, whole));
    for (number, piece) in pieces.iter().enumerate() {
        let maker = Maker { pieces, piece };
        let own = rule_name(pieces, number);
        let body = match &piece.kind {
            TagFormatKind::Grammar(grammar) => {
                context.count_file(grammar)?;
                let shown = format!("{name}: {own}");
                let parsed = parse_gbnf(grammar)
                    .map_err(|error| error.diagnostic(&shown.as_str().into(), grammar))?;
                if !parsed.rules.iter().any(|rule| rule.name.node == "root") {
                    let place = context.sources.place(At::new(source, &piece.span));
                    let message = "the grammar has no rule `root` to start from";
                    return Err(Diagnostic::error("no-start", message).at(place).into());
                }
                let within = Within { prefix: format!("{own}_"), span: &piece.span };
                file.rules.extend(parsed.rules.into_iter().map(|rule| within.rule(rule)));
                vec![vec![maker.expr(ExprKind::Rule(within.name("root")))]]
            }
            kind => maker.body(kind),
        };
        file.rules.push(rule(own, piece.span.clone(), body));
    }
    lower_file(&mut context, source, file, None)
}

fn rule_name(pieces: &[TagFormat], number: usize) -> String {
    format!("{}_{number}", pieces[number].name)
}

fn rule(name: String, span: Range<usize>, body: Body) -> Rule {
    Rule { name: Spanned { node: name, span }, attributes: Attributes::default(), body }
}

/// Makes the rule of a format.
struct Maker<'a> {
    pieces: &'a [TagFormat],
    piece: &'a TagFormat,
}

impl Maker<'_> {
    fn body(&self, kind: &TagFormatKind) -> Body {
        match kind {
            TagFormatKind::Text(text) => {
                let mut ways = vec![vec![self.expr(ExprKind::Literal(text.clone()))]];
                if !text.is_empty() {
                    ways.push(vec![self.token(false, TokenName::Special(text.clone()))]);
                }
                ways
            }
            TagFormatKind::Schema(schema) => {
                vec![vec![self.expr(ExprKind::Schema(schema.clone()))]]
            }
            TagFormatKind::Regex(pattern) => {
                let pattern = Value::Text(pattern.clone());
                vec![vec![self.call(Function::Regex, vec![self.argument(None, pattern)])]]
            }
            TagFormatKind::Sequence(parts) => {
                vec![parts.iter().map(|&part| self.rule(part)).collect()]
            }
            TagFormatKind::Choice(ways) => ways.iter().map(|&way| vec![self.rule(way)]).collect(),
            TagFormatKind::Repeat { piece, min, max } => {
                vec![vec![self.repeated(self.rule(*piece), *min, *max)]]
            }
            TagFormatKind::Dispatch { tags, excludes, loops } => {
                self.dispatch(tags, excludes, *loops)
            }
            TagFormatKind::Id(id) => vec![vec![self.token(false, TokenName::Id(*id))]],
            TagFormatKind::Token(name) => {
                vec![vec![self.token(false, TokenName::Text(name.clone()))]]
            }
            TagFormatKind::NotToken(name) => {
                vec![vec![self.token(true, TokenName::Text(name.clone()))]]
            }
            TagFormatKind::NotIds(ids) => {
                let ids = ids.iter().map(|&id| self.argument(None, Value::Number(id)));
                vec![vec![self.call(Function::ExcludeToken, ids.collect())]]
            }
            // Never: it has rules of its own.
            TagFormatKind::Grammar(_) => Vec::new(),
        }
    }

    fn dispatch(&self, tags: &[(String, usize)], excludes: &[String], loops: bool) -> Body {
        let text = self.tag_dispatch(tags, excludes, loops);
        if tags.is_empty() {
            return vec![vec![text]];
        }
        let behind = |(tag, piece): &(String, usize)| -> Sequence {
            vec![self.token(false, TokenName::Special(tag.clone())), self.rule(*piece)]
        };
        let mut ways: Vec<Sequence> = tags.iter().map(behind).collect();
        if loops {
            ways.iter_mut().for_each(|way| way.push(text.clone()));
            return vec![vec![text, self.repeated(self.expr(ExprKind::Group(ways)), 0, None)]];
        }
        let named = tags.iter().map(|(tag, _)| tag).chain(excludes).cloned();
        let free = self.tag_dispatch(&[], &named.collect::<Vec<_>>(), true);
        vec![vec![text], vec![free, self.expr(ExprKind::Group(ways))]]
    }

    fn tag_dispatch(&self, tags: &[(String, usize)], excludes: &[String], loops: bool) -> Expr {
        let tag = |(tag, piece): &(String, usize)| {
            let pair = [Value::Text(tag.clone()), Value::Name(rule_name(self.pieces, *piece))];
            self.argument(None, self.several(pair))
        };
        let mut arguments: Vec<Argument> = tags.iter().map(tag).collect();
        arguments.push(self.argument(Some("loop_after_dispatch"), Value::Flag(loops)));
        let excludes = self.several(excludes.iter().cloned().map(Value::Text));
        arguments.push(self.argument(Some("excludes"), excludes));
        self.call(Function::TagDispatch, arguments)
    }

    fn spanned<T>(&self, node: T) -> Spanned<T> {
        Spanned { node, span: self.piece.span.clone() }
    }

    fn expr(&self, kind: ExprKind) -> Expr {
        self.spanned(kind)
    }

    fn rule(&self, number: usize) -> Expr {
        self.expr(ExprKind::Rule(rule_name(self.pieces, number)))
    }

    fn token(&self, negated: bool, token: TokenName) -> Expr {
        self.expr(ExprKind::Token(TokenReference { negated, token }))
    }

    fn repeated(&self, expr: Expr, min: u32, max: Option<u32>) -> Expr {
        self.expr(ExprKind::Repeat { expr: Box::new(expr), min, max })
    }

    fn call(&self, function: Function, arguments: Vec<Argument>) -> Expr {
        self.expr(ExprKind::Call(Call { function, arguments }))
    }

    fn argument(&self, name: Option<&str>, value: Value) -> Argument {
        Argument { name: name.map(str::to_owned), value: self.spanned(value) }
    }

    fn several(&self, values: impl IntoIterator<Item = Value>) -> Value {
        Value::Several(values.into_iter().map(|value| self.spanned(value)).collect())
    }
}

/// Gives the rules of a grammar names that no others have, and the place of the grammar.
struct Within<'a> {
    prefix: String,
    span: &'a Range<usize>,
}

impl Within<'_> {
    fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn rule(&self, mut rule: Rule) -> Rule {
        rule.name = Spanned { node: self.name(&rule.name.node), span: self.span.clone() };
        for other in &mut rule.attributes.others {
            other.span = self.span.clone();
        }
        self.body(&mut rule.body);
        rule
    }

    /// Recurses as deep as brackets nest, which the reader bounds.
    fn body(&self, body: &mut Body) {
        body.iter_mut().flatten().for_each(|expr| self.expr(expr));
    }

    fn expr(&self, expr: &mut Expr) {
        expr.span = self.span.clone();
        match &mut expr.node {
            ExprKind::Rule(name) => *name = self.name(name),
            ExprKind::Group(body) | ExprKind::Assertion(body) => self.body(body),
            ExprKind::Repeat { expr, .. } => self.expr(expr),
            ExprKind::Call(call) => {
                call.arguments.iter_mut().for_each(|argument| self.value(&mut argument.value));
            }
            ExprKind::Literal(_)
            | ExprKind::Class(_)
            | ExprKind::Token(_)
            | ExprKind::Schema(_) => {}
        }
    }

    fn value(&self, value: &mut Spanned<Value>) {
        value.span = self.span.clone();
        match &mut value.node {
            Value::Name(name) => *name = self.name(name),
            Value::Several(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Text(_) | Value::Number(_) | Value::Flag(_) => {}
        }
    }
}

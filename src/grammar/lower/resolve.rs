//! Resolves names to numbers.
//!
//! Starts from the definitions, imports by name and ignores of the file itself, and takes from
//! imported files only their dependencies; so other definitions there may even be faulty, as in
//! Lark.

use hashbrown::{HashMap, HashSet};

use crate::grammar::lower::Context;
use crate::grammar::lower::attributes::Attributes;
use crate::grammar::lower::lexeme;
use crate::grammar::lower::library::{
    Definition, DefinitionIndex, DefinitionKind, Instance, Library,
};
use crate::grammar::lower::similar::did_you_mean;
use crate::grammar::lower::source::At;
use crate::grammar::lower::substring;
use crate::grammar::lower::tree::{
    Body, ClassIndex, Leaf, NamedTerminal, Node, Rule, RuleIndex, RuleMarks, RuleSuffix, Sequence,
    Stop, Term, TerminalIndex, WordKey,
};
use crate::grammar::tokens::Tokens;
use crate::syntax::ast;
use crate::util::diagnostic::Diagnostic;

/// Depth of nested expressions; the reader has its own, smaller limit.
const MAX_DEPTH: usize = 400;

/// Rules and terminals, with names resolved.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    pub(crate) rules: Vec<Rule>,
    pub(crate) terminals: Vec<NamedTerminal>,
    /// Bodies of `%ignore`, with the offset of each.
    pub(crate) ignores: Vec<Ignore>,
    pub(crate) directives: Vec<(ast::Directive, At)>,
    /// Whether the file uses syntax that only llguidance's dialect has.
    pub(crate) is_dialect: bool,
    /// Whether ignored text may occur only once at a position.
    pub(crate) skip_once: bool,
    /// Rules by their name in the file itself.
    pub(crate) rule_names: HashMap<String, usize>,
    /// Terminals by their name in the file itself.
    pub(crate) terminal_names: HashMap<String, usize>,
}

impl Resolved {
    /// Limits the lexemes of a terminal to `max_tokens` tokens. Lexemes cut off there have a
    /// terminal of their own.
    pub(super) fn limit(&mut self, terminal: TerminalIndex, max_tokens: Option<u32>) {
        let Some(tokens) = max_tokens else { return };
        let cut = self.terminals.len();
        let NamedTerminal { name, order, at, own, .. } = &self.terminals[terminal];
        let (name, order, at, own) = (format!("{name}[cut]"), *order, *at, *own);
        let cut_off = NamedTerminal {
            name,
            body: None,
            priority: 0,
            order,
            at,
            own,
            lazy: false,
            budget: None,
        };
        self.terminals.push(cut_off);
        self.terminals[terminal].budget = Some((tokens, cut));
    }
}

/// An `%ignore` and the grammar that it belongs to.
#[derive(Debug)]
pub(crate) struct Ignore {
    pub(crate) body: Body,
    pub(crate) at: At,
    pub(crate) class: ClassIndex,
}

/// Result of a definition.
#[derive(Clone, Copy)]
enum Target {
    Rule(usize),
    Terminal(usize),
}

/// Resolves all names.
///
/// AFTER THIS: no names in bodies, only numbers of rules, terminals and parameters; no aliases;
/// nothing that the definitions of the file itself do not lead to.
pub(crate) fn resolve(context: &mut Context, library: Library) -> Resolved {
    let Library { instances, definitions, ignores, directives, nested, named, is_dialect } =
        library;
    let options = || {
        directives.iter().filter_map(|(directive, _)| match directive {
            ast::Directive::Options(options) => Some(options),
            _ => None,
        })
    };
    let bytes =
        options().filter_map(|options| options.allow_invalid_utf8).next_back() == Some(true);
    let skip_once = options().filter_map(|options| options.skip_once).next_back() == Some(true);
    let mut resolver = Resolver {
        context,
        bytes,
        instances: &instances,
        missed: HashSet::new(),
        nested: &nested,
        named: &named,
        lexemes: HashMap::new(),
        definitions: &definitions,
        targets: vec![None; definitions.len()],
        queue: Vec::new(),
        resolved: Resolved { is_dialect, skip_once, ..Resolved::default() },
    };
    let mut own: Vec<DefinitionIndex> =
        (0..definitions.len()).filter(|&i| definitions[i].own).collect();
    own.sort_by_key(|&i| definitions[i].order);
    for definition in own {
        resolver.target(definition);
    }
    for ignore in ignores {
        let scope =
            Scope { instance: ignore.instance, source: ignore.at.source(), parameters: &[] };
        let body = resolver.expansions(&scope, &ignore.body, 0);
        resolver.resolved.ignores.push(Ignore { body, at: ignore.at, class: ignore.instance });
    }
    let mut next = 0;
    while let Some(&definition) = resolver.queue.get(next) {
        next += 1;
        let DefinitionKind::Rule { parameters, .. } = &definitions[definition].kind else {
            resolver.body(definition, &[]);
            continue;
        };
        resolver.body(definition, parameters);
    }
    resolver.unused_imports();
    for (name, &definition) in &instances[0].scope {
        match resolver.targets[definition] {
            Some(Target::Rule(rule)) => {
                resolver.resolved.rule_names.insert(name.clone(), rule);
            }
            Some(Target::Terminal(terminal)) => {
                resolver.resolved.terminal_names.insert(name.clone(), terminal);
            }
            None => {}
        }
    }
    Resolved { directives, ..resolver.resolved }
}

pub(super) struct Resolver<'a> {
    pub(super) context: &'a mut Context,
    /// Whether regexes match bytes.
    pub(super) bytes: bool,
    instances: &'a [Instance],
    /// Names, by instance, that were used but are missing from the file that they are imported
    /// from.
    missed: HashSet<(usize, &'a str)>,
    nested: &'a HashMap<(u32, u32), usize>,
    named: &'a HashMap<String, usize>,
    /// Terminals made of bodies of rules; equal ones are shared.
    lexemes: HashMap<(Body, bool, Option<u32>), TerminalIndex>,
    definitions: &'a [Definition],
    targets: Vec<Option<Target>>,
    /// Definitions with a number; the bodies of the last ones are not resolved yet.
    queue: Vec<DefinitionIndex>,
    pub(super) resolved: Resolved,
}

/// Scope in which names are looked up.
struct Scope<'a> {
    instance: usize,
    source: u32,
    parameters: &'a [String],
}

impl Resolver<'_> {
    /// Returns the number of a definition, assigned at its first use.
    fn target(&mut self, definition: DefinitionIndex) -> Target {
        if let Some(target) = self.targets[definition] {
            return target;
        }
        let defined = &self.definitions[definition];
        let (name, order, at, own) = (defined.name.clone(), defined.order, defined.at, defined.own);
        let target = match &defined.kind {
            DefinitionKind::Rule { parameters, priority, .. } => {
                let (parameters, priority, body) = (parameters.clone(), *priority, Vec::new());
                let class =
                    defined.parts.first().map_or(0, |part| self.instances[part.instance].class);
                let (marks, stop) = (RuleMarks::default(), None);
                let rule =
                    Rule { name, parameters, body, priority, order, at, own, class, marks, stop };
                self.resolved.rules.push(rule);
                Target::Rule(self.resolved.rules.len() - 1)
            }
            kind @ (DefinitionKind::Terminal { .. } | DefinitionKind::Declared) => {
                let (body, priority) = match kind {
                    DefinitionKind::Terminal { priority } => (Some(Vec::new()), *priority),
                    _ => (None, 0),
                };
                self.resolved.terminals.push(NamedTerminal {
                    name,
                    body,
                    priority,
                    order,
                    at,
                    own,
                    lazy: false,
                    budget: None,
                });
                Target::Terminal(self.resolved.terminals.len() - 1)
            }
        };
        self.targets[definition] = Some(target);
        self.queue.push(definition);
        target
    }

    /// Warns about unused imports of missing names, which do no harm.
    fn unused_imports(&mut self) {
        let instances = self.instances;
        let unused = instances.first().into_iter().flat_map(|instance| &instance.missing);
        let mut unused: Vec<&Diagnostic> = unused
            .filter(|(name, _)| !self.missed.contains(&(0, name.as_str())))
            .map(|(_, finding)| finding)
            .collect();
        unused.sort_by_key(|finding| finding.place.as_ref().map(|place| place.span.start));
        for finding in unused {
            let message = format!("{}; the name is not used", finding.message);
            let mut warning =
                Diagnostic::warning("unknown-import", message).at(finding.place.clone());
            warning.help.clone_from(&finding.help);
            self.context.report(match warning.help {
                Some(_) => warning,
                None => warning.help("remove the name from the import"),
            });
        }
    }

    /// Resolves the body of a definition that has a number.
    fn body(&mut self, definition: DefinitionIndex, parameters: &[String]) {
        let mut body = Vec::new();
        for part in &self.definitions[definition].parts {
            let scope = Scope { instance: part.instance, source: part.source, parameters };
            body.extend(self.expansions(&scope, &part.body, 0));
        }
        match self.targets[definition] {
            Some(Target::Rule(rule)) => {
                let body = self.attributes(definition, rule, body);
                self.resolved.rules[rule].body = body;
            }
            Some(Target::Terminal(terminal)) => {
                if let Some(empty) = &mut self.resolved.terminals[terminal].body {
                    *empty = body;
                }
            }
            None => {}
        }
    }

    fn expansions(
        &mut self,
        scope: &Scope<'_>,
        expansions: &ast::Expansions,
        depth: usize,
    ) -> Body {
        let sequence = |alternative: &ast::Alternative| Sequence {
            terms: alternative
                .items
                .iter()
                .filter_map(|term| self.expr(scope, term, depth))
                .collect(),
            precedence: alternative.precedence.as_ref().map(WordKey::new),
            at: At::new(scope.source, &alternative.span),
        };
        expansions.alternatives.iter().map(sequence).collect()
    }

    /// Resolves one expression, or returns `None` after reporting an error.
    fn expr(&mut self, scope: &Scope<'_>, expr: &ast::Expr, depth: usize) -> Option<Term> {
        let at = At::new(scope.source, &expr.span);
        if depth > MAX_DEPTH {
            let place = self.context.sources.place(at);
            let message = format!("expressions are nested more than {MAX_DEPTH} levels deep");
            self.context.report(Diagnostic::error("nesting-too-deep", message).at(place));
            return None;
        }
        let node = match &expr.node {
            ast::ExprKind::Rule(name) | ast::ExprKind::Terminal(name) => {
                self.name(scope, name, at)?
            }
            // The empty string is the empty sequence: no terminal is needed to match nothing.
            ast::ExprKind::Literal { text, .. } if text.is_empty() => {
                Node::Group(vec![Sequence { terms: Vec::new(), precedence: None, at }])
            }
            ast::ExprKind::Literal { text, ignore_case } => {
                Node::Leaf(Leaf::Literal { text: text.clone(), ignore_case: *ignore_case })
            }
            ast::ExprKind::CharRange(from, to) => Node::Leaf(Leaf::Range(*from, *to)),
            ast::ExprKind::Regex { pattern, flags } => {
                let flags = self.flags(flags, at)?;
                let pattern = match self.resolved.is_dialect {
                    true => self.as_rust_reads(pattern, flags, at)?,
                    false => self.as_lark_reads(pattern, flags, at),
                };
                Node::Leaf(Leaf::Regex { pattern, flags })
            }
            ast::ExprKind::Template { name, arguments } => {
                let callee = Box::new(self.name(scope, name, at)?);
                let arguments: Vec<Option<Term>> = arguments
                    .iter()
                    .map(|argument| self.expr(scope, argument, depth + 1))
                    .collect();
                Node::Call { callee, arguments: arguments.into_iter().collect::<Option<_>>()? }
            }
            ast::ExprKind::Parametric { name, value } => {
                let callee = Box::new(self.name(scope, name, at)?);
                Node::Call { callee, arguments: vec![Term { node: Node::Value(*value), at }] }
            }
            ast::ExprKind::If(condition) => Node::If(condition.clone()),
            ast::ExprKind::And(parts) => Node::Intersection(
                parts.iter().map(|part| self.group(scope, part, depth)).collect(),
            ),
            ast::ExprKind::Not(expr) => {
                Node::Complement(Box::new(self.expr(scope, expr, depth + 1)?))
            }
            ast::ExprKind::Tokens(names) => Node::Leaf(Leaf::Tokens(match names {
                ast::TokenNames::Name(name) => Tokens::Name(name.clone()),
                ast::TokenNames::Ids(ids) => Tokens::Ids(ids.clone()),
            })),
            ast::ExprKind::Substring(chunks) => {
                if substring::automaton(chunks).is_none() {
                    let place = self.context.sources.place(at);
                    let message = "the automaton of these chunks has more than two million states";
                    self.context.report(
                        Diagnostic::error("pattern-too-large", message)
                            .at(place)
                            .help("use fewer chunks"),
                    );
                    return None;
                }
                Node::Leaf(Leaf::Substring(chunks.clone()))
            }
            ast::ExprKind::Json(schema) => Node::Leaf(Leaf::Schema(schema.clone())),
            ast::ExprKind::Nested(_) => {
                self.start_of(self.nested.get(&(at.source(), at.start())).copied()?, at)?
            }
            ast::ExprKind::Grammar(name) => self.start_of(self.named.get(name).copied()?, at)?,
            ast::ExprKind::Group(body) => Node::Group(self.group(scope, body, depth)),
            ast::ExprKind::Maybe(body) => {
                let term = Box::new(Term { node: Node::Group(self.group(scope, body, depth)), at });
                Node::Repeat { term, min: 0, max: Some(1) }
            }
            ast::ExprKind::Repeat { expr, min, max } => {
                if max.is_some_and(|max| max < *min) {
                    let place = self.context.sources.place(at);
                    let message = "the bounds of the repetition are reversed; write the smaller \
                                   count first";
                    self.context.report(Diagnostic::error("bad-repetition", message).at(place));
                    return None;
                }
                let term = Box::new(self.expr(scope, expr, depth + 1)?);
                Node::Repeat { term, min: *min, max: *max }
            }
        };
        Some(Term { node, at })
    }

    /// Returns the start of a nested grammar.
    fn start_of(&mut self, instance: usize, at: At) -> Option<Node> {
        match self.instances[instance].scope.get("start") {
            Some(&definition) => match self.target(definition) {
                Target::Rule(rule) => Some(Node::Rule(rule)),
                Target::Terminal(terminal) => Some(Node::Terminal(terminal)),
            },
            None => {
                let message = "the nested grammar has no rule `start`";
                let place = self.context.sources.place(at);
                self.context.report(Diagnostic::error("no-start", message).at(place));
                None
            }
        }
    }

    /// Applies the attributes of a rule to its body.
    fn attributes(&mut self, definition: DefinitionIndex, rule: RuleIndex, body: Body) -> Body {
        let defined = &self.definitions[definition];
        let DefinitionKind::Rule { attributes, .. } = &defined.kind else { return body };
        if **attributes == Attributes::default() {
            return body;
        }
        let Some(part) = defined.parts.first() else { return body };
        let scope = Scope { instance: part.instance, source: part.source, parameters: &[] };
        let end = |resolver: &mut Self, expr: &Option<ast::Expr>| match expr {
            Some(expr) => resolver.expr(&scope, expr, 0),
            None => None,
        };
        let (stop, suffix) = (end(self, &attributes.stop), end(self, &attributes.suffix));
        let capture = |length| attributes.stop_capture.clone().map(|name| (name, length));
        let at = defined.at;
        self.resolved.rules[rule].marks = RuleMarks {
            capture: attributes.capture.clone(),
            suffix: suffix.clone().map(|term| RuleSuffix { term, capture: capture(None) }),
            temperature: attributes.temperature,
            max_tokens: attributes.max_tokens,
        };
        if attributes.max_tokens == Some(0) {
            // Exactly the empty string.
            return vec![Sequence { terms: Vec::new(), precedence: None, at }];
        }
        let has_none = |body: &Body| body.iter().all(|sequence| sequence.terms.is_empty());
        let is_empty = |term: &Term| matches!(&term.node, Node::Group(body) if has_none(body));
        let lexeme = match (stop, suffix) {
            // An end that is the end of the text adds no condition.
            (Some(stop), _) | (_, Some(stop)) if is_empty(&stop) && !attributes.lazy => {
                Ok((body, false))
            }
            (Some(end), _) => {
                let capture = attributes.stop_capture.clone();
                let stop = Stop::new(body.clone(), end.clone(), capture);
                self.resolved.rules[rule].stop = Some(stop);
                Ok((lexeme::before(body, end, at), false))
            }
            (_, Some(end)) => Ok((lexeme::up_to(body, end, at), true)),
            (None, None) if attributes.lazy => Ok((lexeme::first_match(body, at), true)),
            (None, None) if attributes.prefers_lexeme() && lexeme::can_be(&body) => {
                Ok((body, false))
            }
            (None, None) => Err(body),
        };
        let (lexeme, lazy) = match lexeme {
            Ok(lexeme) => lexeme,
            Err(body) => {
                if attributes.max_tokens.is_some() {
                    let place = self.context.sources.place(at);
                    let message =
                        format!("masks do not enforce the max_tokens of `{}`", defined.name);
                    self.context.report(
                        Diagnostic::warning("unheld-max-tokens", message).at(place).help(
                            "masks enforce it for a rule without rules and tokens in it, which is \
                             one lexeme; for this rule, check `Matcher::remaining_tokens`",
                        ),
                    );
                }
                return body;
            }
        };
        let terminal = self.lexeme(lexeme, lazy, rule);
        let cut = self.resolved.terminals[terminal].budget.map(|(_, cut)| cut);
        let way = |terminal| Sequence {
            terms: vec![Term { node: Node::Terminal(terminal), at }],
            precedence: None,
            at,
        };
        std::iter::once(terminal).chain(cut).map(way).collect()
    }

    /// Returns the terminal of this body, named after a rule.
    fn lexeme(&mut self, body: Body, lazy: bool, rule: RuleIndex) -> TerminalIndex {
        let max_tokens = self.resolved.rules[rule].marks.max_tokens;
        let key = (body, lazy, max_tokens);
        if let Some(&known) = self.lexemes.get(&key) {
            return known;
        }
        let Rule { order, at, own, .. } = self.resolved.rules[rule];
        // No name in a file has brackets.
        let name =
            format!("{}[{}]", self.resolved.rules[rule].name, if lazy { "lazy" } else { "lexeme" });
        let terminal = self.resolved.terminals.len();
        let body = Some(key.0.clone());
        let new = NamedTerminal { name, body, priority: 0, order, at, own, lazy, budget: None };
        self.resolved.terminals.push(new);
        self.resolved.limit(terminal, max_tokens);
        self.lexemes.insert(key, terminal);
        terminal
    }

    fn group(&mut self, scope: &Scope<'_>, expansions: &ast::Expansions, depth: usize) -> Body {
        let body = self.expansions(scope, expansions, depth + 1);
        if let Some(sequence) = body.iter().find(|sequence| sequence.precedence.is_some()) {
            let place = self.context.sources.place(sequence.at);
            self.context.report(
                Diagnostic::error(
                    "misplaced-prec",
                    "%prec is not allowed inside parentheses or brackets",
                )
                .at(place)
                .help(
                    "make the group a rule; %prec belongs at the end of an alternative of a rule",
                ),
            );
        }
        body
    }

    fn name(&mut self, scope: &Scope<'_>, name: &str, at: At) -> Option<Node> {
        if let Some(parameter) = scope.parameters.iter().position(|parameter| parameter == name) {
            return Some(Node::Parameter(parameter));
        }
        let instances = self.instances;
        let instance = &instances[scope.instance];
        if let Some(&definition) = instance.scope.get(name) {
            return Some(match self.target(definition) {
                Target::Rule(rule) => Node::Rule(rule),
                Target::Terminal(terminal) => Node::Terminal(terminal),
            });
        }
        if let Some((name, finding)) = instance.missing.get_key_value(name) {
            if self.missed.insert((scope.instance, name)) {
                self.context.report(finding.clone());
            }
            return None;
        }
        let names = instance.scope.keys().chain(scope.parameters).map(String::as_str);
        let diagnostic = Diagnostic::error("undefined-symbol", format!("`{name}` is not defined"));
        let mut diagnostic = did_you_mean(diagnostic, name, names);
        diagnostic.help.get_or_insert_with(|| "define it in this file, or import it".to_owned());
        self.context.report(diagnostic.at(self.context.sources.place(at)));
        None
    }
}

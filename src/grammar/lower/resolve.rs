//! Second pass: names become numbers.
//!
//! Starts from what the file itself defines, imports by name or ignores, and takes from imported files only what
//! those need; so what is not needed may even be faulty there, as in Lark.

use hashbrown::{HashMap, HashSet};

use crate::grammar::lower::Context;
use crate::grammar::lower::load::{Definition, DefinitionIndex, DefinitionKind, Instance, Library};
use crate::grammar::lower::similar::did_you_mean;
use crate::grammar::lower::source::At;
use crate::grammar::lower::tree::{Body, Item, Leaf, NamedTerminal, Node, Rule, Sequence, WordKey};
use crate::grammar::pattern::RegexFlags;
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
    pub(crate) ignores: Vec<(Body, At)>,
    pub(crate) directives: Vec<(ast::Directive, At)>,
    /// Rules by the name that the file itself gives them.
    pub(crate) rule_names: HashMap<String, usize>,
    /// Terminals by the name that the file itself gives them.
    pub(crate) terminal_names: HashMap<String, usize>,
}

/// What a definition became.
#[derive(Clone, Copy)]
enum Target {
    Rule(usize),
    Terminal(usize),
}

/// Resolves all names.
///
/// AFTER THIS: no names in bodies, only numbers of rules, terminals and parameters; no aliases; nothing that no
/// definition of the file itself leads to.
pub(crate) fn resolve(context: &mut Context, library: Library) -> Resolved {
    let Library { instances, definitions, ignores, directives } = library;
    let mut resolver = Resolver {
        context,
        instances: &instances,
        missed: HashSet::new(),
        definitions: &definitions,
        targets: vec![None; definitions.len()],
        queue: Vec::new(),
        resolved: Resolved { directives, ..Resolved::default() },
    };
    let mut own: Vec<DefinitionIndex> = (0..definitions.len()).filter(|&i| definitions[i].own).collect();
    own.sort_by_key(|&i| definitions[i].order);
    for definition in own {
        resolver.target(definition);
    }
    for (body, at) in ignores {
        let scope = Scope { instance: 0, source: at.source(), parameters: &[] };
        let body = resolver.expansions(&scope, &body, 0);
        resolver.resolved.ignores.push((body, at));
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
    resolver.resolved
}

struct Resolver<'a> {
    context: &'a mut Context,
    instances: &'a [Instance],
    /// Names in the scope of an instance that were wanted, but are missing where they are imported from.
    missed: HashSet<(usize, &'a str)>,
    definitions: &'a [Definition],
    targets: Vec<Option<Target>>,
    /// Definitions with a number, those whose bodies are still to be resolved last.
    queue: Vec<DefinitionIndex>,
    resolved: Resolved,
}

/// Where names are looked up.
struct Scope<'a> {
    instance: usize,
    source: u32,
    parameters: &'a [String],
}

impl Resolver<'_> {
    /// The number of a definition, given at its first use.
    fn target(&mut self, definition: DefinitionIndex) -> Target {
        if let Some(target) = self.targets[definition] {
            return target;
        }
        let defined = &self.definitions[definition];
        let (name, order, at, own) = (defined.name.clone(), defined.order, defined.at, defined.own);
        let target = match &defined.kind {
            DefinitionKind::Rule { parameters, priority } => {
                let (parameters, priority, body) = (parameters.clone(), *priority, Vec::new());
                self.resolved.rules.push(Rule { name, parameters, body, priority, order, at, own });
                Target::Rule(self.resolved.rules.len() - 1)
            }
            kind @ (DefinitionKind::Terminal { .. } | DefinitionKind::Declared) => {
                let (body, priority) = match kind {
                    DefinitionKind::Terminal { priority } => (Some(Vec::new()), *priority),
                    _ => (None, 0),
                };
                self.resolved.terminals.push(NamedTerminal { name, body, priority, order, at, own });
                Target::Terminal(self.resolved.terminals.len() - 1)
            }
        };
        self.targets[definition] = Some(target);
        self.queue.push(definition);
        target
    }

    /// A name that a file imports in vain, and does not use, does no harm.
    fn unused_imports(&mut self) {
        let instances = self.instances;
        let unused = instances.first().into_iter().flat_map(|instance| &instance.missing);
        let mut unused: Vec<&Diagnostic> = unused
            .filter(|(name, _)| !self.missed.contains(&(0, name.as_str())))
            .map(|(_, finding)| finding)
            .collect();
        unused.sort_by_key(|finding| finding.place.as_ref().map(|place| place.span.start));
        for finding in unused {
            let message = format!("{}; nothing here needs it", finding.message);
            let mut warning = Diagnostic::warning("unknown-import", message).at(finding.place.clone());
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
            Some(Target::Rule(rule)) => self.resolved.rules[rule].body = body,
            Some(Target::Terminal(terminal)) => {
                if let Some(empty) = &mut self.resolved.terminals[terminal].body {
                    *empty = body;
                }
            }
            None => {}
        }
    }

    fn expansions(&mut self, scope: &Scope<'_>, expansions: &ast::Expansions, depth: usize) -> Body {
        let sequence = |alternative: &ast::Alternative| Sequence {
            items: alternative.items.iter().filter_map(|item| self.expr(scope, item, depth)).collect(),
            precedence: alternative.precedence.as_ref().map(WordKey::new),
            at: At::new(scope.source, &alternative.span),
        };
        expansions.alternatives.iter().map(sequence).collect()
    }

    /// Resolves one expression; `None` when that was reported as an error.
    fn expr(&mut self, scope: &Scope<'_>, expr: &ast::Expr, depth: usize) -> Option<Item> {
        let at = At::new(scope.source, &expr.span);
        if depth > MAX_DEPTH {
            let place = self.context.sources.place(at);
            let message = format!("expressions are nested more than {MAX_DEPTH} deep");
            self.context.report(Diagnostic::error("nesting-too-deep", message).at(place));
            return None;
        }
        let node = match &expr.node {
            ast::ExprKind::Rule(name) | ast::ExprKind::Terminal(name) => self.name(scope, name, at)?,
            // The empty string is the empty sequence: no terminal is needed to match nothing.
            ast::ExprKind::Literal { text, .. } if text.is_empty() => {
                Node::Group(vec![Sequence { items: Vec::new(), precedence: None, at }])
            }
            ast::ExprKind::Literal { text, ignore_case } => {
                Node::Leaf(Leaf::Literal { text: text.clone(), ignore_case: *ignore_case })
            }
            ast::ExprKind::CharRange(from, to) => Node::Leaf(Leaf::Range(*from, *to)),
            ast::ExprKind::Regex { pattern, flags } => {
                let flags = self.flags(flags, at)?;
                Node::Leaf(Leaf::Regex { pattern: pattern.clone(), flags })
            }
            ast::ExprKind::Template { name, arguments } => {
                let callee = Box::new(self.name(scope, name, at)?);
                let arguments: Vec<Option<Item>> =
                    arguments.iter().map(|argument| self.expr(scope, argument, depth + 1)).collect();
                Node::Call { callee, arguments: arguments.into_iter().collect::<Option<_>>()? }
            }
            ast::ExprKind::Group(body) => Node::Group(self.group(scope, body, depth)),
            ast::ExprKind::Maybe(body) => {
                let item = Box::new(Item { node: Node::Group(self.group(scope, body, depth)), at });
                Node::Repeat { item, min: 0, max: Some(1) }
            }
            ast::ExprKind::Repeat { expr, min, max } => {
                if max.is_some_and(|max| max < *min) {
                    let place = self.context.sources.place(at);
                    let message = "the bounds of the repetition are reversed";
                    self.context.report(Diagnostic::error("bad-repetition", message).at(place));
                    return None;
                }
                let item = Box::new(self.expr(scope, expr, depth + 1)?);
                Node::Repeat { item, min: *min, max: *max }
            }
        };
        Some(Item { node, at })
    }

    fn group(&mut self, scope: &Scope<'_>, expansions: &ast::Expansions, depth: usize) -> Body {
        let body = self.expansions(scope, expansions, depth + 1);
        if let Some(sequence) = body.iter().find(|sequence| sequence.precedence.is_some()) {
            let place = self.context.sources.place(sequence.at);
            self.context.report(
                Diagnostic::error("misplaced-prec", "%prec inside parentheses or brackets").at(place).help(
                    "make the group a rule of its own; %prec stands at the end of a rule's alternative",
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
        let diagnostic = did_you_mean(diagnostic, name, names);
        self.context.report(diagnostic.at(self.context.sources.place(at)));
        None
    }

    fn flags(&mut self, written: &str, at: At) -> Option<RegexFlags> {
        let mut flags = RegexFlags::default();
        for flag in written.chars() {
            match flag {
                'i' => flags.ignore_case = true,
                'm' => flags.multi_line = true,
                's' => flags.dot_all = true,
                'x' => flags.verbose = true,
                'l' | 'u' => {}
                _ => {
                    let place = self.context.sources.place(at);
                    let message = format!("`{flag}` is not a flag of regexes; those are imslux");
                    self.context.report(Diagnostic::error("bad-flag", message).at(place));
                    return None;
                }
            }
        }
        Some(flags)
    }
}

//! Instantiates templates: one rule for each use with different arguments.
//!
//! Instances are made from a queue, once for equal arguments, so a template may use itself with the
//! arguments that it was given; one that keeps making new arguments reaches a limit.

use hashbrown::HashMap;

use crate::grammar::lower::Context;
use crate::grammar::lower::source::At;
use crate::grammar::lower::tree::{Body, Node, Rule, RuleIndex, Sequence, Term};
use crate::syntax::ast::PARAMETER;
use crate::syntax::parameter::Value;
use crate::util::diagnostic::Diagnostic;

/// Maximum number of instances of all templates together.
const MAX_INSTANCES: usize = 100_000;
/// Maximum number of expressions in all instances together.
const MAX_NODES: usize = 1_000_000;
/// Maximum length of an instance's name; a longer one is replaced by a number.
const MAX_NAME: usize = 80;

/// Replaces uses of templates with rules.
///
/// AFTER THIS: no parameters and no calls; templates themselves have empty bodies, are not used,
/// and are marked by their parameters.
pub(crate) fn instantiate(
    context: &mut Context,
    rules: Vec<Rule>,
    terminals: &[String],
) -> Vec<Rule> {
    if rules.iter().all(|rule| rule.parameters.is_empty())
        && !rules.iter().any(|rule| calls(&rule.body))
    {
        return rules;
    }
    let mut templates = Templates {
        context,
        terminals,
        instances: HashMap::new(),
        queue: Vec::new(),
        nodes: 0,
        used: vec![false; rules.len()],
        stopped: false,
        rules,
    };
    for rule in 0..templates.rules.len() {
        if templates.rules[rule].parameters.is_empty() {
            let body = std::mem::take(&mut templates.rules[rule].body);
            templates.rules[rule].body = templates.body(&body, &[]);
        }
    }
    let mut next = 0;
    while next < templates.queue.len() && !templates.stopped {
        let (instance, template, arguments) = templates.queue[next].clone();
        next += 1;
        let body = templates.rules[template].body.clone();
        templates.rules[instance].body = templates.body(&body, &arguments);
    }
    templates.finish()
}

struct Templates<'a> {
    context: &'a mut Context,
    terminals: &'a [String],
    rules: Vec<Rule>,
    instances: HashMap<(RuleIndex, Vec<Term>), RuleIndex>,
    /// Instances with their templates and arguments.
    queue: Vec<(RuleIndex, RuleIndex, Vec<Term>)>,
    nodes: usize,
    used: Vec<bool>,
    stopped: bool,
}

impl Templates<'_> {
    fn body(&mut self, body: &Body, arguments: &[Term]) -> Body {
        let mut kept = Vec::with_capacity(body.len());
        for sequence in body {
            if !self.is_wanted(sequence, arguments) {
                continue;
            }
            let terms = sequence.terms.iter().filter(|term| !matches!(term.node, Node::If(_)));
            kept.push(Sequence {
                terms: terms.map(|term| self.symbol(term, arguments)).collect(),
                precedence: sequence.precedence.clone(),
                at: sequence.at,
            });
        }
        kept
    }

    /// Whether the parameter satisfies the conditions of an alternative.
    fn is_wanted(&mut self, sequence: &Sequence, arguments: &[Term]) -> bool {
        sequence.terms.iter().all(|term| match (&term.node, parameter(arguments)) {
            (Node::If(condition), Some(parameter)) => condition.holds(parameter),
            (Node::If(_), None) => {
                self.no_parameter(term.at);
                false
            }
            _ => true,
        })
    }

    /// Reports the use of a parameter in a rule that has none.
    fn no_parameter(&mut self, at: At) -> Term {
        let message = "this uses the parameter of its rule, which has none";
        let diagnostic = Diagnostic::error("no-parameter", message);
        self.error(at, diagnostic.help("give the rule a parameter: `rule::_: ...`"));
        nothing(at)
    }

    /// Expands an expression where a template without arguments is an error.
    fn symbol(&mut self, term: &Term, arguments: &[Term]) -> Term {
        let done = self.term(term, arguments);
        if let Node::Rule(rule) = done.node
            && !self.rules[rule].parameters.is_empty()
        {
            if let Some(used) = self.used.get_mut(rule) {
                *used = true;
            }
            let (name, parameters) = (&self.rules[rule].name, &self.rules[rule].parameters);
            let (message, help) = if *parameters == [PARAMETER] {
                let message = format!("parametric rule `{name}` is used without a parameter");
                (message, format!("write `{name}::0` or another number"))
            } else {
                let count = parameters.len();
                let message = format!("template `{name}` is used without its {count} arguments");
                (message, format!("write `{name}{{{}}}`", parameters.join(", ")))
            };
            self.error(term.at, Diagnostic::error("template-arguments", message).help(help));
            return nothing(term.at);
        }
        done
    }

    fn term(&mut self, term: &Term, arguments: &[Term]) -> Term {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            self.limit(term.at, "the expansion of the templates is too large");
        }
        if self.stopped {
            return nothing(term.at);
        }
        let node = match &term.node {
            Node::Parameter(parameter) => {
                let Some(argument) = arguments.get(*parameter) else { return nothing(term.at) };
                argument.node.clone()
            }
            Node::Call { callee, arguments: own } => {
                let own: Vec<Term> = own.iter().map(|own| self.term(own, arguments)).collect();
                let callee = match **callee {
                    Node::Parameter(parameter) => {
                        arguments.get(parameter).map(|argument| &argument.node)
                    }
                    ref node => Some(node),
                };
                match callee {
                    Some(&Node::Rule(template)) => return self.call(template, own, term.at),
                    _ => {
                        let message = "only a template takes arguments";
                        self.error(term.at, Diagnostic::error("not-a-template", message));
                        return nothing(term.at);
                    }
                }
            }
            Node::Group(body) => Node::Group(self.body(body, arguments)),
            Node::Repeat { term, min, max } => {
                let term = Box::new(self.symbol(term, arguments));
                Node::Repeat { term, min: *min, max: *max }
            }
            Node::Intersection(parts) => {
                Node::Intersection(parts.iter().map(|part| self.body(part, arguments)).collect())
            }
            Node::Complement(term) => Node::Complement(Box::new(self.symbol(term, arguments))),
            Node::Shortest(term) => Node::Shortest(Box::new(self.symbol(term, arguments))),
            Node::Value(value) => match value.of(parameter(arguments)) {
                Some(value) => Node::Value(Value::Constant(value)),
                None => return self.no_parameter(term.at),
            },
            // Removed by [`Templates::body`].
            Node::If(_) => return nothing(term.at),
            node @ (Node::Rule(_) | Node::Terminal(_) | Node::Leaf(_)) => node.clone(),
        };
        Term { node, at: term.at }
    }

    fn call(&mut self, template: RuleIndex, arguments: Vec<Term>, at: At) -> Term {
        let (name, expected) =
            (self.rules[template].name.clone(), self.rules[template].parameters.len());
        if let Some(used) = self.used.get_mut(template) {
            *used = true;
        }
        if expected == 0 {
            let message = format!("`{name}` is not a template and takes no arguments");
            let mut diagnostic = Diagnostic::error("not-a-template", message);
            if parameter(&arguments).is_some() {
                diagnostic = diagnostic.help(format!(
                    "to give it a parameter, define it as \
                                                      `{name}::_: ...`"
                ));
            }
            self.error(at, diagnostic);
            return nothing(at);
        }
        // Past the limit, arguments are placeholders.
        if self.stopped {
            return nothing(at);
        }
        let is_parametric = self.rules[template].parameters == [PARAMETER];
        let has_parameter = parameter(&arguments).is_some();
        if arguments.len() != expected || is_parametric != has_parameter {
            let message = if is_parametric {
                format!("`{name}` takes a parameter: `{name}::0`")
            } else if has_parameter {
                format!("template `{name}` takes {expected} arguments, not a parameter")
            } else {
                format!("template `{name}` takes {expected} arguments, not {}", arguments.len())
            };
            self.error(at, Diagnostic::error("template-arguments", message));
            return nothing(at);
        }
        let key = (template, arguments);
        if let Some(&instance) = self.instances.get(&key) {
            return Term { node: Node::Rule(instance), at };
        }
        if self.instances.len() >= MAX_INSTANCES {
            self.limit(at, "templates are used with too many different arguments");
            return nothing(at);
        }
        let instance = self.rules.len();
        let shown = self.instance_name(&name, &key.1);
        let Rule { priority, order, at: defined_at, own, class, .. } = self.rules[template];
        let marks = self.rules[template].marks.clone();
        self.rules.push(Rule {
            name: shown,
            parameters: Vec::new(),
            body: Vec::new(),
            priority,
            order,
            at: defined_at,
            own,
            class,
            marks,
            stop: None,
        });
        self.queue.push((instance, template, key.1.clone()));
        self.instances.insert(key, instance);
        Term { node: Node::Rule(instance), at }
    }

    /// Returns `template{argument,argument}`, as in Lark, or `template{#12}` if that would be long.
    fn instance_name(&self, template: &str, arguments: &[Term]) -> String {
        if let Some(parameter) = parameter(arguments) {
            return format!("{template}::{parameter}");
        }
        let mut name = format!("{template}{{");
        for (i, argument) in arguments.iter().enumerate() {
            if i > 0 {
                name.push(',');
            }
            match &argument.node {
                Node::Rule(rule) => name.push_str(&self.rules[*rule].name),
                Node::Terminal(terminal) => name.push_str(&self.terminals[*terminal]),
                Node::Leaf(leaf) => {
                    let place = || self.context.sources.place(argument.at);
                    name.push_str(&leaf.pattern(place).to_string());
                }
                _ => name = format!("{template}{{#{}}}", self.instances.len()),
            }
            if name.len() > MAX_NAME || name.contains('#') {
                return format!("{template}{{#{}}}", self.instances.len());
            }
        }
        name + "}"
    }

    fn limit(&mut self, at: At, message: &str) {
        if !self.stopped {
            self.stopped = true;
            let diagnostic = Diagnostic::error("template-limit", message).help(
                "let a template that uses itself pass on its own arguments, or fewer; bound a \
                 parameter that is incremented: `%if lt(_, 100)`",
            );
            self.error(at, diagnostic);
        }
    }

    fn error(&mut self, at: At, diagnostic: Diagnostic) {
        let place = self.context.sources.place(at);
        self.context.report(diagnostic.at(place));
    }

    /// Warns about unused templates, and empties all templates.
    fn finish(mut self) -> Vec<Rule> {
        for rule in 0..self.used.len() {
            if self.rules[rule].parameters.is_empty() {
                continue;
            }
            self.rules[rule].body = Vec::new();
            let Rule { name, at, own, .. } = &self.rules[rule];
            if *own && !self.used[rule] {
                let diagnostic =
                    Diagnostic::warning("unused-rule", format!("template `{name}` is not used"));
                self.error(*at, diagnostic);
            }
        }
        self.rules
    }
}

/// Returns a placeholder for an expression with a reported error.
fn nothing(at: At) -> Term {
    Term { node: Node::Group(vec![Sequence { terms: Vec::new(), precedence: None, at }]), at }
}

/// Returns the parameter of the instance with these arguments.
fn parameter(arguments: &[Term]) -> Option<u64> {
    match arguments {
        [Term { node: Node::Value(Value::Constant(value)), .. }] => Some(*value),
        _ => None,
    }
}

fn calls(body: &Body) -> bool {
    body.iter().flat_map(|sequence| &sequence.terms).any(|term| match &term.node {
        Node::Call { .. } | Node::If(_) => true,
        Node::Group(body) => calls(body),
        Node::Repeat { term, .. } => match &term.node {
            Node::Group(body) => calls(body),
            node => matches!(node, Node::Call { .. } | Node::Repeat { .. }),
        },
        _ => false,
    })
}

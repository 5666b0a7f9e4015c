//! Rules with `stop=`: their texts end before the stop.
//!
//! llguidance lets the model write the stop of a rule, and removes it again. This engine removes
//! nothing: it describes the resulting texts. Usually the string after the rule begins with its
//! stop; then both become one lexeme, up to the first stop. Otherwise the rule is a lexeme that
//! contains no stop.

use hashbrown::HashMap;

use crate::grammar::lower::Context;
use crate::grammar::lower::lexeme;
use crate::grammar::lower::resolve::Resolved;
use crate::grammar::lower::tree::{
    Body, Leaf, NamedTerminal, Node, Rule, RuleIndex, RuleMarks, RuleSuffix, Sequence, Stop, Term,
};
use crate::util::diagnostic::Diagnostic;

/// Joins each rule with the term after it if that begins with the rule's stop, and warns about the
/// others.
pub(crate) fn join(context: &mut Context, resolved: &mut Resolved) {
    if resolved.rules.iter().all(|rule| rule.stop.is_none()) {
        return;
    }
    let mut joiner = Joiner { resolved, joined: HashMap::new(), alone: Vec::new() };
    for rule in 0..joiner.resolved.rules.len() {
        let mut body = std::mem::take(&mut joiner.resolved.rules[rule].body);
        joiner.body(&mut body);
        joiner.resolved.rules[rule].body = body;
    }
    joiner.alone.sort_unstable();
    joiner.alone.dedup();
    for &rule in &joiner.alone {
        let rule = &joiner.resolved.rules[rule];
        let place = context.sources.place(rule.at);
        let message =
            format!("the stop of `{}` is not part of the text: the rule ends before it", rule.name);
        context.report(Diagnostic::warning("unwritten-stop", message).at(place).help(
            "if the text contains the stop, use `suffix=`, or add the same string after the rule",
        ));
    }
}

struct Joiner<'a> {
    resolved: &'a mut Resolved,
    /// Rules made by joining a rule with the term after it.
    joined: HashMap<(RuleIndex, Term), RuleIndex>,
    /// Rules whose stop is missing from the text after some use.
    alone: Vec<RuleIndex>,
}

impl Joiner<'_> {
    fn body(&mut self, body: &mut Body) {
        for Sequence { terms, .. } in body {
            let mut at = 0;
            while at < terms.len() {
                let next = terms.get(at + 1).cloned();
                match &mut terms[at].node {
                    Node::Rule(rule) if self.resolved.rules[*rule].stop.is_some() => {
                        match next.and_then(|next| self.join(*rule, next)) {
                            Some(joined) => {
                                *rule = joined;
                                terms.remove(at + 1);
                            }
                            None => self.alone.push(*rule),
                        }
                    }
                    Node::Group(body) => self.body(body),
                    Node::Repeat { term, .. } => self.inner(term),
                    _ => {}
                }
                at += 1;
            }
        }
    }

    fn inner(&mut self, term: &mut Term) {
        match &mut term.node {
            Node::Rule(rule) if self.resolved.rules[*rule].stop.is_some() => self.alone.push(*rule),
            Node::Group(body) => self.body(body),
            Node::Repeat { term, .. } => self.inner(term),
            _ => {}
        }
    }

    /// Returns the rule that matches `rule` and `next` as one lexeme, if `next` begins with the
    /// stop of `rule`.
    fn join(&mut self, rule: RuleIndex, next: Term) -> Option<RuleIndex> {
        let Stop { body, end, capture, .. } = self.resolved.rules[rule].stop.clone()?;
        let (rest, length) = match (&end.node, &next.node) {
            (
                Node::Leaf(Leaf::Literal { text: stop, ignore_case: false }),
                Node::Leaf(Leaf::Literal { text, ignore_case: false }),
            ) => (text.strip_prefix(stop.as_str())?.to_owned(), Some(stop.len() as u32)),
            (stop, next) if stop == next => (String::new(), None),
            _ => return None,
        };
        let key = (rule, next);
        if let Some(&known) = self.joined.get(&key) {
            return Some(known);
        }
        let at = key.1.at;
        let mut whole = lexeme::up_to(body, end, at);
        if !rest.is_empty() {
            let node = Node::Leaf(Leaf::Literal { text: rest, ignore_case: false });
            whole[0].terms.push(Term { node, at });
        }
        let Rule { order, own, class, .. } = self.resolved.rules[rule];
        let number = self.resolved.rules.len();
        let name = format!("{}[{number}]", self.resolved.rules[rule].name);
        let terminal = self.resolved.terminals.len();
        self.resolved.terminals.push(NamedTerminal {
            name: name.clone(),
            body: Some(whole),
            priority: 0,
            order,
            at,
            own,
            lazy: true,
            budget: None,
        });
        self.resolved.limit(terminal, self.resolved.rules[rule].marks.max_tokens);
        let marks = &self.resolved.rules[rule].marks;
        let suffix =
            RuleSuffix { term: key.1.clone(), capture: capture.map(|name| (name, length)) };
        let marks = RuleMarks { suffix: Some(suffix), ..marks.clone() };
        let of = |terminal| Term { node: Node::Terminal(terminal), at };
        let mut ways = vec![vec![of(terminal)]];
        // A lexeme that is cut off before its stop is followed by the string all the same.
        ways.extend(
            self.resolved.terminals[terminal].budget.map(|(_, cut)| vec![of(cut), key.1.clone()]),
        );
        self.resolved.rules.push(Rule {
            name,
            parameters: Vec::new(),
            body: ways.into_iter().map(|terms| Sequence { terms, precedence: None, at }).collect(),
            priority: None,
            order,
            at: self.resolved.rules[rule].at,
            own,
            class,
            marks,
            stop: None,
        });
        self.joined.insert(key, number);
        self.resolved.rules[rule].stop.iter_mut().for_each(|stop| stop.is_joined = true);
        Some(number)
    }
}

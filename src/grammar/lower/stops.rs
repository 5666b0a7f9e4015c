//! Rules with `stop=`: the text goes on with what ended them, or is never shown it.
//!
//! llguidance lets the model write what stops a rule, and takes it back. This engine takes nothing
//! back: it describes the texts that are there in the end. Mostly the string behind the rule begins
//! with what stops it; both are one lexeme then, up to the first stop. Elsewhere the rule is a
//! lexeme in which no stop stands.

use hashbrown::HashMap;

use crate::grammar::lower::Context;
use crate::grammar::lower::lexeme;
use crate::grammar::lower::resolve::Resolved;
use crate::grammar::lower::tree::{
    Body, Item, Leaf, NamedTerminal, Node, Rule, RuleIndex, RuleMarks, RuleSuffix, Sequence, Stop,
};
use crate::util::diagnostic::Diagnostic;

/// Joins rules with what stands behind them where that begins with what stops them, and warns of
/// the others.
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
        let message = format!("what stops `{}` is not written: its texts end before it", rule.name);
        context.report(Diagnostic::warning("unwritten-stop", message).at(place).help(
            "where the stop is part of the text, write `suffix=`, or the same string behind \
             the rule",
        ));
    }
}

struct Joiner<'a> {
    resolved: &'a mut Resolved,
    /// The rules made of a rule and what stands behind it.
    joined: HashMap<(RuleIndex, Item), RuleIndex>,
    /// Rules whose stop is not written somewhere.
    alone: Vec<RuleIndex>,
}

impl Joiner<'_> {
    fn body(&mut self, body: &mut Body) {
        for Sequence { items, .. } in body {
            let mut at = 0;
            while at < items.len() {
                let next = items.get(at + 1).cloned();
                match &mut items[at].node {
                    Node::Rule(rule) if self.resolved.rules[*rule].stop.is_some() => {
                        match next.and_then(|next| self.join(*rule, next)) {
                            Some(joined) => {
                                *rule = joined;
                                items.remove(at + 1);
                            }
                            None => self.alone.push(*rule),
                        }
                    }
                    Node::Group(body) => self.body(body),
                    Node::Repeat { item, .. } => self.inner(item),
                    _ => {}
                }
                at += 1;
            }
        }
    }

    fn inner(&mut self, item: &mut Item) {
        match &mut item.node {
            Node::Rule(rule) if self.resolved.rules[*rule].stop.is_some() => self.alone.push(*rule),
            Node::Group(body) => self.body(body),
            Node::Repeat { item, .. } => self.inner(item),
            _ => {}
        }
    }

    /// The rule that is `rule` and `next` as one lexeme, where `next` begins with what stops
    /// `rule`.
    fn join(&mut self, rule: RuleIndex, next: Item) -> Option<RuleIndex> {
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
            whole[0].items.push(Item { node, at });
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
            RuleSuffix { item: key.1.clone(), capture: capture.map(|name| (name, length)) };
        let marks = RuleMarks { suffix: Some(suffix), ..marks.clone() };
        let of = |terminal| Item { node: Node::Terminal(terminal), at };
        let mut ways = vec![vec![of(terminal)]];
        // What is cut off before its stop has the string behind it all the same.
        ways.extend(
            self.resolved.terminals[terminal].budget.map(|(_, cut)| vec![of(cut), key.1.clone()]),
        );
        self.resolved.rules.push(Rule {
            name,
            parameters: Vec::new(),
            body: ways.into_iter().map(|items| Sequence { items, precedence: None, at }).collect(),
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

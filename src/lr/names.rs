//! The names of symbols, so that tables and conflicts can be shown without the grammar.

use super::rules::{COMPLETE, Code, Item, Rules};
use crate::grammar::Grammar;
use crate::grammar::pattern::Pattern;

/// By code: a terminal's literal text in quotes if it has one, the pattern of a terminal without a
/// name, else the symbol's name.
#[derive(Clone, Debug)]
pub(super) struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Names {
    /// Copies the names of `grammar`, and creates a name for each nonterminal that the rules have
    /// in addition.
    pub(super) fn new(grammar: &Grammar, rules: &Rules) -> Self {
        let mut names = Self { text: String::new(), ends: Vec::new() };
        for terminal in &grammar.terminals {
            match &terminal.pattern {
                Some(Pattern::Literal { text, .. }) if terminal.description.is_none() => {
                    names.add(&format!("{text:?}"));
                }
                _ => names.add(&terminal.shown()),
            }
        }
        names.add("$end");
        for nonterminal in &grammar.nonterminals {
            names.add(&nonterminal.shown());
        }
        for &filled in rules.filled() {
            names.add(&format!("{}⁺", grammar.nonterminals[filled as usize].shown()));
        }
        names.add("$accept");
        names
    }

    fn add(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
    }

    /// Returns the name of the symbol in items: literals in quotes.
    pub(super) fn symbol(&self, code: Code) -> &str {
        let at = code as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[at] as usize]
    }

    /// Returns the name of the symbol in example texts: literals without quotes, unless that would
    /// be misread.
    pub(super) fn in_text(&self, code: Code) -> &str {
        let name = self.symbol(code);
        match name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(bare) if !bare.is_empty() && !bare.contains([' ', '\\', '•']) => bare,
            _ => name,
        }
    }

    /// Formats the item: `stmt → "if" expr • "then" stmt`.
    pub(super) fn item(&self, rules: &Rules, item: Item) -> String {
        let production = rules.production(item);
        let mut text = format!("{} →", self.symbol(rules.nonterminal_code(rules.lhs(production))));
        for at in rules.first(production)..=rules.last(production) {
            if at == item {
                text.push_str(" •");
            }
            let symbol = rules.next(at);
            if symbol != COMPLETE {
                text.push(' ');
                text.push_str(self.symbol(symbol));
            }
        }
        text
    }

    /// Formats the production, without a dot.
    pub(super) fn production(&self, rules: &Rules, production: u32) -> String {
        let mut text = format!("{} →", self.symbol(rules.nonterminal_code(rules.lhs(production))));
        for &symbol in rules.rhs(production) {
            text.push(' ');
            text.push_str(self.symbol(symbol));
        }
        text
    }
}

//! Makes terminals of strings, ranges and regexes in rules, with Lark's names.
//!
//! A terminal that is defined as exactly that string or regex is reused; otherwise one is made,
//! named after the text if that gives a name (`"{"` is `LBRACE`, `"if"` is `IF`), or else
//! `__ANON_0` and so on.

use std::collections::{HashMap, HashSet};

use crate::grammar::lower::Context;
use crate::grammar::lower::source::At;
use crate::grammar::lower::terminals::Patterns;
use crate::grammar::lower::tree::{
    Body, Leaf, NamedTerminal, Node, Order, Rule, Sequence, Term, TerminalIndex,
};
use crate::grammar::pattern::Pattern;

/// All terminals: the named ones with their numbers, then those made here.
#[derive(Debug)]
pub(crate) struct TerminalTable<'a> {
    pub(crate) named: &'a [NamedTerminal],
    pub(crate) patterns: Patterns<'a>,
    pub(crate) made: Vec<MadeTerminal>,
    /// Terminals that are a single leaf; the first in the file if there are several.
    leaves: HashMap<Leaf, TerminalIndex>,
    names: HashSet<String>,
    anonymous: usize,
}

/// A terminal without a definition.
#[derive(Debug)]
pub(crate) struct MadeTerminal {
    pub(crate) name: String,
    pub(crate) pattern: Pattern,
    pub(crate) order: Order,
    pub(crate) at: At,
}

impl<'a> TerminalTable<'a> {
    /// Creates the table of the named terminals.
    pub(crate) fn new(named: &'a [NamedTerminal], patterns: Patterns<'a>) -> Self {
        let mut leaves = HashMap::new();
        let mut by_order: Vec<TerminalIndex> = (0..named.len()).collect();
        by_order.sort_by_key(|&terminal| named[terminal].order);
        // A terminal limited to a number of tokens is not reused for the same pattern elsewhere.
        for terminal in by_order.into_iter().filter(|&terminal| named[terminal].budget.is_none()) {
            if let Some(leaf) = patterns.leaf(terminal) {
                leaves.entry(leaf.clone()).or_insert(terminal);
            }
        }
        let names = named.iter().map(|terminal| terminal.name.clone()).collect();
        Self { named, patterns, made: Vec::new(), leaves, names, anonymous: 0 }
    }

    /// Returns the number of terminals.
    pub(crate) fn len(&self) -> usize {
        self.named.len() + self.made.len()
    }

    /// Returns the name of a terminal.
    pub(crate) fn name(&self, terminal: TerminalIndex) -> &str {
        match terminal.checked_sub(self.named.len()) {
            None => &self.named[terminal].name,
            Some(made) => &self.made[made].name,
        }
    }

    /// Returns the terminal that is exactly this leaf, if there is one.
    pub(crate) fn find(&self, leaf: &Leaf) -> Option<TerminalIndex> {
        self.leaves.get(leaf).copied()
    }

    /// Returns the terminal that is exactly this leaf, and makes it if there is none.
    pub(crate) fn of_leaf(
        &mut self,
        context: &Context,
        leaf: &Leaf,
        at: At,
        order: Order,
    ) -> TerminalIndex {
        if let Some(terminal) = self.find(leaf) {
            return terminal;
        }
        let name = match leaf {
            Leaf::Literal { text, .. } => {
                literal_name(text).filter(|name| !self.names.contains(name))
            }
            Leaf::Range(..) | Leaf::Regex { .. } | Leaf::Substring(_) | Leaf::Schema(_) => None,
            Leaf::Tokens(_) => Some(leaf.pattern(|| context.sources.place(at)).to_string())
                .filter(|name| !self.names.contains(name)),
        };
        let name = name.unwrap_or_else(|| self.fresh_name("__ANON"));
        let pattern = leaf.pattern(|| context.sources.place(at));
        let terminal = self.make(MadeTerminal { name, pattern, order, at });
        self.leaves.insert(leaf.clone(), terminal);
        terminal
    }

    /// Adds a terminal that is not a single leaf.
    pub(crate) fn make(&mut self, terminal: MadeTerminal) -> TerminalIndex {
        self.names.insert(terminal.name.clone());
        self.made.push(terminal);
        self.len() - 1
    }

    /// Returns an unused name: `prefix_0`, `prefix_1` and so on.
    pub(crate) fn fresh_name(&mut self, prefix: &str) -> String {
        loop {
            let name = format!("{prefix}_{}", self.anonymous);
            self.anonymous += 1;
            if !self.names.contains(&name) {
                return name;
            }
        }
    }

    /// Replaces leaves with terminals in all rules.
    ///
    /// AFTER THIS: no leaves in rules.
    pub(crate) fn replace_leaves(&mut self, context: &mut Context, rules: &mut [Rule]) {
        for rule in rules {
            self.replace_in_body(context, &mut rule.body, rule.order);
        }
    }

    fn replace_in_body(&mut self, context: &mut Context, body: &mut Body, order: Order) {
        for Sequence { terms, .. } in body {
            for term in terms {
                self.replace_in_node(context, &mut term.node, term.at, order);
            }
        }
    }

    fn replace_in_node(&mut self, context: &mut Context, node: &mut Node, at: At, order: Order) {
        match node {
            Node::Leaf(leaf) => {
                // In the file itself every leaf has its own position; imported ones have that of
                // the import.
                let order = if order.sequence == 0 {
                    Order { offset: at.start(), sequence: 0 }
                } else {
                    order
                };
                *node = Node::Terminal(self.of_leaf(context, leaf, at, order));
            }
            Node::Group(body) => self.replace_in_body(context, body, order),
            Node::Repeat { term, .. } => {
                let at = term.at;
                self.replace_in_node(context, &mut term.node, at, order);
            }
            // Only terminals can be combined this way, so the expression becomes one.
            Node::Intersection(_) | Node::Complement(_) | Node::Shortest(_) => {
                let terms = vec![Term { node: node.clone(), at }];
                let body = vec![Sequence { terms, precedence: None, at }];
                if let Some(pattern) = self.patterns.write_out_body(context, &body, at) {
                    let name = self.fresh_name("__ANON");
                    *node = Node::Terminal(self.make(MadeTerminal { name, pattern, order, at }));
                }
            }
            Node::Rule(_)
            | Node::Terminal(_)
            | Node::Parameter(_)
            | Node::Call { .. }
            | Node::Value(_)
            | Node::If(_) => {}
        }
    }
}

/// Returns Lark's name for a terminal of this text.
fn literal_name(text: &str) -> Option<String> {
    let name = match text {
        "." => "DOT",
        "," => "COMMA",
        ":" => "COLON",
        ";" => "SEMICOLON",
        "+" => "PLUS",
        "-" => "MINUS",
        "*" => "STAR",
        "/" => "SLASH",
        "\\" => "BACKSLASH",
        "|" => "VBAR",
        "?" => "QMARK",
        "!" => "BANG",
        "@" => "AT",
        "#" => "HASH",
        "$" => "DOLLAR",
        "%" => "PERCENT",
        "^" => "CIRCUMFLEX",
        "&" => "AMPERSAND",
        "_" => "UNDERSCORE",
        "<" => "LESSTHAN",
        ">" => "MORETHAN",
        "=" => "EQUAL",
        "\"" => "DBLQUOTE",
        "'" => "QUOTE",
        "`" => "BACKQUOTE",
        "~" => "TILDE",
        "(" => "LPAR",
        ")" => "RPAR",
        "{" => "LBRACE",
        "}" => "RBRACE",
        "[" => "LSQB",
        "]" => "RSQB",
        "\n" => "NEWLINE",
        "\r\n" => "CRLF",
        "\t" => "TAB",
        " " => "SPACE",
        word => {
            let mut characters = word.chars();
            let starts =
                characters.next().is_some_and(|first| first == '_' || first.is_alphabetic());
            let goes_on = characters.all(|next| next == '_' || next.is_alphanumeric());
            return (starts && goes_on).then(|| word.to_uppercase());
        }
    };
    Some(name.to_owned())
}

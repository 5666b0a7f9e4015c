//! Cuts the bodies of rules into terminals and the remainder.
//!
//! The largest regular parts become terminals, except those that [`Cuts`] says must be taken apart.

use hashbrown::HashMap;

use crate::grammar::characters::charset::CharSet;
use crate::grammar::characters::expr::{Expr, ExprId, Exprs};
use crate::grammar::characters::resolve::Rule;
use crate::grammar::lower::source::At;
use crate::grammar::lower::tree::{self, Node, Order, Sequence, Term};

/// Way of taking an expression apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cut {
    /// The first part, and the remainder.
    First,
    /// The last part, and all before it.
    Last,
    /// All parts.
    All,
    /// Down to characters.
    Characters,
}

/// Expressions that must be taken apart.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// Ways of taking regular expressions apart. Once cut, an expression stays cut.
    pub(super) cuts: HashMap<ExprId, Cut>,
    /// Finitely many texts that become terminals of their own wherever an expression, which has all
    /// of them, matches them.
    pub(super) carved: HashMap<ExprId, Vec<ExprId>>,
    /// For an expression that has the same texts as another: that one.
    pub(super) same: HashMap<ExprId, ExprId>,
    /// Classes as unions of others.
    pub(super) divided: HashMap<ExprId, Vec<CharSet>>,
    /// Whether everything is cut down to classes.
    pub(super) is_all: bool,
}

/// A terminal: its expression, and the texts excluded from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lexeme {
    pub(super) expr: ExprId,
    pub(super) without: Vec<ExprId>,
}

/// The rules in terms of terminals.
#[derive(Debug, Default)]
pub(super) struct CutRules {
    pub(super) rules: Vec<tree::Rule>,
    pub(super) terminals: Vec<Lexeme>,
    /// By terminal: the rule where it was first found, for its name.
    pub(super) origins: Vec<usize>,
    /// Whether names are spelled: a repetition of a class of many characters, or free text, was to
    /// be taken apart.
    pub(super) spells: bool,
}

/// Classes of more characters than this can make up names or numbers, not just blanks.
const MANY_CHARACTERS: u32 = 8;

/// Choices of more alternatives than this are split into lists first.
const LONG_LIST: usize = 256;
/// Number of lists into which a choice is split.
const LISTS: usize = 16;

/// Cuts the rules that `start` reaches; it comes first.
///
/// AFTER THIS: a terminal for each part that is not to be taken apart, and rules over them.
pub(super) fn cut(exprs: &mut Exprs, rules: &[Rule], start: usize, cuts: &Cuts) -> CutRules {
    let mut cutter = Cutter {
        exprs,
        cuts,
        numbers: HashMap::from([(start, 0)]),
        reached: vec![start],
        terminals: HashMap::new(),
        parts: CutRules::default(),
        at: rules[start].at,
    };
    while let Some(&rule) = cutter.reached.get(cutter.parts.rules.len()) {
        cutter.at = rules[rule].at;
        let node = cutter.cut(rules[rule].body);
        let body = match node {
            Node::Group(body) => body,
            node => vec![cutter.sequence(vec![node])],
        };
        cutter.parts.rules.push(tree::Rule {
            name: rules[rule].name.to_string(),
            parameters: Vec::new(),
            body,
            priority: None,
            order: Order { offset: rules[rule].at.start(), sequence: 0 },
            at: rules[rule].at,
            own: true,
            class: 0,
            marks: tree::RuleMarks::default(),
            stop: None,
        });
    }
    let origins = cutter.parts.origins.iter().map(|&origin| cutter.reached[origin]).collect();
    CutRules { origins, ..cutter.parts }
}

struct Cutter<'a> {
    exprs: &'a mut Exprs,
    cuts: &'a Cuts,
    /// For each rule that was reached, its position in `reached`.
    numbers: HashMap<usize, usize>,
    reached: Vec<usize>,
    terminals: HashMap<Lexeme, usize>,
    parts: CutRules,
    at: At,
}

impl Cutter<'_> {
    fn sequence(&self, nodes: Vec<Node>) -> Sequence {
        let at = self.at;
        let terms = nodes.into_iter().map(|node| Term { node, at }).collect();
        Sequence { terms, precedence: None, at }
    }

    fn group(&self, ways: Vec<Vec<Node>>) -> Node {
        Node::Group(ways.into_iter().map(|way| self.sequence(way)).collect())
    }

    fn optional(&self, node: Node) -> Node {
        let term = Box::new(Term { node, at: self.at });
        Node::Repeat { term, min: 0, max: Some(1) }
    }

    fn terminal(&mut self, lexeme: Lexeme) -> Node {
        let next = self.terminals.len();
        let number = *self.terminals.entry(lexeme.clone()).or_insert(next);
        if number == next {
            self.parts.terminals.push(lexeme);
            self.parts.origins.push(self.parts.rules.len());
        }
        Node::Terminal(number)
    }

    /// Recurses as deep as `expr` nests.
    fn cut(&mut self, expr: ExprId) -> Node {
        if !self.exprs.is_regular(expr) {
            return self.cut_rule(expr);
        }
        if self.exprs.is_nothing(expr) {
            return self.group(Vec::new());
        }
        if matches!(self.exprs.get(expr), Expr::Concat(parts) if parts.is_empty()) {
            return self.group(vec![Vec::new()]);
        }
        if self.cuts.is_all {
            return self.apart(expr, Cut::Characters);
        }
        if let Some(&cut) = self.cuts.cuts.get(&expr) {
            return self.apart(expr, cut);
        }
        if let Some(sets) = self.cuts.divided.get(&expr) {
            return self.division(sets);
        }
        if let Some(&other) = self.cuts.same.get(&expr) {
            return self.cut(other);
        }
        let carved = self.cuts.carved.get(&expr).cloned().unwrap_or_default();
        let node = self.terminal(Lexeme { expr, without: carved.clone() });
        let node = if carved.is_empty() {
            node
        } else {
            let carved = carved.into_iter().map(|text| vec![self.cut(text)]);
            let ways = std::iter::once(vec![node]).chain(carved).collect();
            self.group(ways)
        };
        if self.exprs.is_nullable(expr) { self.optional(node) } else { node }
    }

    /// Cuts a part that refers to rules or tokens.
    fn cut_rule(&mut self, expr: ExprId) -> Node {
        match self.exprs.get(expr).clone() {
            // Unreachable: these refer to no rule.
            Expr::Class(_) | Expr::Search(_) => self.group(Vec::new()),
            Expr::Token(_) | Expr::Schema(_) => self.terminal(Lexeme { expr, without: Vec::new() }),
            Expr::Rule(rule) => {
                let next = self.reached.len();
                let number = *self.numbers.entry(rule).or_insert(next);
                if number == next {
                    self.reached.push(rule);
                }
                Node::Rule(number)
            }
            Expr::Concat(parts) => {
                let mut nodes = Vec::new();
                for run in runs(self.exprs, &parts) {
                    let run = self.exprs.concat(run);
                    nodes.push(self.cut(run));
                }
                self.group(vec![nodes])
            }
            Expr::Choice(parts) => {
                // The regular alternatives together are one terminal.
                let (regular, others): (Vec<_>, Vec<_>) =
                    parts.into_iter().partition(|&part| self.exprs.is_regular(part));
                let mut ways: Vec<Vec<Node>> =
                    others.into_iter().map(|part| vec![self.cut(part)]).collect();
                if !regular.is_empty() {
                    let regular = self.exprs.choice(regular);
                    ways.push(vec![self.cut(regular)]);
                }
                self.group(ways)
            }
            Expr::Repeat { inner, min: min @ 0..=1, max: None } => self.endless(inner, min),
            Expr::Repeat { inner, min, max } => {
                let term = Box::new(Term { node: self.cut(inner), at: self.at });
                Node::Repeat { term, min, max }
            }
        }
    }

    /// Cuts a repetition of `inner`, which refers to rules or tokens; with `min` 1, at least one.
    ///
    /// If some alternatives are regular, consecutive ones form one terminal: `(A | R)*` is
    /// `R* (A R*)*`. So the text between two interpolations is a lexeme.
    fn endless(&mut self, inner: ExprId, min: u32) -> Node {
        let parts = match self.exprs.get(inner) {
            Expr::Choice(parts) => parts.clone(),
            _ => Vec::new(),
        };
        let (regular, others): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|&part| self.exprs.is_regular(part));
        if regular.is_empty() {
            let term = Box::new(Term { node: self.cut(inner), at: self.at });
            return Node::Repeat { term, min, max: None };
        }
        let regular = self.exprs.choice(regular);
        let run = self.exprs.repeat(regular, 0, None);
        let run = self.cut(run);
        let others = others.into_iter().map(|part| vec![self.cut(part)]).collect();
        let others = self.group(others);
        let behind = self.group(vec![vec![others, run.clone()]]);
        let many = |node: Node, min| Node::Repeat {
            term: Box::new(Term { node, at: self.at }),
            min,
            max: None,
        };
        if min == 0 {
            return self.group(vec![vec![run, many(behind, 0)]]);
        }
        let first = self.exprs.repeat(regular, 1, None);
        let first = self.cut(first);
        let many = |node: Node, min| Node::Repeat {
            term: Box::new(Term { node, at: self.at }),
            min,
            max: None,
        };
        self.group(vec![vec![first, many(behind.clone(), 0)], vec![many(behind, 1)]])
    }

    /// Takes a regular part apart.
    fn apart(&mut self, expr: ExprId, cut: Cut) -> Node {
        match self.exprs.get(expr).clone() {
            Expr::Class(_) => match self.cuts.divided.get(&expr) {
                Some(sets) => self.division(sets),
                None => self.terminal(Lexeme { expr, without: Vec::new() }),
            },
            Expr::Search(_) => {
                // It has no parts.
                self.parts.spells = true;
                self.terminal(Lexeme { expr, without: Vec::new() })
            }
            // Unreachable: a regular part refers to none of these.
            Expr::Rule(_) | Expr::Token(_) | Expr::Schema(_) => self.group(Vec::new()),
            Expr::Concat(parts) => {
                let pieces = self.pieces(&parts, cut);
                let nodes = pieces.into_iter().map(|part| self.part(part, cut)).collect();
                self.group(vec![nodes])
            }
            Expr::Choice(parts) => {
                let pieces = self.alternatives(parts, cut);
                let ways = pieces.into_iter().map(|part| vec![self.part(part, cut)]).collect();
                self.group(ways)
            }
            Expr::Repeat { inner, min, max } => {
                self.parts.spells |= max.is_none() && self.has_many(inner);
                let term = Box::new(Term { node: self.part(inner, cut), at: self.at });
                Node::Repeat { term, min, max }
            }
        }
    }

    /// Whether it is a class of many characters, or one of its alternatives is.
    fn has_many(&self, expr: ExprId) -> bool {
        match self.exprs.get(expr) {
            Expr::Class(set) => {
                set.ranges().iter().map(|(a, b)| b - a + 1).sum::<u32>() > MANY_CHARACTERS
            }
            Expr::Choice(parts) => parts.iter().any(|&part| self.has_many(part)),
            _ => false,
        }
    }

    /// Cuts a part of an expression that is taken apart.
    fn part(&mut self, expr: ExprId, cut: Cut) -> Node {
        match cut {
            Cut::Characters => self.apart(expr, cut),
            Cut::First | Cut::Last | Cut::All => self.cut(expr),
        }
    }

    /// Splits a choice. A long list becomes shorter lists: a terminal for each alternative would
    /// make as many contexts, each as large as the list.
    fn alternatives(&mut self, parts: Vec<ExprId>, cut: Cut) -> Vec<ExprId> {
        if cut == Cut::Characters || parts.len() <= LONG_LIST {
            return parts;
        }
        let lists = parts.chunks(parts.len().div_ceil(LISTS));
        lists.map(|list| self.exprs.choice(list.to_vec())).collect()
    }

    /// Splits a concatenation. A string is split into all its characters.
    fn pieces(&mut self, parts: &[ExprId], cut: Cut) -> Vec<ExprId> {
        let is_character = |&part: &ExprId| matches!(self.exprs.get(part), Expr::Class(set) if set.single().is_some());
        let at = match cut {
            Cut::First => 1,
            Cut::Last => parts.len() - 1,
            Cut::All | Cut::Characters => 0,
        };
        if at == 0 || parts.iter().all(is_character) {
            return parts.to_vec();
        }
        let (before, behind) = parts.split_at(at);
        vec![self.exprs.concat(before.to_vec()), self.exprs.concat(behind.to_vec())]
    }

    /// Cuts a divided class.
    fn division(&mut self, sets: &[CharSet]) -> Node {
        let mut ways = Vec::new();
        for set in sets.iter().filter(|set| !set.ranges().is_empty()) {
            let expr = self.exprs.class(set.clone());
            // A part may be divided further.
            let node = match self.cuts.divided.get(&expr) {
                Some(sets) => self.division(sets),
                None => self.terminal(Lexeme { expr, without: Vec::new() }),
            };
            ways.push(vec![node]);
        }
        self.group(ways)
    }
}

/// Splits `parts` into runs: adjacent regular parts are together.
fn runs(exprs: &Exprs, parts: &[ExprId]) -> Vec<Vec<ExprId>> {
    let together = parts.chunk_by(|&one, &other| exprs.is_regular(one) && exprs.is_regular(other));
    together.map(<[ExprId]>::to_vec).collect()
}

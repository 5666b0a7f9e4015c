//! Expands groups, options and repetitions into productions.
//!
//! As in Lark, an option is expanded into alternatives with and without it (`a: b? c` is
//! `b c | c`), and groups are multiplied out, because an empty production asks the parser for a
//! decision before it has seen anything. If that would produce too much, the sequence is cut and
//! its right part becomes a nonterminal of its own: still no decision is needed earlier, and the
//! size is linear. Repetition is left recursive. Counted repetition is in [`super::counted`].

use std::collections::{HashMap, HashSet};

use crate::grammar::ir::Symbol;
use crate::grammar::lower::Context;
use crate::grammar::lower::source::At;
use crate::grammar::lower::tree::{Body, Node, Rule, Sequence, Term, WordKey};
use crate::util::diagnostic::Diagnostic;
use crate::util::id::{NonterminalId, TerminalId};

/// Maximum number of symbols in all productions together, including their left sides.
const MAX_SYMBOLS: usize = 1_000_000;
/// Upper bound on the product of a sequence that stays whole. Lark has no such limit: after a part
/// that is replaced by a nonterminal the parser may face a choice that it does not face in Lark.
const WHOLE: Extent = Extent { alternatives: 256, symbols: 8_192 };
/// Upper bound on the product of each part of a sequence that is cut.
const PART: Extent = Extent { alternatives: 64, symbols: 4_096 };
/// A group with more alternatives becomes a nonterminal of its own before its sequence is cut.
const LARGE_GROUP: usize = 8;

/// The right side of a production.
pub(crate) type RightSide = Vec<Symbol>;

/// Productions and their nonterminals.
#[derive(Debug, Default)]
pub(crate) struct Productions {
    pub(crate) nonterminals: Vec<NewNonterminal>,
    pub(crate) productions: Vec<NewProduction>,
}

/// A nonterminal: a rule, or a helper made here.
#[derive(Debug)]
pub(crate) struct NewNonterminal {
    pub(crate) name: String,
    pub(crate) at: At,
}

/// A production whose precedence is not looked up yet.
#[derive(Debug)]
pub(crate) struct NewProduction {
    pub(crate) lhs: NonterminalId,
    pub(crate) rhs: RightSide,
    pub(crate) precedence: Option<WordKey>,
    /// Priority of the rule; 0 in helpers, as in Lark.
    pub(crate) priority: i32,
    pub(crate) at: At,
}

/// Alternatives free of repetition, with the empty one kept separately.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alternatives {
    pub(crate) some: Vec<RightSide>,
    pub(crate) empty: bool,
}

/// Purpose of a helper; part of its name and of its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum HelperKind {
    /// One of the alternatives.
    Group,
    /// One or more of them.
    Plus,
    /// Twice the symbol of half the power.
    Power,
    /// At least, or at most, this many.
    Count(u32),
}

/// A symbol is made, compared with similar ones, and copied into the grammar and its trimmed form.
const STEPS_OF_A_SYMBOL: usize = 20;
const BYTES_OF_A_SYMBOL: usize = 60;

/// Expands all rules.
///
/// AFTER THIS: plain productions; equal ones of one nonterminal merged; `nonterminals[i]` is rule
/// `i`, templates excluded, followed by the helpers; templates have no productions.
pub(crate) fn expand(context: &mut Context, rules: &[Rule]) -> Productions {
    let mut expander = Expander {
        output: Productions::default(),
        helpers: HashMap::new(),
        plus: HashMap::new(),
        names: rules.iter().map(|rule| rule.name.clone()).collect(),
        symbols: 0,
        rules: rules.len(),
        rule: String::new(),
        at: None,
        precedence: None,
        priority: 0,
    };
    for rule in rules {
        expander.output.nonterminals.push(NewNonterminal { name: rule.name.clone(), at: rule.at });
    }
    for (i, rule) in rules.iter().enumerate() {
        expander.rule =
            rule.name.trim_start_matches('_').split('{').next().unwrap_or_default().to_owned();
        expander.priority = rule.priority.map_or(0, |(priority, _)| priority);
        let before = expander.symbols;
        expander.rule(NonterminalId::new(i), &rule.body);
        let made = expander.symbols - before;
        if !context.count(STEPS_OF_A_SYMBOL * (1 + made), BYTES_OF_A_SYMBOL * (1 + made)) {
            break;
        }
        if expander.symbols > MAX_SYMBOLS {
            let place = context.sources.place(expander.at.unwrap_or(rule.at));
            let message = format!(
                "the rules expand to more than {MAX_SYMBOLS} symbols; `{}` exceeds the limit",
                rule.name
            );
            context.report(
                Diagnostic::error("grammar-too-large", message)
                    .at(place)
                    .help("define a rule for each group or option that is used in many places"),
            );
            break;
        }
    }
    expander.output
}

pub(crate) struct Expander {
    output: Productions,
    helpers: HashMap<(HelperKind, Vec<RightSide>, Option<WordKey>), Symbol>,
    /// Alternatives that each helper of kind [`HelperKind::Plus`] repeats.
    plus: HashMap<Symbol, Vec<RightSide>>,
    names: HashSet<String>,
    symbols: usize,
    /// Number of nonterminals that are rules; later ones are helpers.
    rules: usize,
    /// The rule that is being expanded; helpers are named after it.
    rule: String,
    /// The alternative that is being expanded.
    at: Option<At>,
    precedence: Option<WordKey>,
    priority: i32,
}

impl Expander {
    fn rule(&mut self, lhs: NonterminalId, body: &Body) {
        // Equal alternatives with different precedence are different productions: precedence may
        // keep one and drop the other.
        let mut seen = HashSet::new();
        for sequence in body {
            if self.symbols > MAX_SYMBOLS {
                return;
            }
            self.at = Some(sequence.at);
            self.precedence = sequence.precedence.clone();
            let Alternatives { some, empty } = self.sequence(&sequence.terms);
            for rhs in some.into_iter().chain(empty.then(Vec::new)) {
                if seen.insert((rhs.clone(), self.precedence.clone())) {
                    self.produce(lhs, rhs);
                }
            }
        }
    }

    fn produce(&mut self, lhs: NonterminalId, rhs: RightSide) {
        self.symbols += rhs.len() + 1;
        let precedence = self.precedence.clone();
        // `at` is set before any alternative is expanded.
        let at = self.at.unwrap_or(self.output.nonterminals[lhs.index()].at);
        let priority = if lhs.index() < self.rules { self.priority } else { 0 };
        self.output.productions.push(NewProduction { lhs, rhs, precedence, priority, at });
    }

    /// Expands the alternatives of a group.
    fn body(&mut self, body: &Body) -> Alternatives {
        let mut all = Alternatives::default();
        let mut seen = HashSet::new();
        for Sequence { terms, .. } in body {
            if self.symbols > MAX_SYMBOLS {
                break;
            }
            let Alternatives { some, empty } = self.sequence(terms);
            all.empty |= empty;
            if body.len() == 1 {
                all.some = some;
            } else {
                all.some.extend(some.into_iter().filter(|rhs| seen.insert(rhs.clone())));
            }
        }
        all
    }

    fn term(&mut self, term: &Term) -> Alternatives {
        match &term.node {
            Node::Rule(rule) => one(Symbol::Nonterminal(NonterminalId::new(*rule))),
            Node::Terminal(terminal) => one(Symbol::Terminal(TerminalId::new(*terminal))),
            Node::Group(body) => self.body(body),
            Node::Repeat { term, min, max } => {
                let base = self.term(term);
                self.repeat(base, *min, *max)
            }
            // Removed by earlier passes.
            Node::Leaf(_)
            | Node::Parameter(_)
            | Node::Call { .. }
            | Node::Value(_)
            | Node::If(_)
            | Node::Intersection(_)
            | Node::Complement(_)
            | Node::Shortest(_) => Alternatives::default(),
        }
    }

    fn repeat(&mut self, base: Alternatives, min: u32, max: Option<u32>) -> Alternatives {
        let min = if base.empty { 0 } else { min };
        if base.some.is_empty() || max == Some(0) {
            return Alternatives { some: Vec::new(), empty: base.empty || min == 0 };
        }
        if max == Some(1) {
            return Alternatives { some: base.some, empty: min == 0 };
        }
        // A repetition of one-or-more is one-or-more: nested as written it would be ambiguous.
        if let [rhs] = &base.some[..]
            && let [symbol] = &rhs[..]
            && let Some(inner) = self.plus.get(symbol)
        {
            let inner = Alternatives { some: inner.clone(), empty: false };
            return self.repeat(inner, min, None);
        }
        let empty = min == 0;
        let some = match max {
            None if min <= 1 => vec![vec![self.plus(base.some)]],
            None => self.at_least(base.some, min),
            Some(max) => self.between(base.some, min, max),
        };
        Alternatives { some, empty }
    }

    /// Returns a symbol for one or more: `plus: a | plus a`.
    fn plus(&mut self, base: Vec<RightSide>) -> Symbol {
        let mut flat = Vec::with_capacity(base.len());
        for rhs in base {
            match (&rhs[..], rhs.first().and_then(|symbol| self.plus.get(symbol))) {
                ([_], Some(inner)) => flat.extend(inner.iter().cloned()),
                _ => flat.push(rhs),
            }
        }
        let mut seen = HashSet::new();
        flat.retain(|rhs| seen.insert(rhs.clone()));
        let base = flat.clone();
        let plus = self.helper(HelperKind::Plus, flat, |symbol, base| {
            let again = base.iter().map(|rhs| [&[symbol], &rhs[..]].concat()).collect::<Vec<_>>();
            base.iter().cloned().chain(again).collect()
        });
        self.plus.entry(plus).or_insert(base);
        plus
    }

    /// Returns a single symbol that derives `alternatives`.
    pub(crate) fn symbol(&mut self, alternatives: Vec<RightSide>) -> Symbol {
        match &alternatives[..] {
            [rhs] if rhs.len() == 1 => rhs[0],
            _ => self
                .helper(HelperKind::Group, alternatives, |_, alternatives| alternatives.to_vec()),
        }
    }

    /// Returns the helper of this kind for `key`; its productions are `make(itself, key)`.
    pub(crate) fn helper(
        &mut self,
        kind: HelperKind,
        key: Vec<RightSide>,
        make: impl FnOnce(Symbol, &[RightSide]) -> Vec<RightSide>,
    ) -> Symbol {
        let key = (kind, key, self.precedence.clone());
        if let Some(&symbol) = self.helpers.get(&key) {
            return symbol;
        }
        let id = NonterminalId::new(self.output.nonterminals.len());
        let symbol = Symbol::Nonterminal(id);
        let kind_name = match kind {
            HelperKind::Group => "group",
            HelperKind::Plus => "plus",
            HelperKind::Power => "power",
            HelperKind::Count(_) => "count",
        };
        let mut name = format!("__{}_{kind_name}_{}", self.rule, self.helpers.len());
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        // `at` is set before any alternative is expanded, and a helper is created within one.
        let at = self.at.unwrap_or(self.output.nonterminals[0].at);
        self.output.nonterminals.push(NewNonterminal { name, at });
        for rhs in make(symbol, &key.1) {
            self.produce(id, rhs);
        }
        self.helpers.insert(key, symbol);
        symbol
    }

    /// Expands a sequence: multiplied out, or split into helpers if the product is too large.
    fn sequence(&mut self, terms: &[Term]) -> Alternatives {
        let mut parts: Vec<Alternatives> = terms.iter().map(|term| self.term(term)).collect();
        if parts.len() == 1 {
            return parts.remove(0);
        }
        if parts.iter().any(|part| part.some.is_empty() && !part.empty) {
            return Alternatives::default();
        }
        parts.retain(|part| !part.some.is_empty());
        if Extent::of(&parts).fits(WHOLE) {
            return multiply(&parts);
        }
        for part in parts.iter_mut().filter(|part| part.some.len() > LARGE_GROUP) {
            part.some = vec![vec![self.symbol(std::mem::take(&mut part.some))]];
        }
        // From the right: collect parts while their product is small, then make them a helper.
        let mut extent = Extent::default();
        let mut chunk: Vec<Alternatives> = Vec::new();
        for part in parts.into_iter().rev() {
            let with_part = extent.with(&part);
            if with_part.fits(PART) || chunk.is_empty() {
                extent = with_part;
            } else {
                chunk.reverse();
                let Alternatives { some, empty } = multiply(&chunk);
                let rest = Alternatives { some: vec![vec![self.symbol(some)]], empty };
                extent = Extent::default().with(&rest).with(&part);
                chunk = vec![rest];
            }
            chunk.push(part);
        }
        chunk.reverse();
        multiply(&chunk)
    }
}

/// Size of a product.
#[derive(Clone, Copy, Debug)]
struct Extent {
    alternatives: usize,
    /// In all alternatives together.
    symbols: usize,
}

impl Default for Extent {
    fn default() -> Self {
        Self { alternatives: 1, symbols: 0 }
    }
}

impl Extent {
    fn of(parts: &[Alternatives]) -> Self {
        parts.iter().fold(Self::default(), Extent::with)
    }

    fn with(self, part: &Alternatives) -> Self {
        let alternatives = part.some.len() + usize::from(part.empty);
        let symbols: usize = part.some.iter().map(Vec::len).sum();
        Self {
            alternatives: self.alternatives.saturating_mul(alternatives),
            symbols: self
                .symbols
                .saturating_mul(alternatives)
                .saturating_add(self.alternatives.saturating_mul(symbols)),
        }
    }

    fn fits(self, most: Self) -> bool {
        self.alternatives == 1
            || self.alternatives <= most.alternatives && self.symbols <= most.symbols
    }
}

/// Returns all combinations of one alternative from each part.
fn multiply(parts: &[Alternatives]) -> Alternatives {
    let mut product: Vec<RightSide> = vec![Vec::new()];
    for part in parts {
        if let ([rhs], false) = (&part.some[..], part.empty) {
            product.iter_mut().for_each(|chosen| chosen.extend(rhs));
            continue;
        }
        let mut next = Vec::with_capacity(product.len() * (part.some.len() + 1));
        for chosen in product {
            next.extend(part.some.iter().map(|rhs| [&chosen[..], rhs].concat()));
            if part.empty {
                next.push(chosen);
            }
        }
        product = next;
    }
    let mut seen = HashSet::new();
    product.retain(|rhs| seen.insert(rhs.clone()));
    let empty = product.iter().any(Vec::is_empty);
    product.retain(|rhs| !rhs.is_empty());
    Alternatives { some: product, empty }
}

fn one(symbol: Symbol) -> Alternatives {
    Alternatives { some: vec![vec![symbol]], empty: false }
}

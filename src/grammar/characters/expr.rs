//! Expressions over characters and rules, interned: equal expressions have equal numbers.

use hashbrown::{HashMap, HashSet};

use crate::grammar::characters::charset::CharSet;
use crate::grammar::first_found::{Search, Texts};
use crate::grammar::pattern::Pattern;
use crate::grammar::tokens::Tokens;

/// Number of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExprId(u32);

impl ExprId {
    /// Returns the number as an index.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    /// One character of a set; the empty set is no text at all.
    Class(CharSet),
    /// Free text up to the first of several texts, or without any of them. The characters of these
    /// are classes of their own.
    Search(Search),
    /// The texts of a rule.
    Rule(usize),
    /// One of these tokens of the vocabulary. It is not a character, and occurs in no pattern.
    Token(Tokens),
    /// A value of a JSON schema, which is not part of any pattern.
    Schema(String),
    /// A concatenation of two or more, grouped as the author wrote them; or of none, which is the
    /// empty text.
    Concat(Vec<ExprId>),
    /// A choice of two or more, none of which is a choice.
    Choice(Vec<ExprId>),
    /// At least `min` and at most `max` times.
    Repeat { inner: ExprId, min: u32, max: Option<u32> },
}

/// Properties of an expression.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    /// Number of characters and signs when written out, with counts multiplied out.
    size: u64,
    depth: u32,
    /// Whether it contains a rule, a token or a schema.
    names: bool,
    /// Whether it matches the empty text; `false` if that depends on rules.
    nullable: bool,
    /// Whether something in it may be repeated without bound.
    endless: bool,
}

/// Maximum nesting depth of expressions, with rules written out in them. Later layers walk patterns
/// recursively.
pub(crate) const MAX_DEPTH: u32 = 150;

/// Maximum number of consecutive nullable parts that are written out to exclude the empty text.
const MAX_ROW: usize = 8;

/// All expressions.
#[derive(Debug, Default)]
pub(crate) struct Exprs {
    exprs: Vec<Expr>,
    facts: Vec<Facts>,
    ids: HashMap<Expr, ExprId>,
    /// The texts that some expression searches for. Each of their characters is a class.
    searched: HashSet<Texts>,
    /// Total number of parts of all expressions.
    parts: usize,
}

impl Exprs {
    /// Returns the expression.
    pub(crate) fn get(&self, id: ExprId) -> &Expr {
        &self.exprs[id.index()]
    }

    /// Returns all expressions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Expr> {
        self.exprs.iter()
    }

    /// Returns the total number of parts, which determines the memory used.
    pub(crate) fn parts(&self) -> usize {
        self.parts
    }

    /// Returns the size when written out.
    pub(crate) fn size(&self, id: ExprId) -> u64 {
        self.facts[id.index()].size
    }

    /// Returns the nesting depth.
    pub(crate) fn depth(&self, id: ExprId) -> u32 {
        self.facts[id.index()].depth
    }

    /// Whether it contains no rules, tokens or schemas: its texts are a regular language of
    /// characters.
    pub(crate) fn is_regular(&self, id: ExprId) -> bool {
        !self.facts[id.index()].names
    }

    /// Whether it [is regular](Exprs::is_regular) and matches the empty text.
    pub(crate) fn is_nullable(&self, id: ExprId) -> bool {
        self.facts[id.index()].nullable
    }

    /// Whether it [is regular](Exprs::is_regular) and nothing in it is repeated without bound: it
    /// has finitely many texts.
    pub(crate) fn is_finite(&self, id: ExprId) -> bool {
        let facts = self.facts[id.index()];
        !facts.names && !facts.endless
    }

    fn intern(&mut self, expr: Expr) -> ExprId {
        if let Some(&id) = self.ids.get(&expr) {
            return id;
        }
        let facts = self.measure(&expr);
        self.parts += match &expr {
            Expr::Class(set) => 1 + set.ranges().len(),
            Expr::Concat(parts) | Expr::Choice(parts) => 1 + parts.len(),
            Expr::Search(search) => 1 + search.texts.len(),
            Expr::Rule(_) | Expr::Token(_) | Expr::Schema(_) | Expr::Repeat { .. } => 1,
        };
        let id = ExprId(self.exprs.len() as u32);
        self.exprs.push(expr.clone());
        self.facts.push(facts);
        self.ids.insert(expr, id);
        id
    }

    fn measure(&self, expr: &Expr) -> Facts {
        let of = |id: &ExprId| self.facts[id.index()];
        let both = |parts: &[ExprId]| Facts {
            size: parts.iter().fold(1, |size, part| size.saturating_add(of(part).size)),
            depth: 1 + parts.iter().map(|part| of(part).depth).max().unwrap_or(0),
            names: parts.iter().any(|part| of(part).names),
            nullable: false,
            endless: parts.iter().any(|part| of(part).endless),
        };
        match expr {
            Expr::Class(_) => Facts { size: 1, depth: 1, ..Facts::default() },
            Expr::Search(search) => {
                let size = search.texts.iter().map(|text| text.len() as u64).sum::<u64>() + 1;
                Facts { size, depth: 1, endless: true, ..Facts::default() }
            }
            Expr::Rule(_) | Expr::Token(_) | Expr::Schema(_) => {
                Facts { size: 1, depth: 1, names: true, ..Facts::default() }
            }
            Expr::Concat(parts) => {
                Facts { nullable: parts.iter().all(|part| of(part).nullable), ..both(parts) }
            }
            Expr::Choice(parts) => {
                let facts = both(parts);
                let nullable = !facts.names && parts.iter().any(|part| of(part).nullable);
                Facts { nullable, ..facts }
            }
            Expr::Repeat { inner, min, max } => {
                let inner = of(inner);
                let times = u64::from(max.unwrap_or(*min).max(1));
                Facts {
                    size: inner.size.saturating_mul(times).saturating_add(1),
                    depth: inner.depth + 1,
                    names: inner.names,
                    nullable: !inner.names && (*min == 0 || inner.nullable),
                    endless: max.is_none() || inner.endless,
                }
            }
        }
    }

    /// Returns the expression for one character of `set`.
    pub(crate) fn class(&mut self, set: CharSet) -> ExprId {
        self.intern(Expr::Class(set))
    }

    /// Returns the expression for this text.
    pub(crate) fn literal(&mut self, text: &str) -> ExprId {
        let characters = text.chars().map(|character| self.class(CharSet::of(character))).collect();
        self.concat(characters)
    }

    /// Returns whether some expression searches for these texts.
    pub(crate) fn searches_for(&self, texts: &Texts) -> bool {
        self.searched.contains(texts)
    }

    /// Returns the expression for free text in which something is searched.
    pub(crate) fn search(&mut self, search: Search) -> ExprId {
        if self.searched.insert(search.texts.clone()) {
            for character in search.texts.iter().flat_map(|text| text.chars()) {
                self.class(CharSet::of(character));
            }
        }
        self.intern(Expr::Search(search))
    }

    /// Returns the expression for a rule.
    pub(crate) fn rule(&mut self, rule: usize) -> ExprId {
        self.intern(Expr::Rule(rule))
    }

    /// Returns the expression for one of these tokens.
    pub(crate) fn token(&mut self, tokens: Tokens) -> ExprId {
        self.intern(Expr::Token(tokens))
    }

    /// Returns the expression for a value of a JSON schema.
    pub(crate) fn schema(&mut self, schema: String) -> ExprId {
        self.intern(Expr::Schema(schema))
    }

    /// Returns whether a JSON schema is among the expressions.
    pub(crate) fn has_schemas(&self) -> bool {
        self.iter().any(|expr| matches!(expr, Expr::Schema(_)))
    }

    /// Returns the expression for the empty text.
    pub(crate) fn empty(&mut self) -> ExprId {
        self.intern(Expr::Concat(Vec::new()))
    }

    /// Returns the expression that matches nothing.
    pub(crate) fn nothing(&mut self) -> ExprId {
        self.class(CharSet::default())
    }

    /// Whether its form shows that it matches nothing.
    pub(crate) fn is_nothing(&self, id: ExprId) -> bool {
        matches!(self.get(id), Expr::Class(set) if set.ranges().is_empty())
    }

    /// Returns the concatenation.
    pub(crate) fn concat(&mut self, parts: Vec<ExprId>) -> ExprId {
        if parts.iter().any(|&part| self.is_nothing(part)) {
            return self.nothing();
        }
        let is_empty =
            |part: ExprId| matches!(self.get(part), Expr::Concat(parts) if parts.is_empty());
        let filled: Vec<ExprId> = parts.into_iter().filter(|&part| !is_empty(part)).collect();
        let mut joined: Vec<ExprId> = Vec::with_capacity(filled.len());
        for part in filled {
            let both = joined.last().and_then(|&last| self.repeated_in_turn(last, part));
            match (both, joined.last_mut()) {
                (Some(both), Some(last)) => *last = both,
                _ => joined.push(part),
            }
        }
        match joined[..] {
            [only] => only,
            _ => self.intern(Expr::Concat(joined)),
        }
    }

    /// Returns two repetitions of the same expression as one: `x? x*` is `x*`.
    fn repeated_in_turn(&mut self, one: ExprId, other: ExprId) -> Option<ExprId> {
        let &Expr::Repeat { inner, min, max } = self.get(one) else { return None };
        let &Expr::Repeat { inner: also, min: more, max: most } = self.get(other) else {
            return None;
        };
        let min = min.checked_add(more).filter(|_| inner == also)?;
        let max = match (max, most) {
            (Some(max), Some(most)) => Some(max.checked_add(most)?),
            _ => None,
        };
        Some(self.repeat(inner, min, max))
    }

    /// Returns the choice.
    pub(crate) fn choice(&mut self, parts: Vec<ExprId>) -> ExprId {
        let mut flat: Vec<ExprId> = Vec::with_capacity(parts.len());
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut seen = HashSet::new();
        let mut classes = 0;
        let mut first_class = None;
        for part in parts {
            let inner = match self.get(part) {
                Expr::Choice(inner) => inner.clone(),
                _ => vec![part],
            };
            for part in inner {
                if let Expr::Class(set) = self.get(part) {
                    // The classes of a choice are merged into one.
                    ranges.extend_from_slice(set.ranges());
                    classes += 1;
                    if first_class.is_none() {
                        first_class = Some(flat.len());
                        flat.push(part);
                    }
                } else if seen.insert(part) {
                    flat.push(part);
                }
            }
        }
        if let Some(at) = first_class.filter(|_| classes > 1) {
            flat[at] = self.class(CharSet::new(&ranges));
        }
        if flat.len() > 1 {
            flat.retain(|&part| !self.is_nothing(part));
        }
        match flat[..] {
            [] => self.nothing(),
            [only] => only,
            _ => self.intern(Expr::Choice(flat)),
        }
    }

    /// Returns the repetition, at least `min` and at most `max` times.
    pub(crate) fn repeat(&mut self, inner: ExprId, min: u32, max: Option<u32>) -> ExprId {
        let is_empty = matches!(self.get(inner), Expr::Concat(parts) if parts.is_empty());
        if max == Some(0) || is_empty || self.is_nothing(inner) && min == 0 {
            return self.empty();
        }
        if self.is_nothing(inner) || (min, max) == (1, Some(1)) {
            return inner;
        }
        if let &Expr::Repeat { inner: repeated, min: 0 | 1, max: None } = self.get(inner) {
            // Nested unbounded repetitions are one.
            let least = if self.is_nullable_repeat(inner) { 0 } else { min.min(1) };
            if least == 0 || min <= 1 {
                return self.intern(Expr::Repeat { inner: repeated, min: least, max: None });
            }
        }
        self.intern(Expr::Repeat { inner, min, max })
    }

    fn is_nullable_repeat(&self, id: ExprId) -> bool {
        matches!(self.get(id), Expr::Repeat { min: 0, .. })
    }

    /// Returns the pattern of tokens, of a schema, or of an [`Exprs::is_regular`] expression that
    /// is not [`Exprs::is_nothing`].
    pub(crate) fn pattern(&self, id: ExprId) -> Pattern {
        match self.get(id) {
            Expr::Class(set) => match set.single() {
                Some(character) => Pattern::Literal { text: character.into(), ignore_case: false },
                None => Pattern::Alternation(
                    set.chars().map(|(first, last)| Pattern::Range(first, last)).collect(),
                ),
            },
            Expr::Search(search) => Pattern::Automaton(search.automaton()),
            Expr::Token(tokens) => Pattern::Tokens(tokens.clone()),
            Expr::Schema(schema) => Pattern::Schema(schema.clone()),
            // Unreachable: an expression with rules has no pattern.
            Expr::Rule(_) => Pattern::Alternation(Vec::new()),
            Expr::Concat(parts) => self.concat_pattern(parts),
            Expr::Choice(parts) => {
                Pattern::Alternation(parts.iter().map(|&part| self.pattern(part)).collect())
            }
            Expr::Repeat { inner, min, max } => {
                Pattern::Repeat { pattern: Box::new(self.pattern(*inner)), min: *min, max: *max }
            }
        }
    }

    /// Merges consecutive characters into one string.
    fn concat_pattern(&self, parts: &[ExprId]) -> Pattern {
        let mut patterns: Vec<Pattern> = Vec::new();
        for &part in parts {
            match (self.pattern(part), patterns.last_mut()) {
                (Pattern::Literal { text, .. }, Some(Pattern::Literal { text: before, .. })) => {
                    before.push_str(&text);
                }
                (pattern, _) => patterns.push(pattern),
            }
        }
        match (patterns.len(), patterns.pop()) {
            (1, Some(only)) => only,
            (_, last) => Pattern::Concat(patterns.into_iter().chain(last).collect()),
        }
    }

    /// Returns the texts of `id`, which is [`Exprs::is_regular`], without the empty one, or `None`
    /// if too many consecutive parts are nullable: written out, this grows with the square of their
    /// number.
    pub(crate) fn without_empty(&mut self, id: ExprId) -> Option<ExprId> {
        if !self.is_nullable(id) {
            return Some(id);
        }
        Some(match self.get(id).clone() {
            Expr::Class(_) | Expr::Search(_) | Expr::Rule(_) | Expr::Token(_) | Expr::Schema(_) => {
                id
            }
            Expr::Concat(parts) if parts.len() > MAX_ROW => return None,
            Expr::Concat(parts) => {
                // One alternative for each part that may be the first non-empty one.
                let mut ways = Vec::new();
                for (at, &part) in parts.iter().enumerate() {
                    let first = self.without_empty(part)?;
                    let way =
                        std::iter::once(first).chain(parts[at + 1..].iter().copied()).collect();
                    ways.push(self.concat(way));
                }
                self.choice(ways)
            }
            Expr::Choice(parts) => {
                let parts = parts.into_iter().map(|part| self.without_empty(part));
                let parts = parts.collect::<Option<Vec<_>>>()?;
                self.choice(parts)
            }
            Expr::Repeat { inner, max, .. } => {
                // If one repetition may be empty, `min` is no bound.
                let first = self.without_empty(inner)?;
                let rest = self.repeat(first, 0, max.map(|max| max - 1));
                self.concat(vec![first, rest])
            }
        })
    }
}

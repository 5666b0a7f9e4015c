//! The syntax tree of a `::=` grammar, as written: names unresolved, a span on everything.

use crate::syntax::ast::Spanned;

/// A grammar file.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) rules: Vec<Rule>,
}

/// `name ::= alternatives`.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) name: Spanned<String>,
    pub(crate) body: Body,
}

/// Alternatives, one at least.
pub(crate) type Body = Vec<Sequence>;

/// One after the other; the empty sequence is the empty text.
pub(crate) type Sequence = Vec<Expr>;

/// An expression with its span.
pub(crate) type Expr = Spanned<ExprKind>;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExprKind {
    /// A rule's name.
    Rule(String),
    /// A string with escapes undone; it may be empty.
    Literal(String),
    /// `[a-z]`, `[^a-z]`, `.`.
    Class(Class),
    /// `<[1000]>`, `<think>`, `!<think>`.
    Token(TokenReference),
    /// `( ... )`.
    Group(Body),
    /// `e?` is 0..1, `e*` 0.., `e+` 1.., `e{3}` 3..3, `e{3,5}` 3..5.
    Repeat { expr: Box<Expr>, min: u32, max: Option<u32> },
    /// `(= ... )`: says of what follows that it begins so.
    Assertion(Body),
}

/// A set of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) negated: bool,
    /// Code points, both ends included; they may overlap, and hold surrogates, which no text has.
    /// One whose ends are reversed holds none.
    pub(crate) ranges: Vec<(u32, u32)>,
}

/// A token of the vocabulary, or all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenReference {
    pub(crate) negated: bool,
    pub(crate) token: TokenName,
}

/// How a token is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenName {
    /// `<[1000]>`.
    Id(u32),
    /// `<think>`: what stands between the angle brackets.
    Text(String),
}

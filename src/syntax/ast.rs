//! The syntax tree of a grammar file, as written: names unresolved, syntactic sugar kept, a span on
//! every node.
//!
//! The notation is Lark's. The Yacc front end produces the same tree, with names in the case of its
//! file.

use std::ops::Range;

use crate::syntax::parameter::{Condition, Value};

/// Byte offsets into the file.
pub(crate) type Span = Range<usize>;

/// A value with its position in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spanned<T> {
    pub(crate) node: T,
    pub(crate) span: Span,
}

/// A grammar file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) items: Vec<Statement>,
}

/// One statement of a grammar file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    Rule(Rule),
    Terminal(TerminalDefinition),
    Import(Import),
    /// `%ignore EXPANSIONS`: a terminal's name, a string, a regex, or an expression over them.
    Ignore(Spanned<Expansions>),
    /// `%declare A B`.
    Declare(Vec<Spanned<String>>),
    Directive(Spanned<Directive>),
}

/// How a definition relates to an imported one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Define,
    /// `%override`: replaces the imported one.
    Override,
    /// `%extend`: adds its alternatives to the imported one's.
    Extend,
}

/// `name{a, b}: alternatives`, names in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) mode: Mode,
    /// The name without the modifiers, including a leading `_`.
    pub(crate) name: Spanned<String>,
    /// `?` or `!` before the name; they only shape trees and do not change the language.
    pub(crate) modifiers: String,
    /// Template parameters; [`PARAMETER`] alone is the parameter of a parametric rule.
    pub(crate) parameters: Vec<Spanned<String>>,
    /// `.2`: decides which of two rules is reduced in a conflict between them.
    pub(crate) priority: Option<Spanned<i32>>,
    /// `[capture, lazy]` after the name: llguidance's attributes.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) body: Expansions,
}

/// The parameter of a parametric rule, `name::_`. No template parameter has this name.
pub(crate) const PARAMETER: &str = "_";

/// `NAME.2: alternatives`, names in upper case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TerminalDefinition {
    pub(crate) mode: Mode,
    pub(crate) name: Spanned<String>,
    pub(crate) priority: i32,
    pub(crate) body: Expansions,
}

/// One or more alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expansions {
    pub(crate) alternatives: Vec<Alternative>,
    pub(crate) span: Span,
}

/// One alternative: a sequence, which may be empty, with an alias and a `%prec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alternative {
    pub(crate) items: Vec<Expr>,
    /// `-> alias`.
    pub(crate) alias: Option<Spanned<String>>,
    /// `%prec NAME` or `%prec "literal"`.
    pub(crate) precedence: Option<Word>,
    pub(crate) span: Span,
}

/// An expression with its span.
pub(crate) type Expr = Spanned<ExprKind>;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExprKind {
    /// A rule's name or a template parameter (lower case).
    Rule(String),
    /// A terminal's name (upper case).
    Terminal(String),
    /// A string with its escapes replaced.
    Literal { text: String, ignore_case: bool },
    /// `"a".."z"`, both one character long.
    CharRange(char, char),
    /// `/pattern/flags`: the pattern as between the slashes (only `\/` unescaped), the flags as
    /// written.
    Regex { pattern: String, flags: String },
    /// `name{a, b}`: use of a template.
    Template { name: String, arguments: Vec<Expr> },
    /// `name::value`: use of a parametric rule.
    Parametric { name: String, value: Value },
    /// `%if condition`, at the end of an alternative.
    If(Condition),
    /// `( ... )`.
    Group(Expansions),
    /// `[ ... ]`.
    Maybe(Expansions),
    /// `e?` is 0..1, `e*` 0.., `e+` 1.., `e~3` and `e{3}` 3..3, `e~3..5` and `e{3,5}` 3..5, `e{3,}`
    /// 3...
    Repeat { expr: Box<Expr>, min: u32, max: Option<u32> },
    /// `a & b`: the texts that all of them match. At least two.
    And(Vec<Expansions>),
    /// `~e`: every text that `e` does not match.
    Not(Box<Expr>),
    /// `<|name|>`, `<[7,10-20]>`: tokens of the vocabulary.
    Tokens(TokenNames),
    /// `%regex {...}`: some consecutive chunks in this order, or none.
    Substring(Vec<String>),
    /// `@name`: another grammar.
    Grammar(String),
    /// `%json {...}`: a JSON Schema, as written.
    Json(String),
    /// `%lark {...}`: a grammar within the grammar.
    Nested(File),
}

/// Tokens of a vocabulary that is not known yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TokenNames {
    /// A special token by its name, including the angle brackets.
    Name(String),
    /// Ranges of ids, first to last, ascending and disjoint.
    Ids(Vec<(u32, u32)>),
}

/// `key` or `key=value` after a rule's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) key: Spanned<String>,
    pub(crate) value: Option<AttributeValue>,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AttributeValue {
    /// A string, a regex, a name.
    Expr(Expr),
    /// A number, as written.
    Number(Spanned<String>),
}

/// `%import path (A, B -> C)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// Number of leading dots of the path: 0 for `common` and other libraries, 1 or more for files
    /// next to this one.
    pub(crate) level: u32,
    /// `common.NUMBER` has path `["common"]` and the name `NUMBER`.
    pub(crate) path: Vec<Spanned<String>>,
    /// The imported names, each with its new name if there is one.
    pub(crate) names: Vec<(Spanned<String>, Option<Spanned<String>>)>,
    pub(crate) span: Span,
}

/// A terminal, by name or by its literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Name(Spanned<String>),
    Literal { text: String, ignore_case: bool, span: Span },
}

/// The extensions to Lark's notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    /// `%llguidance {...}`.
    Options(Options),
    /// `%start rule`.
    Start(Vec<Spanned<String>>),
    /// `%lexer basic` or `%lexer contextual`: the name as written.
    Lexer(Spanned<String>),
    /// `%match longest`, `%match priority` or `%match all`: the name as written.
    Match(Spanned<String>),
    /// `%conflicts follow`, `%conflicts refuse` or `%conflicts shift`: the name as written.
    Conflicts(Spanned<String>),
    /// `%reserved NAME "if" "then"`: reserves the words against the terminal; without words, all
    /// plain strings of the grammar that the terminal matches.
    Reserved { against: Word, words: Vec<Word> },
    /// `%fallback NAME "abort" "asc"`: as in Lemon.
    Fallback { to: Word, words: Vec<Word> },
    /// `%soft NAME "match" "case"`: soft keywords, both readings are followed.
    Soft { to: Word, words: Vec<Word> },
    /// `%exclusive TEXT END`: where one of them is allowed, nothing competes that is not allowed
    /// there.
    Exclusive(Vec<Word>),
    /// `%lookahead NAME "over" after ")" before "(" NAME then "as"`: the context of the word
    /// decides between the two.
    Lookahead { to: Word, word: Word, after: Option<Vec<Word>>, before: Vec<Vec<Word>> },
    /// `%left "+" "-"`, `%right`, `%nonassoc`: each line binds tighter than those above it.
    Precedence { associativity: Associativity, words: Vec<Word> },
    /// `%indent NEWLINE INDENT DEDENT open "(" close ")" tab 8`.
    Indent { newline: Word, indent: Word, dedent: Word, clauses: Vec<Clause> },
}

/// The options of `%llguidance`; `None` if not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Whether the text may begin with ignored text.
    pub(crate) allow_initial_skip: Option<bool>,
    /// Whether text may be ignored only once at each position.
    pub(crate) skip_once: Option<bool>,
    /// Whether texts need not be UTF-8.
    pub(crate) allow_invalid_utf8: Option<bool>,
}

/// A part of a directive: `open "(" "["`, `tab 8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) name: Spanned<String>,
    pub(crate) words: Vec<Word>,
    pub(crate) number: Option<Spanned<u32>>,
}

/// The associativity of a precedence line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Associativity {
    Left,
    Right,
    Nonassoc,
}

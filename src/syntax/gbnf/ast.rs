//! The syntax tree of a `::=` grammar, as written: names unresolved, a span on every node.

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
    pub(crate) attributes: Attributes,
    pub(crate) body: Body,
}

/// One or more alternatives.
pub(crate) type Body = Vec<Sequence>;

/// Expressions in sequence; the empty sequence matches the empty text.
pub(crate) type Sequence = Vec<Expr>;

/// An expression with its span.
pub(crate) type Expr = Spanned<ExprKind>;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExprKind {
    /// A rule's name.
    Rule(String),
    /// A string with its escapes replaced; it may be empty.
    Literal(String),
    /// `[a-z]`, `[^a-z]`, `.`.
    Class(Class),
    /// `<[1000]>`, `<think>`, `!<think>`.
    Token(TokenReference),
    /// `( ... )`.
    Group(Body),
    /// `e?` is 0..1, `e*` 0.., `e+` 1.., `e{3}` 3..3, `e{3,5}` 3..5.
    Repeat { expr: Box<Expr>, min: u32, max: Option<u32> },
    /// `(= ... )`: requires that the following text begins with this.
    Assertion(Body),
    /// `Regex("[a-z]+")`.
    Call(Call),
    /// The values of a JSON schema; no file says so, formats of structural tags do.
    Schema(String),
}

/// The attributes in brackets after the name in a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// A text of the rule ends as soon as it can.
    pub(crate) lazy: bool,
    /// The names of all others.
    pub(crate) others: Vec<Spanned<String>>,
}

/// A function of XGrammar's with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) function: Function,
    pub(crate) arguments: Vec<Argument>,
}

/// The functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// `Regex("a+", flags="i")`.
    Regex,
    /// `Substring("chunk", "chunk")`: chunks that follow each other, any number of them.
    Substring,
    /// `TagDispatch(("<a>", rule), loop_after_dispatch=false, excludes=("x"))`: any text, and
    /// after each tag in it a rule.
    TagDispatch,
    /// `Token(1, 2)`: one of these tokens.
    Token,
    /// `ExcludeToken(1, 2)`: any other token.
    ExcludeToken,
    /// `TokenTagDispatch((1, rule), excludes=(2))`: any tokens, and after each of these a rule.
    TokenTagDispatch,
}

impl Function {
    /// By its name in a file.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "Regex" => Self::Regex,
            "Substring" => Self::Substring,
            "TagDispatch" => Self::TagDispatch,
            "Token" => Self::Token,
            "ExcludeToken" => Self::ExcludeToken,
            "TokenTagDispatch" => Self::TokenTagDispatch,
            _ => return None,
        })
    }

    /// How its arguments are written, for messages.
    pub(crate) fn usage(self) -> &'static str {
        match self {
            Self::Regex => "`Regex(\"[a-z]+\")`, optionally with `flags=\"i\"`",
            Self::Substring => "`Substring(\"a \", \"few \", \"words\")`",
            Self::TagDispatch => {
                "`TagDispatch((\"<tag>\", rule), loop_after_dispatch=false, excludes=(\"text\"))`"
            }
            Self::Token => "`Token(1000, 1001)`",
            Self::ExcludeToken => "`ExcludeToken(1000, 1001)`",
            Self::TokenTagDispatch => {
                "`TokenTagDispatch((1000, rule), loop_after_dispatch=false, excludes=(1001))`"
            }
        }
    }
}

/// An argument, maybe with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) name: Option<String>,
    pub(crate) value: Spanned<Value>,
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A string with escapes undone.
    Text(String),
    /// A token's number.
    Number(u32),
    /// `true` or `false`.
    Flag(bool),
    /// A rule's name.
    Name(String),
    /// Several between brackets.
    Several(Vec<Spanned<Value>>),
}

/// A set of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) negated: bool,
    /// Ranges of code points, both ends included. They may overlap, and contain surrogates, which
    /// occur in no text. A range with reversed ends is empty.
    pub(crate) ranges: Vec<(u32, u32)>,
}

/// A token of the vocabulary, or all tokens but this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenReference {
    pub(crate) negated: bool,
    pub(crate) token: TokenName,
}

/// The name of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenName {
    /// `<[1000]>`.
    Id(u32),
    /// `<think>`, angle brackets included.
    Text(String),
    /// The special tokens that are called so, if there are any; no file says so.
    Special(String),
}

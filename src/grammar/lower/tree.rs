//! What the passes work on: bodies of rules and terminals with names resolved to numbers.
//!
//! Each pass takes some kinds of [`Node`] away; see the contracts in the driver.

use crate::grammar::ir::Temperature;
use crate::grammar::lower::source::At;
use crate::grammar::lower::substring;
use crate::grammar::pattern::{Pattern, RegexFlags};
use crate::grammar::tokens::Tokens;
use crate::syntax::ast;
use crate::syntax::parameter::{Condition, Value};

/// Number of a rule, in the order of discovery.
pub(crate) type RuleIndex = usize;
/// Number of a terminal, in the order of discovery.
pub(crate) type TerminalIndex = usize;

/// Alternatives.
pub(crate) type Body = Vec<Sequence>;

/// One alternative.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sequence {
    pub(crate) items: Vec<Item>,
    /// `%prec`: only at the end of an alternative of a rule.
    pub(crate) precedence: Option<WordKey>,
    pub(crate) at: At,
}

/// A node and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Item {
    pub(crate) node: Node,
    pub(crate) at: At,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Rule(RuleIndex),
    Terminal(TerminalIndex),
    /// A string, range or regex.
    Leaf(Leaf),
    /// A parameter of the template that this stands in.
    Parameter(usize),
    /// `callee{arguments}`: the callee is a rule, or a parameter that stands for one.
    Call {
        callee: Box<Node>,
        arguments: Vec<Item>,
    },
    /// What a parametric rule is given: its only argument.
    Value(Value),
    /// What the alternative in which it stands asks of the parameter.
    If(Condition),
    Group(Body),
    Repeat {
        item: Box<Item>,
        min: u32,
        max: Option<u32>,
    },
    /// What each of them matches: of terminals.
    Intersection(Vec<Body>),
    /// What it does not match: of terminals.
    Complement(Box<Item>),
    /// What it matches first: of terminals.
    Shortest(Box<Item>),
}

/// An expression that needs no name of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Leaf {
    Literal {
        text: String,
        ignore_case: bool,
    },
    Range(char, char),
    Regex {
        pattern: String,
        flags: RegexFlags,
    },
    /// Any run of these chunks.
    Substring(Vec<String>),
    /// Tokens of the vocabulary.
    Tokens(Tokens),
    /// The JSON texts of a schema.
    Schema(String),
}

impl Leaf {
    /// The set of texts that it stands for.
    pub(crate) fn pattern(
        &self,
        place: impl FnOnce() -> crate::util::diagnostic::Place,
    ) -> Pattern {
        match self {
            Leaf::Literal { text, ignore_case } => {
                Pattern::Literal { text: text.clone(), ignore_case: *ignore_case }
            }
            Leaf::Range(from, to) => Pattern::Range(*from, *to),
            Leaf::Regex { pattern, flags } => {
                Pattern::Regex { pattern: pattern.clone(), flags: *flags, place: Some(place()) }
            }
            Leaf::Tokens(tokens) => Pattern::Tokens(tokens.clone()),
            Leaf::Schema(schema) => Pattern::Schema(schema.clone()),
            // The names are resolved only where the runs can be written out.
            Leaf::Substring(chunks) => {
                Pattern::Automaton(substring::automaton(chunks).unwrap_or_default())
            }
        }
    }
}

/// How directives and `%prec` name a terminal. Names need not be defined: precedence has
/// pseudo-terminals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WordKey {
    Name(String),
    Leaf(Leaf),
}

impl WordKey {
    /// The word as written in a directive.
    pub(crate) fn new(word: &ast::Word) -> Self {
        match word {
            ast::Word::Name(name) => WordKey::Name(name.node.clone()),
            ast::Word::Literal { text, ignore_case, .. } => {
                WordKey::Leaf(Leaf::Literal { text: text.clone(), ignore_case: *ignore_case })
            }
        }
    }
}

/// A rule, maybe a template.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) name: String,
    /// Names of the parameters; those of a plain rule are none.
    pub(crate) parameters: Vec<String>,
    pub(crate) body: Body,
    /// `.2` behind the name.
    pub(crate) priority: Option<(i32, At)>,
    pub(crate) order: Order,
    pub(crate) at: At,
    /// Whether the file itself defines or imports it; what an imported rule brings along is not
    /// reported.
    pub(crate) own: bool,
    /// The grammar within the grammar that it is of; what is ignored goes by that.
    pub(crate) class: ClassIndex,
    pub(crate) marks: RuleMarks,
    /// `stop=`.
    pub(crate) stop: Option<Stop>,
}

/// Number of the grammar itself (0), or of one within it.
pub(crate) type ClassIndex = usize;

/// What the attributes of a rule say of its texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleMarks {
    pub(crate) capture: Option<String>,
    pub(crate) suffix: Option<RuleSuffix>,
    pub(crate) temperature: Option<Temperature>,
    pub(crate) max_tokens: Option<u32>,
}

/// What ends the texts of a rule and is not captured with them.
#[derive(Clone, Debug)]
pub(crate) struct RuleSuffix {
    pub(crate) item: Item,
    /// Under what name it is captured, and how many of its bytes are; `None`: all.
    pub(crate) capture: Option<(String, Option<u32>)>,
}

/// `stop=` on a rule: what ends its texts, but is no part of them.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// The rule's body as it is written.
    pub(crate) body: Body,
    pub(crate) end: Item,
    pub(crate) capture: Option<String>,
    /// Whether a rule made of this one and its stop stands in its place somewhere.
    pub(crate) is_joined: bool,
}

impl Stop {
    /// That of a rule for which no other stands yet.
    pub(crate) fn new(body: Body, end: Item, capture: Option<String>) -> Self {
        Self { body, end, capture, is_joined: false }
    }
}

/// A terminal by name.
#[derive(Debug)]
pub(crate) struct NamedTerminal {
    pub(crate) name: String,
    /// `None`: `%declare`d.
    pub(crate) body: Option<Body>,
    pub(crate) priority: i32,
    pub(crate) order: Order,
    pub(crate) at: At,
    pub(crate) own: bool,
    /// Whether its first match ends the lexeme.
    pub(crate) lazy: bool,
    /// How many tokens a lexeme may take, and the terminal, a declared one, of lexemes that are cut
    /// off there.
    pub(crate) budget: Option<(u32, TerminalIndex)>,
}

/// Order in the file: what is imported stands where the import stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order {
    /// Offset in the file itself.
    pub(crate) offset: u32,
    /// Among those of one import statement.
    pub(crate) sequence: u32,
}

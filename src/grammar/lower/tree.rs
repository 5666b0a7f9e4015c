//! Data model of the passes: bodies of rules and terminals with names resolved to numbers.
//!
//! Each pass removes some kinds of [`Node`]; see the contracts in the driver.

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
    pub(crate) terms: Vec<Term>,
    /// Word of `%prec`: only at the end of an alternative of a rule.
    pub(crate) precedence: Option<WordKey>,
    pub(crate) at: At,
}

/// A node and its location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Term {
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
    /// A parameter of the enclosing template.
    Parameter(usize),
    /// `callee{arguments}`: the callee is a rule, or a parameter that denotes one.
    Call {
        callee: Box<Node>,
        arguments: Vec<Term>,
    },
    /// Argument of a parametric rule: its only one.
    Value(Value),
    /// Condition of the enclosing alternative on the parameter.
    If(Condition),
    Group(Body),
    Repeat {
        term: Box<Term>,
        min: u32,
        max: Option<u32>,
    },
    /// Intersection of terminals.
    Intersection(Vec<Body>),
    /// Complement of a terminal.
    Complement(Box<Term>),
    /// Shortest matches of a terminal.
    Shortest(Box<Term>),
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
    /// Returns the set of texts that the leaf denotes.
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
            // Names are resolved only where the runs can be written out.
            Leaf::Substring(chunks) => {
                Pattern::Automaton(substring::automaton(chunks).unwrap_or_default())
            }
        }
    }
}

/// Name of a terminal in a directive or `%prec`. It need not be defined: precedence has
/// pseudo-terminals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WordKey {
    Name(String),
    Leaf(Leaf),
}

impl WordKey {
    /// Returns the key of a word written in a directive.
    pub(crate) fn new(word: &ast::Word) -> Self {
        match word {
            ast::Word::Name(name) => WordKey::Name(name.node.clone()),
            ast::Word::Literal { text, ignore_case, .. } => {
                WordKey::Leaf(Leaf::Literal { text: text.clone(), ignore_case: *ignore_case })
            }
        }
    }
}

/// A rule or a template.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) name: String,
    /// Names of the parameters; empty for a plain rule.
    pub(crate) parameters: Vec<String>,
    pub(crate) body: Body,
    /// `.2` after the name.
    pub(crate) priority: Option<(i32, At)>,
    pub(crate) order: Order,
    pub(crate) at: At,
    /// Whether the file itself defines or imports it; dependencies of an imported rule are not
    /// reported.
    pub(crate) own: bool,
    /// Number of the nested grammar that it belongs to, which decides what is ignored.
    pub(crate) class: ClassIndex,
    pub(crate) marks: RuleMarks,
    /// `stop=`.
    pub(crate) stop: Option<Stop>,
}

/// Number of the grammar itself (0), or of one within it.
pub(crate) type ClassIndex = usize;

/// Attributes of a rule that concern its texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleMarks {
    pub(crate) capture: Option<String>,
    pub(crate) suffix: Option<RuleSuffix>,
    pub(crate) temperature: Option<Temperature>,
    pub(crate) max_tokens: Option<u32>,
}

/// Text that ends a rule's texts and is not captured with them.
#[derive(Clone, Debug)]
pub(crate) struct RuleSuffix {
    pub(crate) term: Term,
    /// Name of its capture and number of bytes captured; `None` for all.
    pub(crate) capture: Option<(String, Option<u32>)>,
}

/// `stop=` on a rule: ends its texts but is not part of them.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// Body of the rule as written.
    pub(crate) body: Body,
    pub(crate) end: Term,
    pub(crate) capture: Option<String>,
    /// Whether some use of the rule was replaced by a rule made of it and its stop.
    pub(crate) is_joined: bool,
}

impl Stop {
    /// Creates a stop whose rule has not been replaced anywhere yet.
    pub(crate) fn new(body: Body, end: Term, capture: Option<String>) -> Self {
        Self { body, end, capture, is_joined: false }
    }
}

/// A named terminal.
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
    /// Maximum number of tokens in a lexeme, and the declared terminal of lexemes that are cut off
    /// there.
    pub(crate) budget: Option<(u32, TerminalIndex)>,
}

/// Order in the file: imported definitions have the position of the import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order {
    /// Offset in the file itself.
    pub(crate) offset: u32,
    /// Position within one import statement.
    pub(crate) sequence: u32,
}

//! The IR itself. Ids are dense from 0; the end of the text is no terminal of the grammar (the
//! tables add it).

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::grammar::pattern::Pattern;
use crate::grammar::requirement::Requirement;
use crate::util::diagnostic::{Diagnostic, Place};
use crate::util::id::{NonterminalId, ProductionId, TerminalId};
use crate::util::meter::Cost;
use crate::util::shared::Shared;

/// A grammar, lowered and checked: ready for tables and scanners.
#[derive(Clone, Debug)]
pub struct Grammar {
    pub(crate) terminals: Shared<Terminal>,
    pub(crate) nonterminals: Shared<Nonterminal>,
    pub(crate) productions: Shared<Production>,
    pub(crate) start: NonterminalId,
    /// All rules that `%start` names; of [`Grammar::untrimmed`] only, since what is trimmed reaches
    /// one of them.
    pub(crate) starts: Vec<NonterminalId>,
    pub(crate) lexer: LexerKind,
    /// What lists must have, whatever the order.
    pub(crate) requirements: Vec<Requirement>,
    /// `%conflicts`.
    pub(crate) conflicts: Conflicts,
    /// Whether a text may begin with what is ignored.
    pub(crate) leading_ignored: bool,
    /// `%match`.
    pub(crate) matching: Matching,
    /// `%reserved NAME` without words: every plain-string terminal whose text the terminal matches
    /// is reserved against it. Which ones those are takes a regex match, so the scanner finds out.
    pub(crate) reserve_covered: Vec<TerminalId>,
    /// `%indent`: what line starts mean.
    pub(crate) indentation: Option<Indentation<TerminalId>>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// The grammar with the rules that `start` does not reach, for [`Grammar::with_start`]. `None`:
    /// this one.
    pub(crate) untrimmed: Option<Arc<Grammar>>,
    /// What reading it took: its compilation goes on from there.
    pub(crate) cost: Cost,
}

impl Grammar {
    /// A grammar of these parts, whose start is the first nonterminal, with nothing that directives
    /// say: what notations without directives come to.
    pub(crate) fn plain(
        terminals: Vec<Terminal>,
        nonterminals: Vec<Nonterminal>,
        productions: Vec<Production>,
        conflicts: Conflicts,
    ) -> Self {
        Self {
            terminals: terminals.into(),
            nonterminals: nonterminals.into(),
            productions: productions.into(),
            start: NonterminalId::new(0),
            starts: vec![NonterminalId::new(0)],
            requirements: Vec::new(),
            lexer: LexerKind::Contextual,
            conflicts,
            leading_ignored: true,
            matching: Matching::Longest,
            reserve_covered: Vec::new(),
            indentation: None,
            warnings: Vec::new(),
            untrimmed: None,
            cost: Cost::default(),
        }
    }
}

/// `%indent`: what the ends of lines and the blanks before their first lexeme are to the parser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Indentation<Id> {
    /// Ends a line.
    pub(crate) newline: Id,
    /// Stands before the first lexeme of a line that is deeper than the one before. Has no text.
    pub(crate) indent: Id,
    /// Stands before the first lexeme behind a block, once for each block that ends. Has no text.
    pub(crate) dedent: Id,
    /// Between these and [`Indentation::close`] line ends count for nothing.
    pub(crate) open: Vec<Id>,
    pub(crate) close: Vec<Id>,
    /// The ignored terminal that joins the next line to its own.
    pub(crate) join: Option<Id>,
    /// A tab goes on to the next multiple of this many columns; not 0.
    pub(crate) tab: u32,
    /// How many blocks may be open.
    pub(crate) levels: Option<u32>,
    /// The directive.
    #[serde(skip)]
    pub(crate) place: Option<Place>,
    /// Whether there is no such directive, and the defaults of Lark's `Indenter` are meant.
    #[serde(skip)]
    pub(crate) is_assumed: bool,
}

impl<Id> Indentation<Id> {
    /// The terminals without which the directive says nothing.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Id> {
        [&self.newline, &self.indent, &self.dedent].into_iter().chain(&self.join)
    }

    /// The same over other ids; `None` when one of the three terminals has none. Brackets that have
    /// none are left out.
    pub(crate) fn map<New>(&self, id: impl Fn(&Id) -> Option<New>) -> Option<Indentation<New>> {
        Some(Indentation {
            newline: id(&self.newline)?,
            indent: id(&self.indent)?,
            dedent: id(&self.dedent)?,
            open: self.open.iter().filter_map(&id).collect(),
            close: self.close.iter().filter_map(&id).collect(),
            join: self.join.as_ref().and_then(&id),
            tab: self.tab,
            levels: self.levels,
            place: self.place.clone(),
            is_assumed: self.is_assumed,
        })
    }
}

/// Which terminals compete where a lexeme starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum LexerKind {
    /// Always all of them.
    Basic,
    /// Those that the parse stack can shift, the ignored ones, and the words reserved against one
    /// of them.
    Contextual,
}

/// `%match`: which matches of candidates make the lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Matching {
    /// The longest, since nothing is said.
    Usual,
    /// The longest; of several terminals that match it, it is the one of least rank.
    Longest,
    /// The longest of those of the highest priority that match anything.
    Priority,
    /// The longest; it is every terminal that matches it, as in llguidance. But where a lazy one
    /// matches, only lazy ones.
    All,
}

impl Matching {}

/// What a conflict that precedence does not settle means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Conflicts {
    /// All that the parser may do is done, side by side: the language is the grammar's.
    #[default]
    Follow,
    /// The same, and nobody is told: the rules and terminals were made for a grammar that has no
    /// terminals of its own, so nobody wrote what conflicts.
    Silent,
    /// It is an error.
    Refuse,
    /// Reading on goes before ending a rule; between rules the priority decides, and then the order
    /// in the file: as in Yacc and Lark.
    Shift,
}

/// A terminal: a name and what its lexemes look like.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Terminal {
    /// As written (`NUMBER`), or made from a literal in a rule as Lark does (`LBRACE`, `IF`,
    /// `__ANON_0`).
    pub(crate) name: String,
    /// How messages call it where its author has given it no name: a literal, a regex, a class, a
    /// rule's name, `key "age"`, `number (at #/properties/age)`. `None`: its name, or its pattern
    /// where the name is made up. Set with [`Terminal::described`].
    pub(crate) description: Option<Arc<str>>,
    /// `None` for a `%declare`d terminal, which no text ever matches.
    pub(crate) pattern: Option<Pattern>,
    /// Whether lexemes of it are dropped wherever they stand.
    pub(crate) ignored: bool,
    /// Decides ties between terminals that match the same longest text: smaller wins. A permutation
    /// of `0..terminals.len()`, by explicit priority (higher first), then plain strings before
    /// patterns, then order in the file.
    pub(crate) rank: u32,
    /// The explicit priority, else 0. Under `%match priority` a match goes before any match of a
    /// lower one, however long.
    pub(crate) priority: i32,
    /// Terminals that this word is reserved against (`%reserved NAME IF`): under the contextual
    /// lexer it competes wherever one of them does.
    pub(crate) reserved_against: Vec<TerminalId>,
    /// What a lexeme of this word is where the stack cannot shift the word itself (`%fallback ID
    /// ABORT`).
    pub(crate) fallback: Option<Fallback>,
    /// What a lexeme of it is as well: each of these is a reading of its own wherever the stack can
    /// shift it, and the terminal competes wherever one of them can stand. These have no pattern.
    pub(crate) meant: Vec<TerminalId>,
    /// Whether it competes only where the stack can shift it, and there only with what else the
    /// stack can shift.
    pub(crate) exclusive: bool,
    /// What decides whether a lexeme of this word is itself (`%lookahead ID OVER ...`).
    pub(crate) lookahead: Option<Lookahead>,
    /// Whether the first match ends the lexeme, whatever else competes for it.
    pub(crate) lazy: bool,
    /// Whether each match may end the lexeme, whatever longer one there is and whatever else
    /// matches: the text behind decides. Of terminals made for grammars that have none.
    pub(crate) every_match: bool,
    /// How many tokens a lexeme may take.
    pub(crate) budget: Option<Budget>,
    /// What it is to a list of items that must differ.
    pub(crate) distinct: Option<Distinct>,
    /// For the resolution of conflicts.
    pub(crate) precedence: Option<Precedence>,
    /// Where it was defined or first used.
    #[serde(skip)]
    pub(crate) place: Option<Place>,
}

impl Terminal {
    /// A terminal of which no directive says anything.
    pub(crate) fn plain(name: String, pattern: Option<Pattern>, rank: u32) -> Self {
        Self {
            name,
            description: None,
            pattern,
            ignored: false,
            rank,
            priority: 0,
            reserved_against: Vec::new(),
            fallback: None,
            meant: Vec::new(),
            exclusive: false,
            lookahead: None,
            lazy: false,
            every_match: false,
            budget: None,
            distinct: None,
            precedence: None,
            place: None,
        }
    }

    /// The same with a description for messages, which is cut where it is long.
    pub(crate) fn described(self, description: &str) -> Self {
        Self { description: Some(shortened(description).into()), ..self }
    }

    /// What an author knows it by: its description, else its pattern where the name was made up,
    /// else its name.
    pub(crate) fn shown(&self) -> String {
        match (&self.description, &self.pattern) {
            (Some(description), _) => description.to_string(),
            (None, Some(pattern)) if self.name.starts_with("__") => {
                shortened(&pattern.to_string()).into_owned()
            }
            _ => self.name.clone(),
        }
    }
}

/// Characters of a description.
const DESCRIPTION: usize = 80;

/// The text, cut where it is too long for a message.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(DESCRIPTION) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// How many tokens a lexeme may take (`rule[max_tokens=10]`). One that has taken as many ends
/// there, whether its terminal matches it or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Budget {
    /// At least 1.
    pub(crate) tokens: u32,
    /// What a lexeme is that ends there: terminals that no text matches. Nearly always one.
    pub(crate) cuts: Vec<TerminalId>,
}

/// What a terminal is to lists whose items differ from one another: no two items are the same JSON
/// value. No context-free rules say that of lists of any length: whoever follows a text keeps what
/// stands in it.
///
/// An item is one lexeme, any of a terminal whatever stands before it, or an array or an object.
/// Two lexemes are the same by their text, arrays and objects by their value. An array or an object
/// that may end can also go on, so as to differ from any number of others. Behind an item the list
/// may end, or goes on as its rules ask: for no more items than there are. Items may hold other
/// such lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Distinct {
    /// Begins a list.
    Open,
    /// An item that is one lexeme.
    Item,
    /// Stands between two items.
    Next,
    /// Ends a list.
    Close,
}

/// A second reading of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fallback {
    /// The terminal that the lexeme is instead, in most grammars an identifier.
    pub(crate) terminal: TerminalId,
    /// `%fallback`: only where the stack cannot shift the word. `%soft`: both readings are carried
    /// where both are possible, until one of them dies.
    pub(crate) soft: bool,
}

/// The lexemes around a word that make it itself; elsewhere it is another terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lookahead {
    /// What it is elsewhere, in most grammars an identifier.
    pub(crate) other: TerminalId,
    /// As one of these the last lexeme before it that was not ignored must have been read; `None`:
    /// anything, or nothing, may stand before it.
    pub(crate) after: Option<Vec<TerminalId>>,
    /// The labels of the lexemes behind it that are not ignored: one list for each, one list at
    /// least.
    pub(crate) before: Vec<Vec<TerminalId>>,
}

/// A nonterminal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Nonterminal {
    /// The rule's name, or one made from its rule for a repetition or group (`__value_plus_0`).
    pub(crate) name: Arc<str>,
    /// Its productions.
    #[serde(skip)]
    pub(crate) productions: SmallVec<[ProductionId; 4]>,
    /// What is to be known of the texts that it derives.
    pub(crate) marks: Option<Box<Marks>>,
    /// Where it was defined.
    #[serde(skip)]
    pub(crate) place: Option<Place>,
}

impl Nonterminal {
    /// The name for messages: a repetition or a group that has none is `(…)+` or `(…)` of its
    /// rule.
    pub(crate) fn shown(&self) -> Cow<'_, str> {
        // `__RULE_KIND_NUMBER`, as `lower::expand` makes it.
        let parts = self.name.strip_prefix("__").and_then(|made| {
            let (named, number) = made.trim_end_matches('_').rsplit_once('_')?;
            number.bytes().all(|byte| byte.is_ascii_digit()).then(|| named.rsplit_once('_'))?
        });
        let sign = match parts {
            Some((_, "plus")) => "(…)+",
            Some((_, "group")) => "(…)",
            Some((_, "power" | "count")) => "(…)~",
            _ => return Cow::Borrowed(&self.name),
        };
        format!("{sign} of {}", parts.map_or("", |(rule, _)| rule)).into()
    }
}

/// What an author wants to know of the texts of a rule, or says of them, that is not their shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Marks {
    /// Under what name its texts are captured.
    pub(crate) capture: Option<String>,
    /// What ends its texts and is not captured with them.
    pub(crate) suffix: Option<Suffix>,
    /// At what temperature a model should write its texts.
    pub(crate) temperature: Option<Temperature>,
    /// How many tokens one of its texts may take.
    pub(crate) max_tokens: Option<u32>,
}

/// What ends the texts of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Suffix {
    pub(crate) pattern: Pattern,
    /// Under what name it is captured, and how many of its bytes are; `None`: all.
    pub(crate) capture: Option<(String, Option<u32>)>,
}

/// A sampling temperature, by its bits: equal numbers are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Temperature(pub(crate) u32);

impl Temperature {
    /// The number.
    pub(crate) fn value(self) -> f32 {
        f32::from_bits(self.0)
    }
}

/// A production: `lhs -> rhs`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Production {
    pub(crate) lhs: NonterminalId,
    pub(crate) rhs: Symbols,
    /// `%prec`, else that of the last terminal of `rhs`, if it has one, as in Yacc.
    pub(crate) precedence: Option<Precedence>,
    /// Of its rule: decides between two reductions under [`Conflicts::Shift`], the higher one
    /// first.
    pub(crate) priority: i32,
    /// The alternative it came from.
    #[serde(skip)]
    pub(crate) place: Option<Place>,
}

/// Symbols, nearly always few: grammars are copied from pass to pass.
pub(crate) type Symbols = SmallVec<[Symbol; 4]>;

/// A grammar symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Symbol {
    Terminal(TerminalId),
    Nonterminal(NonterminalId),
}

/// A level and an associativity, as in Yacc. Higher levels bind tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Precedence {
    pub(crate) level: u32,
    pub(crate) associativity: Associativity,
}

/// What a conflict between equal levels means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Associativity {
    /// Reduce.
    Left,
    /// Shift.
    Right,
    /// Neither: the text is an error.
    Nonassoc,
}

impl Grammar {
    /// Whether texts are what the file says that they usually are.
    pub(crate) fn has_usual_start(&self) -> bool {
        let name = |grammar: &Grammar| grammar.nonterminals[grammar.start.index()].name.clone();
        self.untrimmed.as_ref().is_none_or(|untrimmed| name(untrimmed) == name(self))
    }

    /// What the grammar's author should know, though nothing is refused: unused symbols, shadowed
    /// terminals, literals that a pattern covers, and so on.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}

//! The IR itself. Ids are dense from 0; the end of the text is not a terminal of the grammar (the
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
    /// All rules named by `%start`; only in [`Grammar::untrimmed`], since a trimmed grammar has one
    /// start.
    pub(crate) starts: Vec<NonterminalId>,
    pub(crate) lexer: LexerKind,
    /// Conditions on the members of lists, in any order.
    pub(crate) requirements: Vec<Requirement>,
    /// `%conflicts`.
    pub(crate) conflicts: Conflicts,
    /// Whether a text may begin with ignored lexemes.
    pub(crate) leading_ignored: bool,
    /// `%match`.
    pub(crate) matching: Matching,
    /// `%reserved NAME` without words: every plain-string terminal whose text the terminal matches
    /// is reserved against it. Finding them takes a regex match, so the scanner does that.
    pub(crate) reserve_covered: Vec<TerminalId>,
    /// `%indent`: the meaning of line starts.
    pub(crate) indentation: Option<Indentation<TerminalId>>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// The grammar including the rules that `start` does not reach, for [`Grammar::with_start`].
    /// `None`: this one.
    pub(crate) untrimmed: Option<Arc<Grammar>>,
    /// Cost of reading it, which its compilation continues from.
    pub(crate) cost: Cost,
}

impl Grammar {
    /// Creates a grammar of these parts, whose start is the first nonterminal, with the settings of
    /// no directives: for notations that have none.
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

/// `%indent`: the meaning of line ends, and of the blanks before the first lexeme of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Indentation<Id> {
    /// Ends a line.
    pub(crate) newline: Id,
    /// Precedes the first lexeme of a line that is indented deeper than the one before. Has no
    /// text.
    pub(crate) indent: Id,
    /// Precedes the first lexeme after a block, once for each block that ends. Has no text.
    pub(crate) dedent: Id,
    /// Line ends between these and [`Indentation::close`] do not count.
    pub(crate) open: Vec<Id>,
    pub(crate) close: Vec<Id>,
    /// The ignored terminal that joins the next line to the current one.
    pub(crate) join: Option<Id>,
    /// Tab stops are multiples of this many columns; not 0.
    pub(crate) tab: u32,
    /// Maximum number of open blocks.
    pub(crate) levels: Option<u32>,
    /// The directive.
    #[serde(skip)]
    pub(crate) place: Option<Place>,
    /// Whether there is no such directive, and the defaults of Lark's `Indenter` are assumed.
    #[serde(skip)]
    pub(crate) is_assumed: bool,
}

impl<Id> Indentation<Id> {
    /// Returns the indentation of a directive without brackets and with the default tab stops.
    pub(crate) fn new([newline, indent, dedent]: [Id; 3], place: Place) -> Self {
        let (open, close, place) = (Vec::new(), Vec::new(), Some(place));
        let (join, tab, levels, is_assumed) = (None, 8, None, false);
        Self { newline, indent, dedent, open, close, join, tab, levels, place, is_assumed }
    }

    /// Returns the terminals that the directive depends on, apart from brackets.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Id> {
        [&self.newline, &self.indent, &self.dedent].into_iter().chain(&self.join)
    }

    /// Maps the ids. Returns `None` if one of the three terminals has no new id; brackets without
    /// one are dropped.
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

/// Selection of the terminals that compete at the start of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum LexerKind {
    /// Always all of them.
    Basic,
    /// Those that the parse stack can shift, the ignored ones, and the words reserved against one
    /// of them.
    Contextual,
}

/// `%match`: selection of the lexeme from the matches of the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Matching {
    /// The longest, by default: no directive is given.
    Usual,
    /// The longest; of several terminals that match it, the one of least rank.
    Longest,
    /// The longest of those of the highest priority that match anything.
    Priority,
    /// The longest, as every terminal that matches it, as in llguidance. But if a lazy one matches,
    /// only lazy ones.
    All,
}

/// Treatment of a conflict that precedence does not resolve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Conflicts {
    /// All possible actions are followed in parallel: the language is that of the grammar.
    #[default]
    Follow,
    /// The same without warnings: rules and terminals were generated for a grammar that has no
    /// terminals of its own, so its author did not write the conflicts.
    Silent,
    /// Conflicts are errors.
    Refuse,
    /// Shifts take precedence over reductions; between reductions the priority decides, and then
    /// the order in the file: as in Yacc and Lark.
    Shift,
}

/// A terminal: a name and the pattern of its lexemes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Terminal {
    /// As written (`NUMBER`), or made from a literal in a rule as Lark does (`LBRACE`, `IF`,
    /// `__ANON_0`).
    pub(crate) name: String,
    /// Its name in messages if the author has given it none: a literal, a regex, a class, a rule's
    /// name, `key "age"`, `number (at #/properties/age)`. `None`: its name, or its pattern if the
    /// name is generated. Set with [`Terminal::described`].
    pub(crate) description: Option<Arc<str>>,
    /// `None` for a `%declare`d terminal, which no text ever matches.
    pub(crate) pattern: Option<Pattern>,
    /// Whether its lexemes are dropped wherever they occur.
    pub(crate) ignored: bool,
    /// Decides ties between terminals that match the same longest text: smaller wins. A permutation
    /// of `0..terminals.len()`, by explicit priority (higher first), then plain strings before
    /// patterns, then order in the file.
    pub(crate) rank: u32,
    /// The explicit priority, or 0. Under `%match priority` a match wins over any match of lower
    /// priority, however long.
    pub(crate) priority: i32,
    /// Terminals that this word is reserved against (`%reserved NAME IF`): under the contextual
    /// lexer it competes wherever one of them does.
    pub(crate) reserved_against: Vec<TerminalId>,
    /// Reading of a lexeme of this word if the stack cannot shift the word itself
    /// (`%fallback ID ABORT`).
    pub(crate) fallback: Option<Fallback>,
    /// Further readings of its lexemes: each of these terminals is a separate reading if the stack
    /// can shift it, and the terminal competes where one of them can be shifted. They have no
    /// pattern.
    pub(crate) meant: Vec<TerminalId>,
    /// Whether it competes only if the stack can shift it, and then only with other terminals that
    /// the stack can shift.
    pub(crate) exclusive: bool,
    /// Context that decides whether a lexeme of this word is itself (`%lookahead ID OVER ...`).
    pub(crate) lookahead: Option<Lookahead>,
    /// Whether the first match ends the lexeme, regardless of what else competes for it.
    pub(crate) lazy: bool,
    /// Whether each match may end the lexeme, even if there is a longer one or another terminal
    /// matches: the text after it decides. For terminals generated for grammars that have none.
    pub(crate) every_match: bool,
    /// Maximum number of tokens in a lexeme.
    pub(crate) budget: Option<Budget>,
    /// Role in a list of items that must differ.
    pub(crate) distinct: Option<Distinct>,
    /// For the resolution of conflicts.
    pub(crate) precedence: Option<Precedence>,
    /// Where it was defined or first used.
    #[serde(skip)]
    pub(crate) place: Option<Place>,
}

impl Terminal {
    /// Creates a terminal without any settings of directives.
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

    /// Returns the terminal with a description for messages, truncated if it is long.
    pub(crate) fn described(self, description: &str) -> Self {
        Self { description: Some(shortened(description).into()), ..self }
    }

    /// Returns the name shown to authors: its description, or its pattern if the name is generated,
    /// or its name.
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

/// Maximum length of a description, in characters.
const DESCRIPTION: usize = 80;

/// Truncates a text that is too long for a message.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(DESCRIPTION) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Maximum number of tokens in a lexeme (`rule[max_tokens=10]`). A lexeme of that many tokens ends
/// there, whether its terminal matches it or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Budget {
    /// At least 1.
    pub(crate) tokens: u32,
    /// Terminals of a lexeme that ends there, which no text matches. Nearly always one.
    pub(crate) cuts: Vec<TerminalId>,
}

/// Role of a terminal in lists whose items are distinct: no two items are the same JSON value.
/// Context-free rules cannot require that of lists of any length, so the items are stored while a
/// text is read.
///
/// An item is one lexeme, any of its terminal regardless of what precedes it, or an array or an
/// object. Lexemes are compared by their text, arrays and objects by their value. An array or an
/// object that may end can also continue, so it can differ from any number of others. After an item
/// the list may end, or continue as its rules require: for no more items than there are. Items may
/// contain other such lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Distinct {
    /// Begins a list.
    Open,
    /// An item that is one lexeme.
    Item,
    /// Separates two items.
    Next,
    /// Ends a list.
    Close,
}

/// A second reading of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fallback {
    /// The terminal that the lexeme is instead, in most grammars an identifier.
    pub(crate) terminal: TerminalId,
    /// `%fallback`: only if the stack cannot shift the word. `%soft`: if both readings are
    /// possible, both are followed until one of them dies.
    pub(crate) soft: bool,
}

/// Context that makes a word itself; in any other context it is another terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lookahead {
    /// The terminal that it is otherwise, in most grammars an identifier.
    pub(crate) other: TerminalId,
    /// Terminals of which the previous lexeme that was not ignored must be one; `None` if anything,
    /// or nothing, may precede it.
    pub(crate) after: Option<Vec<TerminalId>>,
    /// Labels of the following lexemes that are not ignored: one list for each, at least one list.
    pub(crate) before: Vec<Vec<TerminalId>>,
}

/// A nonterminal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Nonterminal {
    /// The rule's name, or one generated from it for a repetition or group (`__value_plus_0`).
    pub(crate) name: Arc<str>,
    /// Its productions.
    #[serde(skip)]
    pub(crate) productions: SmallVec<[ProductionId; 4]>,
    /// Attributes of the texts that it derives.
    pub(crate) marks: Option<Box<Marks>>,
    /// Where it was defined.
    #[serde(skip)]
    pub(crate) place: Option<Place>,
}

impl Nonterminal {
    /// Returns the name for messages: a repetition or a group without one is `(…)+` or `(…)` of its
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

/// Attributes of the texts of a rule that do not affect their form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Marks {
    /// Name under which its texts are captured.
    pub(crate) capture: Option<String>,
    /// Pattern that ends its texts and is not captured with them.
    pub(crate) suffix: Option<Suffix>,
    /// Temperature that a model should use for its texts.
    pub(crate) temperature: Option<Temperature>,
    /// Maximum number of tokens in one of its texts.
    pub(crate) max_tokens: Option<u32>,
}

/// End of the texts of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Suffix {
    pub(crate) pattern: Pattern,
    /// Name of its capture and number of bytes captured; `None` for all.
    pub(crate) capture: Option<(String, Option<u32>)>,
}

/// A sampling temperature, by its bits: equal numbers are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Temperature(pub(crate) u32);

impl Temperature {
    /// Returns the number.
    pub(crate) fn value(self) -> f32 {
        f32::from_bits(self.0)
    }
}

/// A production: `lhs -> rhs`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Production {
    pub(crate) lhs: NonterminalId,
    pub(crate) rhs: Symbols,
    /// `%prec`, or that of the last terminal of `rhs`, if it has one, as in Yacc.
    pub(crate) precedence: Option<Precedence>,
    /// Priority of its rule: between two reductions under [`Conflicts::Shift`] the higher one wins.
    pub(crate) priority: i32,
    /// The alternative that it was made from.
    #[serde(skip)]
    pub(crate) place: Option<Place>,
}

/// A sequence of symbols, usually short: grammars are copied from pass to pass.
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

/// Resolution of a conflict between equal levels.
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
    /// Whether the start symbol is the default one of the file.
    pub(crate) fn has_usual_start(&self) -> bool {
        let name = |grammar: &Grammar| grammar.nonterminals[grammar.start.index()].name.clone();
        self.untrimmed.as_ref().is_none_or(|untrimmed| name(untrimmed) == name(self))
    }

    /// Returns the warnings for the grammar's author: unused symbols, shadowed terminals, literals
    /// that a pattern covers, and so on.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}

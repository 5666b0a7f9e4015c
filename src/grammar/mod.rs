//! The grammar: the IR that every later layer reads, and how grammar files become it.
//!
//! A [`Grammar`] is a plain LALR(1) candidate: productions over terminals and nonterminals with all
//! conveniences of the notation (repetition, groups, templates, imports) already lowered, and for
//! each terminal a [`pattern::Pattern`] over text. It does not know which notation it came from.
//!
//! * [`lower`]: from the syntax tree to the IR, pass by pass.
//! * [`characters`]: the same for grammars of characters, which have no terminals.
//! * [`analysis`]: what the IR's shape says, and its trimming to what the start symbol needs.
//! * [`optional`]: terminals that match the empty text, or none, made options or left out.
//! * [`texts`]: grammars whose texts are those of automata.
//! * [`mod@print`]: the IR as text.

pub(crate) mod analysis;
mod automaton;
mod characters;
mod error;
pub(crate) mod in_brackets;
pub(crate) mod ir;
mod lower;
pub(crate) mod optional;
pub(crate) mod pattern;
mod print;
mod saving;
pub(crate) mod texts;
pub(crate) mod tokens;

use std::sync::Arc;

use crate::util::diagnostic::Diagnostic;
use crate::util::id::NonterminalId;
use crate::util::limits::Limits;
use crate::util::meter::Cost;

pub use error::GrammarError;
pub use ir::Grammar;
pub(crate) use lower::did_you_mean;
pub(crate) use texts::of_choices;

impl Grammar {
    /// Reads a grammar in Lark's notation. It may import the libraries (`common`, `python`,
    /// `unicode`, `lark`), and no files: see [`Grammar::from_lark_with`].
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the grammar's text and shape, each with its place. Conflicts
    /// are found when its tables are built.
    pub fn from_lark(text: &str) -> Result<Self, GrammarError> {
        Self::from_lark_with(text, "<grammar>", &|_| None)
    }

    /// Reads a grammar in Lark's notation that may import files.
    ///
    /// `name` is how messages call the file. `%import .other.NAME` asks `reader` for the text of
    /// `other.lark` in the directory of `name`, as a path with `/`; it gives `None` when there is
    /// no such file. So does `%import other.NAME`, before a library of that name is taken.
    ///
    /// # Errors
    ///
    /// As [`Grammar::from_lark`].
    pub fn from_lark_with(
        text: &str,
        name: &str,
        reader: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, GrammarError> {
        lower::lower(text, name, reader, None, &Limits::default())
    }

    /// The same with another start symbol than the file says: a rule by its name in it. The file
    /// need not have a rule `start`. Rules that the symbol does not reach are left out without a
    /// warning.
    ///
    /// ```
    /// let text = "list: \"[\" item* \"]\"\nitem: \"x\"";
    /// let grammar = lrmask::Grammar::from_lark_with_start(text, "<grammar>", "item", &|_| None)?;
    /// assert!(lrmask::Grammar::from_lark(text).is_err());
    /// # Ok::<(), lrmask::GrammarError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Grammar::from_lark`], and when there is no such rule, or when it derives no text.
    pub fn from_lark_with_start(
        text: &str,
        name: &str,
        start: &str,
        reader: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, GrammarError> {
        lower::lower(text, name, reader, Some(start), &Limits::default())
    }

    /// The same within `limits`; where no `start` is given the file says it. Imported files count
    /// together with the one that imports them. What reading takes is taken off what the same
    /// limits leave for [`CompiledGrammar::with_limits`](crate::CompiledGrammar::with_limits).
    ///
    /// # Errors
    ///
    /// As [`Grammar::from_lark`], and when a limit is exceeded: see [`GrammarError::limit`].
    pub fn from_lark_within(
        text: &str,
        name: &str,
        start: Option<&str>,
        reader: &dyn Fn(&str) -> Option<String>,
        limits: &Limits,
    ) -> Result<Self, GrammarError> {
        lower::lower(text, name, reader, start, limits)
    }

    /// Reads a grammar in GBNF, or in another of the `::=` notations. Its language is exactly that
    /// of its characters: no longest match is added. A text is a `root`.
    ///
    /// ```
    /// let grammar = lrmask::Grammar::from_gbnf(r#"
    ///     root ::= "{" pair ("," pair)* "}"
    ///     pair ::= [a-z]+ ":" [0-9]{1,4}
    /// "#)?;
    /// # Ok::<(), lrmask::GrammarError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the grammar's text and shape, each with its place. Tokens that
    /// it names (`<[1000]>`, `<think>`) are looked up when it meets a vocabulary.
    pub fn from_gbnf(text: &str) -> Result<Self, GrammarError> {
        characters::lower_gbnf(text, "<grammar>", None, &Limits::default())
    }

    /// The same with a name for messages, and another start symbol than `root`, if one is given.
    ///
    /// # Errors
    ///
    /// As [`Grammar::from_gbnf`], and when there is no such rule.
    pub fn from_gbnf_with(text: &str, name: &str, start: Option<&str>) -> Result<Self, GrammarError> {
        characters::lower_gbnf(text, name, start, &Limits::default())
    }

    /// The same within `limits`: see [`Grammar::from_lark_within`].
    ///
    /// # Errors
    ///
    /// As [`Grammar::from_gbnf_with`], and when a limit is exceeded.
    pub fn from_gbnf_within(
        text: &str,
        name: &str,
        start: Option<&str>,
        limits: &Limits,
    ) -> Result<Self, GrammarError> {
        characters::lower_gbnf(text, name, start, limits)
    }

    /// Reads a Yacc grammar: a `.y` file, and beside it `terminals`, which defines what `%token`
    /// declares, in Lark's notation, with `%ignore` and the directives about words. Places in
    /// messages are of `<grammar>` and `<terminals>`.
    ///
    /// # Errors
    ///
    /// As [`Grammar::from_lark`].
    pub fn from_yacc(grammar: &str, terminals: &str) -> Result<Self, GrammarError> {
        lower::lower_yacc(grammar, terminals, &Limits::default())
    }

    /// The same within `limits`, of the rules alone where no `terminals` are given: see
    /// [`Grammar::from_lark_within`] and [`Grammar::from_yacc_rules`].
    ///
    /// # Errors
    ///
    /// As [`Grammar::from_yacc`], and when a limit is exceeded.
    pub fn from_yacc_within(
        grammar: &str,
        terminals: Option<&str>,
        limits: &Limits,
    ) -> Result<Self, GrammarError> {
        match terminals {
            Some(terminals) => lower::lower_yacc(grammar, terminals, limits),
            None => lower::lower_yacc_rules(grammar, limits),
        }
    }

    /// Reads the rules of a `.y` file alone. A token without quotation marks is the text of its
    /// name (`NUMBER`), and where there are such, blanks and line ends are ignored: so rules can be
    /// checked, and tried out, before there are terminals.
    ///
    /// ```
    /// let grammar = lrmask::Grammar::from_yacc_rules("%left '+'\n%token NUMBER\n%%\nsum: sum '+' sum | NUMBER")?;
    /// # Ok::<(), lrmask::GrammarError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Grammar::from_lark`].
    pub fn from_yacc_rules(grammar: &str) -> Result<Self, GrammarError> {
        lower::lower_yacc_rules(grammar, &Limits::default())
    }

    /// What reading the grammar took.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The rules that the grammar's `%start` names, the usual one first; `start` where it names
    /// none.
    pub fn starts(&self) -> impl Iterator<Item = &str> {
        let untrimmed = self.untrimmed.as_deref().unwrap_or(self);
        untrimmed.starts.iter().map(|start| untrimmed.nonterminals[start.index()].name.as_str())
    }

    /// The same grammar with another start symbol: a rule by its name in the file. Rules that it
    /// does not reach are left out without a warning.
    ///
    /// # Errors
    ///
    /// When there is no such rule, or when it derives no text, or itself alone.
    pub fn with_start(&self, name: &str) -> Result<Self, GrammarError> {
        let untrimmed = self.untrimmed.clone().unwrap_or_else(|| Arc::new(self.clone()));
        let rule = untrimmed.nonterminals.iter().position(|nonterminal| nonterminal.name == name);
        let Some(rule) = rule else {
            let diagnostic =
                Diagnostic::error("undefined-symbol", format!("there is no rule `{name}` to start from"));
            let names = untrimmed.nonterminals.iter().map(|nonterminal| nonterminal.name.as_str());
            return Err(did_you_mean(diagnostic, name, names).into());
        };
        analysis::trim(&untrimmed, NonterminalId::new(rule), analysis::Report::Reached)
    }
}

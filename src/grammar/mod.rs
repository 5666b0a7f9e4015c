//! The grammar: the IR that every later layer reads, and the passes from grammar files to it.
//!
//! A [`Grammar`] is a plain LALR(1) candidate: productions over terminals and nonterminals with all
//! conveniences of the notation (repetition, groups, templates, imports) already lowered, and for
//! each terminal a [`pattern::Pattern`] over text. It does not know which notation it came from.
//!
//! * [`lower`]: from the syntax tree to the IR, pass by pass.
//! * [`characters`]: the same for grammars of characters, which have no terminals.
//! * [`analysis`]: structural analyses of the IR, and its trimming to what the start symbol needs.
//! * [`optional`]: terminals that match the empty text, or none, made optional or dropped.
//! * [`texts`]: grammars whose texts are those of automata.
//! * [`first_found`]: free text up to the first of several texts.
//! * [`regex`]: syntax trees of regexes, and the parser of ECMA-262.
//! * [`words`]: long lists of strings, as terminals and as rules.
//! * [`requirement`]: conditions on lists in addition to the rules; [`derivable`]: productive
//!   nonterminals under them.
//! * [`mod@print`]: the IR as text; [`saved`]: the IR as JSON.
//! * [`reader`]: settings for reading: a name, a start symbol, files, limits.

pub(crate) mod analysis;
mod automaton;
pub(crate) mod characters;
pub(crate) mod derivable;
mod error;
pub(crate) mod first_found;
pub(crate) mod inline_unbalanced;
pub(crate) mod ir;
mod lower;
pub(crate) mod optional;
pub(crate) mod pattern;
mod print;
mod reader;
pub(crate) mod regex;
pub(crate) mod requirement;
mod saved;
pub(crate) mod specialize_in_brackets;
pub(crate) mod texts;
pub(crate) mod tokens;
pub(crate) mod words;

use std::sync::Arc;

use crate::util::diagnostic::Diagnostic;
use crate::util::id::NonterminalId;
use crate::util::meter::Cost;

pub use error::{GrammarError, GrammarErrorKind};
pub use ir::Grammar;
pub(crate) use lower::did_you_mean;
pub use reader::GrammarReader;
pub(crate) use saved::fingerprint;
pub(crate) use texts::of_choices;

impl Grammar {
    /// Reads a grammar in Lark's notation. It may import the libraries (`common`, `python`,
    /// `unicode`, `lark`); use [`GrammarReader::imports`] for files.
    ///
    /// # Errors
    ///
    /// All errors in the grammar's text and structure, each with its place. Conflicts are found
    /// when its tables are built.
    pub fn from_lark(text: &str) -> Result<Self, GrammarError> {
        GrammarReader::new().lark(text)
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
    /// All errors in the grammar's text and structure, each with its place. Tokens that it names
    /// (`<[1000]>`, `<think>`) are looked up when the grammar is compiled for a vocabulary.
    pub fn from_gbnf(text: &str) -> Result<Self, GrammarError> {
        GrammarReader::new().gbnf(text)
    }

    /// Reads a Yacc grammar: a `.y` file, and `terminals`, which defines in Lark's notation the
    /// terminals that `%token` declares, with `%ignore` and the directives about words. Places in
    /// messages refer to `<grammar>` and `<terminals>`.
    ///
    /// # Errors
    ///
    /// As [`Grammar::from_lark`].
    pub fn from_yacc(grammar: &str, terminals: &str) -> Result<Self, GrammarError> {
        GrammarReader::new().yacc(grammar, terminals)
    }

    /// Reads the rules of a `.y` file alone. A token without quotation marks matches its own name
    /// (`NUMBER`), and if there are such tokens, blanks and line ends are ignored: so rules can be
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
        GrammarReader::new().yacc_rules(grammar)
    }

    /// Returns the cost of reading the grammar.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Returns the rules that the grammar's `%start` names, the default one first; `start` if there
    /// is no `%start`.
    pub fn starts(&self) -> impl Iterator<Item = &str> {
        let untrimmed = self.untrimmed.as_deref().unwrap_or(self);
        untrimmed.starts.iter().map(|start| &*untrimmed.nonterminals[start.index()].name)
    }

    /// Returns the same grammar with another start symbol: the name of a rule in the file. Rules
    /// that it does not reach are dropped without a warning.
    ///
    /// # Errors
    ///
    /// If there is no such rule, or if it derives no text, or derives itself alone.
    pub fn with_start(&self, name: &str) -> Result<Self, GrammarError> {
        let untrimmed = self.untrimmed.clone().unwrap_or_else(|| Arc::new(self.clone()));
        let rule = untrimmed.nonterminals.iter().position(|nonterminal| *nonterminal.name == *name);
        let Some(rule) = rule else {
            let diagnostic = Diagnostic::error(
                "undefined-symbol",
                format!("there is no rule `{name}` to start from"),
            );
            let names = untrimmed.nonterminals.iter().map(|nonterminal| &*nonterminal.name);
            let names = || names.clone().filter(|name| !name.starts_with("__"));
            let mut diagnostic = did_you_mean(diagnostic, name, names());
            if diagnostic.help.is_none() {
                let some: Vec<String> = names().take(12).map(|name| format!("`{name}`")).collect();
                diagnostic = diagnostic.help(format!("the rules include {}", some.join(", ")));
            }
            return Err(diagnostic.into());
        };
        analysis::trim(&untrimmed, NonterminalId::new(rule), analysis::Report::Reached)
    }
}

//! Settings for reading a grammar in addition to its text, shared by all notations.

use std::fmt;
use std::io;

use super::lower::Imports;
use super::{Grammar, GrammarError, characters, lower};
use crate::util::limits::Limits;

/// Reads grammars of any notation: with a name for messages, another start symbol, files to import,
/// and limits.
///
/// To read a text alone, use the functions of [`Grammar`]: [`Grammar::from_lark`] and the like,
/// with the default [`Limits`].
///
/// ```
/// use lrmask::{GrammarReader, Limits};
///
/// let files = |path: &str| match path {
///     "dir/words.lark" => Ok("WORD: /[a-z]+/".to_owned()),
///     _ => Err(std::io::ErrorKind::NotFound.into()),
/// };
/// let reader = GrammarReader::new().name("dir/list.lark").start("item").imports(&files);
/// let text = "%import .words.WORD\nlist: \"[\" item* \"]\"\nitem: WORD";
/// let grammar = reader.limits(&Limits::strict()).lark(text)?;
/// # assert_eq!(grammar.starts().collect::<Vec<_>>(), ["item"]);
/// # Ok::<(), lrmask::GrammarError>(())
/// ```
#[derive(Clone)]
pub struct GrammarReader<'r> {
    name: Option<&'r str>,
    start: Option<&'r str>,
    imports: &'r Imports<'r>,
    limits: Limits,
}

impl<'r> GrammarReader<'r> {
    /// Creates a reader with the default limits. It has no files to import; the libraries
    /// (`common`, `python`, `unicode`, `lark`) are available anyway.
    pub fn new() -> Self {
        Self {
            name: None,
            start: None,
            imports: &|_| Err(io::ErrorKind::NotFound.into()),
            limits: Limits::default(),
        }
    }

    /// Sets the name of the file in messages. The name is a path with `/`; imported files are
    /// looked for in the same directory.
    #[must_use]
    pub fn name(mut self, name: &'r str) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets a start symbol other than that of the file: the name of a rule in it. The file need not
    /// have the default one (`start`, `root`). Rules that the symbol does not reach are dropped
    /// without a warning. Regexes and choices have no rules. `None` selects the default start.
    #[must_use]
    pub fn start(mut self, rule: impl Into<Option<&'r str>>) -> Self {
        self.start = rule.into();
        self
    }

    /// Sets the function that provides imported files. `%import .other.NAME` asks for `other.lark`
    /// in the directory of the importing file, as a path with `/`. So does `%import other.NAME`,
    /// before a library of that name is used. A missing file is an error of the kind
    /// [`NotFound`](io::ErrorKind::NotFound); any other error ends the reading, and is its
    /// [source](std::error::Error::source).
    #[must_use]
    pub fn imports(mut self, imports: &'r dyn Fn(&str) -> io::Result<String>) -> Self {
        self.imports = imports;
        self
    }

    /// Sets the limits of reading. Imported files count together with the one that imports them.
    /// The cost of reading is deducted from what the same limits leave for
    /// [`ConstraintBuilder::limits`](crate::ConstraintBuilder::limits).
    #[must_use]
    pub fn limits(mut self, limits: &Limits) -> Self {
        self.limits = limits.clone();
        self
    }

    /// Reads a grammar in Lark's notation.
    ///
    /// # Errors
    ///
    /// All errors in the grammar's text and structure, each with its place; and the first limit
    /// that is exceeded. Conflicts are found when its tables are built.
    pub fn lark(&self, text: &str) -> Result<Grammar, GrammarError> {
        lower::lower(text, self.shown(), self.imports, self.start, &self.limits)
    }

    /// Reads a grammar in GBNF, or in another of the `::=` notations: see [`Grammar::from_gbnf`].
    ///
    /// # Errors
    ///
    /// As [`GrammarReader::lark`].
    pub fn gbnf(&self, text: &str) -> Result<Grammar, GrammarError> {
        characters::lower_gbnf(text, self.shown(), self.start, &self.limits)
    }

    /// Reads a Yacc grammar: a `.y` file, and `terminals`, which defines in Lark's notation the
    /// terminals that `%token` declares, with `%ignore` and the directives about words. Places in
    /// messages refer to `<grammar>` and `<terminals>`.
    ///
    /// # Errors
    ///
    /// As [`GrammarReader::lark`].
    pub fn yacc(&self, grammar: &str, terminals: &str) -> Result<Grammar, GrammarError> {
        self.with_own_start(lower::lower_yacc(grammar, terminals, &self.limits)?)
    }

    /// Reads the rules of a `.y` file alone: see [`Grammar::from_yacc_rules`].
    ///
    /// # Errors
    ///
    /// As [`GrammarReader::lark`].
    pub fn yacc_rules(&self, grammar: &str) -> Result<Grammar, GrammarError> {
        self.with_own_start(lower::lower_yacc_rules(grammar, &self.limits)?)
    }

    /// Returns the limits of reading.
    pub(crate) fn within(&self) -> &Limits {
        &self.limits
    }

    fn shown(&self) -> &'r str {
        self.name.unwrap_or("<grammar>")
    }

    fn with_own_start(&self, grammar: Grammar) -> Result<Grammar, GrammarError> {
        match self.start {
            Some(start) => grammar.with_start(start),
            None => Ok(grammar),
        }
    }
}

impl Default for GrammarReader<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for GrammarReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, start, limits, .. } = self;
        f.debug_struct("GrammarReader")
            .field("name", name)
            .field("start", start)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

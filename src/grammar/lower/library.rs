//! What files define, in one table: the outcome of loading them.

use hashbrown::HashMap;

use crate::grammar::lower::attributes::Attributes;
use crate::grammar::lower::source::At;
use crate::grammar::lower::tree::{ClassIndex, Order};
use crate::syntax::ast;
use crate::util::diagnostic::Diagnostic;

/// Number of a definition.
pub(crate) type DefinitionIndex = usize;

/// All files, in one table.
#[derive(Debug, Default)]
pub(crate) struct Library {
    pub(crate) instances: Vec<Instance>,
    pub(crate) definitions: Vec<Definition>,
    /// Of the file itself and of grammars within it; imported files ignore nothing and direct
    /// nothing, as in Lark.
    pub(crate) ignores: Vec<Ignore>,
    /// The copies of the grammars within grammars, by the source and the offset where they stand.
    pub(crate) nested: HashMap<(u32, u32), usize>,
    /// The copies of the grammars that `@name` stands for.
    pub(crate) named: HashMap<String, usize>,
    /// Whether the file has what only llguidance's dialect has.
    pub(crate) is_dialect: bool,
    pub(crate) directives: Vec<(ast::Directive, At)>,
}

/// An `%ignore`.
#[derive(Debug)]
pub(crate) struct Ignore {
    pub(crate) body: ast::Expansions,
    pub(crate) at: At,
    /// The copy that it stands in, which is a grammar of its own.
    pub(crate) instance: usize,
}

/// One copy of a file: what its names mean. The file itself is number 0.
#[derive(Debug, Default)]
pub(crate) struct Instance {
    pub(crate) scope: HashMap<String, DefinitionIndex>,
    /// The grammar that it is of: itself, or what imports it.
    pub(crate) class: ClassIndex,
    /// Names that are imported from a file which does not define them, and what is to be said of
    /// each.
    pub(crate) missing: HashMap<String, Diagnostic>,
}

/// A rule or a terminal.
#[derive(Debug)]
pub(crate) struct Definition {
    /// Its name in the grammar, mangled.
    pub(crate) name: String,
    pub(crate) kind: DefinitionKind,
    /// One body, and those that `%extend` added.
    pub(crate) parts: Vec<Part>,
    pub(crate) at: At,
    pub(crate) order: Order,
    /// Defined or imported by name in the file itself.
    pub(crate) own: bool,
}

/// A body as written.
#[derive(Debug)]
pub(crate) struct Part {
    /// The copy in whose scope its names stand.
    pub(crate) instance: usize,
    /// The text that its spans are of.
    pub(crate) source: u32,
    pub(crate) body: ast::Expansions,
}

/// What is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DefinitionKind {
    Rule { parameters: Vec<String>, priority: Option<(i32, At)>, attributes: Box<Attributes> },
    Terminal { priority: i32 },
    Declared,
}

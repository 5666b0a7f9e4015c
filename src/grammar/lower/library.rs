//! Table of the definitions of all files: the result of loading them.

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
    /// Those of the file itself and of nested grammars; imported files ignore nothing and have no
    /// directives, as in Lark.
    pub(crate) ignores: Vec<Ignore>,
    /// Copies of nested grammars, by source and offset.
    pub(crate) nested: HashMap<(u32, u32), usize>,
    /// Copies of the grammars that `@name` refers to.
    pub(crate) named: HashMap<String, usize>,
    /// Whether the file uses syntax that only llguidance's dialect has.
    pub(crate) is_dialect: bool,
    pub(crate) directives: Vec<(ast::Directive, At)>,
}

/// An `%ignore`.
#[derive(Debug)]
pub(crate) struct Ignore {
    pub(crate) body: ast::Expansions,
    pub(crate) at: At,
    /// The copy that contains it, which is a grammar of its own.
    pub(crate) instance: usize,
}

/// One copy of a file, as the scope of its names. The file itself is number 0.
#[derive(Debug, Default)]
pub(crate) struct Instance {
    pub(crate) scope: HashMap<String, DefinitionIndex>,
    /// The grammar that it belongs to: itself, or its importer.
    pub(crate) class: ClassIndex,
    /// Names imported from a file that does not define them, each with its diagnostic.
    pub(crate) missing: HashMap<String, Diagnostic>,
}

/// A rule or a terminal.
#[derive(Debug)]
pub(crate) struct Definition {
    /// Name in the grammar, mangled.
    pub(crate) name: String,
    pub(crate) kind: DefinitionKind,
    /// One body, and those added by `%extend`.
    pub(crate) parts: Vec<SourceBody>,
    pub(crate) at: At,
    pub(crate) order: Order,
    /// Whether it is defined or imported by name in the file itself.
    pub(crate) own: bool,
}

/// A body as written.
#[derive(Debug)]
pub(crate) struct SourceBody {
    /// The copy in whose scope its names are resolved.
    pub(crate) instance: usize,
    /// The text that its spans refer to.
    pub(crate) source: u32,
    pub(crate) body: ast::Expansions,
}

/// Kind of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DefinitionKind {
    Rule { parameters: Vec<String>, priority: Option<(i32, At)>, attributes: Box<Attributes> },
    Terminal { priority: i32 },
    Declared,
}

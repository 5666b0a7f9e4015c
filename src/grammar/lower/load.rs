//! Reads the file and its imports into one table of definitions.
//!
//! A file is loaded anew for each file that imports it, as in Lark, so that `%override` and
//! `%extend` affect only the importer's copy. Names that are not imported by name are mangled as
//! `file__name`.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::grammar::GrammarError;
use crate::grammar::lower::Context;
use crate::grammar::lower::attributes::Attributes;
use crate::grammar::lower::dialect;
use crate::grammar::lower::imports::{
    Files, ImportGroup, Imported, Imports, Location, NO_FILES, group_import, join,
};
use crate::grammar::lower::library::{
    Definition, DefinitionIndex, DefinitionKind, Ignore, Instance, Library, SourceBody,
};
use crate::grammar::lower::similar::did_you_mean;
use crate::grammar::lower::source::At;
use crate::grammar::lower::tree::Order;
use crate::syntax::ast;
use crate::syntax::parse_lark;
use crate::syntax::{SourceText, parse_yacc, parse_yacc_rules};
use crate::util::diagnostic::Diagnostic;

/// Maximum number of copies of files, for all importers together: a chain of files that each import
/// the next one twice would otherwise double at every step.
const MAX_INSTANCES: usize = 1_000;
/// Maximum depth of imports.
const MAX_IMPORT_DEPTH: usize = 50;

/// Reads `text` and everything it imports.
///
/// AFTER THIS: every name that any file defines or imports is in that file's scope, once.
pub(crate) fn load(
    context: &mut Context,
    text: &str,
    name: &str,
    imports: &Imports<'_>,
) -> Result<Library, GrammarError> {
    let mut loader = Loader::new(context, imports);
    let (directory, base) = name.rsplit_once('/').unwrap_or(("", name));
    let location = Location { directory: Some(directory.into()), shown: name.into() };
    loader.files.reading.push(join(directory, base.trim_end_matches(".lark")));
    loader.context.count_file(text)?;
    let file = parse_lark(text).map_err(|error| error.diagnostic(&location.shown, text))?;
    loader.library.is_dialect = dialect::is_used(&file);
    let instance = loader.instance(None);
    loader.file(instance, file, text, &location, &Mangling::default(), None)?;
    Ok(loader.library)
}

/// Reads a `.y` file and the file of its terminals, which may import only `common`.
///
/// AFTER THIS: both are one file, with one scope.
pub(crate) fn load_yacc(
    context: &mut Context,
    grammar: &str,
    terminals: &str,
) -> Result<Library, GrammarError> {
    let named = |name: &str| Location { directory: None, shown: name.into() };
    let (grammar_at, terminals_at) = (named("<grammar>"), named("<terminals>"));
    context.count_file(grammar)?;
    context.count_file(terminals)?;
    let files = parse_yacc(grammar, terminals).map_err(|error| match error.source_text() {
        SourceText::Grammar => error.diagnostic(&grammar_at.shown, grammar),
        SourceText::Terminals => error.diagnostic(&terminals_at.shown, terminals),
    })?;
    let mut loader = Loader::new(context, &NO_FILES);
    let instance = loader.instance(None);
    let mangling = Mangling::default();
    loader.file(instance, files.terminals, terminals, &terminals_at, &mangling, None)?;
    loader.file(instance, files.grammar, grammar, &grammar_at, &mangling, None)?;
    Ok(loader.library)
}

/// Reads the rules of a `.y` file, in which each token is its name.
///
/// AFTER THIS: one file, with one scope.
pub(crate) fn load_yacc_rules(
    context: &mut Context,
    grammar: &str,
) -> Result<Library, GrammarError> {
    let location = Location { directory: None, shown: "<grammar>".into() };
    let file =
        parse_yacc_rules(grammar).map_err(|error| error.diagnostic(&location.shown, grammar))?;
    let mut loader = Loader::new(context, &NO_FILES);
    let instance = loader.instance(None);
    loader.file(instance, file, grammar, &location, &Mangling::default(), None)?;
    Ok(loader.library)
}

struct Loader<'a> {
    context: &'a mut Context,
    files: Files<'a>,
    library: Library,
    sequence: u32,
}

/// A copy of a file while its statements are added.
struct Copy<'a> {
    instance: usize,
    source: u32,
    mangling: &'a Mangling,
    imported_at: Option<u32>,
}

/// Mapping from the names of an imported file to names in the whole.
#[derive(Clone, Default)]
struct Mangling {
    /// From the file itself outwards.
    prefixes: Vec<String>,
    /// Names imported by name, mapped to their names in the whole.
    aliases: HashMap<String, String>,
}

impl Mangling {
    fn name(&self, local: &str) -> String {
        if let Some(name) = self.aliases.get(local) {
            return name.clone();
        }
        let mut name = local.to_owned();
        for prefix in &self.prefixes {
            name = match name.strip_prefix('_') {
                Some(rest) => format!("_{prefix}__{rest}"),
                None => format!("{prefix}__{name}"),
            };
        }
        name
    }
}

impl<'a> Loader<'a> {
    fn new(context: &'a mut Context, imports: &'a Imports<'a>) -> Self {
        let files = Files { imports, reading: Vec::new() };
        Self { context, files, library: Library::default(), sequence: 0 }
    }
}

impl Loader<'_> {
    /// Adds a copy of a file with an empty scope. It belongs to its importer's grammar, or to one
    /// of its own.
    fn instance(&mut self, importer: Option<usize>) -> usize {
        let number = self.library.instances.len();
        let class = importer.map_or(number, |importer| self.library.instances[importer].class);
        self.library.instances.push(Instance { class, ..Instance::default() });
        number
    }

    /// Adds the imports and definitions of a file to a copy. `imported_at` is the offset of the
    /// import statement in the file itself.
    fn file(
        &mut self,
        instance: usize,
        file: ast::File,
        text: &str,
        location: &Location,
        mangling: &Mangling,
        imported_at: Option<u32>,
    ) -> Result<(), GrammarError> {
        let source = self.context.sources.add(location.shown.clone(), text);
        self.statements(instance, file, source, location, mangling, imported_at)
    }

    /// Does the same for a file whose source is known.
    fn statements(
        &mut self,
        instance: usize,
        file: ast::File,
        source: u32,
        location: &Location,
        mangling: &Mangling,
        imported_at: Option<u32>,
    ) -> Result<(), GrammarError> {
        self.grammars(&file, source, location, imported_at)?;
        let mut imports: Vec<ImportGroup> = Vec::new();
        let mut rest = Vec::new();
        for statement in file.items {
            match statement {
                ast::Statement::Import(import) => group_import(&mut imports, source, import),
                statement => rest.push(statement),
            }
        }
        for group in imports {
            self.import(instance, location, mangling, imported_at, group)?;
        }
        let copy = Copy { instance, source, mangling, imported_at };
        for statement in rest {
            self.statement(&copy, statement);
        }
        Ok(())
    }

    /// Loads the grammars nested in the file or referred to by name.
    fn grammars(
        &mut self,
        file: &ast::File,
        source: u32,
        location: &Location,
        imported_at: Option<u32>,
    ) -> Result<(), GrammarError> {
        for (grammar, span) in dialect::grammars(file) {
            let at = At::new(source, span);
            let place = self.context.sources.place(at);
            if self.library.instances.len() >= MAX_INSTANCES
                || self.files.reading.len() >= MAX_IMPORT_DEPTH
            {
                let message = format!(
                    "the file contains more than {MAX_INSTANCES} grammars, or nests them more \
                     than {MAX_IMPORT_DEPTH} levels deep"
                );
                return Err(Diagnostic::error("too-many-imports", message).at(place).into());
            }
            let number = self.library.instances.len();
            let mangling =
                |name: String| Mangling { prefixes: vec![name], aliases: HashMap::new() };
            let offset = imported_at.unwrap_or(at.start());
            match grammar {
                dialect::Grammar::Nested(file) => {
                    let instance = self.instance(None);
                    self.library.nested.insert((at.source(), at.start()), instance);
                    self.files.reading.push(format!("<%lark {number}>"));
                    let mangling = mangling(format!("lark_{number}"));
                    self.statements(
                        instance,
                        file.clone(),
                        source,
                        location,
                        &mangling,
                        Some(offset),
                    )?;
                    self.files.reading.pop();
                }
                dialect::Grammar::Named(name) if self.library.named.contains_key(name) => {}
                dialect::Grammar::Named(name) => {
                    let directory = location.directory.clone().unwrap_or_default();
                    let shown = format!("{}.lark", join(&directory, name));
                    let Some(text) = self.files.beside(&self.context.sources, &shown, at)? else {
                        let message = format!("the grammar `@{name}` was not found");
                        return Err(Diagnostic::error("grammar-not-found", message)
                            .at(place)
                            .help(format!(
                                "put it into the file `{shown}`, or write it in place as `%lark \
                                 {{ ... }}`"
                            ))
                            .into());
                    };
                    let shown: Arc<str> = shown.into();
                    let file =
                        parse_lark(&text).map_err(|error| error.diagnostic(&shown, &text))?;
                    let instance = self.instance(None);
                    self.library.named.insert(name.to_owned(), instance);
                    self.files.reading.push(format!("<@{name}>"));
                    let location = Location { directory: Some(directory), shown };
                    let mangling = mangling(name.replace('-', "_"));
                    self.file(instance, file, &text, &location, &mangling, Some(offset))?;
                    self.files.reading.pop();
                }
            }
        }
        Ok(())
    }

    fn import(
        &mut self,
        importer: usize,
        location: &Location,
        outer: &Mangling,
        imported_at: Option<u32>,
        group: ImportGroup,
    ) -> Result<(), GrammarError> {
        let place = self.context.sources.place(group.at);
        if self.library.instances.len() >= MAX_INSTANCES
            || self.files.reading.len() >= MAX_IMPORT_DEPTH
        {
            let message = format!(
                "the file imports more than {MAX_INSTANCES} files, or nests imports more than \
                 {MAX_IMPORT_DEPTH} levels deep"
            );
            return Err(Diagnostic::error("too-many-imports", message).at(place).into());
        }
        let mut prefixes = vec![group.path.join("__")];
        prefixes.extend(outer.prefixes.iter().cloned());
        let mut mangling = Mangling { prefixes, aliases: HashMap::new() };
        for (name, alias) in group.names.iter().rev() {
            mangling.aliases.insert(name.node.clone(), outer.name(&alias.node));
        }
        let offset = imported_at.unwrap_or(group.at.start());

        let Imported { path, text, location } =
            self.files.imported(&self.context.sources, location, &group)?;
        let shown = location.shown.clone();
        self.files.reading.push(path);
        let file = parse_lark(&text).map_err(|error| error.diagnostic(&shown, &text))?;
        let instance = self.instance(Some(importer));
        self.file(instance, file, &text, &location, &mangling, Some(offset))?;
        self.files.reading.pop();

        for (name, alias) in group.names {
            self.bring_in(importer, instance, &shown, group.at, (&name, &alias));
        }
        Ok(())
    }

    /// Puts one imported name into the importer's scope.
    fn bring_in(
        &mut self,
        importer: usize,
        instance: usize,
        file: &str,
        statement: At,
        (name, alias): (&ast::Spanned<String>, &ast::Spanned<String>),
    ) {
        let at = statement.with_span(&name.span);
        let place = self.context.sources.place(at);
        if is_terminal_name(&name.node) != is_terminal_name(&alias.node) {
            let message = format!("`{}` cannot be imported as `{}`", name.node, alias.node);
            self.context.report(
                Diagnostic::error("import-kind", message)
                    .at(place)
                    .help("write a terminal's name in upper case, a rule's name in lower case"),
            );
            return;
        }
        let imported = &self.library.instances[instance];
        let Some(&definition) = imported.scope.get(&name.node) else {
            let message = format!("`{file}` does not define `{}`", name.node);
            let names = imported.scope.keys().map(String::as_str);
            let finding =
                did_you_mean(Diagnostic::error("undefined-symbol", message), &name.node, names);
            self.library.instances[importer].missing.insert(alias.node.clone(), finding.at(place));
            return;
        };
        if importer == 0 {
            self.library.definitions[definition].own = true;
        }
        let previous =
            self.library.instances[importer].scope.insert(alias.node.clone(), definition);
        if let Some(previous) = previous.filter(|&previous| previous != definition) {
            self.duplicate(&alias.node, at, previous);
        }
    }

    fn statement(&mut self, copy: &Copy<'_>, statement: ast::Statement) {
        let &Copy { instance, source, .. } = copy;
        // The file itself, or a nested grammar of its own.
        let is_grammar = self.library.instances[instance].class == instance;
        match statement {
            ast::Statement::Rule(rule) => {
                let parameters: Vec<String> =
                    rule.parameters.iter().map(|parameter| parameter.node.clone()).collect();
                for (i, parameter) in rule.parameters.iter().enumerate() {
                    if parameters[..i].contains(&parameter.node) {
                        let place = self.context.sources.place(At::new(source, &parameter.span));
                        let message = format!(
                            "template `{}` has two parameters called `{}`",
                            rule.name.node, parameter.node
                        );
                        self.context
                            .report(Diagnostic::error("duplicate-parameter", message).at(place));
                    }
                }
                let priority = rule.priority.as_ref();
                let priority =
                    priority.map(|priority| (priority.node, At::new(source, &priority.span)));
                let at = At::new(source, &rule.name.span);
                let attributes =
                    Attributes::read(self.context, &rule.attributes, &rule.name.node, at);
                let attributes = Box::new(attributes);
                let kind = DefinitionKind::Rule { parameters, priority, attributes };
                self.define(copy, rule.mode, &rule.name, kind, Some(rule.body));
            }
            ast::Statement::Terminal(terminal) => {
                let kind = DefinitionKind::Terminal { priority: terminal.priority };
                self.define(copy, terminal.mode, &terminal.name, kind, Some(terminal.body));
            }
            ast::Statement::Declare(names) => {
                for name in names {
                    let kind = DefinitionKind::Declared;
                    self.define(copy, ast::Mode::Define, &name, kind, None);
                }
            }
            ast::Statement::Ignore(ignore) if is_grammar => {
                let at = At::new(source, &ignore.span);
                self.library.ignores.push(Ignore { body: ignore.node, at, instance });
            }
            ast::Statement::Directive(directive) if instance == 0 => {
                self.library.directives.push((directive.node, At::new(source, &directive.span)));
            }
            ast::Statement::Directive(directive) => self.imported_directive(source, &directive),
            ast::Statement::Ignore(_) | ast::Statement::Import(_) => {}
        }
    }

    /// Warns about directives on words in an imported file. `%start`, `%lexer`, `%match`,
    /// `%conflicts` and `%ignore` are the importer's decision and need no warning.
    fn imported_directive(&mut self, source: u32, directive: &ast::Spanned<ast::Directive>) {
        let name = match &directive.node {
            ast::Directive::Start(_)
            | ast::Directive::Lexer(_)
            | ast::Directive::Match(_)
            | ast::Directive::Conflicts(_)
            | ast::Directive::Options(_) => return,
            ast::Directive::Reserved { .. } => "%reserved",
            ast::Directive::Fallback { .. } => "%fallback",
            ast::Directive::Soft { .. } => "%soft",
            ast::Directive::Exclusive(_) => "%exclusive",
            ast::Directive::Lookahead { .. } => "%lookahead",
            ast::Directive::Precedence { .. } => "a precedence level",
            ast::Directive::Indent { .. } => "%indent",
        };
        let place = self.context.sources.place(At::new(source, &directive.span));
        self.context.report(
            Diagnostic::warning(
                "imported-directive",
                format!("{name} in an imported file has no effect"),
            )
            .at(place)
            .help("write it in the importing file"),
        );
    }

    fn define(
        &mut self,
        copy: &Copy<'_>,
        mode: ast::Mode,
        name: &ast::Spanned<String>,
        kind: DefinitionKind,
        body: Option<ast::Expansions>,
    ) {
        let &Copy { instance, source, mangling, imported_at } = copy;
        let at = At::new(source, &name.span);
        let existing = self.library.instances[instance].scope.get(&name.node).copied();
        let part = body.map(|body| SourceBody { instance, source, body });
        match (mode, existing) {
            (ast::Mode::Define, None) => {
                self.sequence += 1;
                let order = match imported_at {
                    None => Order { offset: at.start(), sequence: 0 },
                    Some(offset) => Order { offset, sequence: self.sequence },
                };
                let number = self.library.definitions.len();
                self.library.definitions.push(Definition {
                    name: mangling.name(&name.node),
                    kind,
                    parts: part.into_iter().collect(),
                    at,
                    order,
                    own: instance == 0,
                });
                self.library.instances[instance].scope.insert(name.node.clone(), number);
            }
            (ast::Mode::Define, Some(previous)) => self.duplicate(&name.node, at, previous),
            (ast::Mode::Override | ast::Mode::Extend, None) => {
                let message = format!("there is no `{}` to override or extend", name.node);
                let scope = &self.library.instances[instance].scope;
                let diagnostic = Diagnostic::error("undefined-symbol", message);
                let diagnostic =
                    did_you_mean(diagnostic, &name.node, scope.keys().map(String::as_str));
                let place = self.context.sources.place(at);
                self.context.report(diagnostic.at(place));
            }
            (ast::Mode::Override, Some(previous)) => {
                let definition = &mut self.library.definitions[previous];
                definition.kind = kind;
                definition.parts = part.into_iter().collect();
                definition.at = at;
            }
            (ast::Mode::Extend, Some(previous)) => {
                let definition = &mut self.library.definitions[previous];
                let fits = match (&definition.kind, &kind) {
                    (
                        DefinitionKind::Rule { parameters: theirs, .. },
                        DefinitionKind::Rule { parameters: ours, .. },
                    ) => theirs == ours,
                    (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
                };
                if fits {
                    definition.parts.extend(part);
                } else {
                    let message = format!(
                        "`{}` cannot be extended: its kind or its parameters differ",
                        name.node
                    );
                    let place = self.context.sources.place(at);
                    self.context.report(
                        Diagnostic::error("extend-mismatch", message)
                            .at(place)
                            .help("repeat the parameters of the original, or use %override"),
                    );
                }
            }
        }
    }

    fn duplicate(&mut self, name: &str, at: At, previous: DefinitionIndex) {
        let first = self.context.sources.place(self.library.definitions[previous].at);
        let place = self.context.sources.place(at);
        self.context.report(
            Diagnostic::error("duplicate-definition", format!("`{name}` is defined twice"))
                .at(place)
                .related(first, "first defined here")
                .help("rename one, or write %override or %extend before the second"),
        );
    }
}

/// Whether `name` is a terminal's: upper case, possibly after underscores.
pub(crate) fn is_terminal_name(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(char::is_uppercase)
}

//! The Yacc front end: a `.y` file for the rules, and a file in Lark's notation for the terminals.
//!
//! Constructs that do not affect the language are skipped: comments, actions (also inside a rule:
//! without them the parser sees more before it must decide), code, types, token numbers, names of
//! references, and declarations that only concern the generated code. The rest becomes the same
//! syntax tree as for Lark files, with names as in the file, whatever their case.
//!
//! A rule ends where the next one begins, with or without a `;`. `error` is a terminal that no text
//! contains, so alternatives with it are left out. `%precedence` is read as `%right`: for two
//! operators of one level, Bison shifts.

mod declarations;
mod escape;
mod lexer;
mod parser;
mod place;
#[cfg(test)]
mod tests;

use crate::syntax::ast::Mode;
use crate::syntax::ast::{
    Alternative, Directive, Expansions, Expr, ExprKind, File, Span, Spanned, Statement,
    TerminalDefinition,
};
use crate::syntax::error::{SourceText, SyntaxError, SyntaxErrorKind};
use crate::syntax::lark::parse_lark;
use crate::syntax::yacc::parser::{Names, parse_rules};

/// Maximum size of a `.y` file, in bytes.
pub(crate) const MAX_BYTES: usize = 4 << 20;

/// The two halves of a Yacc grammar. Spans of each are offsets into its own text.
#[derive(Clone, Debug)]
pub(crate) struct YaccFiles {
    /// From the `.y` file: its rules, `%start`, and its precedence lines.
    pub(crate) grammar: File,
    /// From the other file: terminals, imports, `%ignore` and the directives of this crate.
    pub(crate) terminals: File,
}

/// Reads the rules from `grammar`, a `.y` file, and the terminals from `terminals`, in Lark's
/// notation.
///
/// A quoted symbol of the `.y` file is its own definition; a token is defined in `terminals`, under
/// the same name. Fails with the first fault, whose [`SyntaxError::source_text`] is the text that
/// contains it. Linear.
pub(crate) fn parse_yacc(grammar: &str, terminals: &str) -> Result<YaccFiles, SyntaxError> {
    let grammar = parse_rules(grammar, Names::OfTerminals)?.file;
    let terminals = parse_lark(terminals)
        .and_then(|file| check_terminals(&file).map(|()| file))
        .map_err(|error| error.within(SourceText::Terminals))?;
    Ok(YaccFiles { grammar, terminals })
}

/// Reads the rules alone. A token that is not quoted matches the text of its name; if there are
/// any, blanks are ignored.
///
/// Fails with the first fault. Linear.
pub(crate) fn parse_yacc_rules(grammar: &str) -> Result<File, SyntaxError> {
    let mut rules = parse_rules(grammar, Names::Any)?;
    let has_tokens = !rules.tokens.is_empty();
    for token in rules.tokens {
        let span = token.span.clone();
        let name = ExprKind::Literal { text: token.node.clone(), ignore_case: false };
        let body = one(Spanned { node: name, span });
        rules.file.items.push(Statement::Terminal(TerminalDefinition {
            mode: Mode::Define,
            name: token,
            priority: 0,
            body,
        }));
    }
    if has_tokens {
        let blanks = ExprKind::Regex { pattern: "[ \\t\\n]+".to_owned(), flags: String::new() };
        let node = one(Spanned { node: blanks, span: 0..0 });
        rules.file.items.push(Statement::Ignore(Spanned { node, span: 0..0 }));
    }
    Ok(rules.file)
}

/// Returns an expression as a body.
fn one(expr: Expr) -> Expansions {
    let span = expr.span.clone();
    let alternative =
        Alternative { items: vec![expr], alias: None, precedence: None, span: span.clone() };
    Expansions { alternatives: vec![alternative], span }
}

/// Checks that the file next to a `.y` file has only terminals and directives about them.
fn check_terminals(file: &File) -> Result<(), SyntaxError> {
    let misplaced = |span: &Span, what: &str, help: &str| {
        Err(SyntaxError::new(
            SyntaxErrorKind::Misplaced,
            span.clone(),
            format!("{what} is not allowed among the terminals"),
        )
        .help(help))
    };
    for item in &file.items {
        match item {
            Statement::Rule(rule) => {
                return misplaced(
                    &rule.name.span,
                    "a rule",
                    "rules belong in the `.y` file; a terminal's name is written in upper case",
                );
            }
            Statement::Directive(Spanned { node: Directive::Start(_), span }) => {
                return misplaced(span, "a start rule", "write `%start` in the `.y` file");
            }
            Statement::Directive(Spanned { node: Directive::Precedence { .. }, span }) => {
                return misplaced(span, "a precedence line", "write it in the `.y` file");
            }
            _ => {}
        }
    }
    Ok(())
}

//! Helpers for the actions of the generated parser: numbers, ranges, imports.

#![allow(clippy::needless_pass_by_value, reason = "the generated parser passes values")]

use crate::syntax::ast::{
    Alternative, Directive, Expansions, Expr, ExprKind, Import, Mode, PARAMETER, Span, Spanned,
    Statement, Word,
};
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::parameter::Value;

/// Returns the span from `start` to `end`. For an empty construct the parser reports the next
/// word's start and the last word's end, hence the maximum.
pub(crate) fn span(start: usize, end: usize) -> Span {
    start..end.max(start)
}

/// Returns the definition with the mode of the `%override` or `%extend` before it.
pub(crate) fn with_mode(mut item: Statement, mode: Mode) -> Statement {
    match &mut item {
        Statement::Rule(rule) => rule.mode = mode,
        Statement::Terminal(terminal) => terminal.mode = mode,
        _ => {}
    }
    item
}

/// Returns one side of an `&`.
pub(crate) fn operand(items: Vec<Expr>, span: Span) -> Expansions {
    let alternative = Alternative { items, alias: None, precedence: None, span: span.clone() };
    Expansions { alternatives: vec![alternative], span }
}

/// Returns the parameter of a rule that is defined with one.
pub(crate) fn parameter(value: Spanned<Value>) -> Result<Vec<Spanned<String>>, SyntaxError> {
    let Spanned { node, span } = value;
    if node != Value::Same {
        let message = "the definition of a rule applies to all parameters".to_owned();
        return Err(SyntaxError::new(SyntaxErrorKind::BadDialect, span, message).help(
            "write `rule::_: ...`, and `%if eq(_, 1)` after an alternative for one of them only",
        ));
    }
    Ok(vec![Spanned { node: PARAMETER.to_owned(), span }])
}

/// Returns `expr` repeated.
pub(crate) fn repeat(expr: Expr, min: u32, max: Option<u32>, span: Span) -> Expr {
    Spanned { node: ExprKind::Repeat { expr: Box::new(expr), min, max }, span }
}

/// Returns `expr~min..max`.
pub(crate) fn counted(
    expr: Expr,
    min: Spanned<u32>,
    max: Spanned<u32>,
    span: Span,
) -> Result<Expr, SyntaxError> {
    if min.node > max.node {
        let message =
            format!("the minimum count {} is greater than the maximum {}", min.node, max.node);
        return Err(SyntaxError::new(
            SyntaxErrorKind::BadRepetition,
            min.span.start..max.span.end,
            message,
        )
        .help("write the smaller number first"));
    }
    Ok(repeat(expr, min.node, Some(max.node), span))
}

/// Parses the number of a repetition.
pub(crate) fn count(digits: &str, span: Span) -> Result<Spanned<u32>, SyntaxError> {
    if digits.starts_with('-') && digits.bytes().any(|digit| matches!(digit, b'1'..=b'9')) {
        let message = format!("the repetition count `{digits}` is negative");
        return Err(SyntaxError::new(SyntaxErrorKind::BadRepetition, span, message)
            .help("write a non-negative integer"));
    }
    let magnitude = digits.trim_start_matches(['+', '-']);
    match magnitude.parse() {
        Ok(node) => Ok(Spanned { node, span }),
        Err(_) => {
            let message =
                format!("the repetition count is out of range: at most {} is allowed", u32::MAX);
            Err(SyntaxError::new(SyntaxErrorKind::BadNumber, span, message)
                .help("write a smaller number"))
        }
    }
}

/// Parses the number of a priority. An out-of-range number becomes the highest or the lowest.
pub(crate) fn priority(digits: &str, span: Span) -> Spanned<i32> {
    let beyond = if digits.starts_with('-') { i32::MIN } else { i32::MAX };
    Spanned { node: digits.parse().unwrap_or(beyond), span }
}

/// Returns `"a".."z"`, from the two strings and whether they have the `i` flag.
pub(crate) fn char_range(
    first: (String, bool),
    last: (String, bool),
    span: Span,
) -> Result<Expr, SyntaxError> {
    let error = |message: &str, help: &str| {
        SyntaxError::new(SyntaxErrorKind::BadRange, span.clone(), message).help(help)
    };
    if first.1 || last.1 {
        return Err(error(
            "a character range takes no `i` flag",
            "write both cases: `\"a\"..\"z\" | \"A\"..\"Z\"`",
        ));
    }
    let (Some(first), Some(last)) = (single(&first.0), single(&last.0)) else {
        return Err(error(
            "an end of this range is not a single character",
            "a range has one character at each end: `\"a\"..\"z\"`",
        ));
    };
    if first > last {
        return Err(error(
            "the ends of this range are reversed",
            "write the smaller character first",
        ));
    }
    Ok(Spanned { node: ExprKind::CharRange(first, last), span })
}

/// Returns a string that denotes a terminal, in a directive.
pub(crate) fn word((text, ignore_case): (String, bool), span: Span) -> Result<Word, SyntaxError> {
    if text.is_empty() {
        let message = "an empty string is not a lexeme";
        return Err(
            SyntaxError::new(SyntaxErrorKind::EmptyLiteral, span, message).help("remove it here")
        );
    }
    Ok(Word::Literal { text, ignore_case, span })
}

fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

/// The part of an import after its path.
#[derive(Debug)]
pub(crate) enum Imported {
    /// Nothing, or `-> NAME`: the path's last name is imported.
    Last(Option<Spanned<String>>),
    /// `(A, B -> C)`.
    Listed(Vec<(Spanned<String>, Option<Spanned<String>>)>),
}

/// Returns an `%import`, from the dots before the path, the path, and the part after it.
pub(crate) fn import(
    dots: Vec<u32>,
    mut path: Vec<Spanned<String>>,
    imported: Imported,
    span: Span,
) -> Result<Import, SyntaxError> {
    let names = match imported {
        Imported::Listed(names) => names,
        Imported::Last(new_name) => match path.pop() {
            Some(name) if !path.is_empty() => vec![(name, new_name)],
            _ => {
                let message = "this import names a file but no definition in it";
                return Err(SyntaxError::new(SyntaxErrorKind::BadImport, span, message)
                    .help("write `%import file.NAME` or `%import file (A, B)`"));
            }
        },
    };
    Ok(Import { level: dots.into_iter().sum(), path, names, span })
}

/// Returns a `%lookahead`, from the other terminal, the word, and each `after`, `before` or `then`
/// with its operands.
pub(crate) fn lookahead(
    to: Word,
    words: Vec<Word>,
    clauses: Vec<(Spanned<String>, Vec<Word>)>,
    span: Span,
) -> Result<Directive, SyntaxError> {
    let error = |span: Span, message: String| {
        Err(SyntaxError::new(SyntaxErrorKind::BadLookahead, span, message).help(
            "write `%lookahead NAME \"word\" after A before B then C`; `after` and `then` are \
             optional",
        ))
    };
    let Ok([word]) = <[Word; 1]>::try_from(words) else {
        return error(span, "%lookahead takes one word per line".to_owned());
    };
    let mut after = None;
    let mut before: Vec<Vec<Word>> = Vec::new();
    for (name, list) in clauses {
        match name.node.as_str() {
            "after" if after.is_none() && before.is_empty() => after = Some(list),
            "before" if before.is_empty() => before.push(list),
            "then" if !before.is_empty() => before.push(list),
            "after" | "before" | "then" => {
                return error(name.span, format!("`{}` is not allowed here", name.node));
            }
            other => {
                return error(
                    name.span,
                    format!("expected `after`, `before` or `then`, not `{other}`"),
                );
            }
        }
    }
    if before.is_empty() {
        return error(span, "this %lookahead has no `before`".to_owned());
    }
    Ok(Directive::Lookahead { to, word, after, before })
}

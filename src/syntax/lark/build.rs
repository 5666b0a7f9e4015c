//! Small steps of the generated parser's actions: numbers, ranges, imports.

#![allow(clippy::needless_pass_by_value, reason = "the generated parser hands over what it has")]

use crate::syntax::ast::{
    Alternative, Directive, Expansions, Expr, ExprKind, Import, Item, Mode, PARAMETER, Span,
    Spanned, Word,
};
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::parameter::Value;

/// The span from `start` to `end`. Around nothing the parser reports the next word's start and the
/// last word's end, hence the maximum.
pub(crate) fn span(start: usize, end: usize) -> Span {
    start..end.max(start)
}

/// The definition, behind `%override` or `%extend`.
pub(crate) fn with_mode(mut item: Item, mode: Mode) -> Item {
    match &mut item {
        Item::Rule(rule) => rule.mode = mode,
        Item::Terminal(terminal) => terminal.mode = mode,
        _ => {}
    }
    item
}

/// One side of an `&`.
pub(crate) fn operand(items: Vec<Expr>, span: Span) -> Expansions {
    let alternative = Alternative { items, alias: None, precedence: None, span: span.clone() };
    Expansions { alternatives: vec![alternative], span }
}

/// The parameter of a rule that is defined with one.
pub(crate) fn parameter(value: Spanned<Value>) -> Result<Vec<Spanned<String>>, SyntaxError> {
    let Spanned { node, span } = value;
    if node != Value::Same {
        let message = "a rule is defined for every parameter at once".to_owned();
        return Err(SyntaxError::new(SyntaxErrorKind::BadDialect, span, message)
            .help("write `rule::_: ...`, and `%if eq(_, 1)` behind what is for one of them only"));
    }
    Ok(vec![Spanned { node: PARAMETER.to_owned(), span }])
}

/// `expr` repeated.
pub(crate) fn repeat(expr: Expr, min: u32, max: Option<u32>, span: Span) -> Expr {
    Spanned { node: ExprKind::Repeat { expr: Box::new(expr), min, max }, span }
}

/// `expr~min..max`.
pub(crate) fn counted(
    expr: Expr,
    min: Spanned<u32>,
    max: Spanned<u32>,
    span: Span,
) -> Result<Expr, SyntaxError> {
    if min.node > max.node {
        let message = format!("a repetition of {} to {} times", min.node, max.node);
        return Err(SyntaxError::new(
            SyntaxErrorKind::BadRepetition,
            min.span.start..max.span.end,
            message,
        )
        .help("write the smaller number first"));
    }
    Ok(repeat(expr, min.node, Some(max.node), span))
}

/// The number of a repetition.
pub(crate) fn count(digits: &str, span: Span) -> Result<Spanned<u32>, SyntaxError> {
    if digits.starts_with('-') && digits.bytes().any(|digit| matches!(digit, b'1'..=b'9')) {
        let message = format!("a repetition of `{digits}` times");
        return Err(SyntaxError::new(SyntaxErrorKind::BadRepetition, span, message)
            .help("write how often as a number from 0 on"));
    }
    let magnitude = digits.trim_start_matches(['+', '-']);
    match magnitude.parse() {
        Ok(node) => Ok(Spanned { node, span }),
        Err(_) => {
            let message =
                format!("the number of this repetition is out of range: {} at most", u32::MAX);
            Err(SyntaxError::new(SyntaxErrorKind::BadNumber, span, message)
                .help("write a smaller number"))
        }
    }
}

/// The number of a priority. One beyond all others is the highest, or the lowest.
pub(crate) fn priority(digits: &str, span: Span) -> Spanned<i32> {
    let beyond = if digits.starts_with('-') { i32::MIN } else { i32::MAX };
    Spanned { node: digits.parse().unwrap_or(beyond), span }
}

/// `"a".."z"`, from the two strings and whether they carry the `i` flag.
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
            "a range of characters takes no `i` flag",
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

/// A string that stands for a terminal, in a directive.
pub(crate) fn word((text, ignore_case): (String, bool), span: Span) -> Result<Word, SyntaxError> {
    if text.is_empty() {
        let message = "an empty string is no word of the language";
        return Err(SyntaxError::new(SyntaxErrorKind::EmptyLiteral, span, message)
            .help("leave it out here"));
    }
    Ok(Word::Literal { text, ignore_case, span })
}

fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

/// What stands behind the path of an import.
#[derive(Debug)]
pub(crate) enum Imported {
    /// Nothing, or `-> NAME`: the path's last name is what is imported.
    Last(Option<Spanned<String>>),
    /// `(A, B -> C)`.
    Listed(Vec<(Spanned<String>, Option<Spanned<String>>)>),
}

/// `%import`, from the dots before the path, the path, and what stands behind it.
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
                let message = "this import names a file, but nothing in it";
                return Err(SyntaxError::new(SyntaxErrorKind::BadImport, span, message)
                    .help("write `%import file.NAME` or `%import file (A, B)`"));
            }
        },
    };
    Ok(Import { level: dots.into_iter().sum(), path, names, span })
}

/// `%lookahead`, from the other terminal, the word, and each `after`, `before` or `then` with what
/// stands behind it.
pub(crate) fn lookahead(
    to: Word,
    words: Vec<Word>,
    clauses: Vec<(Spanned<String>, Vec<Word>)>,
    span: Span,
) -> Result<Directive, SyntaxError> {
    let error = |span: Span, message: String| {
        Err(SyntaxError::new(SyntaxErrorKind::BadLookahead, span, message).help(
            "write `%lookahead NAME \"word\" after A before B then C`; `after` and `then` may be \
             left out",
        ))
    };
    let Ok([word]) = <[Word; 1]>::try_from(words) else {
        return error(span, "%lookahead takes one word a line".to_owned());
    };
    let mut after = None;
    let mut before: Vec<Vec<Word>> = Vec::new();
    for (name, list) in clauses {
        match name.node.as_str() {
            "after" if after.is_none() && before.is_empty() => after = Some(list),
            "before" if before.is_empty() => before.push(list),
            "then" if !before.is_empty() => before.push(list),
            "after" | "before" | "then" => {
                return error(name.span, format!("`{}` cannot stand here", name.node));
            }
            other => {
                return error(
                    name.span,
                    format!("`{other}` is none of `after`, `before` and `then`"),
                );
            }
        }
    }
    if before.is_empty() {
        return error(span, "this %lookahead has no `before`".to_owned());
    }
    Ok(Directive::Lookahead { to, word, after, before })
}

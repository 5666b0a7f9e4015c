//! Formatting of expressions in the notation, for messages.

use std::fmt::{self, Write};

use super::expr::{Expr, ExprId, Exprs};
use super::resolve::Rule;
use crate::grammar::first_found::Search;

/// Maximum number of characters of an expression in a message.
const MOST: usize = 60;

/// Formats the expression in the notation, truncated if long. Cost: the shown part.
pub(super) fn shown(exprs: &Exprs, rules: &[Rule], expr: ExprId) -> String {
    let mut printer = Printer { exprs, rules, text: Short { text: String::new(), left: MOST } };
    if printer.expr(expr, Around::Nothing).is_err() {
        printer.text.text.push('…');
    }
    printer.text.text
}

/// A text that accepts no more characters once it is long.
struct Short {
    text: String,
    left: usize,
}

impl Write for Short {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for character in part.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}

/// Kind of the enclosing expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Around {
    Nothing,
    Sequence,
    Repetition,
}

struct Printer<'a> {
    exprs: &'a Exprs,
    rules: &'a [Rule],
    text: Short,
}

impl Printer<'_> {
    fn expr(&mut self, expr: ExprId, around: Around) -> fmt::Result {
        match self.exprs.get(expr) {
            Expr::Class(set) => match set.single() {
                Some(character) => write!(self.text, "{:?}", character.to_string()),
                None => write!(self.text, "{set}"),
            },
            Expr::Token(_) | Expr::Schema(_) => write!(self.text, "{}", self.exprs.pattern(expr)),
            Expr::Search(Search { texts, found: None }) if texts.is_empty() => {
                self.text.write_str("free text")
            }
            Expr::Search(Search { texts, found: Some(found) }) => {
                write!(self.text, "free text up to {:?}", texts[*found])
            }
            Expr::Search(Search { texts, found: None }) => {
                write!(self.text, "free text without {:?}", texts[0])?;
                texts[1..].iter().try_for_each(|text| write!(self.text, ", {text:?}"))
            }
            Expr::Rule(rule) => self.text.write_str(&self.rules[*rule].name),
            Expr::Concat(parts) if parts.is_empty() => self.text.write_str("\"\""),
            Expr::Concat(parts) => {
                self.grouped(around > Around::Sequence, |printer| printer.sequence(parts))
            }
            Expr::Choice(parts) => self.grouped(around > Around::Nothing, |printer| {
                for (number, &part) in parts.iter().enumerate() {
                    printer.text.write_str(if number > 0 { " | " } else { "" })?;
                    printer.expr(part, Around::Nothing)?;
                }
                Ok(())
            }),
            Expr::Repeat { inner, min, max } => {
                self.expr(*inner, Around::Repetition)?;
                match (min, max) {
                    (0, None) => self.text.write_str("*"),
                    (1, None) => self.text.write_str("+"),
                    (0, Some(1)) => self.text.write_str("?"),
                    (min, Some(max)) if min == max => write!(self.text, "{{{min}}}"),
                    (min, Some(max)) => write!(self.text, "{{{min},{max}}}"),
                    (min, None) => write!(self.text, "{{{min},}}"),
                }
            }
        }
    }

    fn grouped(
        &mut self,
        is_grouped: bool,
        inner: impl FnOnce(&mut Self) -> fmt::Result,
    ) -> fmt::Result {
        self.text.write_str(if is_grouped { "(" } else { "" })?;
        inner(self)?;
        self.text.write_str(if is_grouped { ")" } else { "" })
    }

    /// Formats a sequence; consecutive characters form one string.
    fn sequence(&mut self, parts: &[ExprId]) -> fmt::Result {
        let exprs = self.exprs;
        let single = |part: &ExprId| match exprs.get(*part) {
            Expr::Class(set) => set.single(),
            _ => None,
        };
        let mut at = 0;
        while at < parts.len() {
            self.text.write_str(if at > 0 { " " } else { "" })?;
            let mut characters = parts[at..].iter().map_while(single).peekable();
            if characters.peek().is_none() {
                self.expr(parts[at], Around::Sequence)?;
                at += 1;
                continue;
            }
            self.text.write_str("\"")?;
            for character in characters {
                write!(self.text, "{}", character.escape_debug())?;
                at += 1;
            }
            self.text.write_str("\"")?;
        }
        Ok(())
    }
}

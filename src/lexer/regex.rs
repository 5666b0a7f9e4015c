//! Syntax trees of regular expressions, over sets of characters, and their lowering to a Hir. The
//! order in which alternatives are tried has no effect.

use regex_syntax::hir::{ClassUnicode, Hir};

use crate::lexer::error::PatternError;
use crate::lexer::lower::{Builder, Folding, Lowered};
use crate::util::meter::Meter;

/// A regular expression.
#[derive(Clone, Debug)]
pub(crate) enum Regex {
    Set(ClassUnicode),
    Concat(Vec<Regex>),
    Alternation(Vec<Regex>),
    Repeat(Box<Regex>, u32, Option<u32>),
    /// The beginning of the text.
    Start,
    /// The end of the text.
    End,
    /// The beginning or the end of a word of these characters, or any other position if `negated`.
    Boundary {
        word: ClassUnicode,
        negated: bool,
    },
    Look {
        ahead: bool,
        negated: bool,
        inner: Box<Regex>,
    },
}

/// Lowers `regex`.
pub(super) fn lower_regex(
    regex: &Regex,
    meter: &Meter,
    folding: &mut Folding,
) -> Result<Lowered, PatternError> {
    let mut builder = Builder::new(meter, folding, false);
    let hir = builder.regex(regex)?;
    Ok(builder.lowered(hir, false))
}

impl Builder<'_> {
    pub(super) fn regex(&mut self, regex: &Regex) -> Result<Hir, PatternError> {
        match regex {
            Regex::Set(set) => self.class(set.clone()),
            Regex::Concat(parts) => self.regexes(parts).map(|parts| self.concat(parts)),
            Regex::Alternation(parts) => self.regexes(parts).map(|parts| self.alternation(parts)),
            Regex::Repeat(inner, min, max) => {
                self.regex(inner).map(|inner| self.repeat(inner, *min, *max, true))
            }
            Regex::Start => self.after_text(&Hir::empty()),
            Regex::End => self.end_of_text(),
            Regex::Boundary { word, negated } => self.boundary(word.clone(), *negated),
            Regex::Look { ahead, negated, inner } => {
                let first = self.looks.len();
                let around = std::mem::replace(&mut self.first_look, first);
                let wanted = self.regex(inner);
                self.first_look = around;
                match ahead {
                    true => self.look_ahead(&wanted?, first, *negated),
                    false => self.look_behind(wanted?, first, *negated),
                }
            }
        }
    }

    fn regexes(&mut self, parts: &[Regex]) -> Result<Vec<Hir>, PatternError> {
        parts.iter().map(|part| self.regex(part)).collect()
    }
}

//! Lowering of the syntax tree of a regex.

use regex_syntax::hir::Hir;

use crate::grammar::regex::Regex;
use crate::lexer::error::PatternError;
use crate::lexer::lower::{Builder, Folding, Lowered};
use crate::util::meter::Meter;

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
